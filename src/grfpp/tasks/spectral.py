"""Spectral embedding of the nodes by a kernel that only multiplies."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp.errors import InputError
from grfpp.memory import require_bytes

FloatArray = npt.NDArray[np.float64]

#: Up to so many nodes the matrix is formed and LAPACK finds its eigenvectors.
DENSE_NODES = 500
#: Of the eigenvectors: far below the noise of any estimate.
_TOL = 1e-6


def spectral_embedding(
    K: Any, adjacency: sp.csr_array, n_components: int
) -> tuple[FloatArray, FloatArray]:
    """Place the nodes on a sphere, near to each other where the kernel says that they are alike.

    After Ng, Jordan and Weiss, with the kernel as affinity: the leading eigenvectors of
    ``D^-1/2 S D^-1/2``, where ``S = (K + Kᵀ) / 2`` and ``D`` holds its row sums; then each row is
    scaled to length 1.

    Parameters
    ----------
    K
        A kernel of the graph, as `grfpp.tasks.kernels.kernel_operator` makes it. Beyond 500 nodes
        it is only multiplied with.
    adjacency
        The graph. Its connected components are eigenvectors that need not be searched for; where
        there are more of them than `n_components`, the smallest are taken as one.
    n_components
        How many eigenvectors, at most the number of nodes.

    Returns
    -------
    embedding
        Of shape ``(n_nodes, n_components)``.
    eigenvalues
        The largest ones, from 1 down.

    Examples
    --------
    >>> from grfpp.tasks.kernels import kernel_operator
    >>> pairs = sp.csr_array(np.kron(np.eye(2), [[0, 1], [1, 0]]))
    >>> K = kernel_operator(pairs, kernel="exact")
    >>> embedding, eigenvalues = spectral_embedding(K, pairs, 2)
    >>> embedding
    array([[1., 0.],
           [1., 0.],
           [0., 1.],
           [0., 1.]])
    """
    n = int(K.shape[0])
    # Few of many: Lanczos. Otherwise it would keep almost as many vectors as a dense matrix has.
    dense = n <= DENSE_NODES or 4 * n_components > n
    require_bytes(
        8 * n * (4 * n if dense else 6 * n_components + 60),
        f"{n_components} eigenvectors of a kernel of {n} nodes",
    )
    S: Any = _dense(K) if dense else _operator(K)
    strength = S @ np.ones(n)
    if not (strength > 0).all():
        raise InputError(
            "some row sums of the kernel are not positive, so it does not tell how much alike "
            "nodes are; use a kernel without negative coefficients, such as 'diffusion'"
        )
    known = _component_vectors(adjacency, strength, n_components)
    wanted = n_components - known.shape[1]
    values, vectors = np.empty(0), np.empty((n, 0))
    if wanted:
        leading = _leading_dense if dense else _leading_lanczos
        values, vectors = leading(S, 1 / np.sqrt(strength), known, wanted)
    embedding = np.hstack([known, vectors])
    embedding /= np.linalg.norm(embedding, axis=1, keepdims=True)
    return embedding, np.concatenate([np.ones(known.shape[1]), values])


def _dense(K: Any) -> FloatArray:
    matrix = K.toarray()
    return np.asarray((matrix + matrix.T) / 2)


def _operator(K: Any) -> Any:
    from scipy.sparse.linalg import LinearOperator

    transposed = K.T

    def multiply(block: FloatArray) -> FloatArray:
        product: FloatArray = K @ block
        if transposed is not K:
            product = (product + transposed @ block) / 2
        return product

    return LinearOperator(K.shape, matvec=multiply, matmat=multiply, dtype=np.float64)


def _component_vectors(adjacency: Any, strength: FloatArray, most: int) -> FloatArray:
    """Eigenvectors for the eigenvalue 1: one a connected component, or a group of them."""
    from scipy.sparse.csgraph import connected_components

    count, component = connected_components(adjacency, directed=False)
    sizes = np.bincount(component, minlength=count)
    rank = np.empty(count, np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(count)
    group = np.minimum(rank, most - 1)[component]
    vectors = np.zeros((len(strength), min(count, most)))
    vectors[np.arange(len(strength)), group] = np.sqrt(strength)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=0))


def _leading_dense(
    S: FloatArray, scaling: FloatArray, known: FloatArray, wanted: int
) -> tuple[FloatArray, FloatArray]:
    """Leading eigenvalues and eigenvectors of the scaled matrix, beside those known."""
    from scipy.linalg import eigh

    n = len(scaling)
    # All eigenvalues lie between -1 and 1; those known become the last.
    matrix = S * scaling[:, None] * scaling - 3 * (known @ known.T)
    values, vectors = eigh(matrix, subset_by_index=[n - wanted, n - 1])
    return values[::-1], _signed(vectors[:, ::-1])


def _leading_lanczos(
    S: Any, scaling: FloatArray, known: FloatArray, wanted: int
) -> tuple[FloatArray, FloatArray]:
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

    def multiply(vector: FloatArray) -> FloatArray:
        column = vector.reshape(-1)
        product = scaling * (S @ (scaling * column)) - 3 * (known @ (known.T @ column))
        return np.asarray(product)

    n = len(scaling)
    # The same start every time: the result depends on the kernel alone.
    start = np.random.default_rng(0).standard_normal(n)
    start -= known @ (known.T @ start)
    try:
        values, vectors = eigsh(
            LinearOperator((n, n), matvec=multiply, dtype=np.float64),
            k=wanted,
            which="LA",
            v0=start,
            ncv=min(n - 1, max(2 * wanted + 20, 40)),
            tol=_TOL,
        )
    except ArpackNoConvergence as error:
        raise InputError(
            f"only {len(error.eigenvalues)} of {wanted} eigenvectors of the kernel were found; "
            "its leading eigenvalues are too close to each other: use a larger sigma"
        ) from None
    order = np.argsort(-values, kind="stable")
    return values[order], _signed(vectors[:, order])


def _signed(vectors: FloatArray) -> FloatArray:
    """Turn each vector so that its largest entry is positive: solvers choose either sign."""
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
    return np.asarray(vectors * np.where(largest < 0, -1.0, 1.0))
