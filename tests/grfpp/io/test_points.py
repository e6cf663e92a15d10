"""Points become graphs of nearest neighbours; matrices made from points are recognised."""

import sys
import warnings
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import kneighbors_graph, radius_neighbors_graph

import grfpp
from grfpp import Graph, InputError
from grfpp.errors import InputWarning
from grfpp.io import points as module
from grfpp.io.points import neighbour_graph, neighbours_note


def points(n=60, d=3, seed=0, kind="normal"):
    rng = np.random.default_rng(seed)
    if kind == "heavy":
        return rng.standard_t(2, size=(n, d))
    if kind == "clusters":
        return 3 * rng.normal(size=(5, d))[rng.integers(0, 5, n)] + rng.normal(size=(n, d))
    return getattr(rng, "normal" if kind == "normal" else "random")(size=(n, d))


def by_hand(X, k, metric="euclidean"):
    D = pairwise_distances(X, metric=metric)
    np.fill_diagonal(D, np.inf)
    order = np.argsort(D, axis=1)[:, :k]
    s = np.sort(D, axis=1)[:, k - 1]
    A = np.zeros(D.shape)
    for i, js in enumerate(order):
        A[i, js] = np.exp(-(D[i, js] ** 2) / (s[i] * s[js]))
    return A


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
@pytest.mark.parametrize("k", [1, 4, 59])
def test_the_rule_by_hand(metric, k):
    X = points()
    arcs = by_hand(X, k, metric)
    both = {"max": np.maximum, "mutual": np.minimum, "mean": lambda a, b: (a + b) / 2}
    for how, combine in both.items():
        graph = Graph.from_points(X, k, metric, symmetrize=how)
        np.testing.assert_allclose(graph.adjacency.toarray(), combine(arcs, arcs.T), atol=1e-9)
        assert not graph.is_directed
    directed = Graph.from_points(X, k, metric, symmetrize=None)
    np.testing.assert_allclose(directed.adjacency.toarray(), arcs, atol=1e-9)


def test_default_and_sampling():
    graph = Graph.from_points(points(200))
    assert (graph.out_degree >= 10).all()
    assert (graph.meta["n_neighbors"], graph.meta["method"]) == (10, "exact")
    assert (graph.meta["symmetrize"], graph.meta["package"]) == ("max", "scikit-learn")
    assert graph.normalized().meta == graph.meta
    K = grfpp.sample(graph, grfpp.Diffusion(0.1), seed=0)
    assert np.isfinite(K.toarray()).all()


def test_sparse_points_and_frames():
    X = points() * (np.abs(points()) > 0.5)
    dense, sparse = (Graph.from_points(each, 4) for each in (X, sp.csr_matrix(X)))
    np.testing.assert_allclose(dense.adjacency.toarray(), sparse.adjacency.toarray(), atol=1e-9)
    pd = pytest.importorskip("pandas")
    named = Graph.from_points(pd.DataFrame(X, index=[f"p{i}" for i in range(60)]), 4)
    assert named.index("p7") == 7
    assert Graph.from_points(pd.DataFrame(X), 4).node_ids is None


def test_copies_and_outliers():
    X = np.repeat(points(10), 4, axis=0)
    for k in (2, 3, 6):  # fewer neighbours than copies, as many, more
        A = Graph.from_points(X, k).adjacency.toarray()
        assert A.max() <= 1 and (A.diagonal() == 0).all()
        assert (A[0, 1:4] == 1).sum() >= min(k, 3) - 1
    assert (Graph.from_points(np.zeros((8, 2)), 3).weights == 1).all()
    far = np.vstack([points(30) * 1e-3, [[1e6, 0, 0]]])
    assert Graph.from_points(far, 4).out_degree[-1] == 4


@pytest.mark.parametrize(
    ("X", "options", "argument"),
    [
        (points(5), {"n_neighbors": 5}, "n_neighbors"),
        ([[0.0, 1.0], [np.nan, 2.0], [3, 4]], {}, "X"),
        (sp.csr_matrix([[0, 1.0], [0, 0], [0, np.nan]]), {}, "X"),
        ([1.0, 2.0, 3.0], {}, "X"),
        ([["a"], ["b"]], {}, "X"),
        (points(), {"metric": "fish"}, None),
        (points() * 1e200, {}, None),
        (points(), {"symmetrize": "min"}, "symmetrize"),
        (points(), {"method": "fast"}, "method"),
        (points(), {"seed": -1}, "seed"),
    ],
)
def test_refused(X, options, argument):
    with pytest.raises(InputError) as caught:
        Graph.from_points(X, **options)
    assert caught.value.argument == argument


class FakeNNDescent:
    """As pynndescent answers: each point among its own neighbours, mostly first."""

    def __init__(self, X, metric, n_neighbors, random_state):
        D = pairwise_distances(X, metric=metric)
        order = np.argsort(D, axis=1, kind="stable")[:, :n_neighbors]
        self.neighbor_graph = order.astype(np.int32), np.take_along_axis(D, order, 1).astype("f4")


def test_approximate_search(monkeypatch):
    """Pynndescent itself compiles for a minute; it was compared by hand."""
    monkeypatch.setitem(sys.modules, "pynndescent", SimpleNamespace(NNDescent=FakeNNDescent))
    X = np.vstack([points(40, 20), np.repeat(points(2, 20, 1), 6, axis=0)])
    for k in (3, 10):
        found = Graph.from_points(X, k, method="approximate")
        exact = Graph.from_points(X, k, method="exact")
        assert found.meta["package"] == "pynndescent"
        assert (found.adjacency.diagonal() == 0).all()
        if k == 10:  # of more copies than neighbours any may be taken
            both = (each.adjacency.toarray() for each in (found, exact))
            np.testing.assert_allclose(*both, atol=1e-5)


def test_which_search_is_used(monkeypatch):
    monkeypatch.setattr(module, "_MANY_POINTS", 50)
    monkeypatch.setitem(sys.modules, "pynndescent", SimpleNamespace(NNDescent=FakeNNDescent))
    for missing, n, d, method in (
        ([], 60, 20, "approximate"),
        ([], 60, 3, "exact"),
        ([], 40, 20, "exact"),
        (["pynndescent"], 60, 20, "exact"),
    ):
        monkeypatch.setattr(module, "missing_packages", lambda *_, missing=missing: missing)
        assert neighbour_graph(points(n, d))[2]["method"] == method
    monkeypatch.setitem(sys.modules, "pynndescent", None)
    with pytest.raises(InputError, match=r"needs pynndescent.*\.\[points\]"):
        Graph.from_points(points(), method="approximate")


# --- neighbours -----------------------------------------------------------------------------------


def note(matrix):
    canonical = sp.csr_array(matrix, dtype=float, copy=True)
    canonical.sum_duplicates()
    canonical.eliminate_zeros()
    return str(neighbours_note(canonical) or "")


@pytest.mark.parametrize("d", [1, 2, 10, 200])
@pytest.mark.parametrize("k", [2, 7, 15])
@pytest.mark.parametrize("include_self", [True, False])
def test_nearest_neighbours_are_noted(d, k, include_self):
    X = points(150, d)
    options = {"n_neighbors": k + include_self, "include_self": include_self}
    for mode in ("connectivity", "distance"):
        words = f"directed graph of the {k} nearest neighbours"
        assert words in note(kneighbors_graph(X, mode=mode, **options))


def test_other_forms_of_the_same_and_what_is_fine():
    X = points(150, 2)
    distances = kneighbors_graph(X, 5, mode="distance")
    assert "the 5 nearest" in note(distances.T)  # from the neighbours, as in PyG
    assert "the 5 nearest" in note(np.float32(distances.toarray()))
    rows = Graph(kneighbors_graph(X, 5), directed=True).normalized("rw")
    assert "nearest neighbours" in note(rows.adjacency)
    for undirected in (distances.maximum(distances.T), radius_neighbors_graph(X, 0.5)):
        assert note(undirected) == ""
    assert note(kneighbors_graph(points(19, 2), 3)) == ""  # so few that it may be chance
    assert note(kneighbors_graph(X, 1)) == ""


@pytest.mark.parametrize(
    "graph",
    [
        nx.random_k_out_graph(200, 5, 1.0, seed=0, self_loops=False),
        nx.DiGraph(nx.gnp_random_graph(200, 0.05, seed=0, directed=True)),
        nx.scale_free_graph(200, seed=0),
        nx.DiGraph(nx.random_regular_graph(4, 100, seed=0)),
        nx.grid_2d_graph(15, 15, periodic=True),
        nx.cycle_graph(50, create_using=nx.DiGraph),
        nx.DiGraph([(i, (i + s) % 60) for i in range(60) for s in (-1, 1, 2)]),
    ],
    ids=str,
)
def test_other_graphs_are_not(graph):
    matrix = sp.csr_array(nx.to_scipy_sparse_array(graph), dtype=float)
    assert note(matrix) == ""
    matrix.data = np.random.default_rng(0).uniform(0.1, 2, matrix.nnz)
    assert note(matrix) == ""


def test_the_note_about_neighbours(tmp_path):
    matrix = kneighbors_graph(points(150, 2), 5, mode="distance")
    with pytest.warns(InputWarning, match=r"Graph\.from_points") as caught:
        graph = Graph(matrix)
    assert caught[0].filename == __file__
    with pytest.warns(InputWarning, match="symmetrize='max'"):
        Graph((np.stack(matrix.nonzero()), None))
    says_so = nx.DiGraph(matrix)
    nx.write_graphml(says_so, tmp_path / "g.graphml")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Graph(matrix, directed=True).is_directed  # meant so
        assert not Graph(matrix, symmetrize="max").is_directed
        Graph(graph).normalized("rw").reversed()
        assert Graph(says_so).is_directed and Graph(tmp_path / "g.graphml").is_directed
