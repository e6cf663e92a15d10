"""Leading eigenvalues and eigenvectors of symmetric matrices, and what there is of the others."""

from __future__ import annotations

from inspect import signature
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh, eigh_tridiagonal
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from grfpp.memory import require_bytes
from grfpp.typing import FloatArray, IntArray

#: Residuals ``‖W u − λ u‖`` are at most this times the spectral radius.
TOLERANCE = 1e-10
#: Up to so many nodes LAPACK finds all eigenvectors.
_DENSE_NODES = 500
#: Restarts of Lanczos' method; what has not converged by then is left out.
_RESTARTS = 300
_PROBES = 4
_PROBE_STEPS = 40


class Eigenpairs(NamedTuple):
    """Eigenvalues, and orthonormal eigenvectors as columns."""

    values: FloatArray
    vectors: FloatArray

    def take(self, places: Any) -> Eigenpairs:
        """Some of them."""
        return Eigenpairs(self.values[places], self.vectors[:, places])

    def joined(self, others: Eigenpairs) -> Eigenpairs:
        """These, then others."""
        values = np.concatenate([self.values, others.values])
        return Eigenpairs(values, np.hstack([self.vectors, others.vectors]))


def leading_eigenpairs(
    matrix: sp.csr_array, number: int, known: Eigenpairs, radius: float
) -> Eigenpairs:
    """The largest eigenvalues of a symmetric matrix beside those known, and their eigenvectors.

    By LAPACK for small matrices, else by Lanczos' method from one start: the same every time. Of
    equal eigenvalues some may be missed, and there are fewer than asked for where some have not
    converged to `TOLERANCE`; all that are given are right.

    Parameters
    ----------
    matrix
        With eigenvalues between ``-radius`` and ``radius``.
    number
        How many, at most the number of nodes less those known.

    Examples
    --------
    >>> path = sp.csr_array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    >>> none = Eigenpairs(np.zeros(0), np.zeros((3, 0)))
    >>> leading_eigenpairs(path, 1, none, 1.5).values
    array([1.414])
    """
    n = matrix.shape[0]
    if number == 0 or matrix.nnz == 0:
        return Eigenpairs(np.zeros(0), np.zeros((n, 0)))
    dense = n <= _DENSE_NODES or 4 * number > n
    require_bytes(8 * n * (3 * n if dense else 4 * number + 60), f"{number} eigenvectors")
    # Those known become the last, below all others.
    shift = known.values + 2 * radius
    if dense:
        whole = matrix.toarray() - (known.vectors * shift) @ known.vectors.T
        values, vectors = eigh(whole, subset_by_index=[n - number, n - 1])
    else:
        values, vectors = _lanczos(matrix, number, known.vectors, shift)
    order = np.argsort(-values, kind="stable")
    found = Eigenpairs(values[order], vectors[:, order])
    residuals = np.linalg.norm(matrix @ found.vectors - found.vectors * found.values, axis=0)
    return found.take(residuals <= 10 * TOLERANCE * radius)


def _lanczos(
    matrix: sp.csr_array, number: int, known: FloatArray, shift: FloatArray
) -> tuple[FloatArray, FloatArray]:
    def multiply(vector: FloatArray) -> FloatArray:
        column = vector.reshape(-1)
        return np.asarray(matrix @ column - known @ (shift * (known.T @ column)))

    n = matrix.shape[0]
    start = np.random.default_rng(0).standard_normal(n)
    options: dict[str, Any] = {"which": "LA", "tol": TOLERANCE, "maxiter": _RESTARTS}
    if "rng" in signature(eigsh).parameters:  # of vectors to begin anew with; since scipy 1.17
        options["rng"] = np.random.default_rng(0)
    operator = LinearOperator((n, n), matvec=multiply, dtype=np.float64)
    try:
        return eigsh(operator, number, v0=start - known @ (known.T @ start), **options)  # type: ignore[no-any-return]  # untyped
    except ArpackNoConvergence as error:
        return error.eigenvalues, error.eigenvectors


def component_eigenpairs(
    matrix: sp.csr_array, candidate: FloatArray
) -> tuple[FloatArray, IntArray] | None:
    """Tell whether a positive vector is an eigenvector on each connected component.

    Gives the eigenvalue of each component, and the component of each node; ``None`` if it is not.
    Nodes without edges, where the vector may be zero, are components with the eigenvalue 0.

    Examples
    --------
    >>> pairs = sp.csr_array(np.kron(np.diag([1.0, 3.0]), [[0, 1], [1, 0]]))
    >>> component_eigenpairs(pairs, np.ones(4))
    (array([1., 3.]), array([0, 0, 1, 1], dtype=int32))
    """
    n_components, component = connected_components(matrix, directed=False)
    alone = np.diff(matrix.indptr) == 0
    if not (candidate[~alone] > 0).all():
        return None
    quotients = np.zeros(len(candidate))
    least, most = np.full(n_components, np.inf), np.zeros(n_components)
    with np.errstate(all="ignore"):
        np.divide(matrix @ candidate, candidate, out=quotients, where=~alone)
        np.minimum.at(least, component, quotients)
        np.maximum.at(most, component, quotients)
        equal = most - least <= 1e-12 * most  # not where they leave the range of numbers
    return (most, component) if equal.all() else None


def spectral_density(matrix: sp.csr_array, known: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Where the eigenvalues lie beside those of known eigenvectors: places, and how many at each.

    By Lanczos' quadrature with random signs: ``Σ counts · f(places)`` estimates the sum of ``f``
    over these eigenvalues.

    Examples
    --------
    >>> cycle = sp.csr_array(np.roll(np.eye(500), 1, axis=0) + np.roll(np.eye(500), -1, axis=0))
    >>> places, counts = spectral_density(cycle, np.zeros((500, 0)))
    >>> print(f"{counts.sum():.0f} eigenvalues, {counts[places > 0].sum():.0f} of them positive")
    500 eigenvalues, 248 of them positive
    """
    n, n_known = known.shape
    signs = 2.0 * np.random.default_rng(0).integers(0, 2, (_PROBES, n)) - 1.0
    places, counts = [], []
    for start in signs - (signs @ known) @ known.T:
        values, weights = spectral_measure(matrix, start / np.linalg.norm(start), known)
        places.append(values)
        counts.append(weights * ((n - n_known) / _PROBES))
    return np.concatenate(places), np.concatenate(counts)


def spectral_measure(
    matrix: sp.csr_array, vector: FloatArray, known: FloatArray, n_steps: int = _PROBE_STEPS
) -> tuple[FloatArray, FloatArray]:
    """Lanczos' quadrature of one vector ``v``: ``Σ weights · f(places) ≈ vᵀ f(matrix) v``.

    `vector` is orthogonal to the known eigenvectors, and everything stays so.
    """
    square = float(vector @ vector)
    if square == 0.0:
        return np.zeros(1), np.zeros(1)
    diagonal, beside = _tridiagonal(matrix, vector, known, n_steps)
    values, vectors = eigh_tridiagonal(diagonal, beside)
    return values, vectors[0] ** 2 * square


def _tridiagonal(
    matrix: sp.csr_array, start: FloatArray, known: FloatArray, n_steps: int
) -> tuple[list[float], list[float]]:
    """Lanczos' three-term recurrence, beside what is known."""
    vector, before = start / np.linalg.norm(start), np.zeros_like(start)
    diagonal: list[float] = []
    beside: list[float] = []
    while True:
        following = matrix @ vector
        following -= known @ (known.T @ following)
        size = float(np.linalg.norm(following))
        diagonal.append(float(vector @ following))
        following -= diagonal[-1] * vector + (beside[-1] if beside else 0.0) * before
        norm = float(np.linalg.norm(following))
        if len(diagonal) == n_steps or norm <= 1e-10 * size:
            return diagonal, beside
        beside.append(norm)
        before, vector = vector, following / norm
