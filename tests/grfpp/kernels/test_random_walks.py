"""Personalised PageRank and the heat kernel, against what other packages compute."""

from __future__ import annotations

import math
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import binom
from sknetwork.ranking import PageRank
from sknetwork.regression import Diffusion as DiscreteDiffusion

import grfpp
from grfpp.errors import InputError, InputWarning
from grfpp.kernels import HeatKernel, PersonalizedPageRank

DEGREES = [1, 2, 3, 4, 8]


def arcs(seed, dangling=False):
    """Strongly connected, directed, with weights; with `dangling`, some nodes lead nowhere."""
    rng = np.random.default_rng(seed)
    graph = nx.gnp_random_graph(30, 0.12, seed=seed, directed=True)
    nx.add_cycle(graph, range(30))
    if dangling:
        graph.remove_edges_from([*graph.out_edges([4, 17]), *graph.edges([9])])
        graph.add_node(30)
    for u, v in graph.edges:
        graph[u][v]["weight"] = float(rng.lognormal())
    return graph


NETWORKS = {
    "karate, weighted": nx.karate_club_graph(),
    "tree": nx.balanced_tree(2, 4),
    "two parts and a lonely node": nx.disjoint_union_all(
        [nx.cycle_graph(5), nx.complete_graph(4), nx.empty_graph(1)]
    ),
    "directed": arcs(0),
    "directed, dangling": arcs(1, dangling=True),
    "all paths end": nx.gn_graph(20, seed=2),
}


def own_rows(network, alpha):
    """Rows of the kernel over their sums."""
    W = grfpp.Graph(network).normalized("rw")
    rows = PersonalizedPageRank(alpha).exact(W)
    return rows / rows.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("alpha", [0.15, 0.5])
@pytest.mark.parametrize("name", NETWORKS)
def test_rows_are_those_of_networkx(name, alpha):
    network = NETWORKS[name]
    own = own_rows(network, alpha)
    for place, node in enumerate(network):
        theirs = nx.pagerank(
            network, alpha=1 - alpha, personalization={node: 1}, tol=1e-12, max_iter=2000
        )
        np.testing.assert_allclose(own[place], [theirs[v] for v in network], atol=1e-10)


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize(
    ("solver", "tol"), [("bicgstab", 1e-4), ("RH", 1e-12), ("piteration", 1e-9)]
)
def test_rows_are_those_of_scikit_network(name, solver, tol):
    """To what its solvers reach; its power iteration is another where surfers get stuck."""
    network = NETWORKS[name]
    adjacency = sp.csr_matrix(nx.to_scipy_sparse_array(network, dtype=float))
    stuck = network.is_directed() and min(degree for _, degree in network.out_degree) == 0
    if solver == "piteration" and stuck:
        pytest.skip("it scales what is left in every step")
    if solver == "bicgstab" and name == "all paths end":
        pytest.skip("its solver breaks down, without a word")
    own = own_rows(network, 0.15)
    ranking = PageRank(0.85, solver=solver, n_iter=200, tol=1e-10)
    for place in range(len(network)):
        theirs = ranking.fit_predict(adjacency, weights={place: 1})
        np.testing.assert_allclose(own[place], theirs, atol=tol)


def test_surfers_who_get_stuck_are_lost_here_and_go_back_there():
    """The convention that the docstring tells of, by hand: a, then b, where it ends."""
    row = PersonalizedPageRank(0.2).exact(grfpp.Graph([[0, 1], [0, 0]]))[0]
    np.testing.assert_allclose(row, [0.2, 0.16])
    theirs = nx.pagerank(
        nx.DiGraph([(0, 1)]), alpha=0.8, personalization={0: 1}, tol=1e-12, max_iter=1000
    )
    np.testing.assert_allclose(row / row.sum(), list(theirs.values()), atol=1e-10)


@pytest.mark.parametrize("name", NETWORKS)
def test_rows_add_up_to_one_unless_walks_end(name):
    network = NETWORKS[name]
    W = grfpp.Graph(network).normalized("rw")
    ends = (W.out_degree == 0).any()
    for kernel in (PersonalizedPageRank(0.15), HeatKernel(3.0)):
        sums = kernel.exact(W).sum(axis=1)
        assert (sums > 0).all() and (sums < 1 + 1e-12).all()
        assert (sums < 1 - 1e-6).any() == ends
        np.testing.assert_allclose(kernel.apply(W, np.ones(W.n_nodes)), sums, rtol=1e-9)


def test_heat_is_communicability_on_regular_graphs():
    """``exp(A)`` of networkx is ``e^3`` times the heat kernel at 3 where all have 3 neighbours."""
    cubic = nx.petersen_graph()
    theirs = nx.communicability_exp(cubic)
    own = HeatKernel(3.0).exact(grfpp.Graph(cubic).normalized("rw"))
    expected = np.array([[theirs[u][v] for v in cubic] for u in cubic])
    np.testing.assert_allclose(math.exp(3) * own, expected, rtol=1e-10)


@pytest.mark.filterwarnings("ignore:Input has data type:FutureWarning")  # of scipy, at theirs
@pytest.mark.parametrize("name", ["karate, weighted", "tree"])
def test_heat_is_the_limit_of_scikit_networks_steps(name):
    """Its `Diffusion` makes ``n`` steps ``(1 − t/n) + (t/n) P``; the limit is the heat kernel."""
    network = NETWORKS[name]
    adjacency = sp.csr_matrix(nx.to_scipy_sparse_array(network, dtype=float))
    values = np.random.default_rng(0).random(len(network))
    own = HeatKernel(2.0).apply(grfpp.Graph(network).normalized("rw"), values)
    errors = []
    for n_steps in (100, 1000):
        steps = DiscreteDiffusion(n_iter=n_steps, damping_factor=2.0 / n_steps)
        errors.append(np.abs(steps.fit_predict(adjacency, values) - own).max())
    assert errors[1] < 1e-3
    assert errors[0] / errors[1] == pytest.approx(10, rel=0.05)  # the error is of the first order


@pytest.mark.parametrize("degree", DEGREES)
@given(alpha=st.floats(0.01, 1))
@settings(max_examples=15, deadline=None)
def test_pagerank_in_closed_form(degree, alpha):
    k, root = np.arange(100), 1 / (2 * degree)
    kernel = PersonalizedPageRank(alpha)
    c = float(1 - Fraction(alpha))
    expected = alpha**root * binom(root + k - 1, k) * c**k
    np.testing.assert_allclose(kernel.modulation(degree, 100), expected, rtol=1e-10)
    np.testing.assert_allclose(kernel.coefficients(100), alpha * c**k, rtol=1e-12)


@pytest.mark.parametrize("degree", DEGREES)
@given(t=st.floats(0, 60))
@settings(max_examples=15, deadline=None)
def test_heat_in_closed_form(degree, t):
    part = t / (2 * degree)
    expected = [math.exp(-part) * part**k / math.factorial(k) for k in range(60)]
    np.testing.assert_allclose(HeatKernel(t).modulation(degree, 60), expected, rtol=1e-11)


def test_ends_of_the_range():
    W = grfpp.Graph(nx.path_graph(4)).normalized("rw")
    for still in (PersonalizedPageRank(1), HeatKernel(0)):
        assert still.radius == still.modulation_radius(2) == math.inf
        np.testing.assert_array_equal(still.exact(W), np.eye(4))
    long = HeatKernel(700.0)
    assert long.coefficients(1)[0] > 0
    assert long.coefficients(3000).sum() == pytest.approx(1)
    rows = long.exact(W)
    np.testing.assert_allclose(rows, long.apply(W, np.eye(4)), rtol=1e-9)
    np.testing.assert_allclose(rows.sum(axis=1), 1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PersonalizedPageRank(0), r"alpha must be a number in (0, 1], found 0"),
        (lambda: PersonalizedPageRank(1.5), "alpha"),
        (lambda: PersonalizedPageRank("0.15"), "alpha"),
        (lambda: PersonalizedPageRank(math.nan), "alpha"),
        (lambda: HeatKernel(-1), "t must be from 0 to 700, found -1"),
        (lambda: HeatKernel(701), "t must be from 0 to 700, found 701"),
        (lambda: HeatKernel(math.inf), "t must be a finite number"),
        (lambda: HeatKernel(None), "t must be a finite number"),
    ],
)
def test_bad_parameters_are_named(make, message):
    with pytest.raises(InputError) as error:
        make()
    assert message in str(error.value)


def test_weights_that_are_too_large_are_refused():
    W = grfpp.Graph(nx.cycle_graph(6)).normalized("rw", scale=1.2)
    with pytest.raises(grfpp.DivergentSeriesError, match="a larger alpha"):
        PersonalizedPageRank(0.15).exact(W)
    PersonalizedPageRank(0.2).exact(W)


@pytest.mark.parametrize("kernel", [PersonalizedPageRank(0.3), HeatKernel(2.0)], ids=repr)
@pytest.mark.parametrize("name", ["karate, weighted", "directed, dangling"])
def test_estimates_are_unbiased(name, kernel):
    W = grfpp.Graph(NETWORKS[name]).normalized("rw")
    exact = kernel.exact(W)
    total = np.zeros_like(exact)
    squares = np.zeros_like(exact)
    n = 60
    for seed in range(n):
        found = grfpp.sample(W, kernel, n_walks=4, seed=seed, check_error=False).toarray()
        total += found
        squares += found**2
    mean = total / n
    std = np.sqrt(np.maximum(squares / n - mean**2, 0) / n)
    by_chance = std > 1e-6
    z = (mean - exact)[by_chance] / std[by_chance]
    assert len(z) > 100
    assert 0.8 < np.sqrt(np.mean(z**2)) < 1.25


def test_the_planner_solves_for_pagerank():
    W = grfpp.Graph(nx.random_regular_graph(3, 40, seed=0)).normalized("sym")
    kernel, v = PersonalizedPageRank(0.15), np.arange(40.0)
    with pytest.warns(InputWarning, match="normalised symmetrically"):
        exact = kernel.exact(W) @ v
    with pytest.warns(InputWarning, match="normalised symmetrically"):
        found = grfpp.kernel_operator(W, kernel, tol=1e-8, method="solve") @ v
    np.testing.assert_allclose(found, exact, rtol=1e-6)


@pytest.mark.parametrize("kernel", [PersonalizedPageRank(), HeatKernel()], ids=repr)
@pytest.mark.parametrize("name", NETWORKS)
def test_symmetric_weights_are_doubted(name, kernel, tmp_path):
    graph = grfpp.Graph(NETWORKS[name])
    graph.save(tmp_path / "graph.grf")
    for source in (graph, grfpp.Graph.open(tmp_path / "graph.grf")):
        for use in (
            kernel.exact,
            lambda W: kernel.apply(W, np.ones(W.n_nodes)),
            lambda W: grfpp.LocalKernel(W, kernel),
        ):
            use(source.normalized("rw"))
            with pytest.warns(InputWarning, match=r"symmetrically.*use graph.normalized\('rw'\)"):
                use(source.normalized("sym"))
