"""Laws of the walk length: what all obey, each against exact fractions, and by name."""

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

from grfpp import InputError
from grfpp.termination import (
    CustomLength,
    FirstStepThenGeometric,
    FixedLength,
    Geometric,
    Matched,
    NegativeBinomial,
    Poisson,
    UniformLength,
    termination_from_dict,
    termination_from_spec,
)

NAN, INF = float("nan"), float("inf")
NO_NUMBERS = ["0.5", b"0.5", None, [0.5], True, np.True_, 1j, NAN, INF]
MATCHABLE = [Geometric, Poisson, NegativeBinomial, FirstStepThenGeometric, CustomLength]


@pytest.fixture(params=LAWS)
def law(request):
    return LAWS[request.param]


# --- what all laws obey --------------------------------------------------------------------------


def test_probabilities_survival_and_mean_belong_together(law):
    k = np.arange(3000)
    pmf = law.pmf(k)
    assert pmf.sum() == pytest.approx(1.0, abs=1e-13)
    tails = np.cumsum(pmf[::-1])[::-1]
    assert_allclose(law.survival(k[:60]), tails[:60], rtol=1e-12, atol=1e-300)
    assert law.mean == pytest.approx(k @ pmf, rel=1e-12)
    assert law.mean == pytest.approx(law.survival(k[1:]).sum(), rel=1e-12)
    longest = law.max_length
    assert law.survival(50 if longest is None else longest) > 0
    assert longest is None or law.survival(longest + 1) == 0


@QUICK
@given(laws())
def test_survival_begins_at_one_falls_and_stays_a_probability(law):
    survival = law.survival(np.arange(-3, 200))
    assert_array_equal(survival[:4], 1.0)
    assert_array_equal(law.pmf([-1, -100]), 0.0)
    assert (np.diff(survival) <= 0).all() and (survival >= 0).all()
    assert_allclose(-np.diff(survival[3:]), law.pmf(np.arange(199)), rtol=1e-9, atol=1e-14)


def test_shapes_and_types_of_lengths(law):
    for function in (law.pmf, law.survival):
        assert function(2).shape == ()
        assert function([[1, 2, 3]]).shape == (1, 3)
        assert function([]).shape == (0,)
        assert function(np.array([1, 2], dtype=np.uint8)).dtype == np.float64
        for bad in (1.0, [0.5], "3", [True], None):
            with pytest.raises(InputError):
                function(bad)


def test_laws_are_values(law):
    copy = pickle.loads(pickle.dumps(law))
    assert copy == law and hash(copy) == hash(law) and copy is not law
    assert law != Geometric(0.123)
    with pytest.raises(FrozenInstanceError):
        law.mean = 3.0


@QUICK
@given(laws(), st.sampled_from(MATCHABLE))
def test_matching_laws_have_the_same_mean(other, kind):
    assume(other.mean > (1.0 if kind is FirstStepThenGeometric else 0.0))
    assert kind.matching(other).mean == pytest.approx(other.mean, rel=1e-9, abs=1e-12)


# --- each law against fractions, as far as 128 random bits go -------------------------------------


def assert_survival(law, exact, lengths, rtol=1e-12):
    for k in lengths:
        assert law.survival(k) == pytest.approx(float(exact(k)), rel=rtol, abs=0)
    assert float(exact(lengths[-1])) < 1e-38


@pytest.mark.parametrize("p_halt", [0.05, 0.1, 0.5, 0.9])
def test_geometric_tail(p_halt):
    end = math.ceil(90 / -math.log1p(-p_halt))
    exact = lambda k: (1 - Fraction(p_halt)) ** k  # noqa: E731
    assert_survival(Geometric(p_halt), exact, [1, 2, end // 2, end])


@pytest.mark.parametrize(("mean", "end"), [(0.25, 25), (4.0, 52), (30.0, 130)])
def test_poisson(mean, end):
    terms = [Fraction(1)]
    for j in range(1, 400):
        terms.append(terms[-1] * Fraction(mean) / j)
    total = sum(terms)  # exp(mean), to far more digits than needed
    law = Poisson(mean)
    assert_survival(law, lambda k: sum(terms[k:]) / total, [1, 2, end // 2, end])
    exact = [float(term / total) for term in terms[:60]]
    assert_allclose(law.pmf(np.arange(60)), exact, rtol=1e-12, atol=1e-300)


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
    p = Fraction(0.7)
    assert_survival(FirstStepThenGeometric(0.7), lambda k: p ** (k - 1), [1, 2, 100, 260])


def test_custom_tail_keeps_its_digits():
    weights = [Fraction(1, 10**k) for k in range(41)]
    total = sum(weights)
    law = CustomLength([float(weight / total) for weight in weights])
    assert_survival(law, lambda k: sum(weights[k:]) / total, [1, 10, 25, 40])


def test_simple_values():
    assert_array_equal(Geometric(1).pmf([0, 1, 2]), [1.0, 0.0, 0.0])
    assert Geometric().p_halt == 0.1 and Geometric(0.25).mean == 3.0 and Geometric(1).mean == 0.0
    assert_array_equal(FirstStepThenGeometric(0.5).pmf([0, 1, 2, 3]), [0.0, 0.5, 0.25, 0.125])
    assert_array_equal(FixedLength(2).survival([0, 1, 2, 3]), [1, 1, 1, 0])
    assert_array_equal(UniformLength(3).survival([0, 1, 2, 3, 4]), [1, 0.75, 0.5, 0.25, 0])
    assert FixedLength(3.0) == FixedLength(np.int8(3)) and isinstance(FixedLength(3.0).n, int)
    k = np.arange(20)
    many = NegativeBinomial(1e6, 1e6 / (1e6 + 4.0))
    assert_allclose(many.pmf(k), Poisson(4.0).pmf(k), rtol=2e-4)


def test_custom_lengths_are_trimmed_and_summed_exactly():
    law = CustomLength([0.5, 0.0, 0.5, 0.0, 0.0])
    assert law.probabilities == (0.5, 0.0, 0.5)
    assert law.max_length == 2 and law.mean == 1.0
    assert law == CustomLength(np.array([0.5, 0.0, 0.5])) == CustomLength((0.5, 0, 0.5))
    nearly = CustomLength([1 / 3, 1 / 3, 1 / 3 + 1e-10])
    assert sum(nearly.probabilities) == pytest.approx(1.0, abs=1e-16)


# --- matching ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", range(1, 60))
def test_matching_whole_lengths_in_spite_of_rounding(n):
    # Geometric(0.05) has a mean of 18.999999999999996 in float64.
    assert FixedLength.matching(Geometric(1 / (n + 1))) == FixedLength(n)
    assert UniformLength.matching(Geometric(1 / (n + 1))) == UniformLength(2 * n)


def test_matching_keeps_other_parameters():
    assert Geometric.matching(FixedLength(0)) == Geometric(1.0)
    assert FirstStepThenGeometric.matching(FixedLength(1)) == FirstStepThenGeometric(0.0)
    assert Matched.matching(Geometric(0.2)) == Matched(4.0)
    law = NegativeBinomial.matching(Geometric(0.1), n_halts=5)
    assert law.n_halts == 5 and law.mean == pytest.approx(9.0)


def test_custom_matching_tilts_the_given_probabilities():
    base = np.array([0.4, 0.0, 0.3, 0.3])
    law = CustomLength.matching(Poisson(2.4), base)
    assert law.mean == pytest.approx(2.4, rel=1e-12)
    probabilities = np.array(law.probabilities)
    assert probabilities[1] == 0.0
    ratio = probabilities[[0, 2, 3]] / base[[0, 2, 3]]
    # An exponential tilt: the logarithms lie on a line.
    assert np.log(ratio[2] / ratio[0]) / 3 == pytest.approx(np.log(ratio[1] / ratio[0]) / 2)


@pytest.mark.parametrize(
    "make",
    [
        lambda: FirstStepThenGeometric.matching(Poisson(0.5)),
        lambda: Poisson.matching(FixedLength(0)),
        lambda: NegativeBinomial.matching(FixedLength(0)),
        lambda: FixedLength.matching(Geometric(0.3)),
        lambda: UniformLength.matching(Poisson(1.3)),
        lambda: CustomLength.matching(FixedLength(0)),
        lambda: CustomLength.matching(FixedLength(3), [0.4, 0.0, 0.3, 0.3]),
    ],
)
def test_means_that_a_law_cannot_have(make):
    with pytest.raises(InputError):
        make()


# --- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "argument", "bad"),
    [
        (Geometric, "p_halt", [-INF, -0.1, 0, 1.5]),
        (lambda p: NegativeBinomial(2, p), "p_halt", [-0.1, 0, 1, 2]),
        (FirstStepThenGeometric, "p_next", [-0.1, 1, 1.5]),
        (Poisson, "mean", [-1, 0, 0.0, -0.5]),
        (Matched, "mean", [-1, 0]),
        (lambda n: NegativeBinomial(n, 0.5), "n_halts", [-1, 0, 5e-324, 1e-200, 1e10, 1e308]),
        (FixedLength, "n", [-1, -0.5, 0.5, 2.000001]),
        (UniformLength, "n", [-1, 0.5]),
    ],
)
def test_parameters_out_of_range(make, argument, bad):
    for value in [*NO_NUMBERS, *bad]:
        with pytest.raises(InputError) as caught:
            make(value)
        assert caught.value.argument == argument
    assert np.isfinite(NegativeBinomial(1e-100, 0.5).pmf(np.arange(4))).all()


@pytest.mark.parametrize(
    "bad",
    [
        *([], [[0.5, 0.5]], 0.5, [0.5, 0.4], [0.6, 0.6], [0.0, 0.0], [1.5, -0.5], [NAN, 1.0]),
        *([INF], ["0.5", "0.5"], "ab", [0.5, None], [True], [0.5, 0.5 + 0j], None),
        [[0.5], [0.25, 0.25]],
    ],
)
def test_probabilities_that_are_none(bad):
    with pytest.raises(InputError) as caught:
        CustomLength(bad)
    assert caught.value.argument == "probabilities"


def test_a_budget_has_no_probabilities():
    for ask in (Matched(4).survival, Matched(4).pmf):
        with pytest.raises(InputError):
            ask([2])


# --- by name -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LAWS)
def test_dictionaries_keep_the_law(name):
    values = json.loads(json.dumps(LAWS[name].to_dict()))
    assert values["name"] == name
    assert termination_from_dict(values) == LAWS[name]


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
        ("matched:5", Matched(5)),
    ],
)
def test_specs(spec, law):
    assert termination_from_spec(spec) == law


OTHER_SPECS = """levy:2 poisson:four poisson: poisson poisson:1:2 poisson:nan geometric:0 fixed:1.5
custom custom:0.5"""
OTHER_DICTIONARIES = [
    *({}, {"name": "levy"}, {"name": "poisson"}, {"name": "poisson", "mean": "2"}),
    *({"name": "poisson", "mean": 2, "p_halt": 0.1}, {"name": "fixed", "n": 1.5}),
]


def test_other_specs_and_dictionaries_are_refused():
    cases = [(termination_from_spec, spec) for spec in ("", *OTHER_SPECS.split())]
    for read, source in (*cases, *((termination_from_dict, each) for each in OTHER_DICTIONARIES)):
        with pytest.raises(InputError):
            read(source)
