"""Eigenvalues and eigenvectors: leading pairs, spectral radius, spectral density, whole spectra."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse import csgraph

from grfpp._memory import require_bytes
from grfpp.linalg import chebyshev
from grfpp.linalg.csr import CsrProduct
from grfpp.linalg.functions import ScalarFunction, WeightMatrix
from grfpp.linalg.lanczos import lanczos_steps, spectral_measure
from grfpp.typing import FloatArray, IntArray

#: Residuals ``‖W u − λ u‖`` are at most this times the spectral radius.
TOLERANCE = 1e-10
#: Largest number of nodes for which LAPACK computes eigenvectors: it takes a fraction of a second.
DENSE_NODES = 500
#: Nodes an eigenvector up to which LAPACK computes them: Lanczos' basis would be as large as the
#: dense matrix.
_DENSE_NODES_PER_VECTOR = 4
#: Largest number of nodes for which LAPACK computes the spectral radius, also of directed graphs.
_DENSE_RADIUS_NODES = 200
#: Restarts of ARPACK; pairs that have not converged by then are left out.
RESTARTS = 300
#: Steps of Lanczos' method for the spectral radius at most; long paths take the most.
_RADIUS_STEPS = 2000
#: Steps between two tests of convergence, each of which takes as long as a few steps.
_STEPS_BETWEEN_TESTS = 20
#: Subspace iteration: vectors beyond those wanted, products, and the error of a product. With two
#: products of ``exp(20 W)``, weak communities of 150,000 nodes are found as well as by ARPACK.
_N_SPARE_VECTORS, _N_FILTERINGS, _FILTER_TOL = 10, 2, 1e-6
#: Random vectors of the spectral density: what is chosen by it needs about one digit.
_PROBES = 4
#: Lanczos steps from each of these: as many points at which the density is known.
_PROBE_STEPS = 40


class Eigenpairs(NamedTuple):
    """Eigenvalues, and orthonormal eigenvectors as columns."""

    values: FloatArray
    vectors: FloatArray

    @classmethod
    def none(cls, n: int) -> Eigenpairs:
        """No pairs of a matrix with `n` rows."""
        return cls(np.zeros(0), np.zeros((n, 0)))

    def take(self, indices: Any) -> Eigenpairs:
        """Some of them."""
        return Eigenpairs(self.values[indices], self.vectors[:, indices])

    def joined(self, others: Eigenpairs) -> Eigenpairs:
        """These, then others."""
        values = np.concatenate([self.values, others.values])
        return Eigenpairs(values, np.hstack([self.vectors, others.vectors]))


def largest_eigenpairs(
    matrix: FloatArray | Callable[[FloatArray], FloatArray],
    n: int,
    number: int,
    *,
    known: FloatArray | None = None,
    shift: FloatArray | float = 0.0,
    tol: float = TOLERANCE,
    seed: int = 0,
    n_basis: int | None = None,
    max_restarts: int | None = None,
    dtype: Any = np.float64,
) -> Eigenpairs:
    """Largest eigenvalues of a symmetric matrix and their vectors, from large to small.

    By LAPACK for dense matrices, else by ARPACK: fewer than asked for where some have not
    converged. The same bits for the same arguments.

    Parameters
    ----------
    matrix
        A dense array, or a function that multiplies one vector; what follows `shift` is for ARPACK.
    known
        Eigenvectors to exclude: their eigenvalues are lowered by `shift`.
    tol
        Relative accuracy of the eigenvalues.
    seed
        Of the start vector.
    n_basis, max_restarts
        ARPACK's ``ncv`` and ``maxiter``.
    dtype
        Of ARPACK's basis: in single precision orthogonalisation takes half the time.

    Examples
    --------
    >>> pairs = largest_eigenpairs(lambda v: np.arange(9.0) * v, 9, 2)
    >>> pairs.values
    array([8., 7.])
    """
    U = np.zeros((n, 0)) if known is None else known
    if isinstance(matrix, np.ndarray):
        from scipy.linalg import eigh

        values, vectors = eigh(matrix - (U * shift) @ U.T, subset_by_index=[n - number, n - 1])
        return Eigenpairs(values[::-1], vectors[:, ::-1])
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

    multiply = matrix

    def deflated(vector: FloatArray) -> FloatArray:
        column = vector.reshape(-1)
        return np.asarray(multiply(column) - U @ (shift * (U.T @ column)))

    start = np.random.default_rng(seed).standard_normal(n)
    options: dict[str, Any] = {"which": "LA", "tol": tol, "ncv": n_basis, "maxiter": max_restarts}
    start = (start - U @ (U.T @ start)).astype(dtype)
    options |= {"v0": start, "rng": np.random.default_rng(0)}
    operator = LinearOperator((n, n), matvec=deflated, dtype=dtype)
    try:
        values, vectors = eigsh(operator, number, **options)
    except ArpackNoConvergence as error:
        values, vectors = error.eigenvalues, error.eigenvectors
    pairs = Eigenpairs(*(x.astype(np.float64, copy=False) for x in (values, vectors)))
    return pairs.take(np.argsort(-values, kind="stable"))


def is_dense(n: int, number: int) -> bool:
    """Whether eigenvectors of `n` nodes are computed by LAPACK from a dense matrix.

    Examples
    --------
    >>> is_dense(500, 1), is_dense(10_000, 64), is_dense(10_000, 5_000)
    (True, False, True)
    """
    return n <= DENSE_NODES or _DENSE_NODES_PER_VECTOR * number > n


def leading_eigenpairs(
    matrix: sp.csr_array, number: int, known: Eigenpairs, radius: float
) -> Eigenpairs:
    """The largest eigenvalues of a symmetric matrix other than those known, and their vectors.

    By LAPACK for small matrices, else by ARPACK. Of equal eigenvalues some may be missed, and there
    are fewer than asked for where some have not converged to `TOLERANCE`; all that are given have.

    Parameters
    ----------
    matrix
        With eigenvalues between ``-radius`` and ``radius``.
    number
        Number of pairs, at most the number of nodes less those known.

    Examples
    --------
    >>> path = sp.csr_array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    >>> leading_eigenpairs(path, 1, Eigenpairs.none(3), 1.5).values
    array([1.414])
    """
    n = matrix.shape[0]
    if number == 0 or matrix.nnz == 0:
        return Eigenpairs.none(n)
    dense = is_dense(n, number)
    require_bytes(8 * n * (3 * n if dense else 4 * number + 60), f"{number} eigenvectors")
    pairs = largest_eigenpairs(
        *(matrix.toarray() if dense else matrix.dot, n, number),
        known=known.vectors,
        shift=known.values + 2 * radius,  # below all others
        max_restarts=RESTARTS,
    )
    residuals = np.linalg.norm(matrix @ pairs.vectors - pairs.vectors * pairs.values, axis=0)
    return pairs.take(residuals <= 10 * TOLERANCE * radius)


def subspace_eigenpairs(
    graph: WeightMatrix, function: ScalarFunction, number: int, seed: int
) -> Eigenpairs:
    """Approximate eigenpairs of an undirected graph, the largest eigenvalues first.

    By subspace iteration: random vectors are multiplied by an increasing `function` of the weights
    and orthonormalised. The cost is that of a few products, however close eigenvalues are; what is
    given then are vectors of their common subspace.

    References
    ----------
    Halko, Martinsson, Tropp: Finding structure with randomness. SIAM Review 53, 2011, section 4.5.

    Examples
    --------
    >>> from grfpp import Graph
    >>> subspace_eigenpairs(Graph([[0, 1, 0], [1, 0, 1], [0, 1, 0]]), np.exp, 1, 0).values
    array([1.414])
    """
    n = graph.n_nodes
    width = min(n, number + _N_SPARE_VECTORS)
    require_bytes(48 * n * width, f"{number} eigenvectors")
    block = np.random.default_rng(seed).standard_normal((n, width))
    for _ in range(_N_FILTERINGS):
        block = np.linalg.qr(chebyshev.apply(graph, function, block, _FILTER_TOL))[0]
    values, rotation = np.linalg.eigh(block.T @ (graph.adjacency @ block))
    largest = slice(None, -1 - number if number < width else None, -1)
    return Eigenpairs(values[largest], block @ rotation[:, largest])


def component_eigenpairs(
    matrix: sp.csr_array, candidate: FloatArray
) -> tuple[FloatArray, IntArray] | None:
    """Eigenvalue of each component, and component of each node, for a positive eigenvector.

    ``None`` where the candidate is not an eigenvector on each connected component.
    Nodes without edges, where the vector may be zero, are components with the eigenvalue 0.

    Examples
    --------
    >>> pairs = sp.csr_array(np.kron(np.diag([1.0, 3.0]), [[0, 1], [1, 0]]))
    >>> component_eigenpairs(pairs, np.ones(4))
    (array([1., 3.]), array([0, 0, 1, 1], dtype=int32))
    """
    n_components, component = csgraph.connected_components(matrix, directed=False)
    isolated = np.diff(matrix.indptr) == 0
    if not (candidate[~isolated] > 0).all():
        return None
    quotients = np.zeros(len(candidate))
    low, high = np.full(n_components, np.inf), np.zeros(n_components)
    with np.errstate(all="ignore"):
        np.divide(matrix @ candidate, candidate, out=quotients, where=~isolated)
        np.minimum.at(low, component, quotients)
        np.maximum.at(high, component, quotients)
        equal = high - low <= 1e-12 * high  # False where they leave the range of numbers
    return (high, component) if equal.all() else None


def spectral_density(matrix: sp.csr_array, known: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Spectral density without known eigenvectors: values, and numbers of eigenvalues at each.

    By stochastic Lanczos quadrature: ``Σ counts · f(values)`` estimates the sum of ``f`` over the
    other eigenvalues.

    References
    ----------
    S. Ubaru, J. Chen and Y. Saad, Fast estimation of tr(f(A)) via stochastic Lanczos quadrature,
    SIAM J. Matrix Anal. Appl. 38, 2017.

    Examples
    --------
    >>> cycle = sp.csr_array(np.roll(np.eye(500), 1, axis=0) + np.roll(np.eye(500), -1, axis=0))
    >>> values, counts = spectral_density(cycle, np.zeros((500, 0)))
    >>> print(f"{counts.sum():.0f} eigenvalues, {counts[values > 0].sum():.0f} of them positive")
    500 eigenvalues, 248 of them positive
    """
    n, n_known = known.shape
    signs = 2.0 * np.random.default_rng(0).integers(0, 2, (_PROBES, n)) - 1.0
    all_values, all_counts = [], []
    for start in signs - (signs @ known) @ known.T:
        values, weights = projected_measure(matrix, start / np.linalg.norm(start), known)
        all_values.append(values)
        all_counts.append(weights * ((n - n_known) / _PROBES))
    return np.concatenate(all_values), np.concatenate(all_counts)


def projected_measure(
    matrix: sp.csr_array, vector: FloatArray, known: FloatArray, n_steps: int = _PROBE_STEPS
) -> tuple[FloatArray, FloatArray]:
    """`spectral_measure` of a vector orthogonal to known eigenvectors, which stays so."""

    def multiply(block: FloatArray) -> FloatArray:
        product = matrix @ block
        product -= known @ (known.T @ product)
        return np.asarray(product)

    return spectral_measure(multiply, vector, n_steps)


def symmetric_eigenvalues(weights: sp.csr_array) -> FloatArray:
    """All eigenvalues of a symmetric sparse matrix, unsorted.

    A vector that sums to zero over nodes with equal rows, and is zero elsewhere, has the
    eigenvalue 0. The other eigenvalues are those of the matrix with one node for each group of
    equal rows; entries between groups of ``m`` and ``m'`` nodes are multiplied by ``√(m m')``.
    Graphs of discussions have many such nodes: REDDIT-BINARY takes a twenty-fifth of the work.

    Examples
    --------
    >>> star = np.zeros((5, 5))
    >>> star[0, 1:] = star[1:, 0] = 1
    >>> np.sort(symmetric_eigenvalues(sp.csr_array(star)))
    array([-2.,  0.,  0.,  0.,  2.])
    """
    n = weights.shape[0]
    # Equal rows have bitwise equal products with random vectors (rows of symmetric matrices are
    # sorted, so the order of sums is the same); different rows do with probability 2^-100.
    probes = np.random.default_rng(0).standard_normal((n, 2))
    _, first, size = np.unique(weights @ probes, axis=0, return_index=True, return_counts=True)
    n_groups = len(first)
    require_bytes(3 * 8 * n_groups**2, f"the eigenvalues of a graph with {n_groups} distinct nodes")
    root = np.sqrt(size)
    dense = weights[first][:, first].toarray()
    dense *= root[:, np.newaxis] * root
    return np.concatenate([np.linalg.eigvalsh(dense), np.zeros(n - n_groups)])


def perron_root(matrix: sp.csr_array, *, symmetric: bool) -> float:
    """Spectral radius of a non-negative CSR matrix.

    It is the eigenvalue of largest real part (Perron and Frobenius), and the largest over the
    strongly connected components. Arcs between components are dropped first, since iterations
    stall on a nilpotent part.

    Examples
    --------
    >>> perron_root(sp.csr_array([[0.0, 4.0], [1.0, 0.0]]), symmetric=False)
    2.0
    """
    if not symmetric:
        matrix = _within_components(matrix)
    n = matrix.shape[0]
    if matrix.nnz == 0:
        return 0.0
    # Rescaled so that the answer lies in (0, 1], whatever the units of the weights. First by a
    # power of two, since sums of very large weights overflow and very small ones have no inverse.
    exponent = int(np.frexp(matrix.data.max())[1])
    data = np.ldexp(matrix.data, -exponent)
    matrix = sp.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
    bound = float(matrix.sum(axis=1).max())
    matrix = matrix / bound
    if n <= _DENSE_RADIUS_NODES:
        dense = matrix.toarray()
        values = np.linalg.eigvalsh(dense) if symmetric else np.linalg.eigvals(dense)
        root = float(np.abs(values).max())
    else:
        root = _largest_symmetric(matrix) if symmetric else _leading_eigenvalue(matrix)
    return float(np.ldexp(bound * root, exponent))


def _within_components(matrix: sp.csr_array) -> sp.csr_array:
    _, component = csgraph.connected_components(matrix, directed=True, connection="strong")
    coo = matrix.tocoo()
    rows, columns = coo.row, coo.col
    keep = component[rows] == component[columns]
    return sp.csr_array((coo.data[keep], (rows[keep], columns[keep])), shape=matrix.shape)


def _largest_symmetric(matrix: sp.csr_array) -> float:
    """Largest eigenvalue of a symmetric matrix by Lanczos' recurrence.

    Where the largest eigenvalues are close, as on long paths, the value converges long before
    the vector, so this takes fewer steps than a solver that needs a small residual.
    """
    from scipy.linalg import eigvalsh_tridiagonal

    start = np.sqrt(matrix.sum(axis=1)) + 1e-3  # not orthogonal to any component's Perron vector
    diagonal: list[float] = []
    off_diagonal: list[float] = []
    top = 0.0
    for step in lanczos_steps(CsrProduct(matrix), start.reshape(-1, 1)):
        diagonal.append(float(step.diagonal[0]))
        norm, n = float(step.off_diagonal[0]), len(diagonal)
        is_last = norm < 1e-14 or n == _RADIUS_STEPS
        if n % _STEPS_BETWEEN_TESTS == 0 or is_last:
            select = {"select": "i", "select_range": (n - 1, n - 1)}
            value = float(eigvalsh_tridiagonal(diagonal, off_diagonal, **select)[0])
            gain, top = value - top, value
            if gain <= TOLERANCE * top or is_last:
                break
        off_diagonal.append(norm)
    return top


def _leading_eigenvalue(matrix: sp.csr_array) -> float:
    from scipy.sparse.linalg import ArpackError, eigs

    start = np.sqrt(matrix.sum(axis=1)) + 1e-3
    options = {"v0": start, "tol": TOLERANCE, "maxiter": RESTARTS, "return_eigenvectors": False}
    try:
        return float(np.abs(eigs(matrix, k=1, which="LR", **options)).max())
    except ArpackError:
        return _largest_over_components(matrix)


def _largest_over_components(matrix: sp.csr_array) -> float:
    """The largest Perron root of the components, in descending order of their bounds."""
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


def _noda_iteration(matrix: sp.csr_array, rounds: int = 30) -> float:
    """Perron root of an irreducible matrix by inverse iteration (T. Noda, Numer. Math. 17, 1971).

    Its shifts converge to the root from above, quadratically, however close the other eigenvalues
    are. For matrices on which Arnoldi's method does not converge, such as long cycles: their
    eigenvalues are close, but their LU factors are sparse. The result is never below the root,
    also where the rounds do not suffice.
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
        if gaps.max() - gaps.min() <= TOLERANCE * previous:
            return root
        vector = solution / solution.max()
    return root
