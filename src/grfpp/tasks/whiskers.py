"""Whiskers: small parts of a graph that one edge joins to the rest."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, dijkstra

from grfpp.typing import IntArray


def anchors(adjacency: sp.csr_array, max_size: float) -> IntArray:
    """The node that each node's whisker is attached to; the node itself where it is in none.

    A whisker is a part of at most `max_size` nodes that one edge, a bridge, joins to the rest. If
    fewer than half of the nodes would remain, as in a tree, no part counts as a whisker.

    Parameters
    ----------
    adjacency
        A symmetric matrix; loops do not count.
    max_size
        Largest number of nodes of a whisker.

    Notes
    -----
    Every edge outside a spanning tree gets a random number. The exclusive or of all numbers at the
    nodes below a tree edge is zero where that edge is a bridge, and else with probability 2^-63.

    References
    ----------
    Leskovec, Lang, Dasgupta, Mahoney: Community structure in large networks. Internet Mathematics
    6, 2009 (whiskers).
    Pritchard, Thurimella: Fast computation of small cuts via cycle space sampling. ACM Transactions
    on Algorithms 7, 2011.

    Examples
    --------
    >>> triangle_with_tail = np.zeros((5, 5))
    >>> for i, j in [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)]:
    ...     triangle_with_tail[i, j] = triangle_with_tail[j, i] = 1
    >>> anchors(sp.csr_array(triangle_with_tail), 2)
    array([0, 1, 2, 2, 2])
    """
    n = adjacency.shape[0]
    indices = np.arange(n)
    parent, levels = _spanning_forest(adjacency)
    rows, columns = sp.triu(adjacency, 1).tocoo().coords
    outside = (parent[columns] != rows) & (parent[rows] != columns)
    numbers = np.random.default_rng(0).integers(1, 2**63, np.count_nonzero(outside), np.int64)
    checksums, subtree_sizes = np.zeros(n, np.int64), np.ones(n, np.int64)
    np.bitwise_xor.at(checksums, rows[outside], numbers)
    np.bitwise_xor.at(checksums, columns[outside], numbers)
    for level in reversed(levels[1:]):
        np.bitwise_xor.at(checksums, parent[level], checksums[level])
        np.add.at(subtree_sizes, parent[level], subtree_sizes[level])
    is_attached = (parent != indices) & (checksums == 0) & (subtree_sizes <= max_size)
    anchor = indices.copy()
    for level in levels[1:]:
        # A whisker's first node is attached to its parent; all nodes below belong to the whisker.
        above = anchor[parent[level]]
        inside = above != parent[level]
        anchor[level] = np.where(inside | is_attached[level], above, level)
    return anchor if 2 * np.count_nonzero(anchor == indices) >= n else indices


def _spanning_forest(adjacency: sp.csr_array) -> tuple[IntArray, list[IntArray]]:
    """Parents in breadth-first trees from the node of largest degree; nodes by depth."""
    n = adjacency.shape[0]
    _, component = connected_components(adjacency, directed=False)
    by_degree = np.argsort(-np.diff(adjacency.indptr), kind="stable")
    roots = by_degree[np.unique(component[by_degree], return_index=True)[1]]
    # One node above all roots makes the forest a tree.
    above = sp.csr_array((np.ones(len(roots)), roots, [0, len(roots)]), (1, n))
    tree = sp.bmat([[adjacency, None], [above, sp.csr_array((1, 1))]], format="csr")
    depth, parent = dijkstra(tree, indices=n, unweighted=True, return_predecessors=True)
    parent = np.where(parent[:n] == n, np.arange(n), parent[:n]).astype(np.int64)
    _, sizes = np.unique(depth[:n], return_counts=True)
    return parent, np.split(np.argsort(depth[:n], kind="stable"), np.cumsum(sizes)[:-1])
