"""The compiled hash table of nodes that a pool has reached.

Linear probing, at most half full. `grfpp.walks.pool_arrays.hash_table` makes an empty one.
"""

from __future__ import annotations

from typing import Any

from numba import int64, uint64

from grfpp._compiled import inlined
from grfpp.walks.pool_arrays import FREE
from grfpp.walks.steps import prefetch, row_place

#: Low bits of a key that hold the number of the node in the order of arrival: half of a word.
NUMBER_BITS = 32
#: Selects these bits.
NUMBER_MASK = (1 << NUMBER_BITS) - 1
#: Fibonacci hashing: ``2^64`` over the golden ratio.
_HASH = 0x9E3779B97F4A7C15

# Indices in hot loops are unsigned: numba checks signed ones for wraparound.


@inlined
def home_cell(key: Any, shift: Any) -> Any:
    """The cell at which the search for a key begins."""
    return (uint64(key) * uint64(_HASH)) >> shift


@inlined
def probe(cells: Any, shift: Any, key: Any, bits: Any) -> Any:
    """The cell whose key, without its low `bits`, is `key`; or the free one for it."""
    mask = uint64(len(cells) - 1)
    cell = home_cell(key, shift)
    while True:
        stored = cells[cell].key
        if stored >> bits == key or stored == FREE:
            return cell
        cell = (cell + uint64(1)) & mask


@inlined
def table_shift(n: Any) -> Any:
    """The shift that hashes to a cell of a table for `n` keys, at most half full."""
    shift = uint64(60)
    while (uint64(1) << (uint64(64) - shift)) < 2 * n:
        shift -= uint64(1)
    return shift


@inlined
def find(cells: Any, shift: Any, node: Any) -> Any:
    """The number of a reached node, or -1."""
    stored = cells[probe(cells, shift, int64(node), NUMBER_BITS)].key
    return stored & NUMBER_MASK if stored != FREE else int64(-1)


@inlined
def add_mass(
    graph: Any,
    cells: Any,
    shift: Any,
    reached: Any,
    pool: Any,
    node: Any,
    amount: Any,
    n_used: Any,
    n_pool: Any,
) -> Any:
    """Add a nonzero mass to a node; the first mass in a step puts the node into the pool.

    It probes in a loop of its own, without `probe`: this is the hottest loop of a pool, and it
    reads the key of each cell once. The mass is in the record of the node, which the next step
    reads anyway: with masses in the cells a row of a grid took 4 % longer.

    Returns the number of nodes reached and the number of nodes in the pool.
    """
    mask = uint64(len(cells) - 1)
    at = home_cell(node, shift)
    while True:
        key = cells[at].key
        if key >> NUMBER_BITS == node:
            number = key & NUMBER_MASK
            known = reached[uint64(number)]
            before = known.mass
            known.mass = before + amount
            if before == 0.0:
                pool[uint64(n_pool)] = number
                n_pool += 1
            return n_used, n_pool
        if key == FREE:
            prefetch(graph.indptr, int64(row_place(graph.more, node)))
            cells[at].key = (int64(node) << NUMBER_BITS) | n_used
            new = reached[uint64(n_used)]
            new.node, new.cell, new.mass = node, at, amount
            pool[uint64(n_pool)] = n_used
            return n_used + 1, n_pool + 1
        at = (at + uint64(1)) & mask


@inlined
def pop_mass(reached: Any, pool: Any, a: Any) -> Any:
    """The number of the `a`-th node of the pool and its mass, which is set to zero."""
    number = pool[uint64(a)]
    node = reached[uint64(number)]
    amount = node.mass
    node.mass = 0.0
    return number, amount


@inlined
def clear(cells: Any, reached: Any, n_used: Any) -> None:
    """Empty the cells of all reached nodes."""
    for number in range(n_used):
        cells[uint64(reached[uint64(number)].cell)].key = FREE
