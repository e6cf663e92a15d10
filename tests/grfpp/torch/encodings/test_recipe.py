"""What encodings estimate, what they depend on, and which are refused."""

import re

import networkx as nx
import numpy as np
import pytest

pytest.importorskip("torch_geometric", reason="torch and torch_geometric are not installed")

import torch
from encoding_helpers import data, equal, molecules, recipe
from independent_walks import INDEPENDENT
from torch_geometric.data import Data

from grfpp import Diffusion, Graph
from grfpp.errors import InputError
from grfpp.torch import AddGRFPE, grf_pe
from grfpp.torch.encodings.edge_lists import joined, read_graphs


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
    for seed in range(150):
        made = recipe(
            features=features,
            degree=degree,
            seed=seed,
            kernel="diffusion:1.5",
            scale=0.8,
            n_walks=4,
            **INDEPENDENT,
        )
        G = sum(made._projection(batch, range(1), number) for number in range(n_sets))
        residuals.append(made.encode(batch) - F @ G)
    residuals = np.array(residuals)
    z = residuals.mean(axis=0) / (residuals.std(axis=0, ddof=1) / np.sqrt(len(residuals)))
    # 72 numbers of which each is about standard normal; seeds are fixed.
    assert np.sqrt((z**2).mean()) < 1.35
    assert np.abs(residuals.mean(axis=0)).max() < 0.12


def test_more_walks_come_closer():
    batch = joined(read_graphs(molecules(20), "edge_weight"), False)
    F = Diffusion(1 / 4).exact(batch.graph.normalized("sym"))
    errors = []
    for n_walks in (4, 400):
        made = recipe(n_walks=n_walks, **INDEPENDENT)
        G = sum(made._projection(batch, range(20), number) for number in range(2))
        errors.append(np.linalg.norm(made.encode(batch) - F @ G) / np.linalg.norm(F @ G))
    assert errors[0] < 0.5
    assert 7 < errors[0] / errors[1] < 13  # a tenth, for a hundred times the walks


def test_products_of_encodings_estimate_products_of_features():
    """``PE PEᵀ``, over many projections, is ``Σ_s K_s K_sᵀ`` (here with many walks: ``2 F Fᵀ``)."""
    graph = data(nx.to_numpy_array(nx.cycle_graph(6)))
    F = Diffusion(1 / 4).exact(Graph(nx.cycle_graph(6)).normalized("sym"))
    (wide,) = grf_pe([graph], dim=4000, n_walks=300, dtype=torch.float64)
    assert np.allclose(wide @ wide.T, 2 * F @ F.T, atol=0.15)


def test_any_number_of_threads_and_tasks():
    graphs = molecules(900)
    one = grf_pe(graphs, n_jobs=1)
    assert equal(one, grf_pe(graphs, n_jobs=3))
    batch = joined(read_graphs(graphs, "edge_weight"), False)
    assert len(batch.tasks(1000)) > 5
    made = recipe()
    walks = made._walks(batch)
    by_task = np.concatenate([made._encode(walks, graphs) for graphs in batch.tasks(1000)])
    assert np.array_equal(by_task, made.encode(batch))


def test_seeds_graphs_and_options_make_a_difference():
    graphs = molecules(2)
    (first, second) = grf_pe(graphs, **INDEPENDENT)
    for change in (
        {"seed": 1},
        {"degree": 1},
        {"degree": 3},
        {"n_walks": 17},
        {"kernel": "diffusion:2"},
        {"termination": "geometric:0.2"},
        {"scale": 0.5},
        {"features": "stitched"},
        {"rotation": "principal"},
        {"projection": "shared"},
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


def test_numbered_otherwise_a_graph_gets_another_draw_of_the_same_law():
    graph = nx.to_numpy_array(nx.lollipop_graph(4, 3))
    order = np.array([6, 2, 0, 5, 1, 4, 3])
    gram = np.zeros((2, 7, 7))
    for seed in range(150):
        pair = grf_pe([data(graph), data(graph[order][:, order])], seed=seed)
        assert not torch.isclose(pair[0][order], pair[1]).any()
        gram += [(pe @ pe.T).numpy() for pe in pair]
    gram /= 150
    assert np.allclose(gram[0][order][:, order], gram[1], atol=0.35)


def test_principal_encodings_have_the_products_of_plain_ones():
    graphs = molecules(5)
    for plain, turned in zip(grf_pe(graphs), grf_pe(graphs, rotation="principal"), strict=True):
        assert torch.allclose(plain @ plain.T, turned @ turned.T, atol=1e-4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dim": 0}, "dim must be a whole number >= 1"),
        ({"degree": 1.5}, "degree must be a whole number >= 1"),
        ({"n_walks": 0}, "n_walks must be a whole number >= 1"),
        ({"seed": -1}, "seed must be a whole number >= 0"),
        ({"scale": 0}, "scale must be a positive"),
        ({"kernel": "warmth"}, "there is no kernel 'warmth'"),
        ({"kernel": "inverse-power:2"}, "converges for spectral radii below 1"),
        ({"termination": "fixed:2"}, "leaves out"),
        ({"termination": 3}, "termination must be a law"),
        (
            {"kernel": "inverse-power:2", "scale": 0.99, "n_walks": 4, "termination": "poisson:1"},
            "variance",
        ),
        ({"storage": "recompute"}, "storage is not an option here"),
        ({"kernel": 3}, "kernel must be a Kernel or text"),
        ({"scale": 1e308}, "scale must be at most"),
        ({"features": "all"}, "features must be 'factors' or 'stitched', not 'all'"),
        ({"projection": None}, "projection must be 'graph' or 'shared', not None"),
        ({"rotation": "left"}, "rotation must be 'none' or 'principal', not 'left'"),
        ({"dtype": torch.int64}, "dtype must be a floating-point type"),
    ],
)
def test_options_that_cannot_be_used(options, message):
    with pytest.raises(InputError, match=re.escape(message)):
        grf_pe([data([[0, 1], [1, 0]])], **options)
    with pytest.raises(InputError, match=re.escape(message)):
        AddGRFPE(**options)
