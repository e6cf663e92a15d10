"""Projected encodings: what they estimate and what they depend on."""

from functools import partial

import networkx as nx
import numpy as np
import pytest
import torch
from encoding_helpers import data, molecules
from independent_walks import INDEPENDENT
from refusal_case import bad_values
from scipy import stats
from torch_geometric.data import Data

from grfpp import Diffusion, DivergentSeriesError, Graph, TruncationError
from grfpp.errors import InputError
from grfpp.torch import AddGRFPE, grf_pe
from grfpp.torch.encodings.base import joined, read_graphs
from grfpp.torch.encodings.projected import gaussian_rows, on_principal_axes
from grfpp.walks.streams import mix64


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("features", "degree"), [("factors", 1), ("factors", 2), ("stitched", 2)])
def test_the_mean_over_walks_is_the_projected_root_of_the_kernel(features, degree, weighted):
    """``E[Σ K_s G_s] = F Σ G_s``, ``F = g^(1/2l)``, or ``g^(1/2)`` where walks are stitched."""
    matrix = nx.to_numpy_array(nx.barbell_graph(4, 1), weight=None)
    if weighted:
        matrix *= np.add.outer(np.arange(1, 10), np.arange(1, 10)) / 7
    graphs = [data(matrix)]
    batch = joined(read_graphs(graphs, "edge_weight"), False)
    root = 2 * degree if features == "factors" else 2
    F = Diffusion(1.5 / root).exact(batch.graph.normalized("sym", 0.8))
    n_sets = degree if features == "factors" else 2
    residuals = []
    options = {"kernel": "diffusion:1.5", "scale": 0.8, "n_walks": 4, **INDEPENDENT}
    for seed in range(150):
        made = AddGRFPE(features=features, degree=degree, seed=seed, **options)
        G = sum(made._projection(batch, range(1), number) for number in range(n_sets))
        residuals.append(made._encode(batch, None, 1) - F @ G)
    residuals = np.array(residuals)
    z = residuals.mean(axis=0) / (residuals.std(axis=0, ddof=1) / np.sqrt(len(residuals)))
    # 72 numbers of which each is about standard normal; seeds are fixed.
    assert np.sqrt((z**2).mean()) < 1.35
    assert np.abs(residuals.mean(axis=0)).max() < 0.12


def test_products_of_encodings_estimate_products_of_features():
    """``PE PEᵀ``, over many projections, is ``Σ_s K_s K_sᵀ``: with many walks ``2 F Fᵀ``."""
    F = Diffusion(1 / 4).exact(Graph(nx.cycle_graph(6)).normalized("sym"))
    (wide,) = grf_pe([nx.cycle_graph(6)], dim=4000, n_walks=300, dtype=torch.float64)
    assert np.allclose(wide @ wide.T, 2 * F @ F.T, atol=0.15)


def test_seeds_graphs_and_options_make_a_difference():
    graphs = molecules(2)
    (first, second) = grf_pe(graphs, **INDEPENDENT)
    for change in (
        *({"seed": 1}, {"degree": 1}, {"degree": 3}, {"n_walks": 17}, {"kernel": "diffusion:2"}),
        *({"termination": "geometric:0.2"}, {"scale": 0.5}, {"features": "stitched"}),
        *({"rotation": "principal"}, {"projection": "shared"}),
    ):
        changed = grf_pe(graphs, **{**INDEPENDENT, **change})[1]
        assert not torch.allclose(changed, second, atol=1e-3), change
    assert not torch.equal(*(grf_pe(graphs, seed=None)[0] for _ in range(2)))
    assert not torch.allclose(first[0], second[0], atol=1e-3)


def test_the_sets_of_a_degree_have_projections_of_their_own():
    """Their sum then has about as many times the variance (with one for all, its square)."""
    graph = data(nx.to_numpy_array(nx.cycle_graph(8)))
    sizes = [
        np.mean([grf_pe([graph], degree=d, seed=s)[0].square().sum() for s in range(40)])
        for d in (1, 4)
    ]
    assert 2.5 < sizes[1] / sizes[0] < 4.5


def test_shared_and_own_projections():
    """Isolated nodes show their row of the projection: nothing else reaches them."""
    graphs = [Data(edge_index=torch.empty(2, 0, dtype=torch.long), num_nodes=n) for n in (3, 5)]
    small, large = grf_pe(graphs, projection="shared")
    assert torch.equal(small, large[:3])
    assert len(torch.unique(large)) == large.numel()
    small, large = grf_pe(graphs)
    assert not torch.isclose(small, large[:3]).any()


def test_principal_encodings_have_the_products_of_plain_ones():
    graphs = molecules(5)
    for plain, turned in zip(grf_pe(graphs), grf_pe(graphs, rotation="principal"), strict=True):
        assert torch.allclose(plain @ plain.T, turned @ turned.T, atol=1e-4)


def test_gaussian_numbers_are_gaussian_and_independent():
    words = np.repeat(np.arange(200, dtype=np.uint64), 25)
    rows = gaussian_rows(mix64(words), np.tile(np.arange(25), 200), 4)
    assert stats.kstest(rows.ravel(), "norm").pvalue > 0.01
    assert np.abs(np.corrcoef(rows.T) - np.eye(4)).max() < 0.05
    by_node = rows.reshape(200, 25, 4)
    assert np.abs(np.corrcoef(by_node[:, :, 0].T) - np.eye(25)).max() < 0.3
    assert len(np.unique(rows)) == rows.size
    words = [0, 1, 2**63, 2**64 - 1, 0x123456789ABCDEF0]  # mixed as in the engine
    assert mix64(np.array(words, dtype=np.uint64)).tolist() == [mix64(w) for w in words]


def test_principal_axes_forget_rotations_and_nothing_else():
    rng = np.random.default_rng(0)
    starts = np.array([4, 11, 12, 30])
    rows = rng.normal(size=(26, 5)) * [3, 1, 2, 0.5, 1.5]
    turned = on_principal_axes(rows, starts)
    rotation = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    assert np.allclose(on_principal_axes(rows @ rotation, starts), turned, atol=1e-9)
    for start, stop in zip(starts[:-1] - 4, starts[1:] - 4, strict=True):
        own = turned[start:stop]
        assert np.allclose(own @ own.T, rows[start:stop] @ rows[start:stop].T)
        square = own.T @ own
        assert np.allclose(square, np.diag(np.diag(square)), atol=1e-9)
        assert (np.diff(np.diag(square)) <= 1e-9).all()
        assert (own.max(axis=0) + 1e-9 >= -own.min(axis=0)).all()


test_bad_options_are_refused = bad_values(
    [AddGRFPE, partial(grf_pe, [data([[0, 1], [1, 0]])])],
    **{"dim": 0, "degree": 1.5, "n_walks": 0, "seed": -1, "scale": 0, "storage": "recompute"},
    **{"features": "all", "projection": None, "rotation": "left"},
)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"kernel": "inverse-power:2"}, DivergentSeriesError),
        ({"kind": "smooth", "kernel": "regularized-laplacian:1", "scale": 9}, DivergentSeriesError),
        ({"termination": "fixed:2"}, TruncationError),
        ({"kernel": "inverse-power:2", "scale": 0.99, "termination": "poisson:1"}, InputError),
    ],
)
def test_walks_that_do_not_suit_the_kernel_are_refused(options, error):
    with pytest.raises(error):
        AddGRFPE(**options)
