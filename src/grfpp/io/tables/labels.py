"""The names of nodes at the ends of edges -> numbers of nodes, and what they are called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from grfpp.errors import InputError
from grfpp.io.tables.numerals import INTEGER
from grfpp.io.tables.texts import texts_at
from grfpp.io.tables.words import Words
from grfpp.typing import AnyInts, IntArray

#: Up to so many times as many numbers as ends are marked in a list; more are sorted.
_DENSE = 4
#: So many pieces, as a power of two, are sorted at once.
_PART_BITS = 15


def number_whole(
    ends: IntArray, origin: str, n_nodes: int | None
) -> tuple[AnyInts, int, list[int] | None]:
    """Number nodes that are called by whole numbers, in the order of these.

    With `n_nodes` they are 0 to ``n_nodes - 1``, whether or not they have an edge.

    Returns
    -------
    numbers, n_nodes, labels
        ``labels`` is ``None`` where these are the numbers.
    """
    least, largest = int(ends.min()), int(ends.max())
    if n_nodes is not None:
        require_within(least, largest, origin, n_nodes)
        return ends, n_nodes, None
    if least >= 0 and largest < _DENSE * ends.size:
        there = np.zeros(largest + 1, bool)
        there[ends] = True
        if there.all():
            return ends, largest + 1, None
        place = np.cumsum(there, dtype=np.int32) - 1
        labels = np.flatnonzero(there)
        return place[ends], len(labels), labels.tolist()
    labels, places = np.unique(ends, return_inverse=True)
    return places.reshape(ends.shape), len(labels), labels.tolist()


def require_within(least: int, largest: int, origin: str, n_nodes: int) -> None:
    """Refuse nodes that are not 0 to ``n_nodes - 1``."""
    if least < 0 or largest >= n_nodes:
        raise InputError(
            f"{origin} names node {least if least < 0 else largest}, but {n_nodes} nodes are "
            f"0 to {n_nodes - 1}"
        )


def number_pieces(
    words: Words, buffer: bytes, starts: AnyInts, lengths: AnyInts
) -> tuple[AnyInts, Sequence[str]]:
    """Number pieces of a buffer in the order in which they appear, and read them."""
    numbers, first = distinct_pieces(words, buffer, starts, lengths)
    return numbers, texts_at(buffer, starts[first], lengths[first])


def distinct_pieces(
    words: Words, buffer: bytes, starts: AnyInts, lengths: AnyInts
) -> tuple[AnyInts, AnyInts]:
    """Number pieces of a buffer in the order in which they appear.

    Returns
    -------
    numbers, first
        ``first`` are the places where each appears first.
    """
    keys = words.keys(starts, lengths)
    first = np.empty(len(keys), np.int32)
    # Sorted in parts of which each has all pieces of its keys: faster, and takes little memory.
    n_bits = min(16, max(0, len(keys).bit_length() - _PART_BITS))
    parts = keys.astype("<u8", copy=False).view("<u2")[3::4].astype(np.uint32) >> (16 - n_bits)
    for part in range(1 << n_bits):
        members = np.flatnonzero(parts == part)
        order = np.argsort(keys[members], kind="stable")
        members = members[order]
        sorted_keys = keys[members]
        same = sorted_keys[1:] == sorted_keys[:-1]
        if not words.all_same(starts[members], lengths[members], same):
            return _by_table(buffer, starts, lengths)  # two names with one key
        new = np.flatnonzero(np.concatenate([[True], ~same])[: len(members)])
        first[members] = np.repeat(members[new], np.diff(np.append(new, len(members))))
    del keys, parts
    is_first = first == np.arange(len(first), dtype=np.int32)
    place = np.cumsum(is_first, dtype=np.int32)
    place -= 1
    numbers = place[first]
    del first, place
    return numbers, np.flatnonzero(is_first).astype(np.int32)


def _by_table(buffer: bytes, starts: AnyInts, lengths: AnyInts) -> tuple[AnyInts, AnyInts]:
    spans = zip(starts.tolist(), (starts + lengths).tolist(), strict=True)
    numbers, _ = number_labels([buffer[i:j] for i, j in spans])
    return numbers, np.unique(numbers, return_index=True)[1]


def number_labels(ends: Sequence[Any]) -> tuple[AnyInts, list[Any]]:
    """Number labels of any kind in the order in which they appear."""
    places: dict[Any, int] = {}
    return np.array([places.setdefault(end, len(places)) for end in ends], np.int64), list(places)


def in_order(ends: AnyInts) -> tuple[AnyInts, AnyInts]:
    """Number nodes anew, in the order in which they appear: edge by edge, source before target.

    Numbers that do not appear are left out.

    Returns
    -------
    ends, order
        ``order`` are the numbers that they had.
    """
    listed = ends.T.ravel()
    first = np.full(int(listed.max()) + 1, len(listed))
    first[listed[::-1]] = np.arange(len(listed))[::-1]  # the last that is written stays
    order = np.argsort(first)[: np.count_nonzero(first < len(listed))]
    place = np.empty(len(first), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return place[ends], order


def whole_or_text(labels: Sequence[str]) -> tuple[AnyInts | None, Sequence[Any]]:
    """Take labels for whole numbers where all of them are, and sort them.

    Returns
    -------
    places, labels
        Where each of the labels went; ``None`` where they stay as they are.
    """
    if not all(map(INTEGER.fullmatch, labels)):
        return None, labels
    numbers = [int(label) for label in labels]
    order = sorted(range(len(numbers)), key=numbers.__getitem__)
    places = np.empty(len(order), np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    return places, [numbers[i] for i in order]
