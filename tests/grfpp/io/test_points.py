"""Points become graphs of nearest neighbours."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import pairwise_distances

import grfpp
from grfpp import Graph, InputError
from grfpp.io import points as module
from grfpp.io.points import neighbour_graph


def points(n=60, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


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
    assert graph.meta == {
        "n_neighbors": 10,
        "metric": "euclidean",
        "symmetrize": "max",
        "method": "exact",
        "package": "scikit-learn",
    }
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


def test_copies_of_points():
    X = np.repeat(points(10), 4, axis=0)
    for k in (2, 3, 6):  # fewer neighbours than copies, as many, more
        graph = Graph.from_points(X, k)
        assert (graph.weights > 0).all() and (graph.weights <= 1).all()
        A = graph.adjacency.toarray()
        assert (A.diagonal() == 0).all() and (A[0, 1:4] == 1).sum() >= min(k, 3) - 1
    same = Graph.from_points(np.zeros((8, 2)), 3)
    assert (same.weights == 1).all()


def test_outliers_keep_their_edges():
    X = np.vstack([points(30) * 1e-3, [[1e6, 0, 0]]])
    assert Graph.from_points(X, 4).out_degree[-1] == 4


@pytest.mark.parametrize(
    ("X", "options", "told"),
    [
        (points(5), {"n_neighbors": 5}, "n_neighbors must be below the number of points, 5, found"),
        (points(5), {"n_neighbors": 0}, "n_neighbors must be a whole number >= 1"),
        (
            [[0.0, 1.0], [np.nan, 2.0], [3, 4]],
            {},
            "X must be finite, found NaN or infinity in row 1",
        ),
        ([[0.0], [1.0], [np.inf]], {}, "in row 2"),
        (sp.csr_matrix([[0, 1.0], [0, 0], [0, np.nan]]), {}, "in row 2"),
        ([1.0, 2.0, 3.0], {}, "X must be points, a row each"),
        ([["a"], ["b"]], {}, "X must be points, a row each"),
        (points(), {"metric": "fish"}, "no neighbours with metric='fish'"),
        (points() * 1e200, {}, "distances leave the range of floating point"),
        (points(), {"symmetrize": "min"}, "symmetrize must be"),
        (points(), {"method": "fast"}, "method must be"),
        (points(), {"seed": -1}, "seed must be"),
    ],
)
def test_refused(X, options, told):
    with pytest.raises(InputError, match=told):
        Graph.from_points(X, **options)


class FakeNNDescent:
    """As pynndescent answers: each point among its own neighbours, mostly first."""

    def __init__(self, X, metric, n_neighbors, random_state):
        D = pairwise_distances(X, metric=metric)
        order = np.argsort(D, axis=1, kind="stable")[:, :n_neighbors]
        self.neighbor_graph = order.astype(np.int32), np.take_along_axis(D, order, 1).astype("f4")
        self.random_state = random_state


def test_approximate_search(monkeypatch):
    """Pynndescent itself compiles for a minute; it was compared by hand."""
    monkeypatch.setitem(sys.modules, "pynndescent", SimpleNamespace(NNDescent=FakeNNDescent))
    X = np.vstack([points(40, 20), np.repeat(points(2, 20, 1), 6, axis=0)])
    for k in (3, 10):
        found = Graph.from_points(X, k, method="approximate")
        exact = Graph.from_points(X, k, method="exact")
        assert found.meta["package"] == "pynndescent"
        if k == 10:  # of more copies than neighbours any may be taken
            np.testing.assert_allclose(
                found.adjacency.toarray(), exact.adjacency.toarray(), atol=1e-5
            )
        assert (found.adjacency.diagonal() == 0).all()


def test_which_search_is_used(monkeypatch):
    monkeypatch.setattr(module, "_MANY_POINTS", 50)
    monkeypatch.setattr(module, "missing_packages", lambda *names: [])
    monkeypatch.setitem(sys.modules, "pynndescent", SimpleNamespace(NNDescent=FakeNNDescent))
    assert neighbour_graph(points(60, 20)).meta["method"] == "approximate"
    assert neighbour_graph(points(60, 3)).meta["method"] == "exact"
    assert neighbour_graph(points(40, 20)).meta["method"] == "exact"
    monkeypatch.setattr(module, "missing_packages", lambda *names: list(names))
    assert neighbour_graph(points(60, 20)).meta["method"] == "exact"


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynndescent", None)
    with pytest.raises(InputError, match=r"needs pynndescent.*\.\[points\]"):
        Graph.from_points(points(), method="approximate")
