"""`Seeds`: sets of weighted nodes that pools start from, one set for each query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from grfpp._checks import finite
from grfpp.errors import InputError, shown
from grfpp.nodes import NodeNames
from grfpp.typing import FloatArray, IntArray
from grfpp.walks.streams import mix64

_EXAMPLE = "pass {node: weight}, a list of these, or a sparse matrix with a column for each node"


class Seeds:
    """Sets of weighted nodes, as slices of common arrays.

    Parameters
    ----------
    streams
        A number for each set, from which its random streams are derived: that of its node, or a
        hash of its nodes where it has several. So an answer does not depend on other queries.
    ends
        The first index of each set, and the end of the last one.
    nodes, weights
        Indices of nodes, sorted within each set, and their nonzero weights.

    Examples
    --------
    >>> seeds = Seeds.of(NodeNames(3, ["a", "b", "c"]), [{"c": 2.0, "a": -1.0}, {"b": 1.0}])
    >>> seeds.nodes, seeds.weights, len(seeds)
    (array([0, 2, 1]), array([-1.,  2.,  1.]), 2)
    >>> seeds.by_sign()[1]
    array([[-1.,  1.,  0.],
           [ 0.,  0.,  1.]])
    """

    def __init__(
        self, streams: IntArray, ends: IntArray, nodes: IntArray, weights: FloatArray
    ) -> None:
        self.streams, self.ends, self.nodes, self.weights = streams, ends, nodes, weights

    @classmethod
    def of_nodes(cls, nodes: IntArray | Seeds) -> Seeds:
        """One node of weight one for each query."""
        if isinstance(nodes, Seeds):
            return nodes
        rows = np.ascontiguousarray(nodes, np.int64)
        return cls(rows, np.arange(len(rows) + 1), rows, np.ones(len(rows)))

    @classmethod
    def of(cls, names: NodeNames, seeds: Any) -> Seeds:
        """Check sets of weighted nodes: a dictionary, a list of them, or rows of a matrix."""
        if sp.issparse(seeds):
            matrix = _checked_matrix(seeds, names.n_nodes)
            return cls._sorted(np.diff(matrix.indptr), matrix.indices, matrix.data)
        sets = [seeds] if isinstance(seeds, Mapping) else seeds
        if not isinstance(sets, Sequence) or not all(isinstance(one, Mapping) for one in sets):
            problem = f"must be nodes with weights, found {shown(seeds)}"
            raise InputError(problem, argument="seeds", advice=_EXAMPLE)
        keys = [key for one in sets for key in one]
        weights = [finite(value, "seeds") for one in sets for value in one.values()]
        counts = np.array([len(one) for one in sets], np.int64)
        return cls._sorted(counts, names.numbers(keys, "seeds"), np.array(weights))

    @classmethod
    def _sorted(cls, counts: IntArray, nodes: IntArray, weights: FloatArray) -> Seeds:
        """Sort each set by node, add the weights of equal nodes and drop those that are zero."""
        owner = np.repeat(np.arange(len(counts)), counts)
        order = np.lexsort((nodes, owner))
        owner, nodes, weights = owner[order], nodes[order].astype(np.int64), weights[order]
        is_repeated = (nodes[1:] == nodes[:-1]) & (owner[1:] == owner[:-1])
        if is_repeated.any():
            first = np.flatnonzero(np.append(True, ~is_repeated))
            owner, nodes, weights = owner[first], nodes[first], np.add.reduceat(weights, first)
        if not weights.all():
            owner, nodes, weights = (array[weights != 0] for array in (owner, nodes, weights))
        ends = np.searchsorted(owner, np.arange(len(counts) + 1))
        counts = np.diff(ends)
        if not counts.all():
            where = f" in set {int(np.argmin(counts))}" if len(counts) > 1 else ""
            problem = f"must have a node whose weight is not zero, found none{where}"
            raise InputError(problem, argument="seeds")
        if not len(counts):
            return cls(nodes, ends, nodes, weights)
        with np.errstate(over="ignore"):
            sums = np.add.reduceat(np.abs(weights), ends[:-1])
        if not np.isfinite(sums).all():
            raise InputError("must have weights whose sum is finite", argument="seeds")
        hashes = np.add.reduceat(mix64(nodes.astype(np.uint64) + 1), ends[:-1]).astype(np.int64)
        streams = np.where(counts == 1, nodes[ends[:-1]], hashes)
        return cls(streams, ends, nodes, weights)

    @property
    def arrays(self) -> tuple[Any, ...]:
        """All arrays, for compiled loops."""
        return self.streams, self.ends, self.nodes, self.weights

    @property
    def are_signed(self) -> bool:
        """Whether some weights are negative."""
        return bool((self.weights < 0).any())

    def __len__(self) -> int:
        return len(self.streams)

    def __getitem__(self, part: slice) -> Seeds:
        start, stop, _ = part.indices(len(self))
        return Seeds(
            self.streams[start:stop], self.ends[start : stop + 1], self.nodes, self.weights
        )

    def take(self, which: IntArray) -> Seeds:
        """Some of the sets, by index."""
        if len(which) == len(self):
            return self
        count = np.diff(self.ends)[which]
        ends = np.concatenate([[0], np.cumsum(count)])
        at = np.arange(ends[-1]) + np.repeat(self.ends[which] - ends[:-1], count)
        return Seeds(self.streams[which], ends, self.nodes[at], self.weights[at])

    def by_sign(self) -> tuple[Seeds, FloatArray]:
        """Sets of positive weights, and the matrix that combines their rows to those of `self`."""
        if not self.are_signed:
            return self, np.eye(len(self))
        owner = np.repeat(np.arange(len(self)), np.diff(self.ends))
        key = 2 * owner + (self.weights > 0)
        parts, which = np.unique(key, return_inverse=True)
        order = np.argsort(which, kind="stable")
        signs = np.zeros((len(self), len(parts)))
        signs[parts // 2, np.arange(len(parts))] = 2 * (parts % 2) - 1
        counts, weights = np.bincount(which), np.abs(self.weights[order])
        return Seeds._sorted(counts, self.nodes[order], weights), signs


def _checked_matrix(matrix: Any, n_nodes: int) -> sp.csr_array:
    """A copy of a sparse matrix with one column for each node."""
    if matrix.ndim != 2 or matrix.shape[1] != n_nodes or matrix.dtype.kind not in "biuf":
        problem = f"must be a real matrix with {n_nodes} columns, found {matrix.dtype}"
        raise InputError(f"{problem} of shape {matrix.shape}", argument="seeds")
    rows = sp.csr_array(matrix, dtype=np.float64, copy=True)
    if not np.isfinite(rows.data).all():
        raise InputError("must have finite weights", argument="seeds")
    return rows
