"""Whiskers: small parts that hang on the rest of a graph by one edge."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order

from grfpp.typing import IntArray


def anchors(adjacency: sp.csr_array, largest: float) -> IntArray:
    """For each node the one that its whisker hangs on; its own number where it is in none.

    A whisker is a tree, a clique or anything else of at most `largest` nodes that one edge, a
    bridge, joins to the rest. Where less than half of the nodes would be left, as in a tree, there
    are none.

    Parameters
    ----------
    adjacency
        A symmetric matrix; loops do not count.
    largest
        Nodes of a whisker, at most.

    Examples
    --------
    >>> triangle_with_tail = np.zeros((5, 5))
    >>> for i, j in [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)]:
    ...     triangle_with_tail[i, j] = triangle_with_tail[j, i] = 1
    >>> anchors(sp.csr_array(triangle_with_tail), 2)
    array([0, 1, 2, 2, 2])

    Notes
    -----
    Every edge beside a tree that spans the graph gets a random number; the exclusive or of all
    numbers at the nodes below an edge of the tree is zero where no edge leads out of there but that
    one. By chance this is so once in 2^64 times.
    """
    n = adjacency.shape[0]
    own = np.arange(n)
    if n < 3 or largest < 1:
        return own
    parent, levels = _spanning_tree(adjacency)
    marks, below = _sums_below(adjacency, parent, levels)
    hangs = (parent != own) & (marks == 0) & (below <= largest)
    anchor = own.copy()
    for level in levels[1:]:
        # Below a whisker's first node all belong to it; the first hangs on its parent.
        above = anchor[parent[level]]
        inside = above != parent[level]
        anchor[level] = np.where(inside | hangs[level], above, level)
    return anchor if 2 * np.count_nonzero(anchor == own) >= n else own


def _spanning_tree(adjacency: sp.csr_array) -> tuple[IntArray, list[IntArray]]:
    """Parents in a tree from the node with most edges of each component; nodes by distance."""
    n = adjacency.shape[0]
    degree = np.diff(adjacency.indptr)
    parent = np.arange(n)
    depth = np.full(n, -1)
    for root in np.argsort(-degree, kind="stable"):
        if depth[root] >= 0:
            continue
        if degree[root] == 0:
            break  # all that are left are alone
        order, before = breadth_first_order(adjacency, int(root), directed=False)
        parent[order[1:]] = before[order[1:]]
        depth[root] = 0
        _set_depths(depth, order, parent)
    depth[depth < 0] = 0
    order = np.argsort(depth, kind="stable")
    return parent, np.split(order, np.cumsum(np.bincount(depth))[:-1])


def _set_depths(depth: IntArray, order: IntArray, parent: IntArray) -> None:
    """Depths of one component from its order: parents come first, and never go back."""
    place = np.empty(len(depth), np.int64)
    place[order] = np.arange(len(order))
    of_parent = place[parent[order]]
    first, level = 0, 0
    # A level ends where parents are of that level: places of parents only grow.
    end = 1
    while first < len(order):
        depth[order[first:end]] = level
        following = int(np.searchsorted(of_parent[1:], end, "left")) + 1
        first, end, level = end, max(following, end), level + 1
        if first == end:
            break


def _sums_below(
    adjacency: sp.csr_array, parent: IntArray, levels: list[IntArray]
) -> tuple[np.ndarray, IntArray]:
    """Marks of edges beside the tree, and numbers of nodes, at and below each node."""
    n = adjacency.shape[0]
    rows = np.repeat(np.arange(n), np.diff(adjacency.indptr))
    columns = adjacency.indices.astype(np.int64)
    beside = (rows < columns) & (parent[columns] != rows) & (parent[rows] != columns)
    one, other = rows[beside], columns[beside]
    numbers = np.random.default_rng(0).integers(1, 2**63, len(one), np.int64)
    marks = np.zeros(n, np.int64)
    np.bitwise_xor.at(marks, one, numbers)
    np.bitwise_xor.at(marks, other, numbers)
    below = np.ones(n, np.int64)
    for level in reversed(levels[1:]):
        np.bitwise_xor.at(marks, parent[level], marks[level])
        np.add.at(below, parent[level], below[level])
    return marks, below
