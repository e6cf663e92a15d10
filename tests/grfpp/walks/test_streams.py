import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from small_graphs import QUICK
from stream_inverse import unmix64

from grfpp.walks.streams import (
    GOLDEN,
    MASK,
    factor_key,
    length_words,
    mix64,
    step_choice,
    walk_state,
)

words = st.integers(0, MASK)


def test_mix64_is_the_published_splitmix64():
    # First outputs of the generator seeded with 1234567, as in its reference implementation.
    outputs = [mix64((1234567 + t * GOLDEN) & MASK) for t in range(1, 6)]
    assert outputs == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


@QUICK
@given(words)
def test_mix64_is_a_bijection_of_words(word):
    assert 0 <= mix64(word) <= MASK
    assert unmix64(mix64(word)) == word
    assert mix64(unmix64(word)) == word


def test_streams_never_change_between_versions_and_machines():
    assert [factor_key(*key) for key in ((0, 0), (0, 1), (1, 0), (2**200 + 3, 7))] == [
        8668861027912758289,
        4881901421217228719,
        8431846347943309920,
        9519823064344021221,
    ]
    state = walk_state(factor_key(42, 3), 17, 5)
    assert state == 15418290528193294216
    assert length_words(state) == (7473101481549603415, 6128838543635753013)
    assert [step_choice(state, t, 1000) for t in range(1, 6)] == [353, 656, 461, 395, 343]


@pytest.mark.parametrize("key", [0, 1, GOLDEN, MASK])
def test_no_two_walks_of_a_factor_share_a_state(key):
    states = {walk_state(key, node, walk) for node in range(200) for walk in range(200)}
    assert len(states) == 200 * 200


@QUICK
@given(words, st.integers(1, 1000), st.integers(1, 2**31 - 1))
def test_step_choice_stays_among_the_edges(state, step, degree):
    assert 0 <= step_choice(state, step, degree) < degree
    assert step_choice(state, step, 1) == 0


@pytest.mark.parametrize("degree", [2, 3, 7])
def test_steps_are_uniform(degree):
    choices = [
        step_choice(walk_state(factor_key(1, 0), node, walk), step, degree)
        for node in range(20)
        for walk in range(20)
        for step in range(1, 21)
    ]
    assert stats.chisquare(np.bincount(choices, minlength=degree)).pvalue > 1e-3


def uniforms(states):
    return np.array([mix64(state) / 2**64 for state in states])


@pytest.mark.parametrize(
    "pair",
    [
        lambda i: (walk_state(5, i, 0), walk_state(5, i, 1)),
        lambda i: (walk_state(5, i, 0), walk_state(5, i + 1, 0)),
        lambda i: (walk_state(5, i, 3), walk_state(5, 3, i)),
        lambda i: (walk_state(factor_key(0, 0), i, 0), walk_state(factor_key(0, 1), i, 0)),
        lambda i: (walk_state(factor_key(0, 0), i, 0), walk_state(factor_key(1, 0), i, 0)),
    ],
    ids=["walks", "nodes", "node and walk swapped", "factors", "seeds"],
)
def test_neighbouring_streams_are_uncorrelated(pair):
    first, second = zip(*(pair(i) for i in range(10, 4010)), strict=True)
    x, y = uniforms(first), uniforms(second)
    assert abs(np.corrcoef(x, y)[0, 1]) < 4 / np.sqrt(len(x))
    assert stats.kstest(x, "uniform").pvalue > 1e-3
    assert stats.kstest((x - y) % 1.0, "uniform").pvalue > 1e-3
