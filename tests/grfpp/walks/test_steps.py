import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_graphs import LAWS, QUICK, laws
from stream_inverse import unmix64

from grfpp import FixedLength, Geometric, Graph
from grfpp.walks import LengthTable, WalkPlan, steps
from grfpp.walks.lengths import GUIDE_BITS
from grfpp.walks.reference import draw_length
from grfpp.walks.streams import MASK, SECOND_WORD, length_words, mix64, step_choice

words = st.integers(0, MASK)


@QUICK
@given(words)
def test_compiled_hash_is_the_plain_one(word):
    assert int(steps.mix64(np.uint64(word))) == mix64(word)


@QUICK
@given(words, st.integers(1, 2**32 - 1))
def test_compiled_choice_is_the_plain_one(word, degree):
    assert steps.scaled(np.uint64(word), degree) == (word * degree) >> 64


def test_compiled_choice_at_the_ends_of_the_range():
    for degree in (1, 2, 3, 2**31 - 1, 2**32 - 1):
        assert steps.scaled(np.uint64(0), degree) == 0
        assert steps.scaled(np.uint64(MASK), degree) == degree - 1
    state = 12345
    assert steps.scaled(steps.mix64(np.uint64(state)), 10) == step_choice(state, 0, 10)


def compiled_length(table, state):
    return steps.draw_length(np.uint64(state), tuple(table))


def plain_length(table, state):
    """How many thresholds lie above the draw, without guide and without early end."""
    high, low = length_words(state)
    draw = (high << 64) | low
    thresholds = ((int(h) << 64) | int(w) for h, w in zip(table.high, table.low, strict=True))
    return sum(draw < threshold for threshold in thresholds)


@pytest.mark.parametrize("name", LAWS)
def test_the_guide_never_changes_a_length(name):
    table = LengthTable.of(LAWS[name], 500)
    # Both sides of every edge of the guide's cells and of every threshold.
    edges = [cell << (64 - GUIDE_BITS) for cell in range(0, 1 << GUIDE_BITS, 7)]
    edges += [int(word) for word in table.high]
    for edge in edges:
        for word in (edge - 1, edge, edge + 1):
            state = unmix64(word & MASK)
            assert compiled_length(table, state) == plain_length(table, state)


@QUICK
@given(laws(), words)
def test_compiled_and_reference_lengths_are_the_plain_scan(law, state):
    table = LengthTable.of(law, 300)
    plan = WalkPlan.of(Graph([[1.0]]), np.ones(301), law, 1, 0)
    expected = plain_length(table, state)
    assert compiled_length(table, state) == expected
    assert draw_length(plan, state) == expected


@pytest.mark.parametrize("state", [0, 1, 99, MASK])
@pytest.mark.parametrize(("shift", "expected"), [(-1, 1), (0, 1), (1, 2)])
def test_ties_of_the_high_word_are_decided_by_the_low_one(state, shift, expected):
    high, low = length_words(state)
    assert 0 < low < MASK
    # The second threshold is the draw itself, or one of 2^-128 beside it.
    table = LengthTable(
        high=np.array([MASK, high], dtype=np.uint64),
        low=np.array([MASK, low + shift], dtype=np.uint64),
        survival=np.array([1.0, 1.0, high / 2**64]),
        guide=np.zeros(1 << GUIDE_BITS, np.int32),
    )
    plan = WalkPlan.of(Graph([[1.0]]), np.ones(3), FixedLength(2), 1, 0)
    object.__setattr__(plan, "lengths", table)
    assert compiled_length(table, state) == expected
    assert draw_length(plan, state) == expected
    assert mix64(state ^ SECOND_WORD) == low


def test_draws_far_in_the_tail_come_from_the_low_word():
    # A survival of 2^-100 has an empty high word: only the low one can decide.
    table = LengthTable.of(Geometric(0.5), 128)
    assert int(table.high[99]) == 0 and int(table.low[99]) == 2**28
    state = unmix64(0)
    reached = 64 + sum(length_words(state)[1] < 2**bits for bits in range(64))
    assert compiled_length(table, state) == plain_length(table, state) == reached >= 64
