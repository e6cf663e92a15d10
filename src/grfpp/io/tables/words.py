"""Pieces of a buffer, eight bytes at a time: as keys, as text, as whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from grfpp.typing import AnyInts, IntArray, WordArray

_WORD = 8
_KEPT = np.array([(1 << 8 * n) - 1 for n in range(_WORD + 1)], dtype=np.uint64)
_MIX, _SPREAD, _HALF = (np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 29))
_BATCH = 1 << 18


class Words:
    """A buffer without zero bytes, of which pieces are read, many at once.

    Examples
    --------
    >>> words = Words(b"a,bee,42")
    >>> words.table(np.array([0, 2]), np.array([1, 3])).tolist()
    [b'a', b'bee']
    """

    #: Bytes of a word.
    SIZE = _WORD

    def __init__(self, buffer: bytes | memoryview) -> None:
        if len(buffer) < _WORD:
            buffer = bytes(buffer) + bytes(_WORD)
        self._last = len(buffer) - _WORD
        # A word at every byte: no piece need be copied to be compared.
        self._words: WordArray = np.ndarray((self._last + 1,), "<u8", buffer, strides=(1,))

    def at(self, starts: AnyInts, lengths: AnyInts, number: int) -> WordArray:
        """Word `number` of each piece, which it must have; zeros stand beyond its end."""
        places = starts.astype(np.int64) + _WORD * number
        words: WordArray = self._words[np.minimum(places, self._last)]
        late = np.flatnonzero(places > self._last)
        if len(late):
            words[late] >>= (8 * (places[late] - self._last)).astype(np.uint64)
        words &= _KEPT[np.minimum(lengths - _WORD * number, _WORD)]
        return words

    def table(self, starts: AnyInts, lengths: AnyInts) -> npt.NDArray[np.bytes_]:
        """The pieces as an array of byte strings, all as long as the longest."""
        n_words = max(1, -(-int(lengths.max(initial=1)) // _WORD))
        text = np.zeros((len(starts), n_words), "<u8")
        for number in range(n_words):
            longer = lengths > _WORD * number
            text[longer, number] = self.at(starts[longer], lengths[longer], number)
        table: npt.NDArray[np.bytes_] = text.view(f"S{_WORD * n_words}")[:, 0]
        return table

    def keys(self, starts: AnyInts, lengths: AnyInts) -> WordArray:
        """A number for each piece: the same for equal ones, seldom for others."""
        keys = np.empty(len(starts), np.uint64)
        for begin in range(0, len(starts), _BATCH):
            part = slice(begin, begin + _BATCH)
            keys[part] = self._keys(starts[part], lengths[part])
        return keys

    def _keys(self, starts: AnyInts, lengths: AnyInts) -> WordArray:
        keys = lengths.astype(np.uint64) * _MIX
        which: Any = slice(None)
        number = 0
        while len(keys[which]):
            mixed = (keys[which] ^ self.at(starts[which], lengths[which], number)) * _SPREAD
            keys[which] = mixed ^ (mixed >> _HALF)
            number += 1
            which = np.flatnonzero(lengths > _WORD * number)
        return keys

    def all_same(self, starts: AnyInts, lengths: AnyInts, same: npt.NDArray[np.bool_]) -> bool:
        """Whether piece ``i + 1`` equals piece ``i`` wherever ``same[i]``."""
        for begin in range(0, len(same), _BATCH):
            end = min(begin + _BATCH, len(same))
            first, wanted = starts[begin : end + 1], same[begin:end]
            size = lengths[begin : end + 1]
            if (wanted & (size[1:] != size[:-1])).any():
                return False
            number = 0
            while wanted.any():
                words = np.zeros(len(first), np.uint64)
                longer = np.flatnonzero(size > _WORD * number)
                words[longer] = self.at(first[longer], size[longer], number)
                if (wanted & (words[1:] != words[:-1])).any():
                    return False
                number += 1
                wanted = wanted & (size[1:] > _WORD * number)
        return True

    def whole_numbers(self, starts: AnyInts, lengths: AnyInts) -> IntArray | None:
        """The pieces as whole numbers, if all are, from 0 and of 16 digits at most."""
        if not len(starts) or lengths.max() > 2 * _WORD:
            return None
        numbers = np.empty(len(starts), np.int64)
        for begin in range(0, len(starts), _BATCH):
            part = slice(begin, begin + _BATCH)
            found = self._whole(starts[part].astype(np.int64), lengths[part].astype(np.int64))
            if found is None:
                return None
            numbers[part] = found
        return numbers

    def _whole(self, starts: AnyInts, lengths: AnyInts) -> IntArray | None:
        head = np.maximum(lengths - _WORD, 0)
        low = _digits(self.at(starts + head, lengths - head, 0), lengths - head)
        if low is None:
            return None
        zero = self.at(starts, np.ones_like(lengths), 0) == ord("0")
        if (zero & (lengths > 1)).any():
            return None  # a name: 02139 is not 2139
        long = np.flatnonzero(head)
        high = _digits(self.at(starts[long], head[long], 0), head[long])
        if high is None:
            return None
        low[long] += high * np.uint64(10**8)
        return low.astype(np.int64)


def _digits(words: WordArray, lengths: AnyInts) -> WordArray | None:
    """The numbers that words of up to eight digits spell; ``None`` where others stand in one."""
    # Moved to the upper end, with the digit 0 before them: a word of eight digits.
    moved = (8 * (_WORD - lengths)).astype(np.uint64)
    words = (words << moved) | (np.uint64(0x3030303030303030) & _KEPT[_WORD - lengths])
    high = np.uint64(0xF0F0F0F0F0F0F0F0)
    upper = (words & high) == np.uint64(0x3030303030303030)
    more = ((words + np.uint64(0x0606060606060606)) & high) == np.uint64(0x3030303030303030)
    if not (upper & more).all():
        return None
    words &= np.uint64(0x0F0F0F0F0F0F0F0F)
    # Pairs of digits, pairs of those, and again, all in one word.
    pairs = words * np.uint64(10) + (words >> np.uint64(8))
    every = np.uint64(0x000000FF000000FF)
    return (
        (pairs & every) * np.uint64(0x000F424000000064)
        + ((pairs >> np.uint64(16)) & every) * np.uint64(0x0000271000000001)
    ) >> np.uint64(32)
