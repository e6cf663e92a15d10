"""Spectral embedding of the nodes by a kernel that only multiplies."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
import scipy.sparse as sp

from grfpp.errors import InputError
from grfpp.estimate import KernelEstimate
from grfpp.memory import require_bytes
from grfpp.typing import FloatArray, IntArray

#: Up to so many nodes the matrix is formed and LAPACK finds its eigenvectors.
DENSE_NODES = 500
#: Of an eigenvalue, as a share of its distance from 1, which is what tells clusters apart.
_TOL = 1e-4


def spectral_embedding(
    K: Any, adjacency: sp.csr_array, n_components: int
) -> tuple[FloatArray, FloatArray]:
    """Place the nodes on a sphere, near to each other where the kernel says that they are alike.

    After Ng, Jordan and Weiss, with the kernel as affinity: the leading eigenvectors of
    ``D^-1/2 S D^-1/2``, where ``S = (K + Kᵀ) / 2`` and ``D`` holds its row sums; then each row is
    scaled to length 1. Gives that embedding and the eigenvalues: 1 for each connected component of
    the graph, then the largest others.

    Beyond 500 nodes the kernel is only multiplied with. The components are eigenvectors that need
    not be searched for; where there are more of them than `n_components`, which is at most the
    number of nodes, the smallest are taken as one.

    Examples
    --------
    >>> from grfpp.tasks.kernels import kernel_operator
    >>> pairs = sp.csr_array(np.kron(np.eye(2), [[0, 1], [1, 0]]))
    >>> K = kernel_operator(pairs, estimate="exact")
    >>> embedding, eigenvalues = spectral_embedding(K, pairs, 2)
    >>> embedding
    array([[1., 0.],
           [1., 0.],
           [0., 1.],
           [0., 1.]])
    """
    n = int(K.shape[0])
    dense = require_embedding(n, n_components)
    S = K.toarray() if dense else K
    if dense or K.T is not K:
        S = 0.5 * (S + S.T)
    strength = S @ np.ones(n)
    if not (strength > 0).all():
        raise InputError(
            "some row sums of the kernel are not positive, so it does not tell how much alike "
            "nodes are; use a kernel without negative coefficients, such as 'diffusion'"
        )
    known = group_vectors(component_groups(adjacency, n_components), strength)
    wanted = n_components - known.shape[1]
    values, vectors = np.empty(0), np.empty((n, 0))
    if wanted:
        # Chance leaves no two eigenvalues equal; the symmetries of a graph do.
        by_chance = isinstance(K, KernelEstimate) and K.deflation is None
        leading = leading_dense if dense else leading_lanczos if by_chance else leading_equal
        values, vectors = leading(S, 1 / np.sqrt(strength), known, wanted)
    embedding = np.hstack([known, vectors])
    embedding /= np.linalg.norm(embedding, axis=1, keepdims=True)
    return embedding, np.concatenate([np.ones(known.shape[1]), values])


def require_embedding(n: int, n_components: int) -> bool:
    """Refuse eigenvectors that do not fit; tell whether they are found from a dense matrix."""
    # Few of many: Lanczos. Otherwise it would keep almost as many vectors as a dense matrix has.
    dense = n <= DENSE_NODES or 4 * n_components > n
    require_bytes(
        8 * n * (4 * n if dense else 6 * n_components + 60),
        f"{n_components} eigenvectors of a kernel of {n} nodes",
    )
    return dense


def component_groups(adjacency: Any, most: int) -> IntArray:
    """Number the connected components by size, the smallest together if there are too many.

    Examples
    --------
    >>> component_groups(sp.csr_array(np.kron(np.diag([0, 1, 1]), [[0, 1], [1, 0]])), 3)
    array([2, 2, 0, 0, 1, 1])
    """
    from scipy.sparse.csgraph import connected_components

    _, component = connected_components(adjacency, directed=False)
    sizes = np.bincount(component)
    rank = np.argsort(np.argsort(-sizes, kind="stable"))
    return np.asarray(np.minimum(rank, most - 1)[component])


def group_vectors(group: IntArray, strength: FloatArray) -> FloatArray:
    """Eigenvectors for the eigenvalue 1: one a group of components."""
    vectors = np.zeros((len(group), group.max() + 1))
    vectors[np.arange(len(group)), group] = np.sqrt(strength)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=0))


def leading_dense(
    S: FloatArray, scaling: FloatArray, known: FloatArray, wanted: int
) -> tuple[FloatArray, FloatArray]:
    """Leading eigenvalues and eigenvectors of the scaled matrix, beside those known."""
    from scipy.linalg import eigh

    n = len(scaling)
    # Row sums are 1 and eigenvalues near to or below 1; those known become the last.
    matrix = S * scaling[:, None] * scaling - 3 * (known @ known.T)
    values, vectors = eigh(matrix, subset_by_index=[n - wanted, n - 1])
    return values[::-1], _signed(vectors[:, ::-1])


def leading_equal(
    S: Any, scaling: FloatArray, known: FloatArray, wanted: int
) -> tuple[FloatArray, FloatArray]:
    """As `leading_lanczos`, for matrices that may have one eigenvalue several times.

    From one start Lanczos' method finds each eigenvalue once, and copies only by rounding. So it is
    started anew beside what it found, until nothing larger is left.
    """
    values, vectors = leading_lanczos(S, scaling, known, wanted)
    for start in count(1):
        both = np.hstack([known, vectors])
        (value,), vector = leading_lanczos(S, scaling, both, 1, start)
        if value <= values[-1] + _TOL * abs(1 - values[-1]):
            break
        order = np.argsort(-np.append(values, value), kind="stable")[:wanted]
        values = np.append(values, value)[order]
        vectors = np.hstack([vectors, vector])[:, order]
    return values, vectors


def leading_lanczos(
    S: Any, scaling: FloatArray, known: FloatArray, wanted: int, start: int = 0
) -> tuple[FloatArray, FloatArray]:
    """Leading eigenvalues and eigenvectors by products with the matrix alone."""
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

    def multiply(vector: FloatArray) -> FloatArray:
        column = vector.reshape(-1)
        product = scaling * (S @ (scaling * column)) - 3 * (known @ (known.T @ column))
        # Tolerances are relative: of the matrix less the identity, to the distance from 1.
        return np.asarray(product - column)

    n = len(scaling)
    # The same vector every time: the result depends on the kernel alone.
    first = np.random.default_rng(start).standard_normal(n)
    first -= known @ (known.T @ first)
    try:
        values, vectors = eigsh(
            LinearOperator((n, n), matvec=multiply, dtype=np.float64),
            k=wanted,
            which="LA",
            v0=first,
            ncv=min(n - 1, max(2 * wanted + 20, 40)),
            tol=_TOL,
        )
    except ArpackNoConvergence as error:
        raise InputError(
            f"only {len(error.eigenvalues)} of {wanted} eigenvectors of the kernel were found; "
            "its leading eigenvalues are too close to each other: use a larger scale"
        ) from None
    order = np.argsort(-values, kind="stable")
    return 1 + values[order], _signed(vectors[:, order])


def _signed(vectors: FloatArray) -> FloatArray:
    """Turn each vector so that its largest entry is positive: solvers choose either sign.

    The first of those that are equal but for rounding, which symmetric graphs have.
    """
    sizes = np.abs(vectors)
    is_largest = sizes >= (1 - 1e-6) * sizes.max(axis=0)
    largest = vectors[is_largest.argmax(axis=0), np.arange(vectors.shape[1])]
    return np.asarray(vectors * np.where(largest < 0, -1.0, 1.0))
