"""Which laws, kernels and graphs suit each other: bias and variance before anything is sampled."""

import re
import warnings
from decimal import Decimal
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from checked_laws import GAP, INVERSE, accepted, check, plan_of
from independent_walks import sample
from numpy.testing import assert_allclose
from small_graphs import GRAPHS, LAWS, karate, weighted

import grfpp
from grfpp import (
    Cosine,
    CustomLength,
    Diffusion,
    DivergentSeriesError,
    FirstStepThenGeometric,
    FixedLength,
    Geometric,
    Graph,
    InfiniteVarianceError,
    InputError,
    InversePower,
    NegativeBinomial,
    Poisson,
    PStep,
    RegularizedLaplacian,
    SquaredDiffusion,
    TaylorKernel,
    TruncationError,
    UniformLength,
    relative_error,
)
from grfpp.walks.convergence import (
    NEGLIGIBLE_BIAS,
    check_truncation,
    growth_bound,
    log_growth,
    modulation_table,
    moment_growth,
    truncation_bias,
    variance_terms,
)
from grfpp.walks.plan import resolvable_length
from grfpp.walks.transition import UniformSteps

# --- trap 2: infinite variance -------------------------------------------------------------------

IGNORE = {"on_infinite_variance": "ignore"}


@pytest.mark.parametrize(
    ("kernel", "law"), [(Diffusion(20.0), Geometric(0.5)), (PStep(40, 1.5), Poisson(1.0))]
)
def test_a_variance_that_drowns_the_estimate_is_warned_of(kernel, law):
    W = karate()
    with pytest.warns(RuntimeWarning, match="relative error of each factor") as caught:
        options = {"walks": "independent", "check_error": False}
        K = grfpp.sample(W, kernel, 1, 16, law, seed=0, **options)
    assert caught[0].filename == __file__
    floor = caught[0].message.details["least_relative_error"]
    errors = [
        relative_error(sample(W, kernel, 1, 16, law, seed=seed, **IGNORE), kernel, W)
        for seed in range(8)
    ]
    assert floor > 1
    assert np.sqrt(np.mean(np.square(errors))) > 1
    assert K.shape == (34, 34)


@pytest.mark.parametrize(
    ("kernel", "scale", "law", "finite"),
    [
        (Diffusion(1.0), 1.0, Poisson(4.0), True),
        (Diffusion(1.0), 1.0, Geometric(0.1), True),
        (Diffusion(1.0), 1.0, Geometric(0.9), True),
        (Diffusion(5.0), 1.0, Poisson(1.0), True),
        (SquaredDiffusion(1.0), 1.0, Geometric(0.5), True),
        # f(2k)² / τ(2k) is about 4^-k / k!² · (2k)! / mean^2k, that is mean^-2k.
        (SquaredDiffusion(1.0), 1.0, Poisson(2.0), True),
        (SquaredDiffusion(1.0), 1.0, Poisson(0.5), False),
        (INVERSE, 0.8, Geometric(0.1), True),
        # The terms are (0.64 / (1 - p))^k.
        (INVERSE, 0.8, Geometric(0.3), True),
        (INVERSE, 0.8, Geometric(0.4), False),
        (INVERSE, 0.8, Geometric(0.9), False),
        (INVERSE, 0.8, NegativeBinomial(3, 0.3), True),
        (INVERSE, 0.8, NegativeBinomial(3, 0.4), False),
        (INVERSE, 0.8, FirstStepThenGeometric(0.7), True),
        (INVERSE, 0.8, FirstStepThenGeometric(0.5), False),
        (InversePower(2, of=2), 0.8, Geometric(0.3), True),
        (InversePower(2, of=2), 0.8, Geometric(0.4), False),
        (InversePower(2, of=2), 0.8, Poisson(4.0), False),
        (RegularizedLaplacian(2, 1.0), 1.0, Geometric(0.5), True),
        (RegularizedLaplacian(2, 1.0), 1.0, Geometric(0.8), False),
        (Cosine(1.0), 0.7, Geometric(0.1), True),
        (Cosine(1.0), 0.7, Poisson(4.0), False),
        (PStep(3, 2.0), 1.0, Geometric(0.5), True),
        (PStep(3, 2.0), 1.0, Poisson(4.0), False),
    ],
    ids=str,
)
def test_which_laws_suit_which_kernels(kernel, scale, law, finite):
    # On an unweighted graph M = D^1/2 (W o W) D^1/2 has the growth scale² exactly.
    assert accepted(kernel, 1, law, karate(scale)) == finite


@pytest.mark.parametrize("scale", [0.5, 0.8, 0.97])
@pytest.mark.parametrize("kernel", [INVERSE, InversePower(4), InversePower(2, of=2)], ids=str)
@pytest.mark.parametrize("degree", [1, 2])
def test_a_refusal_names_a_law_that_is_accepted(scale, kernel, degree):
    for law in (Poisson(0.5), Poisson(3.0), Geometric(0.99)):
        with pytest.raises(InfiniteVarianceError):  # of pools too
            grfpp.sample(karate(scale), kernel, degree, termination=law, seed=0)
        with pytest.raises(InfiniteVarianceError) as caught:
            sample(karate(scale), kernel, degree, termination=law, seed=0)
        named = re.search(r"geometric:(0\.\d+)", caught.value.advice)
        for p_halt in (float(named.group(1)), float(named.group(1)) / 3):
            assert accepted(kernel, degree, Geometric(p_halt), karate(scale))


@pytest.mark.parametrize("law", [Poisson(0.5), Poisson(4.0), Geometric(0.9), Geometric(0.1)])
def test_a_modulation_that_ends_has_a_finite_variance(law):
    assert accepted(PStep(2, 2.0), 1, law, karate())  # f = 2, 1
    assert accepted(PStep(6, 1.0), 3, law, karate(3.0))  # f = 1, 1
    assert accepted(TaylorKernel([3.0]), 2, law, karate())


def test_right_factors_of_directed_graphs_are_checked_too():
    # Everyone points to node 0 and to the next one. Forward all loads are 0.7; backward the walk
    # chooses among all at node 0, and the loads are 0.35 n there.
    n = 40
    matrix = np.roll(np.eye(n), 1, axis=1)
    matrix[:, 0] = 1.0
    graph = Graph(matrix).normalized("rw", 0.7)
    assert graph.spectral_radius() == pytest.approx(0.7)
    assert accepted(INVERSE, 1, Geometric(0.1), graph)
    assert not accepted(INVERSE, 1, Geometric(0.1), graph.reversed())
    for either in (graph, graph.reversed()):
        with pytest.raises(InfiniteVarianceError, match="scale the weights down"):
            sample(either, INVERSE, 1, termination=Geometric(0.1), seed=0)


def test_where_no_law_helps_the_message_says_so():
    # Unequal weights: M grows by more than one although the series converges.
    graph = Graph(weighted(12, density=0.9)).normalized("sym", 0.95)
    assert np.exp(growth_of(graph)[-1]) > 1
    with pytest.raises(InfiniteVarianceError, match="no law of the lengths"):
        check(INVERSE, 1, Geometric(0.01), graph)


@pytest.mark.parametrize("action", ["warn", "ignore"])
def test_an_infinite_variance_can_be_accepted(action):
    options = {"termination": Poisson(4.0), "truncate": True, "on_infinite_variance": action}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        K = sample(karate(0.8), INVERSE, seed=0, **options)
    assert K.n_nodes == 34
    assert ["infinite" in str(warning.message) for warning in caught] == [True] * (action == "warn")


# --- the terms themselves ------------------------------------------------------------------------


def growth_of(graph):
    return moment_growth(UniformSteps.carrying(graph))


def second_moments(graph, n):
    degree = graph.out_degree
    M = graph.adjacency.toarray() ** 2 * degree[:, None]
    vector = np.ones(graph.n_nodes)
    moments = [1.0]
    for _ in range(n):
        vector = M @ vector
        moments.append(vector.mean())
    return np.array(moments)


@pytest.mark.parametrize("name", ["weighted, sym", "directed, rw", "unweighted, None"])
def test_moment_growth_is_the_mean_of_the_second_moments(name):
    graph = GRAPHS[name]
    found = growth_of(graph)
    moments = second_moments(graph, len(found) - 2)
    assert_allclose(found[:-1], np.log(moments), rtol=1e-10, atol=1e-10)
    M = graph.adjacency.toarray() ** 2 * graph.out_degree[:, None]
    assert found[-1] == pytest.approx(np.log(np.abs(np.linalg.eigvals(M)).max()), rel=1e-9)


def test_no_walk_grows_without_edges():
    assert list(growth_of(Graph(np.zeros((3, 3))))) == [0.0, -np.inf]
    path = growth_of(Graph(np.diag([2.0, 2.0], 1)))
    assert_allclose(path[:-1], np.log([1.0, 8 / 3, 16 / 3]))
    assert path[-1] == -np.inf


@pytest.mark.parametrize("scale", [1e-160, 1e-20, 1e20, 1e160, 1e300])
def test_weights_of_any_size_can_be_measured(scale):
    plain, scaled = (growth_of(Graph(weighted() * factor)) for factor in (1, scale))
    k = np.append(np.arange(len(plain) - 1), 1)
    assert_allclose(scaled, plain + 2 * k * np.log(scale), rtol=1e-10, atol=1e-9)


def test_variance_terms_are_the_sum_of_the_design():
    graph, law = GRAPHS["weighted, sym"], Geometric(0.2)
    plan = plan_of(Diffusion(1.0), 1, law, graph)
    k = np.arange(10)
    moments = second_moments(graph, 9)
    wanted = Diffusion(1.0).modulation(1, 10) ** 2 * moments / law.survival(k)
    terms = variance_terms(plan.modulation, plan.lengths.survival, growth_of(graph))[:10]
    # Each length stands for its neighbour too.
    assert_allclose(np.exp(terms[1:]), np.maximum(wanted[1:], wanted[:-1]), rtol=1e-9)


def test_the_bound_of_the_growth_is_one():
    for graph in GRAPHS.values():
        bound = growth_bound(UniformSteps.carrying(graph))
        assert bound[-1] >= growth_of(graph)[-1] - 1e-9
    assert growth_bound(UniformSteps.on(karate(0.8)))[-1] == pytest.approx(2 * np.log(0.8))


def test_plain_weights_need_no_iterations(monkeypatch):
    monkeypatch.setattr(
        "grfpp.walks.convergence.perron_root", lambda *args, **kwargs: pytest.fail("iterated")
    )
    ring = Graph(np.eye(300, k=1) + np.eye(300, k=-1)).normalized(None, 0.5)
    sample(ring, Diffusion(1.0), 1, 2, seed=0)


# --- pools ----------------------------------------------------------------------------------------


GRID = Graph(nx.to_scipy_sparse_array(nx.grid_2d_graph(30, 30)))


@pytest.mark.parametrize(
    ("kernel", "scale", "degree"),
    [(Diffusion(100.0), 1.0, 2), (Diffusion(60.0), 1.0, 1), (InversePower(1), 0.99, 2)],
    ids=repr,
)
def test_pools_that_are_lost_in_a_kernel_warn_and_say_what_helps(kernel, scale, degree):
    W = GRID.normalized("sym", scale)
    with pytest.warns(RuntimeWarning, match="the kernel reaches too far for the walks") as seen:
        K = grfpp.sample(W, kernel, degree, seed=0, symmetrize=False, check_error=False)
    assert len(seen) == 1
    assert grfpp.relative_error(K, kernel, W) > 0.6
    grfpp.sample(W, kernel, degree, seed=0, on_infinite_variance="ignore")


# --- trap 3: series that diverge -----------------------------------------------------------------


def test_a_modulation_can_diverge_where_the_kernel_does_not():
    with pytest.raises(DivergentSeriesError, match=r"modulation of degree 2 .* below 0.785398"):
        sample(karate(0.8), Cosine(1.0), 2)
    sample(karate(0.7), Cosine(1.0), 2, n_walks=1)


# --- trap 4: truncation --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "law", [FixedLength(3), UniformLength(3), CustomLength([0.25, 0.25, 0.25, 0.25])]
)
def test_laws_that_are_too_short_are_refused_with_the_bias(law):
    # f(k) = 2^-k / k!, and what lies beyond k = 3 of exp(1/2).
    share = 1 - sum(0.5**k / f for k, f in enumerate((1, 1, 2, 6))) / np.exp(0.5)
    with pytest.raises(TruncationError) as caught:
        sample(karate(), Diffusion(1.0), 1, termination=law)
    message = str(caught.value)
    assert "walks end after 3 steps" in message
    assert f"leaves out {share:.2g} of the series" in message
    assert "spectral radius 1)" in message
    assert "geometric:0.1" in caught.value.advice and "truncate=True" in caught.value.advice


@pytest.mark.parametrize(
    ("kernel", "degree", "scale", "enough"),
    [
        (Diffusion(1.0), 1, 1.0, 11),
        (Diffusion(1.0), 4, 1.0, 8),
        (SquaredDiffusion(1.0), 1, 1.0, 22),
        (INVERSE, 1, 0.5, 39),
        (InversePower(4, of=2), 2, 0.5, 38),
    ],
    ids=str,
)
def test_laws_that_are_just_long_enough_pass(kernel, degree, scale, enough):
    for law in (FixedLength, UniformLength):
        sample(karate(scale), kernel, degree, n_walks=1, termination=law(enough), seed=0)
        with pytest.raises(TruncationError):
            sample(karate(scale), kernel, degree, n_walks=1, termination=law(enough - 2), seed=0)


@pytest.mark.parametrize("n", [0, 1, 5, 20])
@pytest.mark.parametrize("rho", [0.25, 1.0, 3.0])
def test_bias_of_diffusion_is_the_share_of_the_exponential(n, rho):
    x = Fraction(rho) / 4  # degree 2 takes the fourth root
    terms = [Fraction(1)]
    for k in range(1, 120):
        terms.append(terms[-1] * x / k)
    wanted = float(sum(terms[n + 1 :]) / sum(terms))
    bias = truncation_bias(Diffusion(1.0), 2, karate(rho), n)
    assert bias == pytest.approx(wanted, rel=1e-6, abs=0)


TRUNCATED = [
    (Diffusion(1.0), 1.0),
    (Diffusion(-2.0), 1.0),
    (Diffusion(10.0), 1.0),
    (SquaredDiffusion(1.0), 1.0),
    (INVERSE, 0.8),
    (InversePower(0.5), 0.95),
    (InversePower(4, of=2), 0.7),
    (RegularizedLaplacian(2, 3.0), 1.0),
    (Cosine(1.0), 0.7),
    (PStep(3, 2.0), 1.0),
    (PStep(4, 2.0), 1.0),
    (TaylorKernel([1.0, 0.5, 0.25]), 0.5),
]
UNBOUNDED = [law for law in LAWS.values() if law.max_length is None]
UNBOUNDED += [*map(Geometric, (0.06, 0.5, 0.9)), *map(Poisson, (0.5, 30.0))]
UNBOUNDED += [NegativeBinomial(0.5, 0.1)]


@pytest.mark.parametrize(("kernel", "scale"), TRUNCATED, ids=str)
@pytest.mark.parametrize("degree", [1, 3])
def test_where_the_variance_is_finite_the_resolution_does_not_bias(kernel, scale, degree):
    graph = karate(scale)
    n_finite = 0
    for law in UNBOUNDED:
        if accepted(kernel, degree, law, graph):
            plan = plan_of(kernel, degree, law, graph)
            n = plan.lengths.max_length
            assert truncation_bias(kernel, degree, graph, n) < NEGLIGIBLE_BIAS
            check_truncation(kernel, degree, plan)
            n_finite += 1
    assert n_finite >= 2


def test_graphs_without_cycles_are_not_taken_for_empty():
    # The spectral radius of a directed path is zero, but its walks have four steps.
    graph = Graph(np.eye(5, k=1))
    assert graph.spectral_radius() == 0
    for n in (0, 1, 2, 3):
        with pytest.raises(TruncationError):
            sample(graph, Diffusion(1.0), 1, termination=FixedLength(n))
    exact = Diffusion(1.0).exact(graph)
    for law in (FixedLength(4), FixedLength(9)):
        K = sample(graph, Diffusion(1.0), 1, n_walks=1, termination=law, seed=0)
        assert_allclose(K.toarray(), exact, rtol=1e-12)


def test_powers_of_directed_graphs_may_grow_before_they_fall():
    # Weights of 3 along the path, and back to the start a weight that keeps the radius at 0.3.
    n = 6
    matrix = np.diag(np.full(n - 1, 3.0), 1)
    matrix[n - 1, 0] = 0.3**n / 3.0 ** (n - 1)
    graph = Graph(matrix)
    assert graph.spectral_radius() == pytest.approx(0.3)
    f = Diffusion(1.0).modulation(1, 40)
    left_out = f[5] * np.abs(np.linalg.matrix_power(matrix, 5)).sum(axis=1).max()
    assert left_out > 0.05
    assert truncation_bias(Diffusion(1.0), 1, graph, 4) > 1e-3
    assert truncation_bias(Diffusion(1.0), 1, graph, 12) < 1e-9
    with pytest.raises(TruncationError):
        sample(graph, Diffusion(1.0), 1, termination=FixedLength(4))


def test_series_with_long_gaps_are_looked_through():
    graph = karate()
    for law in (FixedLength(60), UniformLength(100)):
        with pytest.raises(TruncationError, match="walks end after"):
            sample(graph, GAP, 1, termination=law)
    with pytest.raises(InfiniteVarianceError, match=r"geometric:0\.0\d"):
        sample(graph, GAP, 1, termination=Poisson(4.0))
    gap_by_function = TaylorKernel(lambda k: {0: 1.0, 101: 0.5}.get(k, 0.0), radius=3.0)
    with pytest.raises(TruncationError, match="walks end after"):
        sample(karate(0.9), gap_by_function, 1, termination=FixedLength(60))


# --- the table of the modulation -----------------------------------------------------------------

SMALLEST = Decimal(2) ** -1074


@pytest.mark.parametrize(
    ("kernel", "degree"),
    [(Diffusion(1.0), 1), (Diffusion(1.0), 4), (Diffusion(40.0), 1), (SquaredDiffusion(1.0), 2)],
    ids=str,
)
def test_the_table_ends_where_the_modulation_underflows_and_not_earlier(kernel, degree):
    table = modulation_table(kernel, degree, Geometric(0.01))
    n = len(table)
    assert table[-1] != 0
    beyond = kernel.modulation_decimal(degree, n + 3)
    assert abs(beyond[n - 1]) >= SMALLEST / 2
    assert all(abs(value) <= SMALLEST / 2 for value in beyond[n:])


def test_the_table_ends_with_the_longest_walk_or_the_polynomial():
    for law in (Geometric(0.1), Geometric(0.01), Poisson(4.0)):
        assert_allclose(modulation_table(INVERSE, 1, law), np.ones(resolvable_length(law) + 1))
    assert_allclose(modulation_table(PStep(4, 2.0), 1, Geometric(0.1)), [4.0, 4.0, 1.0])
    assert_allclose(modulation_table(TaylorKernel([9.0]), 1, Geometric(0.1)), [3.0])


def test_a_modulation_that_grows_is_tabulated_as_far_as_float64_goes():
    # The cosine's f(k) grows like (4/π)^k, which exceeds float64 before k = 3000.
    graph, law = karate(0.7), Geometric(0.02)
    table = modulation_table(Cosine(1.0), 1, law)
    assert 2900 < len(table) < 3000 < resolvable_length(law)
    assert 1e307 < np.abs(table).max() < np.inf
    assert accepted(Cosine(1.0), 1, law, graph)
    assert truncation_bias(Cosine(1.0), 1, graph, len(table) - 1) < NEGLIGIBLE_BIAS
    sample(graph, Cosine(1.0), 1, n_walks=1, termination=law, seed=0)


# --- weights so large that float64 ends first ----------------------------------------------------

COMPLETE = Graph(nx.to_numpy_array(nx.complete_graph(301)))  # spectral radius 300


@pytest.mark.parametrize("degree", range(1, 9))
def test_huge_weights_are_refused_or_right(degree):
    # On a regular graph the loads of all walks are 300^k: row sums of a factor are not random.
    law = FixedLength(400)
    try:
        K = sample(COMPLETE, Diffusion(1.0), degree, n_walks=1, termination=law, seed=0)
    except TruncationError as error:
        assert degree <= 2
        assert "scale the weights down" in error.advice
        return
    assert degree >= 3
    for pair in K.factors:
        for factor in pair:
            assert_allclose(factor.sum(axis=1), np.exp(300 / (2 * degree)), rtol=1e-11)


@pytest.mark.parametrize("scale", [1e3, 1e100, 1e300])
@pytest.mark.parametrize(
    "kernel", [Diffusion(1.0), SquaredDiffusion(1.0), InversePower(1)], ids=str
)
def test_absurd_weights_are_refused_without_warnings(kernel, scale):
    for matrix in (weighted(), nx.to_numpy_array(nx.petersen_graph())):
        for law in (Geometric(0.1), FixedLength(500)):
            with pytest.raises(InputError):
                sample(Graph(matrix * scale), kernel, 1, n_walks=2, termination=law, seed=0)


@pytest.mark.parametrize(
    ("graph", "wanted"),
    [
        (karate(0.7), np.arange(6) * np.log(0.7)),
        # Beyond the powers that are computed the slope stays the same.
        (Graph(np.eye(400, k=1) * 2.0), np.arange(301) * np.log(2.0)),
        (Graph(np.zeros((3, 3))), [0.0, *[-np.inf] * 3]),
        (Graph(np.eye(5, k=1)), [*[0.0] * 5, *[-np.inf] * 4]),
    ],
    ids=["symmetric", "extrapolated", "no edges", "no cycle"],
)
def test_growth_of_the_powers_of_weights(graph, wanted):
    assert_allclose(log_growth(graph, len(wanted) - 1), wanted)
