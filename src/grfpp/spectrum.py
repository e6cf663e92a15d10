"""The spectral radius of a matrix without negative entries."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse import csgraph

_DENSE_LIMIT = 200
_TOLERANCE = 1e-10


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
    # Rescaled so that the answer lies in (0, 1], whatever the units of the weights.
    bound = float(matrix.sum(axis=1).max())
    matrix = matrix / bound
    if n <= _DENSE_LIMIT:
        dense = matrix.toarray()
        values = np.linalg.eigvalsh(dense) if symmetric else np.linalg.eigvals(dense)
        return bound * float(np.abs(values).max())
    return bound * _leading_eigenvalue(matrix, symmetric)


def _within_components(matrix: sp.csr_array) -> sp.csr_array:
    _, component = csgraph.connected_components(matrix, directed=True, connection="strong")
    coo = matrix.tocoo()
    rows, columns = coo.coords
    keep = component[rows] == component[columns]
    return sp.csr_array((coo.data[keep], (rows[keep], columns[keep])), shape=matrix.shape)


def _leading_eigenvalue(matrix: Any, symmetric: bool) -> float:
    from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, eigs, eigsh

    start = np.sqrt(matrix.sum(axis=1)) + 1e-3
    try:
        if symmetric:
            values = eigsh(
                matrix, k=1, which="LA", v0=start, tol=_TOLERANCE, return_eigenvectors=False
            )
        else:
            values = eigs(
                matrix, k=1, which="LR", v0=start, tol=_TOLERANCE, return_eigenvectors=False
            )
        return float(np.abs(values).max())
    except (ArpackError, ArpackNoConvergence):
        return _power_iteration(matrix, start)


def _power_iteration(matrix: Any, vector: Any, rounds: int = 2000) -> float:
    """Bracket the root by Collatz and Wielandt's quotients of ``(I + W)^k x``; return the top."""
    upper = np.inf
    for _ in range(rounds):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            following = vector + matrix @ vector
        quotient = following / vector
        upper = min(upper, float(quotient.max()))
        if quotient.max() - quotient.min() < _TOLERANCE:
            break
        vector = following / np.linalg.norm(following)
    return upper - 1.0
