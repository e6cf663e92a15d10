import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from io_helpers import QUICK

from grfpp.io.tables.words import Words

TEXTS = st.lists(
    st.binary(min_size=1, max_size=30).map(lambda b: b.replace(b"\0", b"0")), min_size=1
)


def pieces_of(texts):
    lengths = np.array([len(text) for text in texts])
    return Words(b"".join(texts)), np.cumsum(lengths) - lengths, lengths


@QUICK
@given(TEXTS)
def test_pieces_are_read_as_they_are(texts):
    words, starts, lengths = pieces_of(texts)
    assert words.table(starts, lengths).tolist() == texts


@QUICK
@given(TEXTS)
def test_keys_tell_pieces_apart(texts):
    words, starts, lengths = pieces_of(texts)
    keys = words.keys(starts, lengths).tolist()
    assert len(set(zip(keys, texts, strict=True))) == len(set(texts)) == len(set(keys))


@QUICK
@given(TEXTS)
def test_equal_neighbours_are_found(texts):
    words, starts, lengths = pieces_of(texts)
    equal = np.array([a == b for a, b in zip(texts[1:], texts[:-1], strict=True)], dtype=bool)
    assert words.all_same(starts, lengths, equal)
    for i in np.flatnonzero(~equal):
        claimed = equal.copy()
        claimed[i] = True
        assert not words.all_same(starts, lengths, claimed)


NUMBERS = st.one_of(st.integers(0, 10**16 - 1), st.integers(0, 300))


@QUICK
@given(st.lists(NUMBERS, min_size=1))
def test_whole_numbers(numbers):
    words, starts, lengths = pieces_of([str(number).encode() for number in numbers])
    assert words.whole_numbers(starts, lengths).tolist() == numbers


@QUICK
@given(
    st.lists(NUMBERS, max_size=3),
    st.one_of(
        st.sampled_from([b"02139", b"-5", b"+5", b"1.5", b"1/2", b"1:2", b"00", b"9" * 17, b"1 2"]),
        st.binary(min_size=1, max_size=16).filter(lambda b: b"\0" not in b and not b.isdigit()),
    ),
)
def test_names_are_no_whole_numbers(numbers, name):
    words, starts, lengths = pieces_of([*(str(number).encode() for number in numbers), name])
    assert words.whole_numbers(starts, lengths) is None
