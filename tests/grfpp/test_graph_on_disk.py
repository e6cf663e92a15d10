"""Graphs on disk are the same as in memory, to the last bit, whatever is asked of them."""

import pickle

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from io_helpers import weight_matrices
from little_memory import only

import grfpp
from grfpp import Diffusion, Graph, InputError, RegularizedLaplacian

FORMS = [(kind, scale) for kind in ("sym", "rw", None) for scale in (1.0, 0.7)]


def sources():
    rng = np.random.default_rng(0)
    weighted = sp.random_array((60, 60), density=0.05, rng=rng, format="csr")
    equal = weighted.copy()
    equal.data[:] = 0.3
    one = weighted.copy()
    one.data[:] = 2.0
    return {
        "weighted": Graph(nx.karate_club_graph()),
        "plain": Graph(nx.gnp_random_graph(60, 0.1, seed=1)),
        "directed": Graph(nx.gnp_random_graph(60, 0.05, seed=1, directed=True)),
        "directed, weighted": Graph(weighted, directed=True),
        "equal, no power of two": Graph(equal, directed=True),
        "all 2": Graph(one, directed=True),
        "symmetric once normalised": Graph([[0, 2.0], [1, 0]], directed=True),
        "regular": Graph(nx.cycle_graph(9)),
        "loops": Graph([[1, 1.0], [1, 0]]),
        "no edge": Graph(np.zeros((3, 3))),
        "huge weights": Graph([[0, 1e200, 0], [1e200, 0, 3e200], [0, 3e200, 0]]),
        "names": Graph([("a", "b"), ("b", "é"), ("x", "a")], directed=True),
    }


SOURCES = sources()


def saved(graph, folder):
    graph.save(folder / "graph.grf")
    return Graph.open(folder / "graph.grf")


def assert_same(one, other):
    assert repr(one) == repr(other)
    for part in ("indptr", "indices", "weights", "_root_strength"):
        np.testing.assert_array_equal(getattr(one, part), getattr(other, part))
    for graph in (one, other):
        rule = graph.scaled.fill(graph.indptr, graph.indices)
        np.testing.assert_array_equal(rule, graph.weights)


@pytest.mark.filterwarnings("ignore:weights are normalised twice")
@pytest.mark.parametrize("name", SOURCES)
def test_all_forms_are_the_same(tmp_path, name):
    memory = SOURCES[name]
    disk = saved(memory, tmp_path)
    assert_same(memory, disk)
    for kind, scale in FORMS:
        one, other = memory.normalized(kind, scale), disk.normalized(kind, scale)
        assert_same(one, other)
        assert one.__dict__.get("_spectral_radius") == other.__dict__.get("_spectral_radius")
        assert_same(one.reversed(), other.reversed())
        assert_same(one.reversed().reversed(), other.reversed().reversed())
        assert_same(one.normalized("sym"), other.normalized("sym"))
    turned, back = memory.reversed(), disk.reversed()
    assert_same(turned, back)
    for kind in ("sym", "rw"):
        assert_same(turned.normalized(kind), back.normalized(kind))


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(weight_matrices(), st.sampled_from(FORMS))
def test_any_matrix(tmp_path_factory, matrix, form):
    memory = Graph(matrix, directed=None if (matrix == matrix.T).all() else True)
    disk = saved(memory, tmp_path_factory.mktemp("any"))
    assert_same(memory, disk)
    assert_same(memory.normalized(*form), disk.normalized(*form))
    assert_same(memory.normalized(*form).reversed(), disk.normalized(*form).reversed())


@pytest.mark.parametrize("name", ["plain", "directed"])
def test_nothing_is_computed_before_it_is_needed(tmp_path, monkeypatch, name):
    W = saved(SOURCES[name], tmp_path).normalized("sym")
    assert W.scaled.base is None and W.scaled.kind == "sym"
    assert W.n_nodes and W.n_edges and W.is_directed == (name == "directed") and repr(W)
    assert not {"weights", "out_degree", "_root_strength"} & set(vars(W))
    for array in (W.indptr, W.indices):
        assert isinstance(array.base, np.memmap) and not array.flags.writeable
    only(monkeypatch, 10)
    with pytest.raises(InputError, match=rf"the weights of {len(W.indices)}"):
        _ = W.weights


@pytest.mark.parametrize("name", ["weighted", "plain", "directed", "directed, weighted", "names"])
def test_pickles_hold_the_path_and_nothing_else(tmp_path, name):
    disk = saved(SOURCES[name], tmp_path)
    for graph in (disk, disk.normalized("rw", 0.5), disk.normalized("rw").reversed()):
        packed = pickle.dumps(graph)
        assert len(packed) < 700
        assert_same(pickle.loads(packed), graph)
    radius = disk.normalized("sym").spectral_radius()
    again = pickle.loads(pickle.dumps(disk.normalized("sym")))
    assert again.spectral_radius() == pytest.approx(radius, rel=1e-7)
    assert pickle.loads(pickle.dumps(disk.names)).numbers([0, 1]).tolist() == [0, 1]


def test_a_folder_that_has_become_another_graph(tmp_path):
    disk = saved(SOURCES["plain"], tmp_path)
    W, packed = disk.normalized("sym"), pickle.dumps(disk)
    before = W.indices.copy()
    operator = grfpp.kernel_operator(W, Diffusion(1.0), method="chebyshev")
    operator @ np.ones(60)
    saved(SOURCES["weighted"], tmp_path)
    for use in (
        lambda: disk.normalized("rw").weights,
        lambda: grfpp.sample(W, Diffusion(1.0)),
        W.require_unchanged,
        lambda: operator @ np.ones(60),
        lambda: Diffusion(1.0).apply(W, np.ones(60)),
        lambda: grfpp.sample_submatrix(W, Diffusion(1.0), [0]),
        lambda: pickle.loads(packed),
    ):
        with pytest.raises(InputError, match=r"graph\.grf has changed since it was opened"):
            use()
    np.testing.assert_array_equal(before, W.indices)  # maps keep what was there


@pytest.mark.parametrize("kind", ["sym", "rw"])
@pytest.mark.parametrize("name", ["weighted", "plain", "directed", "directed, weighted"])
def test_walks_give_the_same_bits(tmp_path, name, kind):
    memory = SOURCES[name].normalized(kind)
    disk = saved(SOURCES[name], tmp_path).normalized(kind)
    kernel, v = Diffusion(1.0), np.random.default_rng(0).normal(size=(memory.n_nodes, 2))
    for options in ({}, {"walks": "independent"}, {"storage": "recompute"}):
        one, other = (grfpp.sample(W, kernel, seed=3, **options) for W in (memory, disk))
        np.testing.assert_array_equal(one @ v, other @ v)
        np.testing.assert_array_equal(one.rows([3, 5]), other.rows([3, 5]))
    parts = [grfpp.sample_submatrix(W, kernel, [1, 4], [0, 9], seed=3) for W in (memory, disk)]
    np.testing.assert_array_equal(*parts)


def test_products_by_the_planner_are_the_same(tmp_path):
    memory = SOURCES["plain"].normalized("sym", 0.8)
    disk = saved(SOURCES["plain"], tmp_path).normalized("sym", 0.8)
    v = np.random.default_rng(0).normal(size=(memory.n_nodes, 2))
    for method in ("chebyshev", "lanczos", "dense", "walks"):
        kernel = RegularizedLaplacian(2, 1.0)
        options = {"tol": 0.1, "method": method, "seed": 0}
        found = [grfpp.kernel_operator(W, kernel, **options) @ v for W in (memory, disk)]
        np.testing.assert_array_equal(*found)
    np.testing.assert_array_equal(kernel.exact(memory), kernel.exact(disk))


def test_a_normalised_graph_can_be_saved_too(tmp_path):
    for graph in SOURCES.values():
        for form in (graph.normalized("sym", 0.3), graph.normalized("rw").reversed()):
            again = saved(form, tmp_path)
            for part in ("indptr", "indices", "weights"):
                np.testing.assert_array_equal(getattr(form, part), getattr(again, part))
            np.testing.assert_array_equal(form.weights, again.weights)
            assert again.is_directed == form.is_directed and again.n_edges == form.n_edges
            np.testing.assert_array_equal(saved(again, tmp_path).weights, form.weights)
    W = saved(SOURCES["plain"].normalized("sym", 0.3), tmp_path)
    assert W.scaled.kind == "sym" and W.scaled.base is None and W.spectral_radius() == 0.3


def test_every_way_in(tmp_path):
    graph = SOURCES["names"]
    disk = saved(graph, tmp_path)
    path = tmp_path / "graph.grf"
    for again in (Graph(path), Graph(f"{path}/"), Graph.load(path), Graph(disk)):
        assert_same(graph, again)
        assert again._form is not None
    assert_same(Graph(path, symmetrize="max"), Graph(graph, symmetrize="max"))
    assert_same(Graph(path, directed=True), graph)
    with pytest.raises(InputError, match="cannot be read with directed=False"):
        Graph(path, directed=False)
    assert grfpp.sample(path, Diffusion(1.0), seed=0).n_nodes == 4
    (tmp_path / "file.grf").write_text("")
    for wrong in (tmp_path / "nothing.grf", tmp_path / "file.grf", "a\0.grf"):
        with pytest.raises(InputError, match="read"):
            Graph.open(wrong)


def test_estimates_have_the_names(tmp_path):
    K = grfpp.sample(saved(SOURCES["names"], tmp_path).normalized("rw"), Diffusion(1.0), seed=0)
    assert K.entry("a", "b") == K.entry(0, 1)
    K.save(tmp_path / "k.npz")
    assert grfpp.KernelEstimate.load(tmp_path / "k.npz").node_ids == ["a", "b", "é", "x"]
    again = pickle.loads(pickle.dumps(K.names))
    assert again.numbers(["é", "x"]).tolist() == [2, 3]
