import json
import math
import pickle
from dataclasses import FrozenInstanceError
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from small_graphs import LAWS, QUICK, laws

from grfpp import (
    CustomLength,
    FirstStepThenGeometric,
    FixedLength,
    Geometric,
    NegativeBinomial,
    Poisson,
    Termination,
    UniformLength,
)
from grfpp.errors import InputError
from grfpp.termination import termination_from_dict, termination_from_spec

NAN, INF = float("nan"), float("inf")


# --- what every law must be ----------------------------------------------------------------------


@pytest.mark.parametrize("name", LAWS)
def test_probabilities_sum_to_one(name):
    assert LAWS[name].pmf(np.arange(2000)).sum() == pytest.approx(1.0, abs=1e-13)


@pytest.mark.parametrize("name", LAWS)
def test_survival_is_the_sum_of_the_tail(name):
    pmf = LAWS[name].pmf(np.arange(2000))
    tails = np.cumsum(pmf[::-1])[::-1]
    assert_allclose(LAWS[name].survival(np.arange(60)), tails[:60], rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("name", LAWS)
def test_mean_is_the_mean(name):
    law, k = LAWS[name], np.arange(3000)
    assert law.mean == pytest.approx(k @ law.pmf(k), rel=1e-12)
    assert law.mean == pytest.approx(law.survival(k[1:]).sum(), rel=1e-12)


@QUICK
@given(laws())
def test_survival_begins_at_one_falls_and_stays_a_probability(law):
    survival = law.survival(np.arange(-3, 200))
    assert_array_equal(survival[:4], 1.0)
    assert (np.diff(survival) <= 0).all() and (survival >= 0).all()
    assert_allclose(-np.diff(survival[3:]), law.pmf(np.arange(199)), rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("name", LAWS)
def test_negative_lengths_never_happen(name):
    assert_array_equal(LAWS[name].pmf([-1, -100]), 0.0)
    assert_array_equal(LAWS[name].survival([-1, -100, 0]), 1.0)


@pytest.mark.parametrize("name", LAWS)
def test_shapes_and_types_of_lengths(name):
    law = LAWS[name]
    for function in (law.pmf, law.survival):
        assert function(2).shape == ()
        assert function([[1, 2, 3]]).shape == (1, 3)
        assert function([]).shape == (0,)
        assert function(np.array([1, 2], dtype=np.uint8)).dtype == np.float64
        assert function(2) == pytest.approx(function([2])[0], rel=1e-14)


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("bad", [1.0, [0.5], "3", [True], None])
def test_lengths_are_whole_numbers(name, bad):
    for function in (LAWS[name].pmf, LAWS[name].survival):
        with pytest.raises(InputError, match="walk lengths must be whole numbers"):
            function(bad)


@pytest.mark.parametrize("name", LAWS)
def test_longest_walk(name):
    law = LAWS[name]
    if law.max_length is None:
        assert law.survival(50) > 0
    else:
        assert law.survival(law.max_length) > 0 == law.survival(law.max_length + 1)
        assert law.pmf(law.max_length + 1) == 0


@pytest.mark.parametrize("name", LAWS)
def test_laws_are_values(name):
    law = LAWS[name]
    copy = pickle.loads(pickle.dumps(law))
    assert copy == law and hash(copy) == hash(law) and copy is not law
    assert law != Geometric(0.123)
    with pytest.raises(FrozenInstanceError):
        law.mean = 3.0
    assert isinstance(law, Termination)


@pytest.mark.parametrize("name", LAWS)
def test_dictionaries_keep_the_law(name):
    values = json.loads(json.dumps(LAWS[name].to_dict()))
    assert values["name"] == name
    assert termination_from_dict(values) == LAWS[name]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "unknown termination law ''; known: geometric, poisson"),
        ({"name": "levy"}, "unknown termination law 'levy'"),
        ({"name": "poisson"}, "does not hold the parameters"),
        ({"name": "poisson", "mean": 2, "p_halt": 0.1}, "does not hold the parameters"),
        ({"name": "poisson", "mean": "2"}, "mean must be a positive"),
        ({"name": "fixed", "n": 1.5}, "n must be a whole number"),
    ],
)
def test_other_dictionaries_are_refused(values, message):
    with pytest.raises(InputError, match=message):
        termination_from_dict(values)


# --- far tails, against fractions ----------------------------------------------------------------


def assert_exact(law, exact, lengths, rtol=1e-12):
    for k in lengths:
        assert law.survival(k) == pytest.approx(float(exact(k)), rel=rtol, abs=0)
    assert float(exact(lengths[-1])) < 1e-38  # as far as 128 random bits go


@pytest.mark.parametrize("p_halt", [0.05, 0.1, 0.5, 0.9])
def test_geometric_tail(p_halt):
    end = math.ceil(90 / -math.log1p(-p_halt))
    lengths = [1, 2, end // 2, end]
    assert_exact(Geometric(p_halt), lambda k: (1 - Fraction(p_halt)) ** k, lengths)


@pytest.mark.parametrize(("mean", "end"), [(0.25, 25), (4.0, 52), (30.0, 130)])
def test_poisson_tail(mean, end):
    terms = [Fraction(1)]
    for j in range(1, 400):
        terms.append(terms[-1] * Fraction(mean) / j)
    total = sum(terms)  # exp(mean), to far more digits than needed
    assert_exact(Poisson(mean), lambda k: sum(terms[k:]) / total, [1, 2, end // 2, end])


@pytest.mark.parametrize(
    ("n_halts", "p_halt", "end"), [(1, 0.2, 400), (2, 0.2, 430), (7, 0.5, 170)]
)
def test_negative_binomial_tail(n_halts, p_halt, end):
    p = Fraction(p_halt)

    def exact(k):
        head = (math.comb(j + n_halts - 1, j) * p**n_halts * (1 - p) ** j for j in range(k))
        return 1 - sum(head, Fraction(0))

    law = NegativeBinomial(n_halts, p_halt)
    assert_exact(law, exact, [1, 2, end // 4, end], rtol=1e-11)
    assert law.pmf(30) == pytest.approx(float(exact(30) - exact(31)), rel=1e-11, abs=0)


def test_first_step_tail():
    law, p = FirstStepThenGeometric(0.7), Fraction(0.7)
    assert_exact(law, lambda k: p ** (k - 1), [1, 2, 100, 260])


def test_custom_tail_keeps_its_digits():
    weights = [Fraction(1, 10**k) for k in range(41)]
    total = sum(weights)
    law = CustomLength([float(weight / total) for weight in weights])
    assert_exact(law, lambda k: sum(weights[k:]) / total, [1, 10, 25, 40])


@pytest.mark.parametrize("mean", [1e-4, 0.3, 2.0, 50.0])
def test_poisson_probabilities(mean):
    exact = [Fraction(mean) ** k / math.factorial(k) for k in range(60)]
    wanted = [float(term) * math.exp(-mean) for term in exact]
    assert_allclose(Poisson(mean).pmf(np.arange(60)), wanted, rtol=1e-12, atol=1e-300)


# --- each law on its own -------------------------------------------------------------------------


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


def test_fixed_and_uniform_lengths():
    assert_array_equal(FixedLength(2).pmf([0, 1, 2, 3]), [0, 0, 1, 0])
    assert_array_equal(FixedLength(2).survival([0, 1, 2, 3]), [1, 1, 1, 0])
    assert_array_equal(UniformLength(3).pmf([0, 3, 4]), [0.25, 0.25, 0])
    assert_array_equal(UniformLength(3).survival([0, 1, 2, 3, 4]), [1, 0.75, 0.5, 0.25, 0])
    assert FixedLength(0).mean == UniformLength(0).mean == 0.0


def test_custom_lengths_are_trimmed_and_summed_exactly():
    law = CustomLength([0.5, 0.0, 0.5, 0.0, 0.0])
    assert law.probabilities == (0.5, 0.0, 0.5)
    assert law.max_length == 2 and law.mean == 1.0
    assert_array_equal(law.survival([0, 1, 2, 3]), [1.0, 0.5, 0.5, 0.0])
    assert law == CustomLength(np.array([0.5, 0.0, 0.5])) == CustomLength((0.5, 0, 0.5))
    nearly = CustomLength([1 / 3, 1 / 3, 1 / 3 + 1e-10])
    assert sum(nearly.probabilities) == pytest.approx(1.0, abs=1e-16)


# --- refusals ------------------------------------------------------------------------------------

NO_NUMBERS = ["0.5", b"0.5", None, [0.5], True, np.True_, 1j]


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


@pytest.mark.parametrize("bad", [*NO_NUMBERS, NAN, INF, -1, -0.5, 0.5, 2.000001])
@pytest.mark.parametrize("law", [FixedLength, UniformLength])
def test_lengths_that_are_no_whole_numbers(law, bad):
    with pytest.raises(InputError, match="n must be a"):
        law(bad)


def test_whole_numbers_of_any_type_are_lengths():
    assert FixedLength(3.0) == FixedLength(np.int8(3)) == FixedLength(3)
    assert isinstance(FixedLength(3.0).n, int)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([], "sequence of numbers|non-empty"),
        ([[0.5, 0.5]], "non-empty list, found shape"),
        (0.5, "non-empty list"),
        ([0.5, 0.4], "must sum to 1, found 0.9"),
        ([0.6, 0.6], "must sum to 1, found 1.2"),
        ([0.0, 0.0], "must sum to 1, found 0"),
        ([1.5, -0.5], "finite and not negative"),
        ([NAN, 1.0], "finite and not negative"),
        ([INF], "finite and not negative"),
        (["0.5", "0.5"], "sequence of numbers"),
        ("ab", "sequence of numbers"),
        ([0.5, None], "sequence of numbers"),
        ([True], "sequence of numbers"),
        ([0.5, 0.5 + 0j], "sequence of numbers"),
        ([[0.5], [0.25, 0.25]], "sequence of numbers"),
        (None, "sequence of numbers"),
    ],
)
def test_probabilities_that_are_none(bad, message):
    with pytest.raises(InputError, match=message):
        CustomLength(bad)


# --- equal means ---------------------------------------------------------------------------------

MATCHABLE = [Geometric, Poisson, NegativeBinomial, FirstStepThenGeometric, CustomLength]


@pytest.mark.parametrize("kind", MATCHABLE)
@pytest.mark.parametrize("other", [Geometric(0.1), Poisson(1.7), UniformLength(5), FixedLength(3)])
def test_matching_laws_have_the_same_mean(kind, other):
    law = kind.matching(other)
    assert type(law) is kind
    assert law.mean == pytest.approx(other.mean, rel=1e-9)


@QUICK
@given(laws(), st.sampled_from(MATCHABLE))
def test_matching_any_law(other, kind):
    assume(other.mean > (1.0 if kind is FirstStepThenGeometric else 0.0))
    assert kind.matching(other).mean == pytest.approx(other.mean, rel=1e-9, abs=1e-12)


def test_matching_whole_lengths():
    assert FixedLength.matching(Geometric(0.1)) == FixedLength(9)
    assert UniformLength.matching(Geometric(0.1)) == UniformLength(18)
    assert UniformLength.matching(Geometric(0.4)) == UniformLength(3)
    assert FixedLength.matching(FixedLength(0)) == FixedLength(0)


@pytest.mark.parametrize("n", range(1, 60))
def test_matching_whole_lengths_in_spite_of_rounding(n):
    # Geometric(0.05) has a mean of 18.999999999999996 in float64.
    assert FixedLength.matching(Geometric(1 / (n + 1))) == FixedLength(n)
    assert UniformLength.matching(Geometric(1 / (n + 1))) == UniformLength(2 * n)


def test_means_that_a_kind_of_law_cannot_have():
    with pytest.raises(InputError, match="the mean of a fixed length must be a whole number"):
        FixedLength.matching(Geometric(0.3))
    with pytest.raises(InputError, match="twice the mean of a uniform length"):
        UniformLength.matching(Poisson(1.3))
    with pytest.raises(InputError, match=r"always takes a first step has mean >= 1, not 0\.5"):
        FirstStepThenGeometric.matching(Poisson(0.5))
    with pytest.raises(InputError, match="mean must be a positive"):
        Poisson.matching(FixedLength(0))
    with pytest.raises(InputError, match="cannot have mean 0"):
        CustomLength.matching(FixedLength(0))
    with pytest.raises(InputError, match="p_halt must be a number in"):
        NegativeBinomial.matching(FixedLength(0))


def test_matching_ends():
    assert Geometric.matching(FixedLength(0)) == Geometric(1.0)
    assert FirstStepThenGeometric.matching(FixedLength(1)) == FirstStepThenGeometric(0.0)


def test_negative_binomial_matching_keeps_the_signals():
    law = NegativeBinomial.matching(Geometric(0.1), n_halts=5)
    assert law.n_halts == 5 and law.mean == pytest.approx(9.0)
    with pytest.raises(InputError, match="n_halts"):
        NegativeBinomial.matching(Geometric(0.1), n_halts=0)


def test_custom_matching_tilts_the_given_probabilities():
    base = np.array([0.4, 0.0, 0.3, 0.3])
    law = CustomLength.matching(Poisson(2.4), base)
    assert law.mean == pytest.approx(2.4, rel=1e-12)
    found = np.array(law.probabilities)
    assert found[1] == 0.0
    ratio = found[[0, 2, 3]] / base[[0, 2, 3]]
    # An exponential tilt: the logarithms lie on a line.
    assert np.log(ratio[2] / ratio[0]) / 3 == pytest.approx(np.log(ratio[1] / ratio[0]) / 2)
    with pytest.raises(InputError, match="lengths from 0 to 3 cannot have mean 3"):
        CustomLength.matching(FixedLength(3), base)


# --- as the command line writes them -------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "law"),
    [
        ("geometric", Geometric(0.1)),
        ("geometric:0.25", Geometric(0.25)),
        ("poisson:4", Poisson(4.0)),
        ("negative-binomial:3:0.2", NegativeBinomial(3, 0.2)),
        ("first-step:0.75", FirstStepThenGeometric(0.75)),
        ("fixed:10", FixedLength(10)),
        ("uniform:8", UniformLength(8)),
        ("custom:0.5:0.25:0.25", CustomLength([0.5, 0.25, 0.25])),
    ],
)
def test_specs(spec, law):
    assert termination_from_spec(spec) == law


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("", "unknown termination law ''"),
        ("levy:2", "unknown termination law 'levy'; known: geometric, poisson, negative-binomial"),
        ("poisson:four", "must be numbers, as in poisson:4"),
        ("poisson:", "must be numbers"),
        ("poisson", "wrong number of parameters for the law 'poisson'"),
        ("poisson:1:2", "wrong number of parameters"),
        ("poisson:nan", "mean must be a positive, finite number"),
        ("geometric:0", r"p_halt must be a number in \(0, 1\]"),
        ("fixed:1.5", "n must be a whole number"),
        ("custom", "non-empty|sequence of numbers"),
        ("custom:0.5", "must sum to 1"),
    ],
)
def test_other_specs_are_refused(spec, message):
    with pytest.raises(InputError, match=message):
        termination_from_spec(spec)
