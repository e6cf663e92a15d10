"""How a pool's steps are shared where the modulation is still to be learned."""

import numpy as np
import pytest
from small_graphs import karate

from grfpp import FixedLength, Geometric, Matched, WalkOptions
from grfpp.walks.budget import Budget
from grfpp.walks.by_length import plan_by_length


@pytest.mark.parametrize("n_lengths", [2, 16, 200])
def test_all_lengths_get_steps_and_all_steps_are_given(n_lengths):
    budget = Budget.for_learning(Matched(9), n_lengths)
    shared = budget.survival[1:]
    assert len(shared) == budget.max_length == n_lengths - 1
    assert shared.sum() == pytest.approx(9)
    assert (np.diff(shared) < 0).all()
    assert (shared > 0).all()


def test_shares_are_what_the_docs_say():
    shared = Budget.for_learning(Matched(9), 10).survival
    assert shared[2:] / shared[1] == pytest.approx(
        [0.01 ** ((k - 1) / 10) / k for k in range(2, 10)]
    )


def test_one_length_takes_no_step():
    budget = Budget.for_learning(Matched(9), 1)
    assert (budget.max_length, budget.mean) == (0, 0.0)


@pytest.mark.parametrize("walks", ["pooled", "independent"])
@pytest.mark.parametrize(("law", "longest"), [(Geometric(0.1), 11), (FixedLength(5), 5)])
def test_lengths_follow_another_law(walks, law, longest):
    plan = plan_by_length(karate(), 12, WalkOptions(walks=walks, termination=law, n_walks=3))
    assert plan.is_pooled == (walks == "pooled")
    assert plan.lengths.max_length == longest
    np.testing.assert_allclose(plan.lengths.survival, law.survival(np.arange(longest + 1)))


def test_the_default_is_a_pool_for_all_lengths():
    plan = plan_by_length(karate(), 12, WalkOptions(n_walks=3, seed=7))
    assert plan.is_pooled
    assert (plan.lengths.max_length, plan.n_walks, plan.seed) == (11, 3, 7)
    assert plan.expected_steps == pytest.approx(27)
