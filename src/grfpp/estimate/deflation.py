"""Deflation: the part of a kernel that a few eigenvectors hold, taken exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from grfpp.errors import InputError, InputWarning, warn_user
from grfpp.estimate.chain import SignedChain
from grfpp.graph import Graph
from grfpp.kernels import Kernel
from grfpp.linalg.functions import finite
from grfpp.linalg.spectra import (
    Eigenpairs,
    component_eigenpairs,
    leading_eigenpairs,
    spectral_density,
)
from grfpp.typing import FloatArray

#: Largest number of vectors of ``"auto"``: products with them cost as much as those of the walks.
MAX_VECTORS = 64
#: Largest share of the nodes that ``"auto"`` takes as vectors: beyond it dense algebra is cheaper.
_MAX_SHARE_OF_NODES = 0.25
#: Share of ``‖K‖²_F`` from which ``"auto"`` takes vectors in closed form: below it the error hardly
#: falls, and every product with them costs time.
_MIN_SHARE_IN_CLOSED_FORM = 0.1
#: Largest share of the rest of ``‖K‖²_F`` that computed vectors may leave: half of the error.
_MAX_SHARE_LEFT = 0.25
#: Share of ``‖K‖²_F`` that is left to the walks: further vectors do not lower their error.
_NEGLIGIBLE_SHARE = 1e-3


@dataclass(frozen=True, eq=False)
class Deflation:
    """``U g(Λ) Uᵀ`` for some eigenvectors ``U`` of ``W``; walks estimate the rest of the kernel.

    Where walks give ``X Yᵀ``, the estimate is ``P X P Yᵀ P + U g(Λ) Uᵀ`` with ``P = I − U Uᵀ``.
    ``P`` commutes with the means of ``X`` and ``Y``, so the mean is the kernel. The ``P`` in the
    middle keeps the product of both sides' noises out of ``U``, where the kernel is large. Further
    projections between all factors do not reduce the error noticeably.

    Parameters
    ----------
    vectors
        ``U``, orthonormal, of shape ``(n_nodes, n_vectors)``.
    values
        ``g(Λ)``, the largest in absolute value first.
    """

    vectors: FloatArray
    values: FloatArray

    @property
    def n_vectors(self) -> int:
        """Number of eigenvectors."""
        return len(self.values)

    def complement(self, block: FloatArray) -> FloatArray:
        """``P @ block`` with the projection ``P = I − U Uᵀ``."""
        return np.asarray(block - self.vectors @ (self.vectors.T @ block))

    def times(self, chain: SignedChain, block: FloatArray) -> FloatArray:
        """The estimate times a block."""
        inside = self.values[:, np.newaxis] * (self.vectors.T @ block)
        product = chain.times(self.complement(block), self.complement)
        return np.asarray(self.complement(product) + self.vectors @ inside)

    def project(
        self, chain: SignedChain, n_components: int, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """Dense features of the estimate, with one random matrix in the middle of the chain.

        The leading eigenvectors are the first columns, at most half of all; further eigenvectors
        are projected with the rest.
        """
        n, n_exact = len(self.vectors), min(self.n_vectors, n_components // 2)
        width = n_components - n_exact

        def gaussian(n_rows: int) -> FloatArray:
            return np.asarray(rng.standard_normal((n_rows, width)) / np.sqrt(width))

        X, Y = chain.project(lambda: self.complement(gaussian(n)), "middle")
        root = np.sqrt(np.abs(self.values))
        left, right = self.vectors * (np.sign(self.values) * root), self.vectors * root
        H = gaussian(self.n_vectors - n_exact)
        X = self.complement(X) + left[:, n_exact:] @ H
        Y = self.complement(Y) + right[:, n_exact:] @ H
        return np.hstack([left[:, :n_exact], X]), np.hstack([right[:, :n_exact], Y])

    def low_rank(self, chain: SignedChain) -> tuple[FloatArray, FloatArray]:
        """``A, B`` such that the estimate is ``chain + A Bᵀ``.

        With three columns for each eigenvector, and four where it is symmetrised.
        """
        # S = X P Yᵀ is the chain minus a bᵀ; and P S P + U g(Λ) Uᵀ, with R = S U, L = Sᵀ U
        # and C = Uᵀ S U + g(Λ), is S − U Lᵀ − R Uᵀ + U C Uᵀ: half of the last for A, half for B.
        U = self.vectors
        a, b = chain.halves_times(U)
        right = chain.times(U, self.complement)
        inner = U.T @ right + np.diag(self.values)
        if chain.symmetrized:
            both = 0.25 * U @ (inner + inner.T) - right
            a, b = a * np.sqrt(0.5), b * np.sqrt(0.5)
            return np.hstack([U, both, -a, -b]), np.hstack([both, U, b, a])
        right = 0.5 * U @ inner - right
        left = 0.5 * U @ inner.T - chain.T.times(U, self.complement)
        return np.hstack([U, right, -a]), np.hstack([left, U, b])


def deflation_of(graph: Graph, kernel: Kernel, number: int | Literal["auto"]) -> Deflation | None:
    """The eigenvectors of largest ``|g(λ)|`` to deflate a graph's kernel by; ``None`` for none.

    Vectors known in closed form come first: ``√degree`` of a symmetric normalisation, one for each
    connected component. Others, from the ends of the spectrum, are computed by Lanczos' method.
    Directed graphs are not deflated: their eigenvectors are not orthogonal.

    Parameters
    ----------
    number
        Number of eigenvectors, below the number of nodes. ``"auto"``: those in closed form where
        they hold a tenth of ``‖K‖²_F``; then the number that leaves a thousandth, at most 64 in all
        and one for four nodes, but only where they leave at most a quarter of the rest. These
        shares are predicted by `spectral_density`.

    Examples
    --------
    >>> import grfpp, networkx as nx
    >>> W = grfpp.Graph(nx.barabasi_albert_graph(1000, 4, seed=0)).normalized("sym")
    >>> for lam in (1.0, 20.0):
    ...     deflation = deflation_of(W, grfpp.Diffusion(lam), "auto")
    ...     print(0 if deflation is None else deflation.n_vectors)
    0
    1
    """
    if number == 0 or graph.is_directed:
        return None
    n = graph.n_nodes
    n_vectors = min(MAX_VECTORS, int(_MAX_SHARE_OF_NODES * n)) if number == "auto" else number
    if n_vectors >= n:
        problem = f"must be below the number of nodes, {n}, found {number}"
        raise InputError(problem, argument="deflate")
    known = _known_pairs(graph, kernel, n_vectors)
    n_others = n_vectors - len(known.values)
    if number == "auto":
        use_known, n_others = _automatic(graph, kernel, known, n_vectors)
        if not (use_known or n_others):
            return None
    pairs = known.joined(_other_pairs(graph, kernel, known, n_others))
    if number != "auto" and len(pairs.values) < number and len(graph.indices):
        problem = "has eigenvalues too close to converge, fewer are used"
        n_used = len(pairs.values)
        warn_user(InputWarning(problem, argument="deflate", n_asked=number, n_used=n_used))
    values = finite(kernel.value(pairs.values))
    order = np.argsort(-np.abs(values), kind="stable")
    return Deflation(np.ascontiguousarray(pairs.vectors[:, order]), values[order])


def _known_pairs(graph: Graph, kernel: Kernel, max_vectors: int) -> Eigenpairs:
    """Eigenvectors in closed form, one a component: those with the largest ``|g(λ)|``."""
    matrix, n = graph.adjacency, graph.n_nodes
    for candidate in graph.perron_candidates():
        known = component_eigenpairs(matrix, candidate)
        if known is None:
            continue
        eigenvalues, component = known
        sizes, size = np.bincount(component), np.abs(kernel.value(eigenvalues))
        # Not of nodes without edges, which walks estimate exactly, nor where the other end of the
        # spectrum matters more.
        use = (eigenvalues > 0) & (size >= np.abs(kernel.value(-graph.spectral_radius())))
        chosen = np.lexsort((-sizes, -size, ~use))[: min(max_vectors, np.count_nonzero(use))]
        column = np.full(len(sizes), -1)
        column[chosen] = np.arange(len(chosen))
        nodes = np.flatnonzero(column[component] >= 0)
        vectors = np.zeros((n, len(chosen)))
        vectors[nodes, column[component[nodes]]] = candidate[nodes]
        return Eigenpairs(eigenvalues[chosen], vectors / np.linalg.norm(vectors, axis=0))
    return Eigenpairs.none(n)


def _other_pairs(graph: Graph, kernel: Kernel, known: Eigenpairs, number: int) -> Eigenpairs:
    """Eigenvectors that are not known, with the largest ``|g(λ)|`` of both ends of the spectrum."""
    radius = graph.spectral_radius()
    upper = leading_eigenpairs(graph.adjacency, number, known, radius)
    smallest = np.abs(kernel.value(upper.values)).min(initial=np.inf)
    if not len(upper.values) or np.abs(kernel.value(-radius)) <= smallest:
        return upper
    excluded = known.joined(upper)
    mirrored = Eigenpairs(-excluded.values, excluded.vectors)
    n_lower = min(number, graph.n_nodes - len(excluded.values))
    lower = leading_eigenpairs(-graph.adjacency, n_lower, mirrored, radius)
    pairs = upper.joined(Eigenpairs(-lower.values, lower.vectors))
    return pairs.take(np.argsort(-np.abs(kernel.value(pairs.values)), kind="stable")[:number])


def _automatic(graph: Graph, kernel: Kernel, known: Eigenpairs, limit: int) -> tuple[bool, int]:
    """The choice of ``"auto"``: whether to use the known vectors, and the number of others."""
    if limit == 0 or not len(graph.indices):
        return False, 0
    eigenvalues, counts = spectral_density(graph.adjacency, known.vectors)
    sizes = np.abs(finite(kernel.value(eigenvalues)))
    known_sizes = np.abs(finite(kernel.value(known.values)))
    unit = max(sizes.max(), known_sizes.max(initial=0.0))  # so that no square overflows
    squares = (sizes / unit) ** 2
    order = np.argsort(-squares, kind="stable")
    left = float(np.sum(counts * squares))
    total = left + float(np.sum((known_sizes / unit) ** 2))
    use_known = bool(total - left >= _MIN_SHARE_IN_CLOSED_FORM * total)
    number = np.concatenate([[0.0], np.cumsum(counts[order])])
    rest = left - np.concatenate([[0.0], np.cumsum((counts * squares)[order])])
    max_others = limit - len(known.values)
    smallest_rest = np.interp(max_others, number, rest)
    if left <= _NEGLIGIBLE_SHARE * total or smallest_rest > _MAX_SHARE_LEFT * left:
        return use_known, 0
    # `rest` decreases, and `interp` needs increasing values.
    enough = np.interp(-_NEGLIGIBLE_SHARE * total, -rest, number)
    return True, min(max_others, int(np.ceil(enough)))
