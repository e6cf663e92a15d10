"""Graphs whose edges change are those made anew from all edges, and so are local answers."""

import pickle

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from grfpp import Diffusion, Graph, InputError, LocalKernel, PersonalizedPageRank, sample

KERNELS = (("sym", Diffusion(2.0)), ("rw", PersonalizedPageRank(0.15)), (None, Diffusion(0.1)))


def graph_of(kind):
    graph = nx.gnp_random_graph(80, 0.08, seed=3, directed="arcs" in kind)
    matrix = nx.to_scipy_sparse_array(graph, dtype=float).tocsr()
    if "weighted" in kind:
        matrix.data = np.random.default_rng(1).lognormal(size=matrix.nnz)
        matrix = matrix if "arcs" in kind else sp.triu(matrix) + sp.triu(matrix, 1).T
    if "twos" in kind:
        matrix.data[:] = 2.0
    return Graph(matrix.tocsr())


KINDS = ("plain", "weighted", "twos", "arcs", "weighted arcs", "twos, arcs")


def change(matrix, directed, new_weights, seed=0, n_new=2):
    """Random changes, and the matrix after them: edges, loops and new nodes."""
    random, n = np.random.default_rng(seed), len(matrix) + n_new
    after = np.zeros((n, n))
    after[: len(matrix), : len(matrix)] = matrix
    rows, columns = np.nonzero(matrix if directed else np.triu(matrix))
    chosen = random.permutation(len(rows))[:30]
    removed = np.array([rows[chosen[:15]], columns[chosen[:15]]])
    changed = np.array([rows[chosen[15:]], columns[chosen[15:]]])
    free = np.argwhere((after == 0) if directed else np.triu(after == 0))
    free = free[(free != n - 1).all(axis=1) & (free != n - 2).all(axis=1)]
    added = np.vstack(
        [random.permutation(free)[:20], [(0, n - 2), (n - 2, n - 1), (n - 1, n - 1)]]
    ).T
    weights, others = new_weights(random, 23), new_weights(random, 15)
    for (u, v), values in ((removed, 0.0), (changed, others), (added, weights)):
        after[u, v] = values
        if not directed:
            after[v, u] = values
    return {"add": (added, weights), "remove": removed, "reweight": (changed, others)}, after


def lognormal(random, size):
    return random.lognormal(size=size)


def equal(weight):
    return lambda random, size: np.full(size, weight)


def assert_same_answers(one, other, kernels=KERNELS):
    for normalization, kernel in kernels:
        pair = [graph.normalized(normalization) for graph in (one, other)]
        # Few edges: the answers are sampled.
        near = [LocalKernel(W, kernel, budget=40, seed=5, n_jobs=1) for W in pair]
        nodes = np.arange(one.n_nodes)
        assert (near[0].rows(nodes) != near[1].rows(nodes)).nnz == 0
        for this, that in zip(*(each.top_k(nodes, 5) for each in near), strict=True):
            np.testing.assert_array_equal(this, that)
        if normalization is not None:
            assert "indices" not in pair[0].__dict__  # nothing was merged
            assert one.n_edges == other.n_edges
        seeds, others = {0: 2.0, one.n_nodes - 1: 1.0}, np.arange(0, one.n_nodes, 2)
        asked = {"seeds": seeds, "k": 5, "normalize": "degree", "among": others}
        for this, that in zip(*(each.top_k(**asked) for each in near), strict=True):
            np.testing.assert_array_equal(this, that)
        blocks = [each.block(nodes[:4], nodes[-3:], True) for each in near]
        np.testing.assert_array_equal(*blocks)


def assert_same_graph(one, other):
    assert (one.n_nodes, repr(one)) == (other.n_nodes, repr(other))
    for graph, again in [
        (one, other),
        *((one.normalized(k), other.normalized(k)) for k in ("sym", "rw")),
    ]:
        for part in ("indptr", "indices", "weights", "_root_strength", "is_directed", "n_edges"):
            np.testing.assert_array_equal(getattr(graph, part), getattr(again, part))
    assert (one.reversed().adjacency != other.reversed().adjacency).nnz == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weights", ["equal", "lognormal"])
def test_answers_are_those_of_the_graph_made_anew(kind, weights):
    graph = graph_of(kind)
    before = graph.adjacency.copy()
    new = lognormal if weights == "lognormal" else equal(2.0 if "twos" in kind else 1.0)
    changes, after = change(graph.adjacency.toarray(), graph.is_directed, new)
    if weights == "equal" and "weighted" not in kind:
        del changes["reweight"]
    later, anew = graph.updated(**changes), Graph(sp.csr_array(after))
    assert_same_answers(later, anew)
    assert_same_graph(later, anew)
    assert_same_answers(pickle.loads(pickle.dumps(graph.updated(**changes))), anew)
    assert (graph.adjacency != before).nnz == 0


@pytest.mark.parametrize("kind", ["plain", "weighted arcs"])
def test_updates_of_updates(kind):
    graph = graph_of(kind)
    later, matrix = graph, graph.adjacency.toarray()
    for seed in range(4):
        changes, matrix = change(matrix, graph.is_directed, lognormal, seed, n_new=2)
        later = later.updated(**changes)
    anew = Graph(sp.csr_array(matrix))
    assert_same_answers(later, anew)
    assert_same_graph(later, anew)
    assert later._form.base is graph


def test_removing_what_was_added_gives_the_graph_back():
    graph = graph_of("plain")
    u, v = map(int, np.argwhere(np.triu(graph.adjacency.toarray() == 0, 1))[0])
    later = graph.updated(add=[(u, v)]).updated(remove=[(v, u)])
    assert_same_graph(later, graph)
    assert_same_answers(later, graph)
    edges = sp.triu(graph.adjacency).tocoo().coords
    empty = graph.updated(remove=np.array(edges))
    assert empty.n_edges == 0 and empty.normalized("sym").adjacency.nnz == 0
    assert LocalKernel(empty.normalized("sym"), "diffusion:1", seed=0).entry(0, 0) == 1.0


def test_all_else_sees_the_merged_graph():
    changes, after = change(graph_of("weighted").adjacency.toarray(), False, lognormal)
    later = graph_of("weighted").updated(**changes)
    pair = [graph.normalized("sym") for graph in (later, Graph(sp.csr_array(after)))]
    one, other = (sample(W, Diffusion(1.0), seed=0).toarray() for W in pair)
    np.testing.assert_array_equal(one, other)
    assert pair[0].spectral_radius() == pair[1].spectral_radius() == 1.0


def test_names():
    graph = Graph([("a", "b"), ("b", "c")])
    later = graph.updated(add=[("c", "x"), ("y", "x")]).updated(add=[("z", "a")])
    assert later.node_ids == ["a", "b", "c", "x", "y", "z"] and graph.node_ids == ["a", "b", "c"]
    assert later.index(["z", "a"]).tolist() == [5, 0] and later.node_ids[-2:] == ["y", "z"]
    assert LocalKernel(later.normalized(), "diffusion:1").entry("z", "a") > 0
    with pytest.raises(InputError, match="the closest is 'x'"):
        later.index("xx")
    years = Graph([(1999, 2004), (2004, 2024)])
    assert years.updated(add=[(2024, 2030)]).index(2030) == 3
    assert Graph([(0, 1)]).updated(add=[(1, 2), (3, 2)]).n_nodes == 4


NAMED, NUMBERED = Graph([("a", "b", 2.0), ("b", "c", 1.0)]), Graph([(0, 1), (1, 2)])


@pytest.mark.parametrize(
    ("graph", "changes", "problem"),
    [
        (NAMED, {"add": [("b", "a")]}, "add lists 'b' - 'a', which is an edge already; pass rew"),
        (NAMED, {"add": [("x", "y"), ("y", "x")]}, "list the edge 'x' - 'y' more than once"),
        (NAMED, {"add": [("x", "y")], "remove": [("x", "y")]}, "more than once"),
        (NAMED, {"remove": [("a", "b")], "reweight": [("a", "b", 1.0)]}, "more than once"),
        (NAMED, {"add": [("a", "c", 0.0)]}, "positive, finite weights, found 0; pass remove"),
        (NAMED, {"add": [("a", "c", np.nan)]}, "positive, finite weights, found nan"),
        (NAMED, {"add": [("a", "c", "w")]}, "add must have numbers for weights"),
        (NAMED, {"add": [("a", 7)]}, "names of nodes are text in this graph, found 7"),
        (NAMED, {"add": [(["a"], "c")]}, "hashable"),
        (NAMED, {"add": [("a",)]}, r"add must be a list of tuples \(u, v, weight\)"),
        (NAMED, {"add": "ab"}, "edge_index of shape"),
        (NAMED, {"add": ([[0, 1], [2]], [1.0])}, "edge_index of shape"),
        (NAMED, {"add": (np.array([[0], [9]]), [1.0])}, "name nodes from 0 to 2, found 9"),
        (NAMED, {"add": (np.array([[0], [2]]), [1.0, 2.0])}, "1 weights, one for each edge"),
        (NAMED, {"remove": [("a", "c")]}, "remove lists 'a' - 'c', which is no edge"),
        (NAMED, {"remove": [("a", "x")]}, "no node is named 'x'"),
        (NAMED, {"remove": [("a", "b", 1.0)]}, r"remove must be a list of tuples \(u, v\)"),
        (NAMED, {"reweight": [("a", "c", 1.0)]}, "which is no edge; pass add for new edges"),
        (NAMED, {"reweight": np.array([[0], [1]])}, "reweight must have a weight for each edge"),
        (NUMBERED, {"add": [(0, 5)]}, "number new nodes from 3 on without gaps, found 5"),
        (NUMBERED, {"add": [(0, -1)]}, "found -1"),
        (NUMBERED, {"add": [("a", 1)]}, "whole numbers, the indices of nodes, found 'a'"),
        (NUMBERED, {"add": [(True, False)]}, "whole numbers, the indices of nodes, found True"),
        (NUMBERED, {"add": [(0, 2**70)]}, "whole numbers, the indices of nodes, found 1180"),
        (NUMBERED, {"remove": [(0, 3)]}, "name nodes from 0 to 2, found 3"),
        (NUMBERED.normalized(), {"add": [(0, 2)]}, "normalised; update the graph, then norm"),
        (NUMBERED.updated(add=[(0, 2)]).normalized(), {"remove": [(0, 1)]}, "normalised"),
        (NUMBERED.updated(add=[(0, 2)]).normalized(None, 0.5), {"remove": [(0, 1)]}, "normalised"),
    ],
)
def test_what_is_refused(graph, changes, problem):
    with pytest.raises(InputError, match=problem) as caught:
        graph.updated(**changes)
    assert "\n" not in str(caught.value)


def test_nothing_changes():
    assert NAMED.updated(add=[], remove=np.empty((2, 0), int), reweight=[]) is NAMED
    later = NAMED.updated(add=[("c", "a")])
    assert later.updated() is later
