"""What every law of the walk length must be, and laws of equal means."""

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from small_graphs import LAWS, QUICK, laws

from grfpp.errors import InputError
from grfpp.termination.base import Termination
from grfpp.termination.bounded import CustomLength, FixedLength, UniformLength
from grfpp.termination.unbounded import FirstStepThenGeometric, Geometric, NegativeBinomial, Poisson

MATCHABLE = [Geometric, Poisson, NegativeBinomial, FirstStepThenGeometric, CustomLength]


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


def test_matching_ends():
    assert Geometric.matching(FixedLength(0)) == Geometric(1.0)
    assert FirstStepThenGeometric.matching(FixedLength(1)) == FirstStepThenGeometric(0.0)
