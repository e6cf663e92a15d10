"""Products of two lists of places with amounts, in compiled form. It trusts its arrays."""

from __future__ import annotations

from typing import Any

from numba import int64, njit, uint64

from grfpp.linalg.compiled import compiled
from grfpp.walks.steps import prefetch

_FREE = -1
_HASH = 0x9E3779B97F4A7C15
_AHEAD = 12


@njit(inline="always")
def _home(place: Any, shift: Any) -> Any:
    return ((uint64(place) * uint64(_HASH)) >> shift) << uint64(1)


@njit(inline="always")
def _shift(cells: Any) -> Any:
    bits = 0
    while (2 << bits) < len(cells):
        bits += 1
    return uint64(64 - bits)


@compiled(_nrt=False)
def number_places(places: Any, cells: Any, numbers: Any) -> int:
    """Number the places in the order of their first appearance; gives how many there are.

    `cells` is a hash table, free before: place and number in steps of two.
    """
    shift, mask = _shift(cells), uint64(len(cells) - 1)
    n_known = 0
    for a in range(len(places)):
        ahead = places[uint64(min(a + _AHEAD, len(places) - 1))]
        prefetch(cells, int64(_home(ahead, shift)))
        place = places[uint64(a)]
        cell = _home(place, shift)
        while cells[cell] != place:
            if cells[cell] == _FREE:
                cells[cell] = place
                cells[cell + uint64(1)] = n_known
                n_known += 1
                break
            cell = (cell + uint64(2)) & mask
        numbers[uint64(a)] = cells[cell + uint64(1)]
    return n_known


@compiled(_nrt=False)
def sort_by_number(
    end: Any, amounts: Any, numbers: Any, first: Any, columns: Any, sorted_amounts: Any
) -> None:
    """Bring the entries of all rows into the order of their places.

    `first` is zero before; afterwards those of a place begin there, and end with the next.
    """
    for a in range(len(numbers)):
        first[uint64(numbers[uint64(a)] + 2)] += 1
    for n in range(2, len(first)):
        first[uint64(n)] += first[uint64(n - 1)]
    begin = 0
    for row in range(len(end)):
        for a in range(begin, end[row]):
            place = uint64(numbers[uint64(a)] + 1)
            at = uint64(first[place])
            first[place] += 1
            columns[at] = row
            sorted_amounts[at] = amounts[uint64(a)]
        begin = end[row]


@compiled(_nrt=False)
def add_products(
    end: Any,
    places: Any,
    amounts: Any,
    cells: Any,
    first: Any,
    columns: Any,
    right_amounts: Any,
    result: Any,
) -> None:
    """Add, for every row, the products with all that have a place in common."""
    shift, mask = _shift(cells), uint64(len(cells) - 1)
    begin = 0
    for row in range(len(end)):
        last = end[row] - 1
        for a in range(begin, last + 1):
            ahead = places[uint64(min(a + _AHEAD, last))]
            prefetch(cells, int64(_home(ahead, shift)))
            place = places[uint64(a)]
            cell = _home(place, shift)
            while cells[cell] != place and cells[cell] != _FREE:
                cell = (cell + uint64(2)) & mask
            if cells[cell] == _FREE:
                continue
            number = uint64(cells[cell + uint64(1)])
            amount = amounts[uint64(a)]
            for at in range(first[number], first[number + uint64(1)]):
                result[row, uint64(columns[uint64(at)])] += amount * right_amounts[uint64(at)]
        begin = end[row]
