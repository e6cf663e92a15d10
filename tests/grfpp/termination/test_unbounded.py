"""Laws under which a walk can be of any length."""

import math
from fractions import Fraction

import numpy as np
import pytest
from law_cases import INF, NAN, NO_NUMBERS, assert_survival
from numpy.testing import assert_allclose, assert_array_equal

from grfpp import FirstStepThenGeometric, FixedLength, Geometric, NegativeBinomial, Poisson
from grfpp.errors import InputError


@pytest.mark.parametrize("p_halt", [0.05, 0.1, 0.5, 0.9])
def test_geometric_tail(p_halt):
    end = math.ceil(90 / -math.log1p(-p_halt))
    lengths = [1, 2, end // 2, end]
    assert_survival(Geometric(p_halt), lambda k: (1 - Fraction(p_halt)) ** k, lengths)


@pytest.mark.parametrize(("mean", "end"), [(0.25, 25), (4.0, 52), (30.0, 130)])
def test_poisson_tail(mean, end):
    terms = [Fraction(1)]
    for j in range(1, 400):
        terms.append(terms[-1] * Fraction(mean) / j)
    total = sum(terms)  # exp(mean), to far more digits than needed
    assert_survival(Poisson(mean), lambda k: sum(terms[k:]) / total, [1, 2, end // 2, end])


@pytest.mark.parametrize(
    ("n_halts", "p_halt", "end"), [(1, 0.2, 400), (2, 0.2, 430), (7, 0.5, 170)]
)
def test_negative_binomial_tail(n_halts, p_halt, end):
    p = Fraction(p_halt)

    def exact(k):
        head = (math.comb(j + n_halts - 1, j) * p**n_halts * (1 - p) ** j for j in range(k))
        return 1 - sum(head, Fraction(0))

    law = NegativeBinomial(n_halts, p_halt)
    assert_survival(law, exact, [1, 2, end // 4, end], rtol=1e-11)
    assert law.pmf(30) == pytest.approx(float(exact(30) - exact(31)), rel=1e-11, abs=0)


def test_first_step_tail():
    law, p = FirstStepThenGeometric(0.7), Fraction(0.7)
    assert_survival(law, lambda k: p ** (k - 1), [1, 2, 100, 260])


@pytest.mark.parametrize("mean", [1e-4, 0.3, 2.0, 50.0])
def test_poisson_probabilities(mean):
    exact = [Fraction(mean) ** k / math.factorial(k) for k in range(60)]
    wanted = [float(term) * math.exp(-mean) for term in exact]
    assert_allclose(Poisson(mean).pmf(np.arange(60)), wanted, rtol=1e-12, atol=1e-300)


def test_geometric_is_the_papers_algorithm_1():
    law = Geometric(0.25)
    assert_allclose(law.pmf([0, 1, 2]), [0.25, 0.1875, 0.140625], rtol=1e-15)
    assert_allclose(law.survival([0, 1, 2]), [1.0, 0.75, 0.5625], rtol=1e-15)
    assert law.mean == 3.0
    assert Geometric().p_halt == 0.1


def test_geometric_may_halt_at_once():
    assert_array_equal(Geometric(1).pmf([0, 1, 2]), [1.0, 0.0, 0.0])
    assert Geometric(1.0).mean == 0.0


def test_one_halting_signal_is_geometric():
    k = np.arange(100)
    assert_allclose(NegativeBinomial(1, 0.3).survival(k), Geometric(0.3).survival(k), rtol=1e-12)
    assert_allclose(NegativeBinomial(1, 0.3).pmf(k), Geometric(0.3).pmf(k), rtol=1e-12)


def test_many_halting_signals_are_nearly_poisson():
    k = np.arange(20)
    many = NegativeBinomial(1e6, 1e6 / (1e6 + 4.0))
    assert_allclose(many.pmf(k), Poisson(4.0).pmf(k), rtol=2e-4)


def test_the_first_step_is_always_taken():
    law = FirstStepThenGeometric(0.5)
    assert_array_equal(law.pmf([0, 1, 2, 3]), [0.0, 0.5, 0.25, 0.125])
    assert_array_equal(law.survival([0, 1, 2, 3]), [1.0, 1.0, 0.5, 0.25])
    assert law.mean == 2.0
    assert_array_equal(FirstStepThenGeometric(0).pmf([0, 1, 2]), [0.0, 1.0, 0.0])


@pytest.mark.parametrize("bad", [*NO_NUMBERS, NAN, INF, -INF, -0.1, 0, 1.5, 2])
@pytest.mark.parametrize(
    "make", [Geometric, lambda p: NegativeBinomial(2, p)], ids=["geometric", "negative binomial"]
)
def test_halting_probabilities_that_are_none(make, bad):
    with pytest.raises(InputError, match="p_halt must"):
        make(bad)


def test_which_ends_belong_to_the_interval():
    assert Geometric(1).mean == 0
    with pytest.raises(InputError, match=r"p_halt must be a number in \(0, 1\), found 1"):
        NegativeBinomial(2, 1)
    with pytest.raises(InputError, match=r"p_halt must be a number in \(0, 1\], found 0"):
        Geometric(0)
    with pytest.raises(InputError, match=r"p_next must be a number in \[0, 1\), found 1"):
        FirstStepThenGeometric(1)


@pytest.mark.parametrize("bad", [*NO_NUMBERS, NAN, INF, -0.1, 1, 1.5])
def test_probabilities_of_a_next_step_that_are_none(bad):
    with pytest.raises(InputError, match="p_next must"):
        FirstStepThenGeometric(bad)


@pytest.mark.parametrize("bad", [*NO_NUMBERS, NAN, INF, -1, 0, 0.0, -0.5])
def test_means_and_signals_that_are_not_positive(bad):
    with pytest.raises(InputError, match="mean must be"):
        Poisson(bad)
    with pytest.raises(InputError, match="n_halts must be"):
        NegativeBinomial(bad, 0.5)


def test_negative_binomial_matching_keeps_the_signals():
    law = NegativeBinomial.matching(Geometric(0.1), n_halts=5)
    assert law.n_halts == 5 and law.mean == pytest.approx(9.0)
    with pytest.raises(InputError, match="n_halts"):
        NegativeBinomial.matching(Geometric(0.1), n_halts=0)


def test_means_that_an_unbounded_law_cannot_have():
    with pytest.raises(InputError, match=r"always takes a first step has mean >= 1, not 0\.5"):
        FirstStepThenGeometric.matching(Poisson(0.5))
    with pytest.raises(InputError, match="mean must be a positive"):
        Poisson.matching(FixedLength(0))
    with pytest.raises(InputError, match="p_halt must be a number in"):
        NegativeBinomial.matching(FixedLength(0))


@pytest.mark.parametrize("n_halts", [5e-324, 1e-200, 1e10, 1e308])
def test_so_few_or_many_signals_have_no_probabilities_in_float64(n_halts):
    with pytest.raises(InputError, match=r"n_halts must lie between 1e-100 and 1e\+09, found"):
        NegativeBinomial(n_halts, 0.5)
    for extreme in (1e-100, 1e9):
        assert np.isfinite(NegativeBinomial(extreme, 0.5).pmf(np.arange(4))).all()
