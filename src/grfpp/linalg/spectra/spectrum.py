"""The spectral radius of a matrix without negative entries."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigvalsh_tridiagonal
from scipy.sparse import csgraph

_DENSE_LIMIT = 200
_TOLERANCE = 1e-10
_RESTARTS = 300


def perron_root(matrix: sp.csr_array, *, symmetric: bool) -> float:
    """Spectral radius of a non-negative CSR matrix.

    It is an eigenvalue (Perron and Frobenius), the one of largest real part, and the largest over
    the strongly connected components, so arcs between components are dropped first: what is left
    has no nilpotent part, on which iterations would stall.
    """
    if not symmetric:
        matrix = _within_components(matrix)
    n = matrix.shape[0]
    if matrix.nnz == 0:
        return 0.0
    # Rescaled so that the answer lies in (0, 1], whatever the units of the weights. First by a
    # power of two, since sums of very large weights overflow and very small ones have no inverse.
    exponent = int(np.frexp(matrix.data.max())[1])
    matrix = sp.csr_array(
        (np.ldexp(matrix.data, -exponent), matrix.indices, matrix.indptr), shape=matrix.shape
    )
    bound = float(matrix.sum(axis=1).max())
    matrix = matrix / bound
    if n <= _DENSE_LIMIT:
        dense = matrix.toarray()
        values = np.linalg.eigvalsh(dense) if symmetric else np.linalg.eigvals(dense)
        root = float(np.abs(values).max())
    else:
        root = _lanczos(matrix) if symmetric else _leading_eigenvalue(matrix)
    return float(np.ldexp(bound * root, exponent))


def _within_components(matrix: sp.csr_array) -> sp.csr_array:
    _, component = csgraph.connected_components(matrix, directed=True, connection="strong")
    coo = matrix.tocoo()
    rows, columns = coo.row, coo.col
    keep = component[rows] == component[columns]
    return sp.csr_array((coo.data[keep], (rows[keep], columns[keep])), shape=matrix.shape)


def _lanczos(matrix: Any, most: int = 2000) -> float:
    """Largest eigenvalue of a symmetric matrix by Lanczos' three-term recurrence.

    Without reorthogonalisation: that only brings copies of eigenvalues that have converged. Where
    the largest ones lie close, as on long paths, it is the value that converges, not the vector,
    and so this ends long before a solver that waits for a small residual.
    """
    vector = np.sqrt(matrix.sum(axis=1)) + 1e-3  # a part of every component's Perron vector
    vector /= np.linalg.norm(vector)
    before = np.zeros_like(vector)
    diagonal: list[float] = []
    beside: list[float] = []
    top, norm = 0.0, 0.0
    while True:
        following = matrix @ vector - norm * before
        diagonal.append(float(vector @ following))
        following -= diagonal[-1] * vector
        norm = float(np.linalg.norm(following))
        n = len(diagonal)
        if n % 20 == 0 or norm < 1e-14 or n == most:
            last = n - 1
            values = eigvalsh_tridiagonal(diagonal, beside, select="i", select_range=(last, last))
            gained, top = float(values[0]) - top, float(values[0])
            if gained <= _TOLERANCE * top or norm < 1e-14 or n == most:
                return top
        beside.append(norm)
        before, vector = vector, following / norm


def _leading_eigenvalue(matrix: Any) -> float:
    from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, eigs

    start = np.sqrt(matrix.sum(axis=1)) + 1e-3
    try:
        values = eigs(
            matrix,
            k=1,
            which="LR",
            v0=start,
            tol=_TOLERANCE,
            maxiter=_RESTARTS,
            return_eigenvectors=False,
        )
        return float(np.abs(values).max())
    except (ArpackError, ArpackNoConvergence):
        return _largest_over_components(matrix)


def _largest_over_components(matrix: Any) -> float:
    """Take the components one by one, those that may have the largest root first."""
    count, component = csgraph.connected_components(matrix, directed=True, connection="strong")
    bound = np.zeros(count)
    np.maximum.at(bound, component, matrix.sum(axis=1))
    best = 0.0
    for label in np.argsort(-bound):
        if bound[label] <= best:
            break
        nodes = np.flatnonzero(component == label)
        best = max(best, _noda_iteration(matrix[nodes][:, nodes]))
    return best


def _noda_iteration(matrix: Any, rounds: int = 30) -> float:
    """Perron root of an irreducible matrix by Noda's inverse iteration.

    Its shifts fall onto the root from above, quadratically, however close the other eigenvalues
    are. It is kept for what Arnoldi's method cannot resolve, such as long cycles: they have their
    eigenvalues side by side, but also factors that stay sparse. What it returns is never below
    the root, even when the rounds do not suffice.
    """
    from scipy.sparse.linalg import splu

    identity = sp.eye_array(matrix.shape[0], format="csc")
    vector = np.ones(matrix.shape[0])
    root = float(matrix.sum(axis=1).max())
    for _ in range(rounds):
        try:
            solution = splu((root * identity - matrix).tocsc()).solve(vector)
        except RuntimeError:  # exactly singular: the shift is the root
            return root
        if not (np.isfinite(solution).all() and (solution > 0).all()):
            return root  # singular but for rounding
        # Collatz and Wielandt: the root lies between the quotients (W y) / y = shift - x / y.
        gaps = vector / solution
        root, previous = root - float(gaps.min()), root
        if gaps.max() - gaps.min() <= _TOLERANCE * previous:
            return root
        vector = solution / solution.max()
    return root
