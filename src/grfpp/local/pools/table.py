"""The nodes that a pool has reached, in compiled form. It takes plain arrays and trusts them.

A hash table of cells leads from a node to its number, in the order in which nodes were reached, and
holds the mass that has arrived there: one line of memory is all that an arrival touches. The rest
lies at the number. All sums are made in the order of the walk, whatever the size of the table. A
node's degree is looked up after it was reached, not before.
"""

from __future__ import annotations

import math
from typing import Any

from numba import int64, njit, uint64

from grfpp.walks.steps import prefetch

#: A cell that no node has.
FREE = -1
#: A degree that has not been looked up.
UNKNOWN = -1
#: How weights are scaled: `grfpp.scaled_weights.ScaledWeights`.
PLAIN, RW, SYM, RW_REVERSED = range(4)

_HASH = 0x9E3779B1
_LOW = 0xFFFFFFFF

# Indices are unsigned where it counts: numba asks of every signed one whether it is negative.


@njit(inline="always")
def shift_of(keys: Any) -> Any:
    """What a hash of 32 bits is shifted by to be a cell; cells take two places each."""
    bits = 0
    while (2 << bits) < len(keys):
        bits += 1
    return uint64(32 - bits)


@njit(inline="always")
def home(node: Any, shift: Any) -> Any:
    """Where a node's cell is looked for first."""
    return (((uint64(node) * uint64(_HASH)) & uint64(_LOW)) >> shift) << uint64(1)


@njit(inline="always")
def arrive(
    node: Any,
    amount: Any,
    shift: Any,
    graph: Any,
    table: Any,
    reached: Any,
    n_used: Any,
    pool: Any,
    n_pool: Any,
) -> Any:
    """Add mass, not zero, to a node; the first to arrive in this step puts it into the pool.

    `table` is the cells' memory as whole numbers and as masses, in steps of two.
    """
    keys, masses = table
    mask = uint64(len(keys) - 1)
    cell = home(node, shift)
    while True:
        there = keys[cell]
        if there >> 32 == node:
            before = masses[cell + uint64(1)]
            masses[cell + uint64(1)] = before + amount
            if before == 0.0:
                pool[uint64(n_pool)] = cell
                n_pool += 1
            break
        if there == FREE:
            indptr, out, into = graph[0], graph[3], graph[4]
            at_cell, at_degree = reached[0], reached[1]
            prefetch(indptr, node)
            if len(out):
                prefetch(out, node)
            if len(into):
                prefetch(into, node)
            keys[cell] = (int64(node) << 32) | n_used
            masses[cell + uint64(1)] = amount
            at_cell[uint64(n_used)] = cell
            at_degree[uint64(n_used)] = UNKNOWN
            pool[uint64(n_pool)] = cell
            n_pool += 1
            n_used += 1
            break
        cell = (cell + uint64(2)) & mask
    return n_used, n_pool


@njit(inline="always")
def find(node: Any, shift: Any, keys: Any) -> Any:
    """The number of a node, or -1."""
    mask = uint64(len(keys) - 1)
    cell = home(node, shift)
    while True:
        there = keys[cell]
        if there >> 32 == node:
            return there & _LOW
        if there == FREE:
            return int64(-1)
        cell = (cell + uint64(2)) & mask


@njit(inline="always")
def clear(table: Any, reached: Any, n_used: Any) -> None:
    """Free the cells."""
    keys, at_cell = table[0], reached[0]
    for a in range(n_used):
        keys[uint64(at_cell[uint64(a)])] = FREE


@njit(inline="always")
def number_in(cell: Any, keys: Any) -> Any:
    """The number of the node that a cell belongs to."""
    return uint64(keys[uint64(cell)] & _LOW)


@njit(inline="always")
def node_at(number: Any, table: Any, reached: Any) -> Any:
    """The node with a number."""
    return table[0][uint64(reached[0][uint64(number)])] >> 32


@njit(inline="always")
def look_up(number: Any, node: Any, graph: Any, reached: Any) -> Any:
    """The degree of a node that was reached, which is kept, with where its edges begin."""
    at_degree, at_first = reached[1], reached[2]
    degree = int64(at_degree[uint64(number)])
    if degree == UNKNOWN:
        indptr = graph[0]
        first = indptr[uint64(node)]
        degree = indptr[uint64(node) + uint64(1)] - first
        at_first[uint64(number)] = first
        at_degree[uint64(number)] = degree
    return degree


@njit(inline="always")
def divisor(node: Any, degree: Any, graph: Any, kind: Any, unit: Any) -> Any:
    """What a node's mass is divided by to be what each of its edges carries for its weight."""
    out, into = graph[3], graph[4]
    if kind == PLAIN:
        return unit
    strength = out[uint64(node)] if len(out) else float(degree)
    if kind == RW:
        return strength
    if kind == SYM:
        if len(into):
            arriving = into[uint64(node)]
            return math.sqrt(strength) * (math.sqrt(arriving) if arriving > 0.0 else 1.0)
        return strength
    arriving = into[uint64(node)] if len(into) else strength
    return arriving if arriving > 0.0 else 1.0


@njit(inline="always")
def squared_potential(node: Any, degree: Any, graph: Any, kind: Any) -> Any:
    """The square of what masses at a node are counted in."""
    out, into = graph[3], graph[4]
    if kind in (PLAIN, RW):
        return 1.0
    if len(into):
        strength = into[uint64(node)]
    elif len(out):
        strength = out[uint64(node)]
    else:
        strength = float(degree)
    if not strength > 0.0:
        return 1.0
    return strength if kind == SYM else strength * strength
