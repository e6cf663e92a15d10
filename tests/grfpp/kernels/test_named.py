"""The named kernels: closed forms, what other packages compute, bad parameters."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusal_case import refused
from scipy.special import binom

import grfpp
from grfpp import Graph, sample
from grfpp.errors import InputWarning
from grfpp.kernels import (
    Cosine,
    Diffusion,
    HeatKernel,
    InversePower,
    PersonalizedPageRank,
    PStep,
    RegularizedLaplacian,
    SquaredDiffusion,
    TaylorKernel,
)

N = 200
DEGREES = [1, 3, 8]


EACH_DEGREE = pytest.mark.parametrize("degree", DEGREES)
FEW = settings(max_examples=15, deadline=None)


@EACH_DEGREE
@given(lam=st.floats(-50, 50).filter(lambda x: abs(x) > 1e-3), t=st.floats(0, 60))
@FEW
def test_diffusion_and_heat_in_closed_form(degree, lam, t):
    f, part = Diffusion(lam).modulation(degree, 60), t / (2 * degree)
    expected = [
        float(Fraction(lam) ** k / (2 * degree) ** k / math.factorial(k)) for k in range(60)
    ]
    np.testing.assert_array_max_ulp(f, np.array(expected), maxulp=1)
    expected = [math.exp(-part) * part**k / math.factorial(k) for k in range(60)]
    f = HeatKernel(t).modulation(degree, 60)
    np.testing.assert_allclose(f, expected, rtol=1e-11, atol=1e-300)


def test_cosine_is_the_same_by_its_coefficients():
    def coefficient(k):
        return Fraction((1, 1, -1, -1)[k % 4], math.factorial(k))

    by_hand = TaylorKernel(coefficient)
    np.testing.assert_array_equal(Cosine().modulation(3, N), by_hand.modulation(3, N))
    np.testing.assert_array_equal(Cosine().coefficients(N), by_hand.coefficients(N))
    scaled = Cosine(0.25).modulation(3, N)
    np.testing.assert_array_equal(scaled, Cosine().modulation(3, N, scale=0.25))


def test_squared_diffusion_is_the_kernel_of_the_paper():
    quarter = [0 if k % 2 else 0.25 ** (k // 2) / math.factorial(k // 2) for k in range(30)]
    np.testing.assert_allclose(SquaredDiffusion().modulation(2, 30), quarter, rtol=1e-15)


@EACH_DEGREE
@given(exponent=st.floats(0.1, 8), sigma2=st.floats(0.01, 50), alpha=st.floats(0.01, 1))
@FEW
def test_inverse_powers_and_pagerank_in_closed_form(degree, exponent, sigma2, alpha):
    k, root = np.arange(100), exponent / (2 * degree)
    f = InversePower(exponent).modulation(degree, 100)
    np.testing.assert_allclose(f, binom(root + k - 1, k), rtol=1e-10)
    squared = InversePower(exponent, of=2).modulation(degree, 199)
    np.testing.assert_array_equal(squared[::2], f)
    assert not squared[1::2].any()
    kernel = RegularizedLaplacian(exponent, sigma2)
    expected = binom(root + k - 1, k) * (sigma2 / (1 + sigma2)) ** k
    np.testing.assert_allclose(kernel.modulation(degree, 100), expected, rtol=1e-10)
    kernel, root, c = PersonalizedPageRank(alpha), 1 / (2 * degree), float(1 - Fraction(alpha))
    expected = alpha**root * binom(root + k - 1, k) * c**k
    np.testing.assert_allclose(kernel.modulation(degree, 100), expected, rtol=1e-10)
    np.testing.assert_allclose(kernel.coefficients(100), alpha * c**k, rtol=1e-12)


@given(p=st.integers(1, 12), a=st.floats(0.2, 9), degree=st.integers(1, 8))
@settings(max_examples=40, deadline=None)
def test_p_step_in_closed_form(p, a, degree):
    k, root = np.arange(40), p / (2 * degree)
    expected = a ** (root - k) * binom(root, k)
    np.testing.assert_allclose(PStep(p, a).modulation(degree, 40), expected, rtol=1e-9, atol=0)
    assert np.count_nonzero(PStep(p, a).coefficients(40)) == p + 1


def test_radii():
    assert PStep(6, 1.5).modulation_radius(2) == 1.5
    assert PStep(6, -1.5).modulation_radius(2) == 1.5
    for degree in (1, 3):
        assert PStep(6, 1.5).modulation_radius(degree) == math.inf
        f = PStep(6, 1.5).modulation(degree, 50)
        assert np.count_nonzero(f) == 6 // (2 * degree) + 1
    assert Diffusion().radius == Cosine().radius == PStep().radius == math.inf
    assert Diffusion(-4).modulation_radius(3) == SquaredDiffusion().modulation_radius(1) == math.inf
    assert Cosine(2.0).modulation_radius(5) == pytest.approx(math.pi / 8)
    assert Cosine(0).modulation_radius(5) == math.inf
    assert InversePower(3).radius == InversePower(3, of=2).radius == 1
    assert InversePower(8).modulation_radius(2) == 1
    assert RegularizedLaplacian(2, 0.25).radius == pytest.approx(5)
    assert RegularizedLaplacian(2, 5e-324).radius == math.inf  # farther than float64 can tell


def test_kernels_are_immutable_written_as_they_are_made_and_quiet():
    assert Diffusion(1000).value(1.0) == InversePower(2).value(1.0) == math.inf
    with pytest.raises(AttributeError):
        Diffusion().lam = 2
    assert repr(InversePower(4.0, of=2)) == "InversePower(power=4, of=2)"
    assert repr(RegularizedLaplacian(0.5)) == "RegularizedLaplacian(power=0.5, sigma2=1.0)"


#: P-steps beyond float64 are refused when they are made.
HUGE = [(0.0,), (2000, 2.0), (2000, 0.5), (10**6, -2.0), (10**18, 2.0)]
test_bad_parameters_are_named = refused(
    lam=[partial(Diffusion, each) for each in (math.nan, math.inf, "1", None, 1j, True)]
    + [partial(SquaredDiffusion, math.nan), partial(Cosine, -math.inf)],
    power=[partial(RegularizedLaplacian, each) for each in (0, -1)]
    + [partial(InversePower, math.inf)],
    sigma2=[partial(RegularizedLaplacian, sigma2=each) for each in (0, math.nan)],
    of=[partial(InversePower, of=each) for each in (0, 3)],
    p=[partial(PStep, each) for each in (0, 1.5, 10**400)],
    a=[partial(PStep, a=math.nan), partial(PStep, a=0.0), *(partial(PStep, *e) for e in HUGE[1:])],
    alpha=[partial(PersonalizedPageRank, each) for each in (0, 1.5, "0.15", math.nan)],
    t=[partial(HeatKernel, each) for each in (-1, 701, math.inf, None)],
)


def test_a_million_steps_are_a_diffusion():
    """``(1 + x/p)^p`` is about ``exp(x)``."""
    graph = Graph([[0, 1], [1, 0]]).normalized("sym", 1e-6)
    kernel = PStep(10**6, 1.0)
    wanted = Diffusion(1e6).exact(graph)
    np.testing.assert_allclose(kernel.exact(graph), wanted, rtol=1e-5)
    np.testing.assert_allclose(sample(graph, kernel, seed=0).toarray(), wanted, rtol=1e-5)


# --- kernels of random walks ---------------------------------------------------------------------


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


def pagerank(network, node, alpha):
    options = {"alpha": 1 - alpha, "tol": 1e-12, "max_iter": 2000}
    return nx.pagerank(network, personalization={node: 1}, **options)


@pytest.mark.parametrize("alpha", [0.15, 0.5])
@pytest.mark.parametrize("name", NETWORKS)
def test_rows_are_those_of_networkx(name, alpha):
    network = NETWORKS[name]
    own = PersonalizedPageRank(alpha).exact(grfpp.Graph(network).normalized("rw"))
    own /= own.sum(axis=1, keepdims=True)
    for place, node in enumerate(network):
        theirs = pagerank(network, node, alpha)
        np.testing.assert_allclose(own[place], [theirs[v] for v in network], atol=1e-10)


def test_surfers_who_get_stuck_are_lost_here_and_go_back_there():
    """The convention that the docstring tells of, by hand: a, then b, where it ends."""
    row = PersonalizedPageRank(0.2).exact(grfpp.Graph([[0, 1], [0, 0]]))[0]
    np.testing.assert_allclose(row, [0.2, 0.16])
    theirs = [*pagerank(nx.DiGraph([(0, 1)]), 0, 0.2).values()]
    np.testing.assert_allclose(row / row.sum(), theirs, atol=1e-10)


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
    W = grfpp.Graph(nx.cycle_graph(6)).normalized("rw", scale=1.2)
    with pytest.raises(grfpp.DivergentSeriesError, match="larger alpha"):
        PersonalizedPageRank(0.15).exact(W)
    PersonalizedPageRank(0.2).exact(W)


def test_the_planner_solves_for_pagerank():
    W = grfpp.Graph(nx.random_regular_graph(3, 40, seed=0)).normalized("sym")
    kernel, v = PersonalizedPageRank(0.15), np.arange(40.0)
    with pytest.warns(InputWarning, match="symmetrically"):
        exact = kernel.exact(W) @ v
    with pytest.warns(InputWarning, match="symmetrically"):
        found = grfpp.kernel_operator(W, kernel, tol=1e-8, method="solve") @ v
    np.testing.assert_allclose(found, exact, rtol=1e-6)


@pytest.mark.parametrize("kernel", [PersonalizedPageRank(), HeatKernel()], ids=repr)
@pytest.mark.parametrize("name", ["karate, weighted", "directed, dangling"])
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
            with pytest.warns(InputWarning, match="symmetrically"):
                use(source.normalized("sym"))
