"""Plans are values; tables of lengths draw the law that they say."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from small_graphs import GRAPHS, LAWS, QUICK, karate, laws

from grfpp import FixedLength, Geometric, Matched, Poisson
from grfpp.walks import LengthTable, WalkPlan, sample_rows
from grfpp.walks.plan import GUIDE_BITS, NEGLIGIBLE_TAIL, Budget, resolvable_length
from grfpp.walks.reference import draw_length
from grfpp.walks.streams import factor_key, walk_state


def test_a_plan_ends_where_law_or_modulation_does():
    short_law = WalkPlan.of(karate(), np.ones(50), FixedLength(4), n_walks=2, seed=0)
    assert len(short_law.modulation) == 5 and short_law.lengths.max_length == 4
    short_table = WalkPlan.of(karate(), np.ones(3), FixedLength(4), n_walks=2, seed=0)
    assert len(short_table.modulation) == 3 and short_table.lengths.max_length == 2


def test_deposits_are_modulation_over_survival_over_walks():
    f = np.array([1.0, -0.5, 0.25, 4.0])
    plan = WalkPlan.of(karate(), f, Geometric(0.5), n_walks=4, seed=0)
    assert_array_equal(plan.deposits, [0.25, -0.25, 0.25, 8.0])
    assert plan.expected_steps == 4 * (0.5 + 0.25 + 0.125)


def test_another_factor_has_other_streams_and_nothing_else():
    plan = WalkPlan.of(karate(), np.ones(5), Geometric(0.5), n_walks=4, seed=9)
    other = plan.with_factor(3)
    assert other.key == factor_key(9, 3) != plan.key == factor_key(9, 0)
    for part in ("graph", "lengths", "layout"):
        assert getattr(other, part) is getattr(plan, part)


@pytest.mark.parametrize("name", ["weighted, sym", "unweighted, sym", "directed, None"])
def test_a_plan_that_travelled_gives_the_same_bits(name):
    plan = WalkPlan.of(GRAPHS[name], 0.7 ** np.arange(90), Geometric(0.2), 7, seed=5, factor=2)
    copy = pickle.loads(pickle.dumps(plan))
    rows = range(plan.graph.n_nodes)
    here, there = sample_rows(plan, rows), sample_rows(copy, rows)
    for part in ("indptr", "indices", "data"):
        assert_array_equal(getattr(here, part), getattr(there, part))


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


@pytest.mark.parametrize(
    "law", [Geometric(0.1), Geometric(0.003), Poisson(4.0), Poisson(300.0), LAWS["first-step"]]
)
def test_resolvable_length_is_the_last_one_with_a_threshold(law):
    longest = resolvable_length(law)
    assert law.survival(longest) >= 2.0**-128 > law.survival(longest + 1)
    assert LengthTable.of(law, longest + 50).max_length == longest
    assert [resolvable_length(Geometric(p)) for p in (0.5, 0.75, 1.0)] == [128, 64, 0]


# --- budgets of pools -----------------------------------------------------------------------------


@given(st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=30), st.floats(0.1, 50))
def test_what_all_steps_may_take_is_the_budget(values, mean):
    budget = Budget.by_importance(np.sort(values)[::-1], mean)
    assert_allclose(budget.survival[1:].sum(), mean)
    assert_allclose(budget.survival[1:], mean * np.sort(values)[::-1] / np.sum(values))
    assert_allclose(budget.share[1:] + budget.rest[1:], 1.0)
    assert budget.share[-1] == 1.0 and budget.rest[-1] == 0.0


@pytest.mark.parametrize("law", [Geometric(0.2), Poisson(3.0)])
def test_laws_give_each_step_as_many_as_walkers_take(law):
    budget = Budget.by_law(law, 40)
    assert_allclose(budget.survival, law.survival(np.arange(41)), rtol=1e-10)
    assert_allclose(budget.mean, law.mean, rtol=1e-3)


def test_matched_shares_are_by_what_still_matters():
    modulation, growth = 0.5 ** np.arange(6), np.arange(7) * np.log(0.8)
    tails = np.cumsum((0.4 ** np.arange(6))[::-1])[::-1]
    budget = Budget.matched(Matched(7), -modulation, growth)
    assert_allclose(budget.survival[1:], 7 * tails[1:] / tails[1:].sum())


def test_the_table_ends_where_nothing_is_left():
    modulation = 1.0 / np.cumprod(np.r_[1.0, np.arange(1, 100)])
    budget = Budget.matched(Matched(9), modulation, np.zeros(101))
    rest = modulation[budget.max_length + 1 :].sum()
    assert 0 < rest < NEGLIGIBLE_TAIL * modulation.sum()
    assert modulation[budget.max_length :].sum() > NEGLIGIBLE_TAIL * modulation.sum()
    constant = Budget.matched(Matched(9), np.ones(1), np.zeros(2))
    assert constant.max_length == 0 and constant.mean == 0.0


def test_late_steps_are_shared_without_rounding_to_nothing():
    importance = 1e-30 ** np.arange(5.0)
    budget = Budget.by_importance(importance, 1.0)
    assert (budget.share[1:] > 0).all() and (budget.rest[1:-1] > 0).all()
    assert_allclose(budget.survival[1:], importance / importance.sum())


@pytest.mark.parametrize("n_lengths", [1, 2, 16, 200])
def test_budgets_for_learning_give_steps_to_all_lengths(n_lengths):
    budget = Budget.for_learning(Matched(9), n_lengths)
    shared = budget.survival[1:]
    assert len(shared) == budget.max_length == n_lengths - 1
    assert shared.sum() == pytest.approx(9 if n_lengths > 1 else 0)
    k = np.arange(1, n_lengths)
    assert_allclose(shared * k * 0.01 ** ((1 - k) / n_lengths), shared[:1].repeat(n_lengths - 1))
