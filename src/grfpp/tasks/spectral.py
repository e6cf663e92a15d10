"""Spectral embeddings of nodes by a kernel that is only multiplied with.

`spectral_embedding` is the paper's, after Ng, Jordan and Weiss. `regularized_spectrum` adds a
constant to every pair of nodes, ``A + τ/n · 11ᵀ``, so that small parts that hang on the rest by few
edges are no good cuts.
"""

from __future__ import annotations

from itertools import count
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from grfpp._memory import require_bytes
from grfpp.errors import InputError
from grfpp.estimate import KernelEstimate
from grfpp.graph import Graph
from grfpp.kernels import Kernel
from grfpp.linalg.spectra import largest_eigenpairs
from grfpp.operators.kernel_choice import KernelChoice, how_made
from grfpp.typing import FloatArray, IntArray

#: Largest number of nodes whose matrix is formed and given to LAPACK.
DENSE_NODES = 500
#: Tolerance of an eigenvalue, relative to its distance from 1, which is what separates clusters.
_TOL = 1e-4
#: Number of points at which a kernel is tested for growth.
_GROWTH_POINTS = 65


class Spectrum(NamedTuple):
    """Nontrivial eigenpairs of a kernel."""

    #: In units of the kernel's largest eigenvalue, descending.
    values: FloatArray
    #: One column each.
    vectors: FloatArray
    #: How they were computed, in words.
    method: str


def spectral_embedding(
    K: Any, groups: IntArray, n_components: int
) -> tuple[FloatArray, FloatArray]:
    """Place the nodes on a sphere, near to each other where the kernel is large.

    The leading eigenvectors of ``D^-1/2 S D^-1/2``, with ``S = (K + Kᵀ) / 2`` and ``D`` its row
    sums; each row is scaled to length 1. The eigenvalues are 1 for each group of connected
    components, whose eigenvectors are known, then the largest others.

    Parameters
    ----------
    K
        The kernel. Beyond 500 nodes it is only multiplied with.
    groups
        Of connected components (`component_groups`), at most `n_components`.

    References
    ----------
    Ng, Jordan, Weiss: On spectral clustering: analysis and an algorithm. NIPS 2001.

    Examples
    --------
    >>> import grfpp
    >>> pairs = grfpp.Graph(np.kron(np.eye(2), [[0, 1], [1, 0]]))
    >>> K = KernelChoice.of(estimate="exact").operator(pairs)
    >>> spectral_embedding(K, component_groups(pairs.adjacency, 2), 2)[0]
    array([[1., 0.],
           [1., 0.],
           [0., 1.],
           [0., 1.]])
    """
    n = int(K.shape[0])
    S = _symmetric(K, require_embedding(n, n_components))
    strength = S @ np.ones(n)
    if not (strength > 0).all():
        raise InputError(
            "has row sums that are not positive",
            argument="kernel",
            advice="use one without negative coefficients, such as 'diffusion'",
        )
    known = _group_vectors(groups, strength)
    n_known, wanted = known.shape[1], n_components - known.shape[1]
    values, vectors = np.empty(0), np.empty((n, 0))
    if wanted:
        values, vectors = _leading(S, 1 / np.sqrt(strength), known, wanted, _is_simple(K))
    embedding = np.hstack([known, vectors])
    embedding /= np.linalg.norm(embedding, axis=1, keepdims=True)
    return embedding, np.concatenate([np.ones(n_known), values])


def regularized_spectrum(
    adjacency: sp.csr_array,
    groups: IntArray,
    number: int,
    regularization: float,
    choice: KernelChoice,
    method: str | None = None,
) -> Spectrum:
    """Leading nontrivial eigenvectors of a kernel of regularised weights.

    A kernel that grows on [-1, 1] has the eigenvectors of its weights in the same order: they are
    computed from the weights, and the kernel only weights them. Where products with the kernel are
    asked for by `method`, or the kernel does not grow, its weights are
    ``(D + τ)^-1/2 A (D + τ)^-1/2``: the constant stays in the trivial eigenvectors ``√(D + τ)`` of
    each group, which are projected out.

    Parameters
    ----------
    adjacency
        A symmetric matrix of weights.
    groups
        Of connected components (`component_groups`).
    number
        Number of eigenvectors, at most the number of nodes less that of groups.
    regularization
        ``τ`` as a multiple of the mean degree.
    method
        ``None``, ``"walks"``, or a method of the planner.

    References
    ----------
    Zhang, Rohe: Understanding regularized spectral clustering via graph conductance. NeurIPS 2018.

    Examples
    --------
    >>> path = sp.csr_array(np.diag([1.0, 1.0, 1.0], 1) + np.diag([1.0, 1.0, 1.0], -1))
    >>> spectrum = regularized_spectrum(path, np.zeros(4, int), 1, 0.25, KernelChoice.of())
    >>> spectrum.vectors[:, 0] * spectrum.vectors[0, 0] > 0  # on the side of the first node
    array([ True,  True, False, False])
    """
    n = adjacency.shape[0]
    largest = float(adjacency.data.max(initial=0.0))
    if largest and not 1e-100 < largest < 1e100:  # sums would leave the range of floating point
        adjacency = sp.csr_array(adjacency * (1 / largest))
    degree = np.asarray(adjacency.sum(axis=1), np.float64).ravel()
    constant = regularization * float(degree.mean())
    strength = degree + constant
    strength[strength == 0] = 1.0  # isolated nodes without a constant
    known = _group_vectors(groups, strength)
    dense = require_embedding(n, number + known.shape[1])
    g, scale = choice.kernel, choice.scale
    if method is None and _grows(g, scale):
        S = _with_constant(adjacency, groups, constant, dense)
        values, vectors = _leading(S, 1 / np.sqrt(strength), known, number, False)
        ends = g.value(scale * np.append(np.clip(values, -1.0, 1.0), 1.0))
        values = np.clip(ends[:-1] / ends[-1], 0.0, None)
        return Spectrum(values, vectors, "eigenvectors of the weights")
    K = KernelChoice(
        kernel=g,
        estimate="exact" if method is None else choice.estimate,
        method={None: "auto", "walks": None}.get(method, method),
        normalization=None,
        options=choice.options,
    ).operator(Graph(_scaled(adjacency, strength, scale)))
    peak = float(np.max(np.abs(g.value(np.array([-scale, 0.0, scale])))))
    S = _symmetric(K, dense)
    values, vectors = _leading(S, np.full(n, peak**-0.5), known, number, _is_simple(K))
    return Spectrum(np.clip(values, 0.0, None), vectors, how_made(K))


def require_embedding(n: int, n_components: int) -> bool:
    """Refuse eigenvectors that do not fit into memory; whether a dense matrix is used."""
    # Lanczos keeps about as many vectors as a dense matrix has unless few of many are wanted.
    dense = n <= DENSE_NODES or 4 * n_components > n
    require_bytes(
        8 * n * (4 * n if dense else 6 * n_components + 60),
        f"{n_components} eigenvectors of a kernel of {n} nodes",
    )
    return dense


def component_groups(adjacency: Any, max_groups: int) -> IntArray:
    """The connected component of each node, numbered by size; the smallest share the last number.

    Examples
    --------
    >>> component_groups(sp.csr_array(np.kron(np.diag([0, 1, 1]), [[0, 1], [1, 0]])), 3)
    array([2, 2, 0, 0, 1, 1])
    """
    from scipy.sparse.csgraph import connected_components

    _, component = connected_components(adjacency, directed=False)
    rank = np.argsort(np.argsort(-np.bincount(component), kind="stable"))
    return np.asarray(np.minimum(rank, max_groups - 1)[component])


def _group_vectors(groups: IntArray, strength: FloatArray) -> FloatArray:
    """Eigenvectors of the eigenvalue 1: one a group of components."""
    vectors = np.zeros((len(groups), groups.max() + 1))
    vectors[np.arange(len(groups)), groups] = np.sqrt(strength)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=0))


def _symmetric(K: Any, dense: bool) -> Any:
    """``(K + Kᵀ) / 2``, as a matrix or as an operator."""
    S = K.toarray() if dense else K
    return S if S is K and K.T is K else 0.5 * (S + S.T)


def _is_simple(K: Any) -> bool:
    """Whether no eigenvalue is repeated: so it is with noise, not with a graph's symmetries."""
    return isinstance(K, KernelEstimate) and K.deflation is None


def _leading(
    S: Any, scaling: FloatArray, known: FloatArray, number: int, simple: bool
) -> tuple[FloatArray, FloatArray]:
    """Leading eigenpairs of ``diag(scaling) S diag(scaling)`` besides `known` vectors of 1.

    From one start Lanczos' method finds each eigenvalue once, and copies only by rounding. Unless
    eigenvalues are `simple`, it starts again, orthogonal to what it found, until nothing larger is
    left.
    """
    if isinstance(S, np.ndarray):
        from scipy.linalg import eigh

        n = len(scaling)
        # Eigenvalues are near to or below 1; the known ones become the last.
        matrix = S * scaling[:, None] * scaling - 3 * (known @ known.T)
        values, vectors = eigh(matrix, subset_by_index=[n - number, n - 1])
        return values[::-1], _signed(vectors[:, ::-1])
    values, vectors = _lanczos(S, scaling, known, number)
    for start in () if simple else count(1):
        (value,), vector = _lanczos(S, scaling, np.hstack([known, vectors]), 1, start)
        if value <= values[-1] + _TOL * abs(1 - values[-1]):
            break
        order = np.argsort(-np.append(values, value), kind="stable")[:number]
        values = np.append(values, value)[order]
        vectors = np.hstack([vectors, vector])[:, order]
    return values, vectors


def _lanczos(
    S: Any, scaling: FloatArray, known: FloatArray, number: int, start: int = 0
) -> tuple[FloatArray, FloatArray]:
    n = len(scaling)
    pairs = largest_eigenpairs(
        # Tolerances are relative: of the matrix less the identity, to the distance from 1.
        lambda column: scaling * (S @ (scaling * column)) - column,
        n,
        number,
        known=known,
        shift=3.0,
        tol=_TOL,
        seed=start,
        n_basis=min(n - 1, max(2 * number + 20, 40)),
    )
    if len(pairs.values) < number:
        raise InputError(
            "has leading eigenvalues too close to each other for Lanczos' method",
            argument="kernel",
            advice="use a larger scale",
        )
    return 1 + pairs.values, _signed(pairs.vectors)


def _signed(vectors: FloatArray) -> FloatArray:
    """Flip vectors so that the largest entry is positive: solvers choose either sign.

    The first of those that are equal up to rounding, which symmetric graphs have.
    """
    sizes = np.abs(vectors)
    is_largest = sizes >= (1 - 1e-6) * sizes.max(axis=0)
    largest = vectors[is_largest.argmax(axis=0), np.arange(vectors.shape[1])]
    return np.asarray(vectors * np.where(largest < 0, -1.0, 1.0))


def _with_constant(matrix: sp.csr_array, groups: IntArray, row_sum: float, dense: bool) -> Any:
    """``A + c_g · 11ᵀ`` within each group, with constants that sum to `row_sum` in a row."""
    from scipy.sparse.linalg import aslinearoperator

    n = len(groups)
    members = sp.csr_array((np.ones(n), groups, np.arange(n + 1)), (n, int(groups.max()) + 1))
    shares = sp.csr_array(members * (row_sum / np.bincount(groups)))
    if dense:
        return matrix.toarray() + (shares @ members.T).toarray()
    return aslinearoperator(matrix) + aslinearoperator(shares) @ aslinearoperator(members.T)


def _grows(kernel: Kernel, scale: float) -> bool:
    """Whether larger eigenvalues of the weights are larger ones of the kernel."""
    with np.errstate(all="ignore"):
        values = kernel.value(np.linspace(-scale, scale, _GROWTH_POINTS))
    return bool(np.isfinite(values).all() and (np.diff(values) > 0).all() and values[-1] > 0)


def _scaled(adjacency: sp.csr_array, strength: FloatArray, scale: float) -> sp.csr_array:
    """``scale · D^-1/2 A D^-1/2`` with the degrees `strength`, symmetric to the last bit."""
    rows = np.repeat(np.arange(len(strength)), np.diff(adjacency.indptr))
    data = scale * adjacency.data / np.sqrt(strength[rows] * strength[adjacency.indices])
    if not (np.isfinite(data).all() and (data > 0).all()):
        raise InputError("has weights too far apart to be scaled by degrees", argument="X")
    return sp.csr_array((data, adjacency.indices, adjacency.indptr), adjacency.shape)
