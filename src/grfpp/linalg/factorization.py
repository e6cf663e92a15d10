"""Sparse triangular factorisations of symmetric positive definite matrices, by SuperLU.

References
----------
X. S. Li, An overview of SuperLU: algorithms, implementation, and user interface, 2005.
H. Rue and L. Held, Gaussian Markov Random Fields, 2005, chapter 2.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from grfpp.linalg.functions import unit_columns
from grfpp.typing import FloatArray, IntArray

#: Numbers in a block of right-hand sides: 64 MB.
_BLOCK_NUMBERS = 1 << 23
#: Symmetric mode: pivots stay on the diagonal, as in a Cholesky factorisation.
_SYMMETRIC = {"diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}


class SparseFactor:
    """The factors of a symmetric positive definite matrix.

    Parameters
    ----------
    matrix
        Symmetric and positive definite.
    order
        Order of elimination; that of minimum degree if not given.

    Examples
    --------
    >>> factor = SparseFactor(sp.csc_array([[2.0, 1.0], [1.0, 2.0]]))
    >>> factor.solve(np.array([3.0, 3.0])), round(factor.log_determinant, 6)
    (array([1., 1.]), 1.098612)
    """

    def __init__(self, matrix: Any, order: IntArray | None = None) -> None:
        self._matrix, self._given = sp.csc_array(matrix), order

    @cached_property
    def _lu(self) -> Any:
        from scipy.sparse.linalg import splu

        order = self._given
        if order is None:
            return splu(self._matrix, permc_spec="MMD_AT_PLUS_A", **_SYMMETRIC)
        return splu(self._matrix[order][:, order], permc_spec="NATURAL", **_SYMMETRIC)

    def __getstate__(self) -> dict[str, Any]:
        """Without the factors, which are computed again."""
        return {"_matrix": self._matrix, "_given": self._given}

    @cached_property
    def order(self) -> IntArray:
        """Indices in their order of elimination, for other matrices of the same pattern."""
        return np.argsort(self._lu.perm_c) if self._given is None else self._given

    @property
    def n_entries(self) -> int:
        """Number of entries of both factors."""
        return int(self._lu.nnz)

    @cached_property
    def log_determinant(self) -> float:
        """Logarithm of the determinant."""
        return float(np.log(np.abs(self._lu.U.diagonal())).sum())

    def solve(self, block: FloatArray) -> FloatArray:
        """Solve for one right-hand side, or for the columns of a block."""
        if self._given is None:
            return np.asarray(self._lu.solve(block))
        result = np.empty_like(block)
        result[self._given] = self._lu.solve(block[self._given])
        return result

    def inverse_entries(self, rows: IntArray, columns: IntArray, times: int = 1) -> FloatArray:
        """Entries ``(M^-times)[rows, columns]``, by solves for each column."""
        result = np.empty((len(rows), len(columns)))
        size = max(1, _BLOCK_NUMBERS // self._matrix.shape[0])
        for first in range(0, len(columns), size):
            block = unit_columns(self._matrix.shape[0], columns[first : first + size])
            for _ in range(times):
                block = self.solve(block)
            result[:, first : first + size] = block[rows]
        return result

    def trailing_inverse(self, n: int) -> Any:
        """The inverse's block of the `n` indices that are eliminated last."""
        size = self._matrix.shape[0]
        lower = self._lu.L[size - n :, size - n :].toarray()
        upper = self._lu.U[size - n :, size - n :].toarray()
        identity = np.eye(n, dtype=upper.dtype)
        from scipy.linalg import solve_triangular

        half = solve_triangular(lower, identity, lower=True, unit_diagonal=True)
        return solve_triangular(upper, half)


def last(order: IntArray, nodes: IntArray) -> IntArray:
    """An order of elimination with some nodes moved to the end.

    Examples
    --------
    >>> last(np.array([3, 1, 0, 2]), np.array([0, 1]))
    array([3, 2, 0, 1])
    """
    is_last = np.zeros(len(order), bool)
    is_last[nodes] = True
    return np.concatenate([order[~is_last[order]], nodes])


def inverse_block(
    matrix: Any, order: IntArray, nodes: IntArray, *, squared: bool = False
) -> FloatArray:
    """The block ``(M^-1)[S, S]`` or ``(M^-2)[S, S]`` of some distinct nodes ``S``.

    With ``S`` eliminated last, the last block of the factors is that of the Schur complement,
    whose inverse is the block. For the square, the factorisation is that of ``M + i h I``: since
    ``M^-2 = −d/dh (M + h I)^-1``, the imaginary part over ``−h`` is the block for tiny ``h``,
    without cancellation.

    Examples
    --------
    >>> M = sp.csc_array([[2.0, 1.0], [1.0, 2.0]])
    >>> inverse_block(M, np.arange(2), np.array([1]))
    array([[0.66666667]])
    >>> inverse_block(M, np.arange(2), np.array([1]), squared=True)
    array([[0.55555556]])

    References
    ----------
    W. Squire and G. Trapp, Using complex variables to estimate derivatives of real functions, 1998.
    """
    if not squared:
        block = SparseFactor(matrix, last(order, nodes)).trailing_inverse(len(nodes))
    else:
        step = 1e-100 * float(abs(matrix.diagonal()).max())
        shifted = sp.csc_array(matrix + 1j * step * sp.eye_array(matrix.shape[0]))
        factor = SparseFactor(shifted, last(order, nodes))
        block = factor.trailing_inverse(len(nodes)).imag / -step
    return np.asarray((block + block.T) / 2)
