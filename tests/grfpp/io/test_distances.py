import warnings

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from grfpp.errors import InputWarning
from grfpp.graph import Graph
from grfpp.io.distances import distances_note


def points(kind, n, d, seed):
    rng = np.random.default_rng(seed)
    if kind == "heavy":
        return rng.standard_t(2, size=(n, d))
    if kind == "clusters":
        return 3 * rng.normal(size=(5, d))[rng.integers(0, 5, n)] + rng.normal(size=(n, d))
    return getattr(rng, "normal" if kind == "normal" else "random")(size=(n, d))


def is_told(matrix):
    matrix = np.array(matrix, dtype=float)
    np.fill_diagonal(matrix, 0)
    return distances_note(sp.csr_array((matrix + matrix.T) / 2)) is not None


KINDS = pytest.mark.parametrize("kind", ["normal", "uniform", "clusters", "heavy"])


@KINDS
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "sqeuclidean", "cityblock"])
@pytest.mark.parametrize(("n", "d"), [(20, 2), (20, 3), (30, 10), (60, 100), (300, 1000)])
def test_distances_are_told(kind, metric, n, d):
    X = points(kind, n, d, seed=1)
    assert is_told(cdist(X, X, metric))


@pytest.mark.parametrize(
    "graph",
    [
        nx.balanced_tree(3, 3),
        nx.grid_2d_graph(5, 8),
        nx.cycle_graph(30),
        nx.barabasi_albert_graph(60, 2, seed=0),
        nx.random_regular_graph(4, 60, seed=0),
        nx.connected_watts_strogatz_graph(50, 4, 0.1, seed=0),
        nx.les_miserables_graph(),
    ],
)
def test_lengths_of_paths_are_told(graph):
    assert is_told(nx.floyd_warshall_numpy(graph, weight=None))


@KINDS
@pytest.mark.parametrize("d", [1, 2, 3, 10, 100, 1000])
@pytest.mark.parametrize("n", [10, 20, 60])
def test_affinities_are_not(kind, n, d):
    X = points(kind, n, d, seed=2)
    D = cdist(X, X)
    for width in (0.1, 0.5, 1, 3, 30):
        assert not is_told(np.exp(-((D / (width * np.median(D))) ** 2)) + 1e-300)
    cosine = 1 - cdist(X, X, "cosine")
    for other in (np.abs(X) @ np.abs(X).T, 1 + cosine + 1e-9, np.abs(cosine), 1 / (D + 1e-9)):
        assert not is_told(other)


@pytest.mark.parametrize("n", [10, 15, 20, 60])
def test_numbers_without_a_meaning_are_not(n):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        of_nodes, group = rng.uniform(1, 2, n), rng.integers(0, 3, n)
        for matrix in (
            np.ones((n, n)),
            np.triu(rng.random((n, n)) + 1),
            np.triu(rng.integers(1, 4, (n, n))),
            np.triu(rng.lognormal(size=(n, n))),
            np.outer(of_nodes, of_nodes),
            np.add.outer(of_nodes, of_nodes),
            1 + np.equal.outer(group, group),
        ):
            assert not is_told(matrix)


def test_edges_without_weights_are_no_distances():
    for graph in (
        nx.complete_multipartite_graph(*[2] * 30),
        nx.complement(nx.path_graph(50)),
        nx.complement(nx.cycle_graph(60)),
        nx.complete_graph(20),
    ):
        assert not is_told(nx.to_numpy_array(graph))


def test_copies_diagonals_and_sizes():
    X = points("normal", 60, 3, seed=3)
    assert is_told(cdist([*X, *X[:3]], [*X, *X[:3]]))
    distances = np.float32(cdist(X, X))
    assert is_told(distances)
    distances[np.diag_indices(60)] = 1e-7  # by rounding
    assert distances_note(sp.csr_array(distances.astype(float))) is not None
    distances[np.diag_indices(60)] = 1  # as of affinities
    assert distances_note(sp.csr_array(distances.astype(float))) is None
    far = cdist(X, X) * (cdist(X, X) > 1)
    assert not is_told(far)  # not of all pairs
    large = points("normal", 1500, 2, seed=4)
    assert is_told(cdist(large, large) * 1e200)
    assert not is_told(cdist(X[:9], X[:9]))


def test_the_note_says_what_to_do(tmp_path):
    X = points("normal", 30, 2, seed=5)
    D = cdist(X, X)
    graph = nx.from_numpy_array(D)
    nx.write_weighted_edgelist(graph, tmp_path / "all.txt")
    for source in (D, sp.coo_array(D), graph, tmp_path / "all.txt"):
        with pytest.warns(
            InputWarning, match=r"distances between all.*from_points.*exp\(-d\*\*2"
        ) as told:
            Graph(source)
        assert len(told) == 1
        assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        meant = Graph(D, directed=False)
        assert Graph(meant).n_edges == Graph(D, symmetrize="max").n_edges == 435


def test_distances_by_torch():
    torch = pytest.importorskip("torch")
    X = torch.tensor(points("normal", 60, 3, seed=6), dtype=torch.float32)
    with pytest.warns(InputWarning, match="distances between all"):
        Graph(torch.cdist(X, X, compute_mode="use_mm_for_euclid_dist"))
