"""Many texts in one buffer: what names take in a file, and not what Python's strings take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from grfpp.io.tables.words import Words
from grfpp.typing import AnyInts

#: Up to so many are a list of strings, which people know better. Each takes 60 bytes and more.
MOST_IN_A_LIST = 200_000
_BATCH = 1 << 15


class Texts(Sequence[str]):
    """A sequence of texts that compares with lists and prints as one.

    Parameters
    ----------
    buffer
        All of them, one after the other, in UTF-8.
    ends
        Where each ends.

    Examples
    --------
    >>> names = Texts(np.frombuffer(b"AnnaBen", np.uint8), np.array([4, 7]))
    >>> names, names[-1], names == ["Anna", "Ben"], "Be" in names
    (['Anna', 'Ben'], 'Ben', True, False)
    """

    __hash__ = None  # type: ignore[assignment]  # as of lists

    def __init__(self, buffer: npt.NDArray[np.uint8], ends: AnyInts) -> None:
        self._buffer, self._ends = buffer, ends

    def __len__(self) -> int:
        return len(self._ends)

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> list[str]: ...

    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        at = place + len(self) if place < 0 else place
        if not 0 <= at < len(self):
            raise IndexError(place)
        return decoded(self.raw(at))

    def raw(self, place: int) -> bytes:
        """The bytes of one of them."""
        start = int(self._ends[place - 1]) if place else 0
        return self._buffer[start : int(self._ends[place])].tobytes()

    def __iter__(self) -> Iterator[str]:
        begin = 0
        for first in range(0, len(self), _BATCH):
            ends = (self._ends[first : first + _BATCH] - begin).tolist()
            text = self._buffer[begin : begin + ends[-1]].tobytes()
            yield from (decoded(text[i:j]) for i, j in zip([0, *ends], ends, strict=False))
            begin += ends[-1]

    def __contains__(self, text: object) -> bool:
        if not isinstance(text, str):
            return False
        raw = text.encode(errors="surrogatepass")
        lengths = np.diff(self._ends, prepend=0)
        alike = np.flatnonzero(lengths == len(raw))
        words, starts = Words(self._buffer.data), self._ends - lengths
        wanted, size = Words(raw), np.array([len(raw)])
        for number in range(-(-len(raw) // Words.SIZE)):
            word = wanted.at(np.zeros(1, np.int64), size, number)
            alike = alike[words.at(starts[alike], lengths[alike], number) == word]
        return len(alike) > 0

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Texts):
            return np.array_equal(self._ends, other._ends) and np.array_equal(
                self._buffer, other._buffer
            )
        if not isinstance(other, list):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __repr__(self) -> str:
        return repr(list(self))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(list(self), dtype)


def decoded(name: bytes) -> str:
    """A name as it was before ``encode(errors="surrogatepass")``: any that Python can hold."""
    return name.decode(errors="surrogatepass")


def texts_at(buffer: bytes, starts: AnyInts, lengths: AnyInts) -> Sequence[str]:
    """Pieces of a buffer: a list of strings or, where they are very many, what holds them all."""
    if len(starts) <= MOST_IN_A_LIST:
        texts: list[str] = []
        for first in range(0, len(starts), _BATCH):  # all places as objects take more than texts
            part = slice(first, first + _BATCH)
            stops = (starts[part] + lengths[part]).tolist()
            spans = zip(starts[part].tolist(), stops, strict=True)
            texts += [buffer[i:j].decode() for i, j in spans]
        return texts
    n_bytes = int(lengths.sum(dtype=np.int64))
    ends: AnyInts = np.cumsum(lengths, dtype=np.int32 if n_bytes < 1 << 31 else np.int64)
    source, joined = np.frombuffer(buffer, np.uint8), np.empty(n_bytes, np.uint8)
    begin = 0
    for first in range(0, len(starts), _BATCH):
        part = slice(first, first + _BATCH)
        stop = int(ends[part][-1])
        shift = starts[part].astype(np.int64) - (ends[part] - lengths[part])
        joined[begin:stop] = source[np.arange(begin, stop) + np.repeat(shift, lengths[part])]
        begin = stop
    return Texts(joined, ends)
