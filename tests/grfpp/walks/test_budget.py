"""How a pool's steps are shared where the modulation is still to be learned."""

import numpy as np
import pytest

from grfpp import Matched
from grfpp.walks.budget import Budget


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
