"""Laws with a longest walk."""

from fractions import Fraction

import numpy as np
import pytest
from law_cases import INF, NAN, NO_NUMBERS, assert_survival
from numpy.testing import assert_array_equal

from grfpp import CustomLength, FixedLength, Geometric, Poisson, UniformLength
from grfpp.errors import InputError


def test_custom_tail_keeps_its_digits():
    weights = [Fraction(1, 10**k) for k in range(41)]
    total = sum(weights)
    law = CustomLength([float(weight / total) for weight in weights])
    assert_survival(law, lambda k: sum(weights[k:]) / total, [1, 10, 25, 40])


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


def test_means_that_a_bounded_law_cannot_have():
    with pytest.raises(InputError, match="the mean of a fixed length must be a whole number"):
        FixedLength.matching(Geometric(0.3))
    with pytest.raises(InputError, match="twice the mean of a uniform length"):
        UniformLength.matching(Poisson(1.3))
    with pytest.raises(InputError, match="cannot have mean 0"):
        CustomLength.matching(FixedLength(0))
