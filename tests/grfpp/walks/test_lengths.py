from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from small_graphs import LAWS, QUICK, karate, laws

from grfpp import CustomLength, FixedLength, Geometric, Poisson, UniformLength
from grfpp.walks import LengthTable, WalkPlan
from grfpp.walks.lengths import GUIDE_BITS, resolvable_length
from grfpp.walks.reference import draw_length
from grfpp.walks.streams import walk_state

RESOLUTION = Fraction(1, 2**128)


def thresholds(table):
    return [(int(high) << 64) | int(low) for high, low in zip(table.high, table.low, strict=True)]


@QUICK
@given(laws())
def test_thresholds_are_the_survival_rounded_down(law):
    table = LengthTable.of(law, 400)
    survival = [Fraction(float(value)) for value in law.survival(np.arange(1, 401))]
    expected = [min(int(value * 2**128), 2**128 - 1) for value in survival]
    assert thresholds(table) == [value for value in expected if value > 0]


@QUICK
@given(laws())
def test_survival_is_what_the_thresholds_bring_about(law):
    table = LengthTable.of(law, 400)
    assert table.survival[0] == 1.0
    for value, threshold in zip(table.survival[1:], thresholds(table), strict=True):
        assert abs(Fraction(float(value)) - threshold * RESOLUTION) <= Fraction(value) / 2**53
    wanted = law.survival(np.arange(table.max_length + 1))
    assert_allclose(table.survival, wanted, rtol=1e-15, atol=2.0**-127)
    assert (np.diff(table.survival) <= 0).all()


@pytest.mark.parametrize("law", [Poisson(1000.0), Poisson(1e-3), Geometric(1e-3), Geometric(0.999)])
def test_extreme_laws_are_tabulated_in_falling_order(law):
    table = LengthTable.of(law, 5000)
    values = thresholds(table)
    assert values == sorted(values, reverse=True)
    assert table.mean == pytest.approx(law.mean, rel=0.01)


@pytest.mark.parametrize("name", LAWS)
def test_drawn_lengths_follow_the_law(name):
    law = LAWS[name]
    plan = WalkPlan.of(karate(), np.ones(400), law, n_walks=1, seed=31)
    n = 8000
    lengths = [draw_length(plan, walk_state(plan.key, node, 0)) for node in range(n)]
    counts = np.bincount(lengths, minlength=401)
    probability = law.pmf(np.arange(401))
    assert not counts[probability == 0].any()
    common = n * probability >= 8
    if common.sum() == 1:
        assert counts[common] == n
        return
    # What is rare is taken together.
    found = np.append(counts[common], counts[~common].sum())
    wanted = np.append(probability[common], probability[~common].sum()) * n
    used = wanted > 1e-9
    assert stats.chisquare(found[used], wanted[used] * n / wanted[used].sum()).pvalue > 1e-3


@pytest.mark.parametrize("name", LAWS)
def test_share_of_walks_that_go_on_is_the_survival(name):
    law, n = LAWS[name], 8000
    plan = WalkPlan.of(karate(), np.ones(400), law, n_walks=n, seed=77)
    lengths = np.array([draw_length(plan, walk_state(plan.key, 0, walk)) for walk in range(n)])
    k = np.arange(1, 12)
    found = (lengths[:, None] >= k).mean(axis=0)
    wanted = law.survival(k)
    spread = np.sqrt(wanted * (1 - wanted) / n)
    assert (np.abs(found - wanted) <= 4 * spread + 1e-15).all()


@pytest.mark.parametrize("name", LAWS)
def test_mean_of_the_table_is_the_mean_of_the_law(name):
    assert LengthTable.of(LAWS[name], 1000).mean == pytest.approx(LAWS[name].mean, rel=1e-12)


def test_a_short_table_cuts_the_law():
    table = LengthTable.of(Geometric(0.5), 3)
    assert table.max_length == 3
    assert_array_equal(table.survival, [1.0, 0.5, 0.25, 0.125])
    assert table.mean == 0.875
    assert LengthTable.of(Geometric(0.5), 0).max_length == 0


@pytest.mark.parametrize("law", [Geometric(0.1), Geometric(0.5), Poisson(4.0), FixedLength(3)])
def test_the_guide_names_what_all_draws_of_a_cell_reach(law):
    table = LengthTable.of(law, 842)
    width = 1 << (128 - GUIDE_BITS)
    values = thresholds(table)
    for cell in (0, 1, 2, 3, 7, 17, 255, 500, 511, 1022, 1023):
        assert table.guide[cell] == sum(value >= (cell + 1) * width for value in values)
    assert len(table.guide) == 1 << GUIDE_BITS
    assert (np.diff(table.guide) <= 0).all()


# --- resolution ----------------------------------------------------------------------------------


def test_128_bits_resolve_survivals_down_to_2_to_the_minus_128():
    assert resolvable_length(Geometric(0.5)) == 128
    assert resolvable_length(Geometric(0.75)) == 64
    assert resolvable_length(Geometric(1.0)) == 0


@pytest.mark.parametrize(
    "law", [Geometric(0.1), Geometric(0.003), Poisson(4.0), Poisson(300.0), LAWS["first-step"]]
)
def test_resolvable_length_is_the_last_one_with_a_threshold(law):
    longest = resolvable_length(law)
    assert law.survival(longest) >= 2.0**-128 > law.survival(longest + 1)
    assert LengthTable.of(law, longest + 50).max_length == longest


@pytest.mark.parametrize("at_most", [0, 1, 2, 5, 64, 512, 841, 842, 843, 1024])
def test_resolvable_length_can_be_bounded(at_most):
    assert resolvable_length(Geometric(0.1), at_most) == min(842, at_most)
    assert resolvable_length(FixedLength(500), at_most) == min(500, at_most)


def test_bounded_laws_end_at_their_bound():
    assert resolvable_length(FixedLength(12)) == 12
    assert resolvable_length(UniformLength(9)) == 9
    assert resolvable_length(CustomLength([0.5, 0.25, 0.25])) == 2
