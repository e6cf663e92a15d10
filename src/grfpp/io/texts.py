"""Many texts in one buffer, which takes far less memory than Python's strings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from grfpp.typing import AnyInts, IntArray

#: Up to this length names are a list of strings. Each string takes 60 bytes and more.
MAX_LIST_LENGTH = 200_000
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
            return [self[i] for i in range(*place.indices(len(self)))]
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

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        hashes, order = self._by_hash
        first, last = (np.searchsorted(hashes, hash(name), side) for side in ("left", "right"))
        return any(self[int(place)] == name for place in order[first:last])

    @cached_property
    def _by_hash(self) -> tuple[IntArray, IntArray]:
        """The sorted hashes of all texts, and the place of each."""
        hashes = np.fromiter(map(hash, self), np.int64, len(self))
        order = np.argsort(hashes)
        return hashes[order], order

    def __reduce__(self) -> tuple[Any, ...]:
        return Texts, (self._buffer, self._ends)  # hashes differ from process to process

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, list | Texts):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __repr__(self) -> str:
        return repr(list(self))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(list(self), dtype)


def decoded(name: bytes) -> str:
    """A name as it was before ``encode(errors="surrogatepass")``: any that Python can hold."""
    return name.decode(errors="surrogatepass")
