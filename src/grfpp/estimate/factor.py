"""Factors: random matrices with mean ``F = h(W)``, of which a kernel estimate is the product."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from grfpp._memory import require_bytes
from grfpp.linalg.csr import Block, GrowingMatrix, csr, times, transposed_times, within_steps
from grfpp.typing import FloatArray, IntArray
from grfpp.walks import WalkPlan, sample_factor, sample_rows
from grfpp.walks.sampling import expected_entries, factor_bytes, walk_blocks


class Factor(ABC):
    """Anything with mean ``F`` that multiplies from the left, plain and transposed.

    `n_jobs` is a number of threads everywhere, -1 for all cores; no number depends on it. With
    `transposed` a method is that of the transposed factor.
    """

    @property
    @abstractmethod
    def n_nodes(self) -> int:
        """Number of rows and of columns."""

    @property
    def n_entries(self) -> int:
        """Number of stored entries of the factor as a sparse matrix."""
        return int(self.to_csr().nnz)

    @abstractmethod
    def matmat(self, dense: FloatArray, n_jobs: int, *, transposed: bool = False) -> FloatArray:
        """``factor @ dense`` for a C-contiguous float64 block.

        The product is an array, or an object that `numpy.asarray` converts to one and that another
        factor of the same class multiplies as it is.
        """

    @abstractmethod
    def rows(self, nodes: IntArray, n_jobs: int, *, transposed: bool = False) -> sp.csr_array:
        """Chosen rows, as a sparse matrix."""

    @abstractmethod
    def csr_bytes(self, *, transposed: bool = False) -> int:
        """Bytes that `to_csr` allocates."""

    @abstractmethod
    def to_csr(self, n_jobs: int = -1, *, transposed: bool = False) -> sp.csr_array:
        """The factor as one sparse matrix."""


class StoredFactor(Factor):
    """A factor held in memory as a sparse matrix."""

    def __init__(self, matrix: sp.csr_array) -> None:
        self._matrix = matrix

    @property
    def n_nodes(self) -> int:
        return int(self._matrix.shape[0])

    def matmat(self, dense: FloatArray, n_jobs: int, *, transposed: bool = False) -> FloatArray:
        return (transposed_times if transposed else times)(self._matrix, dense, n_jobs)

    def rows(self, nodes: IntArray, n_jobs: int, *, transposed: bool = False) -> sp.csr_array:
        return self.to_csr(transposed=transposed)[nodes]

    def csr_bytes(self, *, transposed: bool = False) -> int:
        is_stored = not transposed or "_transposed" in vars(self)
        return 0 if is_stored else factor_bytes(self._matrix.nnz, self.n_nodes, self._matrix.dtype)

    def to_csr(self, n_jobs: int = -1, *, transposed: bool = False) -> sp.csr_array:
        return self._transposed if transposed else self._matrix

    @cached_property
    def _transposed(self) -> sp.csr_array:
        require_bytes(self.csr_bytes(transposed=True), "the transpose of a factor")
        return self._matrix.T.tocsr()


class WalkedFactor(Factor):
    """A factor that is not stored but sampled again whenever it is needed.

    Its random streams are fixed, so its products have the bits of those of the stored factor.
    Memory is that of the graph and of the vectors. Rows need walks from their nodes only, columns
    from all nodes within reach.
    """

    def __init__(self, plan: WalkPlan, dtype: np.dtype[Any]) -> None:
        self._plan = plan
        self._dtype = dtype

    @property
    def n_nodes(self) -> int:
        return self._plan.graph.n_nodes

    def matmat(self, dense: FloatArray, n_jobs: int, *, transposed: bool = False) -> FloatArray:
        n = self.n_nodes
        out = np.zeros((n, dense.shape[1]))

        def multiply(task: range, block: Block) -> None:
            times(block.matrix(n), dense, 1, out=out[task.start : task.stop])

        then = None if transposed else multiply
        for task, block in walk_blocks(self._plan, n_jobs=n_jobs, dtype=self._dtype, then=then):
            if transposed:  # summed here and in order: the same bits for any number of threads
                transposed_times(block.matrix(n), dense[task.start : task.stop], 1, out)
        return out

    def rows(self, nodes: IntArray, n_jobs: int, *, transposed: bool = False) -> sp.csr_array:
        if transposed:
            return self._columns(nodes, self._sources(nodes), n_jobs)
        return sample_rows(self._plan, nodes, self._dtype, n_jobs=n_jobs)

    def _sources(self, nodes: IntArray) -> IntArray | None:
        """Nodes whose walks may reach these; ``None`` for all."""
        plan = self._plan
        against = plan.graph.reversed() if plan.graph.is_directed else plan.graph
        return within_steps(against.adjacency, nodes, plan.lengths.max_length)

    def _columns(self, nodes: IntArray, sources: IntArray | None, n_jobs: int) -> sp.csr_array:
        # Nodes may be repeated and unsorted.
        unique, position = np.unique(nodes, return_inverse=True)
        column_of = np.full(self.n_nodes, -1, np.int32)
        column_of[unique] = np.arange(len(unique), dtype=np.int32)
        n_sources = self.n_nodes if sources is None else len(sources)
        matrix = GrowingMatrix(n_sources, len(unique), 0, self._dtype)
        for _, block in walk_blocks(self._plan, n_jobs=n_jobs, dtype=self._dtype, rows=sources):
            column = column_of[block.columns]
            is_chosen = column >= 0
            count = np.concatenate([[0], np.cumsum(is_chosen)])
            matrix.append(Block(count[block.end], column[is_chosen], block.values[is_chosen]))
        columns = matrix.finish().T.tocsr()
        if sources is not None:
            columns = csr(columns.data, sources[columns.indices], columns.indptr, self.n_nodes)
        return columns[position]

    def csr_bytes(self, *, transposed: bool = False) -> int:
        n_bytes = factor_bytes(expected_entries(self._plan), self.n_nodes, self._dtype)
        return 2 * n_bytes if transposed else n_bytes  # transposing needs both for a while

    def to_csr(self, n_jobs: int = -1, *, transposed: bool = False) -> sp.csr_array:
        matrix = sample_factor(self._plan, dtype=self._dtype, n_jobs=n_jobs)
        return matrix.T.tocsr() if transposed else matrix


class KeptFactor(WalkedFactor):
    """A factor that is sampled for a few rows or columns, and stored once all are needed."""

    @cached_property
    def _stored(self) -> StoredFactor:
        return StoredFactor(super().to_csr())

    def matmat(self, dense: FloatArray, n_jobs: int, *, transposed: bool = False) -> FloatArray:
        return self._stored.matmat(dense, n_jobs, transposed=transposed)

    def rows(self, nodes: IntArray, n_jobs: int, *, transposed: bool = False) -> sp.csr_array:
        if not transposed:
            return super().rows(nodes, n_jobs)
        sources = None if "_stored" in vars(self) else self._sources(nodes)
        if sources is None:
            return self._stored.rows(nodes, n_jobs, transposed=True)
        return self._columns(nodes, sources, n_jobs)

    def to_csr(self, n_jobs: int = -1, *, transposed: bool = False) -> sp.csr_array:
        return self._stored.to_csr(n_jobs, transposed=transposed)


def weighted_mean(matrices: Sequence[sp.csr_array], weights: Sequence[float]) -> sp.csr_array:
    """``Σ weight · matrix``; a row's bits do not depend on the other rows of its block."""
    total: Any = None
    for weight, matrix in zip(weights, matrices, strict=True):
        part = weight * matrix
        part.sort_indices()  # else the order of the sums depends on other rows
        total = part if total is None else total + part
    return csr(total.data, total.indices, total.indptr, total.shape[1])
