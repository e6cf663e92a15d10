"""``method="dense"``: all eigenvectors, or the dense kernel."""

from __future__ import annotations

import numpy as np

from grfpp.linalg.functions.dense import dense_weights
from grfpp.linalg.functions.shared import finite
from grfpp.linalg.norms import frobenius
from grfpp.planner.costs import Costs
from grfpp.planner.methods.base import Method, Multiplier, Product
from grfpp.planner.plan import Offer
from grfpp.planner.problem import Problem
from grfpp.typing import FloatArray

#: Products so small that BLAS makes them without threads, which would wait for each other.
_TINY, _NARROW = 64, 128
_EPS = float(np.finfo(np.float64).eps)


class Dense(Method):
    """Dense linear algebra, to rounding."""

    name = "dense"
    chunk = 4096

    def offer(self, problem: Problem, n_columns: int, costs: Costs) -> Offer:
        """Eigenvectors take ``n³``, products ``n²``."""
        n, machine = float(problem.n_nodes), costs.machine
        setup = 4 * machine.step + machine.eigen_square * n**2 + machine.eigen_cube * n**3
        product = 2 * machine.step + 2 * n * n * machine.dense * max(n_columns, 4)
        if not problem.graph.is_directed:
            note, arrays = "all eigenvectors once, two dense products each time", 4
        else:
            note, arrays = "the dense kernel once, a dense product each time", 12
            setup, product = 3 * setup + 30 * n**3 * machine.dense, product / 2
        n_bytes = 8 * n * (arrays * n + 2 * n_columns)
        return self._offer(costs, setup, product, n_bytes, note)

    def prepare(self, problem: Problem) -> Multiplier:
        """Find the eigenvectors, or the kernel of a directed graph."""
        if problem.graph.is_directed:
            return _Matrix(problem.kernel.exact(problem.graph))
        eigenvalues, vectors = np.linalg.eigh(dense_weights(problem.graph))
        return _Eigenvectors(finite(problem.kernel.value(eigenvalues)), vectors)


class _Eigenvectors:
    """``U g(Λ) Uᵀ``; the product of these once that has been cheaper."""

    def __init__(self, values: FloatArray, vectors: FloatArray) -> None:
        self.unit = float(np.abs(values).max(initial=0.0)) or 1.0
        self._values = (values / self.unit)[:, np.newaxis]
        self._vectors = vectors
        self._kernel: FloatArray | None = None
        self._done = 0

    def times(self, block: FloatArray, tol: float) -> Product:
        n, width = block.shape
        self._done += width
        if self._kernel is None and self._done > n:
            self._kernel = (self._vectors * self._values[:, 0]) @ self._vectors.T
        if n <= _TINY and width > _NARROW and self._kernel is not None:
            parts = [self._kernel @ block[:, at : at + _NARROW] for at in range(0, width, _NARROW)]
            product = np.hstack(parts)
        elif self._kernel is None:
            product = self._vectors @ (self._values * (self._vectors.T @ block))
        else:
            product = self._kernel @ block
        error = 2 * _EPS * n**0.5 * frobenius(block)
        norm = frobenius(product)
        return Product(product, self.unit, error, norm, f"eigenvectors of {n} nodes")


class _Matrix:
    """The kernel itself."""

    def __init__(self, kernel: FloatArray) -> None:
        self.unit = float(np.abs(kernel).max(initial=0.0)) or 1.0
        self._kernel = kernel / self.unit

    def times(self, block: FloatArray, tol: float) -> Product:
        product = self._kernel @ block
        n = len(block)
        error = 4 * _EPS * n * frobenius(block)
        norm = frobenius(product)
        return Product(product, self.unit, error, norm, f"the dense kernel of {n} nodes")
