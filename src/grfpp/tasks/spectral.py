"""Spectral clustering: eigenvectors of a kernel from its products with vectors, then k-means.

`spectral_embedding` is the paper's, after Ng, Jordan and Weiss. `regularized_spectrum` adds a
constant to every pair of nodes, ``A + τ/n · 11ᵀ``, so that cutting off a small part with few edges
to the rest costs more; `regularized_clusters` also removes whiskers (small parts that a bridge
joins to the rest) and outliers (small components) before k-means.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import count
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.special import softmax

from grfpp._memory import require_bytes
from grfpp.errors import InputError
from grfpp.estimate import KernelEstimate
from grfpp.graph import Graph
from grfpp.kernels import Kernel
from grfpp.linalg.spectra import is_dense, largest_eigenpairs
from grfpp.operators.kernel_choice import KernelChoice, method_used
from grfpp.tasks.whiskers import anchors
from grfpp.typing import FloatArray, IntArray

#: Tolerance of an eigenvalue, relative to its distance from 1, which is what separates clusters.
_TOL = 1e-4
#: The same where the number of clusters is looked for among more than `_SAMPLE` nodes, in single
#: precision: vectors that separate clusters stand out and become far more accurate; the others are
#: noise, on which the iterations would be spent.
_LOOSE_TOL = 1e-2
#: An eigenvalue has been missed if it exceeds those found by this many tolerances.
_MARGIN = 4
#: Number of points that the starts of k-means are run on; the best one goes on with all. More than
#: `MAX_AUTO_CLUSTERS` clusters have as many points each.
_SAMPLE = 10_000
#: Number of points at which a kernel is tested for being increasing; odd, so that 0 is one.
_MONOTONICITY_POINTS = 65
#: Largest number of clusters that ``n_clusters="auto"`` tries: each costs a run of k-means.
MAX_AUTO_CLUSTERS = 20
#: Components below this share of a cluster of mean size are outliers; whiskers have at most this
#: share.
_SMALL_SHARE = 0.1
#: Temperature of cluster probabilities: squared distances are divided by this times the clusters'
#: variance. With it, nodes of generated graphs are as often right as they are confident
#: (``python -m grfpp_lab.studies.clustering sure``).
TEMPERATURE = 4.0
#: Smallest variance of a cluster, by which distances are divided: equal points have none.
_MIN_VARIANCE = 1e-6


class Spectrum(NamedTuple):
    """Nontrivial eigenpairs of a kernel."""

    #: In units of the kernel's largest eigenvalue, descending.
    values: FloatArray
    #: One column per eigenvalue.
    vectors: FloatArray
    #: How they were computed, in words.
    method: str


class Clustering(NamedTuple):
    """Cluster probabilities of all nodes of a graph, one column per cluster, and their origin."""

    probabilities: FloatArray
    embedding: FloatArray
    eigenvalues: FloatArray
    method: str


def spectral_embedding(
    K: Any, groups: IntArray, n_components: int
) -> tuple[FloatArray, FloatArray]:
    """Coordinates of the nodes on a sphere: close to each other where the kernel is large.

    The leading eigenvectors of ``D^-1/2 S D^-1/2``, with ``S = (K + Kᵀ) / 2`` and ``D`` its row
    sums; each row is scaled to length 1. The eigenvalues are 1 for each group of connected
    components, whose eigenvectors are known, then the largest others.

    Parameters
    ----------
    K
        The kernel. Beyond 500 nodes only its products with vectors are used.
    groups
        Groups of connected components (`component_groups`), at most `n_components`.

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
        advice = "use a kernel without negative coefficients, such as 'diffusion'"
        raise InputError("has row sums that are not positive", argument="kernel", advice=advice)
    known = _group_vectors(groups, strength)
    n_known, number = known.shape[1], n_components - known.shape[1]
    values, vectors = np.empty(0), np.empty((n, 0))
    if number:
        values, vectors = _leading(S, 1 / np.sqrt(strength), known, number, _is_simple(K))
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
    tol: float = _TOL,
) -> Spectrum:
    """Leading nontrivial eigenvectors of a kernel of regularised weights.

    A kernel that increases on [-1, 1] has the eigenvectors of its weights in the same order: they
    are computed from the weights, and the kernel gives the eigenvalues only. Where `method` asks
    for products with the kernel, or the kernel does not increase, its weights are
    ``(D + τ)^-1/2 A (D + τ)^-1/2``: the constant is in the trivial eigenvectors ``√(D + τ)`` of
    each group, which are projected out.

    Parameters
    ----------
    adjacency
        A symmetric matrix of weights.
    groups
        Groups of connected components (`component_groups`).
    number
        Number of eigenvectors, at most the number of nodes less that of groups.
    regularization
        ``τ`` as a multiple of the mean degree.
    method
        ``None``, ``"walks"``, or a method of the planner.
    tol
        Of eigenvalues, relative to their distance from 1.

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
    adjacency, strength, constant = _with_degrees(adjacency, regularization)
    known = _group_vectors(groups, strength)
    dense = require_embedding(n, number + known.shape[1])
    g, scale = choice.kernel, choice.scale
    if method is None and _is_increasing(g, scale):
        S = _with_constant(adjacency, groups, constant, dense)
        values, vectors = _leading(S, 1 / np.sqrt(strength), known, number, False, tol)
        ends = g.value(scale * np.append(np.clip(values, -1.0, 1.0), 1.0))
        values = np.clip(ends[:-1] / ends[-1], 0.0, None)
        return Spectrum(values, vectors, "eigenvectors of the weights")
    if method != "walks":
        choice = replace(choice, estimate="exact", method=method or "auto")
    W = _scaled(adjacency, strength, scale)
    K = replace(choice, normalization=None, scale=1.0).operator(W)
    peak = float(np.max(np.abs(g.value(np.array([-scale, 0.0, scale])))))
    S = _symmetric(K, dense)
    values, vectors = _leading(S, np.full(n, peak**-0.5), known, number, _is_simple(K), tol)
    return Spectrum(np.clip(values, 0.0, None), vectors, method_used(K))


def regularized_weights(adjacency: sp.csr_array, regularization: float, scale: float) -> Graph:
    """``scale · (D + τ)^-1/2 A (D + τ)^-1/2`` with ``τ`` a multiple of the mean degree.

    Examples
    --------
    >>> pair = sp.csr_array([[0.0, 5.0], [5.0, 0.0]])
    >>> regularized_weights(pair, 0.25, 1.0).adjacency.toarray()
    array([[0. , 0.8],
           [0.8, 0. ]])
    """
    return _scaled(*_with_degrees(adjacency, regularization)[:2], scale)


def _with_degrees(
    adjacency: sp.csr_array, regularization: float
) -> tuple[sp.csr_array, FloatArray, float]:
    """Weights in units of the largest, degrees plus a constant, and that constant."""
    # In these units no sum leaves the range of float64.
    adjacency = sp.csr_array(adjacency / adjacency.data.max(initial=1e-300))
    degree = np.asarray(adjacency.sum(axis=1), np.float64).ravel()
    constant = regularization * float(degree.mean())
    strength = degree + constant
    strength[strength == 0] = 1.0  # isolated nodes without a constant
    return adjacency, strength, constant


def require_embedding(n: int, n_components: int) -> bool:
    """Refuse eigenvectors that do not fit into memory; return whether a dense matrix is used."""
    dense = is_dense(n, n_components)
    n_bytes = 8 * n * (4 * n if dense else 6 * n_components + 60)
    require_bytes(n_bytes, f"{n_components} eigenvectors of a kernel of {n} nodes")
    return dense


def component_groups(adjacency: Any, max_groups: int) -> IntArray:
    """The connected component of each node, numbered by size, the smallest with one number.

    Examples
    --------
    >>> component_groups(sp.csr_array(np.kron(np.diag([0, 1, 1]), [[0, 1], [1, 0]])), 3)
    array([2, 2, 0, 0, 1, 1])
    """
    _, component = connected_components(adjacency, directed=False)
    rank = np.argsort(np.argsort(-np.bincount(component), kind="stable"))
    return np.asarray(np.minimum(rank, max_groups - 1)[component])


def _members(groups: IntArray) -> sp.csr_array:
    """An indicator matrix, one column per group, 1 at its nodes."""
    n = len(groups)
    return sp.csr_array((np.ones(n), groups, np.arange(n + 1)), (n, int(groups.max()) + 1))


def _group_vectors(groups: IntArray, strength: FloatArray) -> FloatArray:
    """Eigenvectors of the eigenvalue 1, one per group of components."""
    vectors = _members(groups).toarray() * np.sqrt(strength)[:, None]
    return np.asarray(vectors / np.linalg.norm(vectors, axis=0))


def _symmetric(K: Any, dense: bool) -> Any:
    """``(K + Kᵀ) / 2``, as a matrix or as an operator."""
    S = K.toarray() if dense else K
    return S if S is K and K.T is K else 0.5 * (S + S.T)


def _is_simple(K: Any) -> bool:
    """Whether all eigenvalues are simple: noise makes them so, symmetries of a graph do not."""
    return isinstance(K, KernelEstimate) and K.deflation is None


def _leading(
    S: Any, scaling: FloatArray, known: FloatArray, number: int, simple: bool, tol: float = _TOL
) -> tuple[FloatArray, FloatArray]:
    """Leading eigenpairs of ``diag(scaling) S diag(scaling)`` besides `known` vectors of 1.

    From one start vector Lanczos' method finds a multiple eigenvalue once. Unless all eigenvalues
    are `simple`, it is restarted, orthogonal to the vectors so far, until it finds no larger one.
    """
    if isinstance(S, np.ndarray):
        # Eigenvalues are at most about 1; the shift makes the known ones the smallest.
        scaled = S * scaling[:, None] * scaling
        values, vectors = largest_eigenpairs(scaled, len(S), number, known=known, shift=3.0)
        return values, _signed(vectors)
    values, vectors = _by_products(S, scaling, known, number, tol)
    for start in () if simple else count(1):
        (value,), vector = _by_products(S, scaling, np.hstack([known, vectors]), 1, tol, start)
        if value <= values[-1] + _MARGIN * tol * abs(1 - values[-1]):
            break
        order = np.argsort(-np.append(values, value), kind="stable")[:number]
        values = np.append(values, value)[order]
        vectors = np.hstack([vectors, vector])[:, order]
    return values, vectors


def _by_products(
    S: Any, scaling: FloatArray, known: FloatArray, number: int, tol: float, start: int = 0
) -> tuple[FloatArray, FloatArray]:
    n = len(scaling)

    def multiply(column: FloatArray) -> FloatArray:
        # Tolerances are relative: of the matrix less the identity, to the distance from 1.
        return np.asarray(scaling * (S @ (scaling * column)) - column)

    options: Any = {"tol": tol, "n_basis": min(n - 1, max(2 * number + 20, 40))}
    if tol > _TOL:
        options |= {"dtype": np.float32, "n_basis": max(2 * number + 3, 20)}
    pairs = largest_eigenpairs(multiply, n, number, known=known, shift=3.0, seed=start, **options)
    if len(pairs.values) < number:
        problem = "has leading eigenvalues too close to each other for Lanczos' method"
        raise InputError(problem, argument="kernel", advice="use a larger scale")
    return 1 + pairs.values, _signed(pairs.vectors)


def _signed(vectors: FloatArray) -> FloatArray:
    """Flip vectors so that the entry of largest modulus is positive: solvers return either sign.

    Among entries that are equal up to rounding, as symmetric graphs have, the first one counts.
    """
    sizes = np.abs(vectors)
    is_largest = sizes >= (1 - 1e-6) * sizes.max(axis=0)
    largest = vectors[is_largest.argmax(axis=0), np.arange(vectors.shape[1])]
    return np.asarray(vectors * np.where(largest < 0, -1.0, 1.0))


def _with_constant(matrix: sp.csr_array, groups: IntArray, row_sum: float, dense: bool) -> Any:
    """``A + c_g · 11ᵀ`` within each group, with constants that sum to `row_sum` in a row."""
    from scipy.sparse.linalg import aslinearoperator

    members = _members(groups)
    shares = sp.csr_array(members * (row_sum / np.bincount(groups)))
    S = aslinearoperator(matrix) + aslinearoperator(shares) @ aslinearoperator(members.T)
    return S @ np.eye(len(groups)) if dense else S


def _is_increasing(kernel: Kernel, scale: float) -> bool:
    """Whether larger eigenvalues of the weights are larger ones of the kernel."""
    with np.errstate(all="ignore"):
        values = kernel.value(np.linspace(-scale, scale, _MONOTONICITY_POINTS))
    return bool(np.isfinite(values).all() and (np.diff(values) > 0).all() and values[-1] > 0)


def _scaled(adjacency: sp.csr_array, strength: FloatArray, scale: float) -> Graph:
    """``scale · D^-1/2 A D^-1/2`` with the degrees `strength`, symmetric to the last bit."""
    rows, columns = adjacency.tocoo().coords
    data = scale * adjacency.data / np.sqrt(strength[rows] * strength[columns])
    if not (np.isfinite(data).all() and (data > 0).all()):
        raise InputError("has weights too far apart", argument="X", advice="drop the smallest ones")
    return Graph(sp.csr_array((data, adjacency.indices, adjacency.indptr), adjacency.shape))


def paper_clusters(
    graph: Graph, choice: KernelChoice, k: int, n_init: int, seed: int
) -> Clustering:
    """Cluster the nodes of a graph by `spectral_embedding`, each with probability 1."""
    K, groups = choice.operator(graph), component_groups(graph.adjacency, k)
    embedding, eigenvalues = spectral_embedding(K, groups, k)
    vectors = embedding[:, int(groups.max()) + 1 :]
    labels = cluster_groups(embedding, vectors, groups, k, n_init, seed).argmax(axis=1)
    return Clustering(np.eye(k)[labels], embedding, eigenvalues, method_used(K))


def regularized_clusters(
    graph: Graph,
    choice: KernelChoice,
    method: str | None,
    n_clusters: int | None,
    n_init: int,
    regularization: float,
    n_components: int | None,
    trim: bool,
    seed: int,
) -> Clustering:
    """Cluster the nodes of a graph by `regularized_spectrum`, whose `method` it takes.

    ``n_clusters=None`` takes the number of the largest modularity; the other parameters are those
    of `grfpp.tasks.SpectralKernelClustering`.
    """
    A = graph.adjacency
    if graph.is_directed:
        A = sp.csr_array(0.5 * (A + A.T))
    nodes, groups, position = core_of(A, n_clusters, trim)
    core = A if len(nodes) == graph.n_nodes else sp.csr_array(A[nodes][:, nodes])
    n_groups = int(groups.max()) + 1
    max_clusters = n_clusters or max(MAX_AUTO_CLUSTERS, n_groups)
    number = _n_vectors(max_clusters, n_groups)
    if n_components is not None:
        number = max(n_components, (n_clusters or 0) - n_groups)
    number = min(number, len(nodes) - n_groups)
    spectrum = Spectrum(np.empty(0), np.empty((len(nodes), 0)), "components")
    if number > 0 and (n_clusters is None or n_clusters > n_groups):
        tol = _LOOSE_TOL if n_clusters is None and len(nodes) > _SAMPLE else _TOL
        spectrum = regularized_spectrum(core, groups, number, regularization, choice, method, tol)

    def cluster(
        k: int, rough: bool = False, offset: float = 0.0
    ) -> tuple[float, FloatArray, FloatArray]:
        """Modularity of `k` clusters, the points, and their probabilities.

        Points are on the sphere; with an `offset`, in median lengths, short rows stay inside.
        """
        width = _n_vectors(k, n_groups) if n_components is None else n_components
        points = spectrum.vectors[:, :width] * np.sqrt(spectrum.values[:width])
        lengths = np.linalg.norm(points, axis=1, keepdims=True)
        lengths = np.hypot(lengths, offset * np.median(lengths))
        points = np.divide(points, lengths, out=np.zeros_like(points), where=lengths > 0)
        vectors = spectrum.vectors[:, : k - n_groups]
        found = cluster_groups(points, vectors, groups, k, n_init, seed, rough)
        return modularity(core, found.argmax(axis=1)), points, found

    k = n_clusters or n_groups
    if n_clusters is None:
        highest = modularity(core, groups)
        for n in range(n_groups + 1, min(n_groups + len(spectrum.values), max_clusters) + 1):
            score = cluster(n, rough=True)[0]
            if score > highest + 1e-9:  # more than rounding
                k, highest = n, score
    # On the sphere, rows that are nearly 0 count as much as others: noise, where classes overlap.
    offsets = (0.0, 1.0) if len(nodes) <= _SAMPLE else (0.0,)
    found = max((cluster(k, offset=offset) for offset in offsets), key=lambda each: each[0])
    _, points, probabilities = found

    # From the clustered nodes to all: whiskers follow the node that they are attached to.
    is_outlier = position < 0
    sizes = np.bincount(probabilities.argmax(axis=1), minlength=k)
    probabilities, embedding = probabilities[position], points[position]
    probabilities[is_outlier], embedding[is_outlier] = sizes / sizes.sum(), 0.0
    eigenvalues = np.concatenate([np.ones(n_groups), spectrum.values])
    return Clustering(probabilities, embedding, eigenvalues, spectrum.method)


def _n_vectors(k: int, n_groups: int) -> int:
    """Number of eigenvectors for `k` clusters: two more than necessary give smaller errors."""
    return k - n_groups + 2 if k > n_groups else 0


def core_of(
    A: sp.csr_array, n_clusters: int | None, trim: bool
) -> tuple[IntArray, IntArray, IntArray]:
    """The nodes to cluster (the core), their groups of components, and a core node for each node.

    The last is an index into the core: of the node itself, for a whisker of the node that it is
    attached to, for outliers -1.

    Examples
    --------
    >>> clique_and_tail = np.kron(np.diag([1, 0]), np.ones((30, 30)))
    >>> clique_and_tail[29, 30] = clique_and_tail[30, 29] = 1
    >>> core_of(sp.csr_array(clique_and_tail), 2, True)[2][28:33]
    array([28, 29, 29, -1, -1])
    """
    n = A.shape[0]
    k = n_clusters or MAX_AUTO_CLUSTERS // 2
    indices = np.arange(n)
    component = component_groups(A, n)
    large = np.bincount(component) * k >= _SMALL_SHARE * n
    anchor = anchors(A, _SMALL_SHARE * n / k) if trim else indices
    representative = np.where(large[component], anchor, -1)
    if np.count_nonzero(representative == indices) < min(2 * k, n):  # too few to cluster
        representative = indices
    nodes = np.flatnonzero(representative == indices)
    groups = np.minimum(component[nodes], (n_clusters or n) - 1)
    position = np.where(representative < 0, -1, np.searchsorted(nodes, representative))
    return nodes, np.unique(groups, return_inverse=True)[1], position


def cluster_groups(
    points: FloatArray,
    vectors: FloatArray,
    groups: IntArray,
    k: int,
    n_init: int,
    seed: int,
    rough: bool = False,
) -> FloatArray:
    """Probabilities of `k` clusters by k-means, within each group of connected components.

    A group has one cluster, and one for each eigenvector of `vectors` that is largest on it.

    Examples
    --------
    >>> line = np.array([[0.0], [0.1], [0.45], [1.0], [1.1]])
    >>> probabilities = cluster_groups(line, line, np.zeros(5, int), 2, 10, 0)
    >>> labels = probabilities.argmax(axis=1)
    >>> labels[0] == labels[2] != labels[4]
    np.True_
    >>> probabilities[2].max() < probabilities[0].max()
    np.True_
    """
    probabilities, first = np.zeros((len(points), k)), 0
    for group, n in enumerate(_clusters_per_group(vectors, groups)):
        inside = groups == group
        block = 1.0 if n == 1 else _k_means(points[inside], n, n_init, seed, rough)
        probabilities[inside, first : first + n] = block
        first += n
    return probabilities


def _clusters_per_group(vectors: FloatArray, groups: IntArray) -> IntArray:
    sizes, owners = np.bincount(groups), (_members(groups).T @ vectors**2).argmax(axis=0)
    counts = 1 + np.bincount(owners, minlength=len(sizes))
    # Equal components may share a vector, and then a count can exceed the size of its group.
    while (counts > sizes).any():
        counts[np.argmax(counts - sizes)] -= 1
        counts[np.argmax(sizes - counts)] += 1
    return counts


def _k_means(points: FloatArray, k: int, n_init: int, seed: int, rough: bool) -> FloatArray:
    """Probabilities under isotropic Gaussians of equal variance, from the best of `n_init` runs.

    The runs are on a sample of many points; its centres are kept where `rough` ones do.
    """
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # it has no types

    n, n_sample = len(points), _SAMPLE * max(k, MAX_AUTO_CLUSTERS) // MAX_AUTO_CLUSTERS
    sample = points
    if n > n_sample:
        sample = points[np.random.default_rng(seed).choice(n, n_sample, replace=False)]
    # One thread: the number of threads changes the order of sums, and so the result.
    with threadpool_limits(1, user_api="openmp"), warnings.catch_warnings():
        # Fewer distinct points than clusters: equal points share a cluster.
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = KMeans(k, n_init=n_init, random_state=seed % 2**32).fit(sample)
        if len(sample) < n and not rough:
            fitted = KMeans(k, init=fitted.cluster_centers_, n_init=1).fit(sample := points)
        if rough:
            return np.asarray(np.eye(k)[fitted.predict(points)])
        squares = fitted.transform(points) ** 2
    variance = max(float(fitted.inertia_) / sample.size, _MIN_VARIANCE)
    return np.asarray(softmax(squares / (-2 * TEMPERATURE * variance), axis=1))


def modularity(adjacency: sp.csr_array, labels: IntArray) -> float:
    """Modularity of a clustering: at most 1, and 0 for a single cluster.

    Parameters
    ----------
    adjacency
        A symmetric matrix of weights.
    labels
        The cluster of each node, from 0.

    References
    ----------
    Newman: Analysis of weighted networks. Physical Review E 70, 2004.

    Examples
    --------
    >>> pairs = sp.csr_array(np.kron(np.eye(2), [[0, 1], [1, 0]]))
    >>> modularity(pairs, np.array([0, 0, 1, 1]))
    0.5
    """
    rows, columns = (labels[nodes] for nodes in adjacency.tocoo().coords)
    strengths = np.bincount(rows, adjacency.data)
    total = strengths.sum() or 1.0
    within = adjacency.data[rows == columns].sum()
    return float(within / total - np.square(strengths / total).sum())
