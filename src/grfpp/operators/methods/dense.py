"""``method="dense"``: all eigenvectors, or the dense kernel of a directed graph."""

from __future__ import annotations

import numpy as np

from grfpp.linalg.csr import frobenius
from grfpp.linalg.functions import dense_weights, finite
from grfpp.operators.costs import Costs
from grfpp.operators.methods.base import Method, Multiplier, Product
from grfpp.operators.problem import CostEstimate, Problem
from grfpp.typing import FloatArray

#: Matrices and columns so small that BLAS multiplies without threads, which would cost more.
_SERIAL_NODES, _SERIAL_COLUMNS = 64, 128
_EPS = float(np.finfo(np.float64).eps)


class Dense(Method):
    """Dense linear algebra, to rounding."""

    name = "dense"
    chunk = 4096

    def estimate(self, problem: Problem, n_columns: int, costs: Costs) -> CostEstimate:
        """Eigenvectors take ``n³``, products ``n²``."""
        n, machine = float(problem.n_nodes), costs.machine
        setup = 4 * machine.step + machine.eigen_square * n**2 + machine.eigen_cube * n**3
        product = 2 * machine.step + 2 * n * n * machine.dense * max(n_columns, 4)
        if not problem.graph.is_directed:
            note, n_arrays = "all eigenvectors once, two dense products each time", 4
        else:
            note, n_arrays = "the dense kernel once, a dense product each time", 12
            setup, product = 3 * setup + 30 * n**3 * machine.dense, product / 2
        n_bytes = 8 * n * (n_arrays * n + 2 * n_columns)
        return self._estimate(costs, setup, product, n_bytes, note)

    def prepare(self, problem: Problem) -> Multiplier:
        """Compute the eigenvectors, or the kernel of a directed graph."""
        if problem.graph.is_directed:
            return _Dense(problem.kernel.exact(problem.graph))
        values, vectors = np.linalg.eigh(dense_weights(problem.graph))
        return _Dense(finite(problem.kernel.value(values)), vectors)


class _Dense:
    """A kernel, or ``U g(Λ) Uᵀ`` until its product has become cheaper than both factors."""

    def __init__(self, kernel: FloatArray, vectors: FloatArray | None = None) -> None:
        self.unit = float(np.abs(kernel).max(initial=0.0)) or 1.0
        self._kernel = None if vectors is not None else kernel / self.unit
        self._values = kernel / self.unit
        self._vectors = vectors
        self._n_columns = 0

    def times(self, block: FloatArray, tol: float) -> Product:
        n, width = block.shape
        U = self._vectors
        error, note = 4 * _EPS * n * frobenius(block), f"the dense kernel of {n} nodes"
        if U is not None:
            error, note = 2 * _EPS * n**0.5 * frobenius(block), f"eigenvectors of {n} nodes"
            self._n_columns += width
            if self._kernel is None and self._n_columns > n:
                self._kernel = (U * self._values) @ U.T
        if self._kernel is None:
            assert U is not None
            product = U @ (self._values[:, np.newaxis] * (U.T @ block))
        elif n <= _SERIAL_NODES and width > _SERIAL_COLUMNS:
            parts = range(0, width, _SERIAL_COLUMNS)
            product = np.hstack([self._kernel @ block[:, i : i + _SERIAL_COLUMNS] for i in parts])
        else:
            product = self._kernel @ block
        return Product(product, self.unit, error, frobenius(product), note)
