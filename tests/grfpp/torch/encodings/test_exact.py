"""Encodings without random numbers: what each of them is."""

from functools import partial

import networkx as nx
import numpy as np
import pytest
import torch
from encoding_helpers import EDGE, data, molecules
from refusal_case import bad_values, refused
from torch_geometric.data import Data
from torch_geometric.transforms import AddRandomWalkPE

from grfpp import Diffusion, Graph, RegularizedLaplacian
from grfpp.errors import InputError
from grfpp.torch import AddContrastPE, AddGRFPE, AddLandmarkPE, AddProfilePE, AddSmoothPE, grf_pe
from grfpp.torch.encodings import exact as encodings

EXACT = {"dtype": torch.float64}

# Return masses.


def test_they_are_those_of_pyg():
    for graph in molecules(6):
        expected = AddRandomWalkPE(7)(graph).random_walk_pe
        (found,) = grf_pe([graph], dim=7, kind="return")
        assert torch.allclose(found, expected, rtol=0, atol=1e-6)


def test_by_kernels_they_are_diagonals():
    matrix = nx.to_numpy_array(nx.karate_club_graph())
    W, kernels = Graph(matrix).normalized("sym", 0.7), [Diffusion(3.0), RegularizedLaplacian(1.0)]
    (found,) = grf_pe([data(matrix)], kind="return", kernel=kernels, scale=0.7, **EXACT)
    expected = np.stack([kernel.exact(W).diagonal() for kernel in kernels], axis=1)
    assert np.abs(found.numpy() - expected).max() < 1e-8


def test_large_graphs_are_walked_on_without_bias(monkeypatch):
    graph = data(nx.to_numpy_array(nx.barabasi_albert_graph(60, 3, seed=2)))
    options = {"kind": "return", "dim": 6, "dtype": torch.float64}
    (exact,) = grf_pe([graph], **options)
    monkeypatch.setattr(encodings, "_MAX_PRODUCTS", 1000.0)
    tiny = data([[0, 1], [1, 0]])
    found = []
    for seed in range(49):
        alone = grf_pe([graph], n_walks=1, seed=seed, **options)[0]
        found.append(alone)
        if seed < 2:
            beside = grf_pe([tiny, graph, tiny], n_walks=1, seed=seed, n_jobs=2, **options)
            assert torch.equal(beside[1], alone)
            assert beside[0].tolist() == [[0, 1, 0, 1, 0, 1]] * 2
    # Sums of many nodes with signs: single entries vary too seldom to be near to normal.
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (64, 60))
    errors = torch.einsum("sn,tnk->tsk", torch.from_numpy(signs), torch.stack(found) - exact)
    spread = errors.std(dim=0)
    assert spread.max() > 0.01
    z = errors.mean(dim=0)[spread > 1e-9] / (spread[spread > 1e-9] / 7)
    assert 0.7 < (z**2).mean().sqrt() < 1.3  # fixed seeds
    assert torch.allclose(grf_pe([graph], n_walks=5000, **options)[0], exact, atol=1e-3)


# Smoothed features, contrasts and profiles.


def random_features():
    x = np.random.default_rng(0).normal(size=(34, 2))
    return data(nx.to_numpy_array(nx.karate_club_graph()), x=torch.from_numpy(x))


@pytest.mark.parametrize("normalization", ["rw", "sym"])
@pytest.mark.parametrize("include_self", [True, False])
def test_they_are_products_with_kernels_and_contrasts_are_their_differences(
    normalization, include_self
):
    graph, kernels = random_features(), [Diffusion(3.0), Diffusion(1.0)]
    W = Graph(nx.karate_club_graph()).normalized(normalization, 0.9)
    options = {"normalization": normalization, "include_self": include_self, **EXACT}
    (found,) = grf_pe([graph], kind="smooth", kernel=kernels, scale=0.9, **options)
    expected, nothing = [], 0 if include_self else 1  # α₀ of the exponential
    for kernel in kernels:
        product = kernel.exact(W) @ graph.x.numpy() - nothing * graph.x.numpy()
        expected.append(product / (kernel.value(0.9) - nothing))
    assert np.abs(found.numpy() - np.hstack(expected)).max() < 1e-8
    (smooth,) = grf_pe([graph], kind="smooth", **options)
    (found,) = grf_pe([graph], kind="contrast", **options)
    near, middle, far = smooth.split(2, dim=1)
    assert torch.equal(found, torch.cat([graph.x - near, near - middle, middle - far], dim=1))


def star_and_a_lonely_node(first, second):
    matrix = np.zeros((6, 6))
    matrix[:5, :5] = nx.to_numpy_array(nx.star_graph(4))
    return data(matrix, x=torch.tensor([[first, 0.0]] * 4 + [[first, second], [first, 7.0]]))


def test_means_keep_constants_and_isolated_nodes_their_own():
    smooth = AddSmoothPE(kernel="heat:9")(star_and_a_lonely_node(1.0, 0.0)).smooth_pe
    assert torch.allclose(smooth[:, 0], torch.ones(6))
    assert smooth[:, 1].tolist() == [0, 0, 0, 0, 0, 7]
    contrast = AddContrastPE(kernel="heat:2")(star_and_a_lonely_node(3.0, 1.0)).contrast_pe
    assert contrast[:, 0].abs().max() < 1e-6
    assert contrast[5].tolist() == [0, 0]
    assert contrast[:5, 1].abs().min() > 1e-3


def test_features_are_a_part_of_what_is_kept():
    transform = AddSmoothPE()
    first, second = (Data(edge_index=EDGE, x=torch.tensor([[a], [0.0]])) for a in (1.0, 2.0))
    assert torch.allclose(2 * transform(first).smooth_pe, transform(second).smooth_pe)
    assert len(transform.cache) == 2
    whole = Data(edge_index=EDGE, x=torch.tensor([1, 0]))
    assert torch.equal(transform(whole).smooth_pe, transform(first).smooth_pe)


def test_they_are_returns_and_contrasts():
    graphs = molecules(2)
    for graph in graphs:
        graph.x = torch.arange(2.0 * graph.num_nodes).sin().view(-1, 2)
    smoothing = {"kernel": ["heat:1", "heat:3"], "normalization": "sym", "include_self": True}
    found = grf_pe(graphs, 9, kind="profile", scale=0.8, **smoothing)
    lengths = grf_pe(graphs, kind="profile", scale=0.8, lengths=range(1, 6), **smoothing)
    returns = grf_pe(graphs, 5, kind="return", scale=0.8)
    contrasts = grf_pe(graphs, kind="contrast", scale=0.8, **smoothing)
    for both, same, first, second in zip(found, lengths, returns, contrasts, strict=True):
        assert torch.equal(both, torch.cat([first, second], dim=1))
        assert torch.equal(both, same)
    assert grf_pe(graphs, kind="profile")[0].shape[1] == 8 + 3 * 2


def test_dim_is_the_number_of_columns_of_a_profile():
    graph = Data(edge_index=EDGE, x=torch.randn(2, 7))
    assert AddProfilePE(dim=25)(graph).profile_pe.shape == (2, 25)
    assert AddGRFPE(dim=22, kind="profile")(graph).grf_pe.shape == (2, 22)
    with pytest.raises(InputError, match=r"above 21.*3 kernels and 7 features, found 4"):
        AddProfilePE(dim=4)(graph)


# Landmarks.


def encoded(graph, **options):
    matrix = nx.to_numpy_array(graph) if isinstance(graph, nx.Graph) else graph
    return grf_pe([data(matrix)], kind="landmark", **EXACT, **options)[0].numpy()


def test_the_hub_comes_first_and_then_the_farthest():
    """A star with one long ray: the end of the ray is farthest from the hub."""
    graph = nx.star_graph(8)
    nx.add_path(graph, [8, 9, 10, 11, 12, 13])
    pe = encoded(graph, dim=3)
    assert pe[:, 0].argmax() == 0
    assert pe[13, 1] == pytest.approx(1)
    assert (np.diff(pe[[0, 8, 9, 10, 11, 12], 1]) > 0).all()
    assert (np.diff(pe[[0, 8, 9, 10, 11, 12, 13], 0]) < 0).all()


def test_closeness_is_the_logarithm_of_the_kernel():
    graph = nx.relabel_nodes(nx.lollipop_graph(6, 5), {i: 10 - i for i in range(11)})
    matrix = nx.to_numpy_array(graph, nodelist=range(11))
    pe = encoded(matrix, kernel="heat:2", dim=2)
    K = Diffusion(2.0).exact(Graph(matrix).normalized("sym"))
    landmark = int((K.sum(axis=1)).argmax())
    mass = K[:, landmark] / np.sqrt(matrix.sum(axis=1))
    expected = 1 - np.log(np.maximum(mass / mass[landmark], 1e-5)) / np.log(1e-5)
    assert np.abs(pe[:, 0] - expected).max() < 1e-6
    assert pe[:, 1].argmax() == pe[:, 0].argmin()


def test_nodes_that_tie_are_one_landmark():
    ring = encoded(nx.cycle_graph(7), dim=3)
    assert np.allclose(ring, [1, 0, 0])
    path = encoded(nx.path_graph(9), dim=4)
    assert np.allclose(path, path[::-1])
    lonely = AddLandmarkPE(dim=3).transform_all([data(np.zeros((n, n))) for n in (1, 4)])
    assert [each.landmark_pe.unique(dim=0).tolist() for each in lonely] == [[[1, 0, 0]]] * 2


def test_other_components_have_landmarks_of_their_own():
    pe = encoded(nx.disjoint_union(nx.path_graph(6), nx.cycle_graph(4)), dim=2)
    first, second = (set(np.flatnonzero(column > 1e-9)) for column in pe.T)
    assert {frozenset(first), frozenset(second)} == {frozenset(range(6)), frozenset(range(6, 10))}


test_bad_options_of_returns_are_refused = bad_values(
    partial(AddGRFPE, kind="return"),
    dim=[0, 1000],
    lengths=[[], 3, [0]],
    kernel=["heat:700", []],
)
test_bad_options_are_refused = refused(
    {
        "dim and lengths": [
            lambda: AddGRFPE(kind="return", dim=4, lengths=[1]),
            lambda: AddGRFPE(kind="profile", dim=4, lengths=[1]),
        ]
    },
    normalization=lambda: AddGRFPE(kind="smooth", normalization="col"),
    kernel=[
        lambda: AddGRFPE(kind="smooth", kernel="diffusion:5", scale=900),
        lambda: AddGRFPE(kind="contrast", kernel={"heat:1", "heat:4"}),
        lambda: AddGRFPE(kind="profile", kernel="heat:1e-11"),
    ],
    dim=lambda: AddGRFPE(kind="landmark", dim=0),
)


@pytest.mark.parametrize("kind", ["smooth", "profile"])
@pytest.mark.parametrize(
    ("dtype", "x"),
    [
        (torch.float64, 1.7e308 * torch.tensor([[1.0], [-1.0], [1.0]]).double()),
        (torch.float16, 1e6 * torch.eye(3)),
    ],
)
def test_encodings_out_of_range_are_refused(kind, dtype, x):
    path = data(nx.to_numpy_array(nx.path_graph(3)), x=x)
    with pytest.raises(InputError, match="exceed the range"):
        AddGRFPE(kind=kind, dtype=dtype)(path)
