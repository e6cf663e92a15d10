"""``method="dense"``: all eigenvectors, or the dense kernel of a directed graph."""

from __future__ import annotations

import numpy as np

from grfpp.linalg.csr import frobenius
from grfpp.linalg.functions import dense_weights, finite
from grfpp.operators.costs import Costs
from grfpp.operators.methods.base import Method, Product
from grfpp.operators.problem import CostEstimate, Problem
from grfpp.typing import FloatArray

#: Matrices and columns so small that BLAS multiplies without threads, which would cost more.
_SERIAL_NODES, _SERIAL_COLUMNS = 64, 128
_EPS = float(np.finfo(np.float64).eps)


class Dense(Method):
    """Dense linear algebra, to rounding."""

    name = "dense"
    chunk = 4096

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self._unit, self._n_columns = 1.0, 0
        #: ``g(Λ)`` and ``U`` of an undirected graph, and the kernel, all over `_unit`.
        self._values: FloatArray | None = None
        self._vectors: FloatArray | None = None
        self._kernel: FloatArray | None = None

    def estimate(self, n_columns: int, costs: Costs) -> CostEstimate:
        """Eigenvectors take ``n³``, products ``n²``."""
        n, machine = float(self.problem.n_nodes), costs.machine
        setup = 4 * machine.step + machine.eigen_square * n**2 + machine.eigen_cube * n**3
        product = 2 * machine.step + 2 * n * n * machine.dense * max(n_columns, 4)
        if not self.problem.graph.is_directed:
            note, n_arrays = "all eigenvectors once, two dense products each time", 4
        else:
            note, n_arrays = "the dense kernel once, a dense product each time", 12
            setup, product = 3 * setup + 30 * n**3 * machine.dense, product / 2
        n_bytes = 8 * n * (n_arrays * n + 2 * n_columns)
        return self._estimate(costs, setup, product, n_bytes, note)

    def _prepare(self) -> FloatArray:
        """Compute the eigenvectors and ``g(Λ)``, or the kernel of a directed graph."""
        graph, kernel = self.problem.graph, self.problem.kernel
        if graph.is_directed:
            values = self._kernel = kernel.exact(graph)
        else:
            eigenvalues, self._vectors = np.linalg.eigh(dense_weights(graph))
            values = finite(kernel.value(eigenvalues))
        self._unit = float(np.abs(values).max(initial=0.0)) or 1.0
        values /= self._unit
        return values

    def times(self, block: FloatArray, tol: float) -> Product:
        """By ``U g(Λ) Uᵀ``, until the kernel itself has become cheaper than both factors."""
        if self._values is None:
            self._values = self._prepare()
        (n, width), U, g = block.shape, self._vectors, self._values
        error, note = 4 * _EPS * n * frobenius(block), f"the dense kernel of {n} nodes"
        if U is not None:
            error, note = 2 * _EPS * n**0.5 * frobenius(block), f"eigenvectors of {n} nodes"
            self._n_columns += width
            if self._kernel is None and self._n_columns > n:
                self._kernel = (U * g) @ U.T
        if self._kernel is None:
            assert U is not None
            product = U @ (g[:, np.newaxis] * (U.T @ block))
        elif n <= _SERIAL_NODES and width > _SERIAL_COLUMNS:
            parts = range(0, width, _SERIAL_COLUMNS)
            product = np.hstack([self._kernel @ block[:, i : i + _SERIAL_COLUMNS] for i in parts])
        else:
            product = self._kernel @ block
        return Product(product, self._unit, error, frobenius(product), note)
