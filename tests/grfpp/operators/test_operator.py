"""`kernel_operator`: a linear operator, right to its tolerance, by every method."""

import itertools
import os
import pickle
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from operator_case import LinearOperatorCase
from scipy.sparse.linalg import expm_multiply
from small_graphs import directed, graphs, irregular, karate, weighted

import grfpp
from grfpp.errors import InputError, InputWarning
from grfpp.operators import KernelOperator, planner
from grfpp.operators.costs import current_costs
from grfpp_lab.graphs import grid, scale_free

DETERMINISTIC = ["auto", "dense", "chebyshev", "lanczos"]


class OperatorCase(LinearOperatorCase):
    """Every way to multiply, on undirected and directed graphs."""

    rtol = 1e-8
    matrix = staticmethod(weighted)
    kernel = grfpp.RegularizedLaplacian(2, 3.0)
    method = "auto"

    @pytest.fixture
    def graph(self):
        return grfpp.Graph(self.matrix()).normalized("sym")

    @pytest.fixture
    def operator(self, graph):
        if self.method == "exact":
            return KernelOperator.exact(graph, self.kernel)
        return grfpp.kernel_operator(graph, self.kernel, tol=1e-11, method=self.method)

    @pytest.fixture
    def expected(self, graph):
        return self.kernel.exact(graph)

    def test_parts(self, operator, expected):
        self.assert_close(operator.rows([3, 1]), expected[[3, 1]])
        self.assert_close(operator.diagonal(), np.diag(expected))
        assert operator.entry(2, 1) == pytest.approx(expected[2, 1], rel=1e-8)
        with pytest.raises(InputError) as error:
            operator.rows([len(expected)])
        assert error.value.argument == "nodes"

    def test_features_multiply_to_the_kernel(self, operator, expected):
        X, Y = operator.features()
        self.assert_close(X @ Y.T, expected)


class TestAuto(OperatorCase):
    def test_projected_features_multiply_to_the_kernel_on_average(self, operator, expected):
        pairs = [operator.project(6, seed=seed) for seed in range(600)]
        assert pairs[0][0].shape == (len(expected), 6)
        mean = np.mean([X @ Y.T for X, Y in pairs], axis=0)
        assert np.linalg.norm(mean - expected) < 0.1 * np.linalg.norm(expected)


class TestAutoDirected(OperatorCase):
    matrix = staticmethod(directed)


class TestDenseDirected(TestAutoDirected):
    method = "dense"


class TestChebyshev(OperatorCase):
    method = "chebyshev"

    @pytest.fixture(autouse=True)
    def rows_are_multiplied(self, monkeypatch):
        monkeypatch.setattr("grfpp.operators.operator.EXACT_DENSE_NODES", 0)


class TestTaylor(TestChebyshev):
    matrix = staticmethod(directed)


class TestLanczos(OperatorCase):
    method = "lanczos"


class TestSolve(OperatorCase):
    method = "solve"


class TestExactNegative(OperatorCase):
    """A kernel with a negative first coefficient: one half has the sign."""

    method = "exact"
    kernel = grfpp.TaylorKernel([-4, -1])


def relative(found, wanted):
    scale = np.abs(wanted).max()
    return np.linalg.norm(found / scale - wanted / scale) / np.linalg.norm(wanted / scale)


@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-6])
@pytest.mark.parametrize("width", [1, 5, 100])
@pytest.mark.parametrize(
    "kernel",
    [*map(grfpp.Diffusion, (1.0, 20.0)), grfpp.InversePower(2), grfpp.InversePower(2, of=2)],
    ids=repr,
)
@pytest.mark.parametrize("family", [grid, scale_free])
def test_products_reach_the_tolerance(family, kernel, width, tol):
    W = family(400).normalized("sym", 0.95)
    V = np.random.default_rng(0).normal(size=(W.n_nodes, width))
    wanted = kernel.exact(W) @ V
    for method in ("auto", "dense", "chebyshev", "lanczos", "solve"):
        if method == "solve" and not isinstance(kernel, grfpp.InversePower):
            continue
        K = grfpp.kernel_operator(W, kernel, tol, method=method)
        assert relative(K @ V, wanted) <= tol
        assert K.used


@settings(deadline=None, max_examples=40)
@given(graphs(), st.sampled_from(DETERMINISTIC), st.floats(-3, 3), st.integers(0, 2**32))
def test_any_graph(matrix, method, lam, seed):
    graph = grfpp.Graph(matrix)
    kernel = grfpp.Diffusion(lam)
    V = np.random.default_rng(seed).normal(size=(graph.n_nodes, 2))
    wanted = kernel.exact(graph) @ V
    if method == "lanczos" and graph.is_directed:
        with pytest.raises(InputError, match="directed"):
            grfpp.kernel_operator(graph, kernel, method=method) @ V
        return
    assert relative(grfpp.kernel_operator(graph, kernel, method=method) @ V, wanted) <= 1e-3


@pytest.mark.parametrize("method", DETERMINISTIC)
def test_columns_that_the_kernel_makes_small(method):
    """Relative to the product, not to the kernel's largest value."""
    W = grfpp.Graph(nx.complete_graph(60)).normalized("sym")
    v, kernel = np.linspace(-1, 1, 60), grfpp.Diffusion(15.0)
    found = grfpp.kernel_operator(W, kernel, method=method) @ v
    assert relative(found, kernel.exact(W) @ v) <= 1e-3


def test_a_small_component_beside_a_large_one():
    """Rounding of the large one would bury the small one."""
    graph = grfpp.Graph(nx.disjoint_union(nx.complete_graph(60), nx.path_graph(200)))
    unit = np.eye(260)[:, 230]
    alone = grfpp.Diffusion(5.0).exact(nx.path_graph(200))[:, 170]
    for method in ("auto", "chebyshev", "lanczos"):
        K = grfpp.kernel_operator(graph, grfpp.Diffusion(5.0), method=method)
        found = K @ unit
        assert relative(found[60:], alone) <= 1e-3
        assert not found[:60].any()
        assert "on 200 nodes" in K.used


def test_values_out_of_range():
    with pytest.raises(InputError, match="the product exceeds the range of float64"):
        grfpp.kernel_operator(karate(), grfpp.Diffusion(1.0)) @ np.full(34, 1e308)
    with pytest.raises(InputError, match="kernel that grows less"):
        grfpp.kernel_operator(karate(), grfpp.Diffusion(800.0)) @ np.ones(34)
    graph = grfpp.Graph(nx.complete_graph(200))
    V = np.ones((200, 2))
    for method in ("auto", "dense"):
        with pytest.raises(InputError, match=r"float64.*'sym'"):
            grfpp.kernel_operator(graph, grfpp.Diffusion(5.0), method=method) @ V
    grfpp.kernel_operator(graph.normalized("sym"), grfpp.Diffusion(5.0)) @ V


def test_large_values_that_fit_are_right():
    """exp(600), whose square is out of range."""
    graph = grfpp.Graph(nx.complete_graph(121))
    V = np.random.default_rng(0).normal(size=(121, 3))
    wanted = grfpp.Diffusion(5.0).exact(graph) @ V
    for method in DETERMINISTIC:
        K = grfpp.kernel_operator(graph, "diffusion:5", method=method)
        assert relative(K @ V, wanted) < 1e-3


def test_blocks_of_any_size_without_columns_and_without_edges():
    W = grfpp.Graph(weighted()).normalized("sym")
    V = np.random.default_rng(0).normal(size=(9, 2))
    K = grfpp.kernel_operator(W, grfpp.Diffusion(1.0), method="chebyshev")
    for scale in (1e-250, 1e250):
        np.testing.assert_allclose(K @ (scale * V), scale * (K @ V), rtol=1e-12)
    for value in (np.nan, np.inf):
        with pytest.raises(InputError) as error:
            K @ np.full(9, value)
        assert error.value.argument == "V"
    assert (grfpp.kernel_operator(W, grfpp.Diffusion(1.0)) @ np.zeros((9, 0))).shape == (9, 0)
    assert not (grfpp.kernel_operator(W, grfpp.Diffusion(1.0)) @ np.zeros(9)).any()
    lonely = grfpp.Graph(np.zeros((100, 100)))
    for method in DETERMINISTIC:
        K = grfpp.kernel_operator(lonely, grfpp.PStep(2, 3.0), method=method)
        np.testing.assert_allclose(K @ np.ones(100), 9.0)


@pytest.mark.parametrize(
    "options",
    [
        {"tol": 0.0},
        {"tol": "small"},
        {"tol": 1.0},
        {"method": "magic"},
        {"n_columns": 0},
        {"n_jobs": 0},
        {"seed": -1},
        {"kernel": 3},
    ],
    ids=str,
)
def test_bad_arguments_are_named(options):
    with pytest.raises(InputError) as error:
        grfpp.kernel_operator(weighted(), **{"kernel": grfpp.Diffusion(1.0), **options})
    assert error.value.argument == next(iter(options))


def test_methods_say_what_they_are_not_for():
    W = grfpp.Graph(weighted()).normalized("sym", 0.5)
    with pytest.raises(InputError, match="no inverse power"):
        grfpp.kernel_operator(W, grfpp.Diffusion(1.0), method="solve")
    with pytest.raises(InputError, match="no whole number"):
        grfpp.kernel_operator(W, grfpp.InversePower(1.5), method="solve") @ np.ones(9)
    with pytest.raises(grfpp.DivergentSeriesError):
        grfpp.kernel_operator(grfpp.Graph(weighted()).normalized("sym"), grfpp.InversePower(1))


def test_walks_reach_a_loose_tolerance_or_say_that_they_do_not():
    W = scale_free(300, seed=1).normalized("sym")
    V = np.random.default_rng(0).normal(size=(300, 20))
    K = grfpp.kernel_operator(W, grfpp.Diffusion(1.0), tol=0.05, method="walks", seed=0)
    assert relative(K @ V, grfpp.Diffusion(1.0).exact(W) @ V) <= 0.05
    assert "steps a node" in K.used
    slow = grfpp.Graph(nx.path_graph(400)).normalized("sym", 0.99)
    with pytest.raises(InputError, match="use method='auto'"):
        grfpp.kernel_operator(slow, grfpp.InversePower(1), method="walks", seed=0) @ np.eye(400, 4)


def test_dense_takes_over_after_many_products():
    W = grid(400).normalized("sym")
    K = grfpp.kernel_operator(W, grfpp.Diffusion(20.0))
    v = np.random.default_rng(0).normal(size=400)
    first = K @ v
    assert K.plan.method != "dense"
    K._runner._seconds_spent = 1e3
    np.testing.assert_allclose(K @ v, first, rtol=1e-3, atol=1e-3 * np.abs(first).max())
    assert K.plan.method == "dense"
    assert grfpp.kernel_operator(W, grfpp.Diffusion(20.0), n_columns=10**6).plan.method == "dense"


@pytest.fixture
def products_by_a_clock(monkeypatch):
    """Products of two operators, one after the other, where each look at the clock takes that."""
    W = grid(400).normalized("sym")
    V = np.random.default_rng(0).normal(size=(400, 9))

    def products(seconds, number, **options):
        monkeypatch.setattr(planner, "perf_counter", itertools.count(0.0, seconds).__next__)
        current_costs.cache_clear()
        found = []
        for _ in range(2):
            K = grfpp.kernel_operator(W, grfpp.Diffusion(5.0), 1e-8, **options)
            found += [K @ V[:, :width] for width in (9, 8) for _ in range(number)]
        return np.hstack(found)

    yield products
    current_costs.cache_clear()


@pytest.mark.parametrize(("number", "n_columns"), [(60, None), (10, 250)])
def test_repeatable_products_do_not_depend_on_the_clock(products_by_a_clock, number, n_columns):
    """Neither when eigenvectors take over, nor what is planned once some products were made."""
    fast, slow = (
        products_by_a_clock(seconds, number, n_columns=n_columns, repeatable=True)
        for seconds in (1e-9, 1e3)
    )
    assert np.array_equal(fast, slow)


def test_others_learn_from_the_clock(products_by_a_clock):
    fast, slow = (products_by_a_clock(seconds, 10, n_columns=250) for seconds in (1e-9, 1e3))
    assert not np.array_equal(fast, slow)
    np.testing.assert_allclose(fast, slow, rtol=0, atol=1e-6 * np.abs(fast).max())


def test_names_indexing_and_pickles():
    graph = grfpp.Graph(nx.les_miserables_graph())
    kernel = grfpp.Diffusion(2.0)
    K = grfpp.kernel_operator(graph.normalized("sym"), kernel)
    exact = kernel.exact(graph.normalized("sym"))
    i, j = graph.index(["Valjean", "Cosette"])
    assert K["Valjean", "Cosette"] == pytest.approx(exact[i, j], rel=1e-3)
    assert K.rows(["Valjean"]).shape == (1, 77)
    again = pickle.loads(pickle.dumps(K))
    np.testing.assert_allclose(again @ np.ones(77), K @ np.ones(77))
    assert repr(K).startswith("KernelOperator(n_nodes=77")
    assert K.meta["method"] in ("dense", "chebyshev")


def test_exact_operators_neither_warn_nor_learn():
    W = grfpp.Graph(nx.complete_graph(100)).normalized("sym", 40.0)
    v = np.zeros(100)
    v[:2] = 1.0, -1.0  # rounding of exp(40) hides the product
    with pytest.warns(InputWarning, match="rounding"):
        grfpp.kernel_operator(W, grfpp.Diffusion(1.0), method="dense") @ v
    K = KernelOperator.exact(W, grfpp.Diffusion(1.0))
    assert np.isfinite(K @ v).all() and K.meta["method"] == "dense"
    large = grid(1600).normalized("sym")
    K = KernelOperator.exact(large, grfpp.Diffusion(5.0))
    V = np.random.default_rng(0).normal(size=(1600, 2))
    assert relative(K @ V, grfpp.Diffusion(5.0).exact(large) @ V) <= 1e-10
    assert K.meta["method"] == "chebyshev"


def test_features_are_what_walks_give_on_average():
    W, kernel = grfpp.Graph(nx.karate_club_graph()).normalized("sym"), grfpp.Diffusion(1.0)
    exact, _ = grfpp.kernel_operator(W, kernel).features()
    sampled = [grfpp.sample(W, kernel, seed=seed, symmetrize=False) for seed in range(40)]
    mean = sum(K.features()[0] for K in sampled) / 40
    assert np.linalg.norm(mean - exact) < 1e-4 * np.linalg.norm(exact)
    # They need a root.
    K = grfpp.kernel_operator(grfpp.Graph(irregular()).normalized("sym"), grfpp.Cosine())
    with pytest.raises(grfpp.DivergentSeriesError):
        K.features()


# --- the first call of somebody who has read nothing, on every graph that is at hand -------------

FOLDER = Path(os.environ.get("GRFPP_DATA", "/nonexistent"))
FILES = sorted(
    path for kind in ("graphs/*.gml", "nodes/*.gz", "meshes/*.zip") for path in FOLDER.glob(kind)
)


@pytest.mark.skipif(not FILES, reason="no data: set GRFPP_DATA to the data folder")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_files(path):
    graph = grfpp.Graph(path)
    V = np.random.default_rng(0).normal(size=(graph.n_nodes, 1))
    kernel = grfpp.Diffusion(5)
    small = graph.n_nodes < 3000  # SciPy takes half a minute for the largest
    wanted = expm_multiply(5.0 * graph.adjacency, V) if small else kernel.apply(graph, V, 1e-12)
    assert relative(grfpp.kernel_operator(graph, kernel) @ V, wanted) <= 1e-3
