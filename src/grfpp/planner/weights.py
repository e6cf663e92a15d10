"""Products with the weight matrix, in the way that suits its density and the width of a block."""

from __future__ import annotations

import sys

import numpy as np

from grfpp.graph import Graph
from grfpp.linalg.functions.krylov import PlainSteps
from grfpp.memory import GRANTED, available_bytes
from grfpp.typing import FloatArray

#: From this share of entries on, a dense array multiplies faster. It is made once so many
#: multiplications for each of its entries have been done without it, or in blocks so wide.
_DENSE_SHARE, _PAYS, _WIDE = 0.1, 8, 8
#: Up to so many nodes the sparse one is as fast.
_SMALL = 100
#: Multiplications of one product from which the compiled loops are faster, and those of all
#: products that are worth loading them.
_COMPILED, _COMPILED_COLUMN, _COMPILED_LANCZOS = 1_000_000, 2_000_000, 300_000
_LOADED = 300_000_000
_MODULE = "grfpp.linalg.functions.recurrence"
#: Memory that is there unseen: asking the system takes longer than many a product.
_UNSEEN = 2**26


class Weights:
    """``W`` as something that multiplies blocks of columns.

    Examples
    --------
    >>> import grfpp
    >>> W = Weights(grfpp.Graph([[0, 1], [1, 0]]))
    >>> W.times(np.array([[1.0], [3.0]])).ravel()
    array([3., 1.])
    """

    def __init__(self, graph: Graph, n_jobs: int = -1) -> None:
        self.matrix = graph.adjacency
        self.n_jobs = n_jobs
        self._done = 0
        self._dense: FloatArray | None = None
        n = graph.n_nodes
        #: Whether so many entries are not zero that a dense array is faster.
        self.wants_dense = (
            n >= _SMALL and self.matrix.nnz >= _DENSE_SHARE * n * n and fits(10 * n * n)
        )
        self._plain = PlainSteps(self.times)

    def times(self, block: FloatArray) -> FloatArray:
        """``W @ block``."""
        if self.wants_dense and self._dense is None:
            n, width = block.shape
            self._done += self.matrix.nnz * width
            if self._done >= _PAYS * n * n or width >= _WIDE:
                self._dense = self.matrix.toarray()
        product: FloatArray = (self.matrix if self._dense is None else self._dense) @ block
        return product

    def step(
        self,
        current: FloatArray,
        previous: FloatArray,
        result: FloatArray,
        factor: float,
        coefficient: float,
    ) -> FloatArray:
        """One step of Chebyshev's recurrence; see `grfpp.linalg.functions.expansion.Recurrence`."""
        least = _COMPILED if current.shape[1] > 1 else _COMPILED_COLUMN
        if self._is_compiled(current, least):
            from grfpp.linalg.functions.recurrence import chebyshev_step

            chebyshev_step(self.matrix, current, previous, result, factor, coefficient, self.n_jobs)
            return previous
        following = self.times(current)
        following *= factor
        following -= previous
        # The place of the last but one vector, which nobody needs any more.
        np.multiply(following, coefficient, out=previous)
        result += previous
        return following

    def lanczos_step(
        self, current: FloatArray, scale: FloatArray, previous: FloatArray, factor: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """One step of Lanczos' recurrence; see `grfpp.linalg.functions.krylov.Steps`."""
        if self._is_compiled(current, _COMPILED_LANCZOS):
            from grfpp.linalg.functions.recurrence import lanczos_step

            return lanczos_step(self.matrix, current, scale, previous, factor, self.n_jobs)
        return self._plain.lanczos_step(current, scale, previous, factor)

    def add_scaled(self, result: FloatArray, block: FloatArray, factor: FloatArray) -> None:
        """``result += block · factor``, each factor for its column."""
        if _MODULE in sys.modules and block.size > 20_000:
            from grfpp.linalg.functions.recurrence import add_scaled

            add_scaled(result, block, factor, self.n_jobs)
        else:
            self._plain.add_scaled(result, block, factor)

    def _is_compiled(self, block: FloatArray, least: int) -> bool:
        """Whether compiled loops are worth it, now that they may have to be loaded."""
        work = self.matrix.nnz * block.shape[1]
        if self.wants_dense or work < least:
            return False
        if _MODULE in sys.modules:
            return True
        self._done += work
        return self._done >= _LOADED


def fits(n_bytes: float) -> bool:
    """Whether so much memory may be taken.

    Examples
    --------
    >>> fits(8), fits(1e18)
    (True, False)
    """
    return n_bytes <= _UNSEEN or n_bytes <= GRANTED * available_bytes()
