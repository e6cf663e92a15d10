"""The compiled loops of independent walks against the plain reference."""

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from small_graphs import LAWS, QUICK, karate, laws
from stream_inverse import unmix64

from grfpp import FixedLength, Geometric, Graph
from grfpp.walks import LengthTable, WalkPlan, sample_rows, steps
from grfpp.walks.plan import GUIDE_BITS
from grfpp.walks.reference import draw_length, reference_rows
from grfpp.walks.sampling import Output, Walker
from grfpp.walks.streams import MASK, SECOND_WORD, length_words, mix64


def test_large_graph_with_many_collisions_in_the_hash_table():
    # Every walk of one row ends somewhere else: the row's table is as full as it can be.
    n = 3000
    star = np.zeros((n, n))
    star[0, 1:] = 1.0
    plan = WalkPlan.of(Graph(star), np.array([1.0, 0.5]), FixedLength(1), n_walks=6000, seed=0)
    row = sample_rows(plan, [0]).toarray()
    assert_allclose(row, reference_rows(plan, [0]), rtol=1e-12)
    assert np.count_nonzero(row) > 2000


words = st.integers(0, MASK)

# Inlined functions have no entry from Python: their sources are compiled here.
compiled_mix64 = numba.njit(steps.mix64.py_func)
compiled_scaled = numba.njit(steps.scaled.py_func)
compiled_draw_length = numba.njit(steps.draw_length.py_func)


@QUICK
@given(words, st.integers(1, 2**32 - 1))
def test_compiled_hash_and_choice_are_the_plain_ones(word, degree):
    assert int(compiled_mix64(np.uint64(word))) == mix64(word)
    assert compiled_scaled(np.uint64(word), degree) == (word * degree) >> 64


def compiled_length(table, state):
    return compiled_draw_length(np.uint64(state), tuple(table))


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


def dense(block, n):
    rows = np.zeros((len(block.end), n))
    start = 0
    for row, end in zip(rows, block.end.tolist(), strict=True):
        row[block.columns[start:end]] = block.values[start:end]
        start = end
    assert start == len(block.columns) == len(block.values)
    return rows


def test_a_walker_and_its_output_serve_again_and_again():
    plan = WalkPlan.of(karate(), (-0.7) ** np.arange(80), Geometric(0.2), n_walks=6, seed=4)
    walker, output = Walker(plan, 100), Output(1, np.dtype(np.float64))
    wanted = reference_rows(plan, range(34))
    for rows in ([3, 4], [30], [], [0, 1, 2, 33, 33], list(range(34))):
        block = walker.walk(np.array(rows, dtype=np.int64), output)
        assert_allclose(dense(block, 34), wanted[rows], rtol=1e-12, atol=1e-12)
