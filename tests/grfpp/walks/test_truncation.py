import re
from decimal import Decimal
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from checked_laws import GAP, INVERSE, accepted, plan_of
from hypothesis import given, settings
from independent_walks import sample
from numpy.testing import assert_allclose
from small_graphs import LAWS, QUICK, graphs, karate, weighted

from grfpp import (
    Cosine,
    CustomLength,
    Diffusion,
    DivergentSeriesError,
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
)
from grfpp.walks.lengths import resolvable_length
from grfpp.walks.truncation import (
    NEGLIGIBLE_BIAS,
    check_truncation,
    modulation_table,
    truncation_bias,
)

# --- trap 3: series that diverge -----------------------------------------------------------------


@pytest.mark.parametrize("kernel", [INVERSE, InversePower(4), InversePower(4, of=2)], ids=str)
@pytest.mark.parametrize("scale", [1.0, 1.7])
def test_divergence_names_the_radius_and_a_scale_that_works(kernel, scale):
    with pytest.raises(DivergentSeriesError) as caught:
        sample(karate(scale), kernel, termination=Geometric(0.02))
    message = str(caught.value)
    assert f"this graph's is {scale:.6g}" in message
    assert "below 1," in message
    usable = float(re.search(r"normalized\('sym', scale=([\d.]+)\)", message).group(1))
    factor = float(re.search(r"multiply the weights by ([\d.]+)", message).group(1))
    assert usable == 0.9 and factor == pytest.approx(0.9 / scale, rel=0.06)
    for works in (usable, scale * factor):
        sample(karate(works), kernel, termination=Geometric(0.02), n_walks=1)


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
    assert "Geometric(0.1)" in message and "truncate=True" in message


def test_truncation_can_be_asked_for():
    K = sample(karate(), Diffusion(1.0), 1, termination=FixedLength(3), truncate=True, seed=0)
    assert K.n_nodes == 34


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


def test_a_modulation_that_ends_needs_no_longer_walks():
    for law in (FixedLength(1), UniformLength(1), FixedLength(30)):
        sample(karate(), PStep(2, 2.0), 1, termination=law, seed=0)
    with pytest.raises(TruncationError):
        sample(karate(), PStep(2, 2.0), 1, termination=FixedLength(0), seed=0)


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


@pytest.mark.parametrize("n", [0, 10, 300])
@pytest.mark.parametrize("rho", [0.3, 0.8, 0.99])
def test_bias_of_an_inverse_power_is_the_tail_of_the_geometric_series(n, rho):
    # All f(k) are one.
    wanted = rho ** (n + 1)
    assert truncation_bias(INVERSE, 1, karate(rho), n) == pytest.approx(wanted, rel=1e-5, abs=0)


def test_bias_counts_absolute_values():
    f = np.abs(Cosine(1.0).modulation(1, 400, scale=0.7))
    wanted = f[6:].sum() / f.sum()
    assert truncation_bias(Cosine(1.0), 1, karate(0.7), 5) == pytest.approx(wanted, rel=1e-9)


KERNELS = [
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
UNBOUNDED = [law for law in LAWS.values() if law.max_length is None] + [
    Geometric(0.06),
    Geometric(0.5),
    Geometric(0.9),
    Poisson(0.5),
    Poisson(30.0),
    NegativeBinomial(0.5, 0.1),
]


@pytest.mark.parametrize(("kernel", "scale"), KERNELS, ids=str)
@pytest.mark.parametrize("degree", [1, 3])
def test_where_the_variance_is_finite_the_resolution_does_not_bias(kernel, scale, degree):
    graph = karate(scale)
    n_finite = 0
    for law in UNBOUNDED:
        if accepted(kernel, degree, law, graph):
            plan = plan_of(kernel, degree, law, graph)
            n = plan.lengths.max_length
            assert truncation_bias(kernel, degree, graph, n) < NEGLIGIBLE_BIAS
            check_truncation(kernel, degree, plan, truncate=False)
            n_finite += 1
    assert n_finite >= 2


@settings(QUICK, max_examples=25)
@given(graphs())
def test_accepted_laws_do_not_bias_any_graph(graph):
    for law in (Geometric(0.1), Poisson(3.0)):
        if accepted(Diffusion(1.0), 1, law, graph):
            n = plan_of(Diffusion(1.0), 1, law, graph).lengths.max_length
            assert truncation_bias(Diffusion(1.0), 1, graph, n) < NEGLIGIBLE_BIAS


def path_of(n, weight=1.0):
    return Graph(np.diag(np.full(n - 1, weight), 1))


def test_graphs_without_cycles_are_not_taken_for_empty():
    # The spectral radius of a directed path is zero, but its walks have four steps.
    graph = path_of(5)
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
    with pytest.raises(InfiniteVarianceError, match=r"Use Geometric\(0\.0\d\)"):
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


@pytest.mark.parametrize("law", [Geometric(0.1), Geometric(0.01), Poisson(4.0)])
def test_the_table_is_as_long_as_the_longest_walk(law):
    table = modulation_table(INVERSE, 1, law)
    assert len(table) == resolvable_length(law) + 1
    assert (table == 1.0).all()


@pytest.mark.parametrize("n", [0, 1, 5, 300])
def test_the_table_of_a_bounded_law(n):
    assert len(modulation_table(INVERSE, 1, FixedLength(n))) == n + 1
    assert len(modulation_table(Diffusion(1.0), 1, UniformLength(n))) == min(n + 1, 157)


def test_the_table_of_a_polynomial_ends_with_it():
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


def test_the_table_goes_on_after_gaps():
    assert len(modulation_table(InversePower(2, of=2), 1, Geometric(0.1))) == 843
    table = modulation_table(TaylorKernel([1.0] + [0.0] * 300 + [0.5]), 1, Geometric(0.1))
    assert list(np.flatnonzero(table)) == [0, 301, 602]


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
        assert "below the range of float64 there: scale the weights down" in str(error)
        return
    assert degree >= 3
    for pair in K.factors:
        for factor in pair:
            assert_allclose(factor.sum(axis=1), np.exp(300 / (2 * degree)), rtol=1e-11)


@pytest.mark.filterwarnings("ignore:.*of no use:RuntimeWarning")
@pytest.mark.parametrize("law", [Geometric(0.1), Geometric(0.01), Poisson(100.0)])
@pytest.mark.parametrize("degree", [1, 2])
def test_huge_weights_are_refused_for_unbounded_laws(law, degree):
    with pytest.raises((InfiniteVarianceError, TruncationError), match="scale the weights down"):
        sample(COMPLETE, Diffusion(1.0), degree, n_walks=1, termination=law, seed=0)


@pytest.mark.parametrize("scale", [1e3, 1e10, 1e100, 1e200, 1e300])
@pytest.mark.parametrize(
    "kernel", [Diffusion(1.0), SquaredDiffusion(1.0), InversePower(1)], ids=str
)
def test_absurd_weights_are_refused_without_warnings(kernel, scale):
    for matrix in (weighted(), nx.to_numpy_array(nx.petersen_graph())):
        for law in (Geometric(0.1), FixedLength(500)):
            with pytest.raises(InputError):
                sample(Graph(matrix * scale), kernel, 1, n_walks=2, termination=law, seed=0)


def test_absurd_weights_are_right_for_polynomials():
    graph = Graph(nx.to_numpy_array(nx.petersen_graph()) * 1e100)
    K = sample(graph, PStep(2, 1.0), 1, n_walks=2, termination=FixedLength(1), seed=0)
    assert_allclose(K.factors[0][0].sum(axis=1), 3e100)
