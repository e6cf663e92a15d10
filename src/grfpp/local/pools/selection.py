"""The largest entries of a row, in compiled form. It takes plain arrays and trusts them."""

from __future__ import annotations

from typing import Any

from numba import njit

#: The node of a place that no node has.
NOBODY = -1


@njit(inline="always")
def _before(value: Any, node: Any, other_value: Any, other: Any) -> Any:
    """Whether an entry comes before another: the larger first, of equal ones the lower node."""
    return value > other_value or (value == other_value and node < other)


@njit(inline="always")
def _sift(nodes: Any, values: Any, length: Any, node: Any, value: Any) -> None:
    """Put an entry at the root of a heap whose root is the last of all entries."""
    at = 0
    while True:
        child = 2 * at + 1
        if child >= length:
            break
        right = child + 1
        if right < length and _before(values[child], nodes[child], values[right], nodes[right]):
            child = right
        if not _before(value, node, values[child], nodes[child]):
            break
        nodes[at] = nodes[child]
        values[at] = values[child]
        at = child
    nodes[at] = node
    values[at] = value


@njit(inline="always")
def offer(nodes: Any, values: Any, n_held: Any, node: Any, value: Any) -> Any:
    """Offer an entry to the largest so far; gives how many are held then."""
    if n_held < len(nodes):
        at = n_held
        while at > 0:
            parent = (at - 1) // 2
            if not _before(values[parent], nodes[parent], value, node):
                break
            nodes[at] = nodes[parent]
            values[at] = values[parent]
            at = parent
        nodes[at] = node
        values[at] = value
        return n_held + 1
    if _before(value, node, values[0], nodes[0]):
        _sift(nodes, values, n_held, node, value)
    return n_held


@njit(inline="always")
def settle(nodes: Any, values: Any, n_held: Any) -> None:
    """Put the entries that are held in their order, and nobody into the other places."""
    for length in range(n_held - 1, 0, -1):
        node, value = nodes[length], values[length]
        nodes[length], values[length] = nodes[0], values[0]
        _sift(nodes, values, length, node, value)
    for a in range(n_held, len(nodes)):
        nodes[a] = NOBODY
        values[a] = 0.0
