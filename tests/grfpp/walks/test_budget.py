import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from grfpp import Geometric, Matched, Poisson
from grfpp.walks.budget import NEGLIGIBLE_TAIL, Budget


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


def test_a_constant_takes_no_step():
    budget = Budget.matched(Matched(9), np.ones(1), np.zeros(2))
    assert budget.max_length == 0 and budget.mean == 0.0


def test_late_steps_are_shared_without_rounding_to_nothing():
    importance = 1e-30 ** np.arange(5.0)
    budget = Budget.by_importance(importance, 1.0)
    assert (budget.share[1:] > 0).all() and (budget.rest[1:-1] > 0).all()
    assert_allclose(budget.survival[1:], importance / importance.sum())
