"""What an estimate finds out about its own error: products with random signs, against polynomials.

For random signs ``z``, ``E ‖A z‖² = ‖A‖²_F``. With ``A = K̂ − K`` a few of them tell the error that
this very estimate has, not the one that such estimates have on average; the exact products come
from polynomials of the weights, which are cheap for a few columns.

The diagonal is found in the same products: ``z ∘ A z`` has the mean ``diag A``, and for two
independent ``z`` the mean of ``(z ∘ A z) · (z' ∘ A z')`` is ``Σ A_ii²``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from grfpp.arguments import whole
from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.kernels import Kernel
from grfpp.typing import FloatArray

#: Up to so many nodes every column of the matrix is compared.
_ALL_COLUMNS = 128
#: Else so many numbers are drawn to begin with, and so many probes at least and at most.
_NUMBERS, _FEWEST, _MOST = 12_000, 4, 96
#: Rows whose entries are compared.
_N_ROWS = 64
#: Directions in which the kernel is large, found at random.
_DIRECTIONS = 3
#: More are drawn while the error is not known to this.
_ACCURACY = 0.04
#: Of the exact products, in relation to the largest value of the kernel; then more exactly, where
#: that is no small part of what is found.
_TOLERANCES = (1e-6, 1e-10, 1e-14)
_SMALL_PART = 0.02
#: Estimates with an error beyond this are hardly of any use; a first look is not so sure.
LARGE, _SUSPECT = 0.5, 0.35


@dataclass(frozen=True)
class OwnError:
    """Relative errors in the Frobenius norm, each with its standard error.

    Attributes
    ----------
    relative, off_diagonal
        ``‖K̂ − K‖_F / ‖K‖_F``, and the same beside the diagonal.
    relative_std, off_diagonal_std
        What is not known about them; zero where all columns were compared.
    n_probes
        Random vectors that were used; zero where all columns were compared.
    """

    relative: float
    relative_std: float
    off_diagonal: float
    off_diagonal_std: float
    n_probes: int

    def to_meta(self) -> dict[str, float]:
        """As an estimate's `meta` has it."""
        return {
            "relative_error": self.relative,
            "relative_error_std": self.relative_std,
            "off_diagonal_error": self.off_diagonal,
            "off_diagonal_error_std": self.off_diagonal_std,
        }


def own_error(K: Any, kernel: Kernel, graph: Graph, seed: int = 0) -> OwnError:
    """Measure the error of an estimate of ``kernel`` on a graph.

    The probes are independent of the walks whatever the seed. More are taken until the error is
    known to 4 %, but at most 96.

    Examples
    --------
    >>> import grfpp, networkx as nx
    >>> W = grfpp.Graph(nx.barabasi_albert_graph(1000, 4, seed=0)).normalized("sym")
    >>> kernel = grfpp.Diffusion(2.0)
    >>> K = grfpp.sample(W, kernel, seed=0, check_error=False)
    >>> found, true = own_error(K, kernel, W), grfpp.relative_error(K, kernel, W)
    >>> abs(found.relative / true - 1) < 0.1
    True
    """
    n = graph.n_nodes
    if n <= _ALL_COLUMNS:
        return _of_matrices(*_compared(K, kernel, graph, np.eye(n)))
    rng = np.random.default_rng([whole(seed, "seed", 0), 0x0E2202])

    def signs(number: int) -> FloatArray:
        return np.asarray(2.0 * rng.integers(0, 2, (n, number)) - 1.0)

    # Slow kernels are large in a few directions, and so are the errors of their estimates: these
    # are compared exactly.
    basis = signs(_DIRECTIONS)
    for _ in range(2):
        basis = _orthonormal(kernel.apply(graph, basis, tol=_TOLERANCES[0]))
    # From the left too: the error may be a product of such a direction and of noise.
    turned = graph.reversed() if graph.is_directed else graph
    _, left = _compared(K.T, kernel, turned, basis)
    found = _Comparison.of(K, kernel, graph, _orthonormal(np.hstack([basis, left])))
    n_probes = max(_FEWEST, -(-_NUMBERS // n))
    while True:
        found = found.probed(signs(n_probes))
        error, n_probes = found.errors(), found.n_probes
        if error.relative_std <= _ACCURACY * error.relative or n_probes >= _MOST:
            return error


def entry_error(K: Any, kernel: Kernel, graph: Graph) -> float:
    """The largest error of an entry over the largest entry, in up to 64 rows of the matrix.

    Half of these are drawn with the chance of their degrees, since hubs are other than most.
    """
    n = graph.n_nodes
    nodes = np.arange(n)
    if n > _N_ROWS:
        degree = graph.out_degree + 1.0
        rng, half = np.random.default_rng(0x0E2204), _N_ROWS // 2
        hubs = rng.choice(n, half, replace=False, p=degree / degree.sum())
        nodes = np.concatenate([rng.choice(n, half, replace=False), hubs])
    units = np.zeros((n, len(nodes)))
    units[nodes, np.arange(len(nodes))] = 1.0
    turned = graph.reversed() if graph.is_directed else graph
    exact, difference = _compared(K.T, kernel, turned, units)
    return float(np.abs(difference).max() / np.abs(exact).max())


def seems_large(multiply: Callable[[FloatArray], FloatArray], kernel: Kernel, graph: Graph) -> bool:
    """Whether a product with one random vector is so far off that the error should be measured."""
    n = graph.n_nodes
    draws = np.random.default_rng(0x0E2203).integers(0, 2, (n, 1))
    signs = np.asarray(2.0 * draws - 1.0, dtype=np.float64)
    try:
        exact = kernel.apply(graph, signs, tol=1e-4)
    except InputError:  # out of the range of numbers, or of polynomials
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        off = np.linalg.norm(multiply(signs) - exact)
        return bool(off > _SUSPECT * np.linalg.norm(exact))


def _compared(
    K: Any, kernel: Kernel, graph: Graph, block: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """``K @ block`` exactly, and how far the estimate is from it."""
    product = np.asarray(K @ block)
    radius = graph.spectral_radius()
    largest = np.abs(kernel.value(np.array([-radius, 0.0, radius]))).max()
    exact = difference = product
    for tol in _TOLERANCES:
        exact = kernel.apply(graph, block, tol=tol)
        difference = product - exact
        if tol * largest * np.linalg.norm(block) <= _SMALL_PART * np.linalg.norm(difference):
            break
    return exact, difference


def _orthonormal(columns: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.qr(columns)[0])


@dataclass(frozen=True)
class _Comparison:
    """The exact kernel and an estimate's difference from it, as far as they are known."""

    compare: Callable[[FloatArray], tuple[FloatArray, FloatArray]]
    basis: FloatArray
    exact: _Probed
    difference: _Probed

    @classmethod
    def of(cls, K: Any, kernel: Kernel, graph: Graph, basis: FloatArray) -> _Comparison:
        """Compare them on a few directions."""

        def compare(block: FloatArray) -> tuple[FloatArray, FloatArray]:
            return _compared(K, kernel, graph, block)

        return cls(compare, basis, *(_Probed.by(basis, each) for each in compare(basis)))

    @property
    def n_probes(self) -> int:
        return int(self.exact.draws.shape[1])

    def probed(self, signs: FloatArray) -> _Comparison:
        """The same with further random signs, beside the directions."""
        products = self.compare(signs - self.basis @ (self.basis.T @ signs))
        both = (self.exact, self.difference)
        exact, difference = (
            each.probed(signs, product) for each, product in zip(both, products, strict=True)
        )
        return replace(self, exact=exact, difference=difference)

    def errors(self) -> OwnError:
        """Both errors with their standard errors, by leaving out one probe at a time."""
        (size, on_size), (error, on_error) = self.exact.squares(), self.difference.squares()
        # Without edges nothing is beside the diagonal but rounding.
        beside = np.where(size - on_size > 1e-12 * size, size - on_size, 0.0)
        found = np.stack([_ratio(error, size), _ratio(error - on_error, beside)])
        n, without = self.n_probes, found[:, 1:].T
        spread = np.sqrt((n - 1) / n * np.sum((without - without.mean(axis=0)) ** 2, axis=0))
        return OwnError(
            float(found[0, 0]), float(spread[0]), float(found[1, 0]), float(spread[1]), n
        )


@dataclass(frozen=True)
class _Probed:
    """A matrix ``A``: exactly on a few directions ``Q``, by random probes beside them."""

    #: ``‖A Q‖²_F``, and the diagonal of ``A Q Qᵀ``.
    size: float
    diagonal: FloatArray
    #: ``z ∘ A (I − Q Qᵀ) z``, a column a probe.
    draws: FloatArray

    @classmethod
    def by(cls, basis: FloatArray, product: FloatArray) -> _Probed:
        diagonal = np.einsum("ij,ij->i", product, basis)
        return cls(float(np.sum(product**2)), diagonal, np.empty((len(basis), 0)))

    def probed(self, signs: FloatArray, product: FloatArray) -> _Probed:
        return replace(self, draws=np.hstack([self.draws, signs * product]))

    def squares(self) -> FloatArray:
        """``‖A‖²_F`` and ``Σ A_ii²``: from all probes, and with each of them left out."""
        n = self.draws.shape[1]
        gram, along = self.draws.T @ self.draws, self.diagonal @ self.draws
        kept = np.vstack([np.ones(n), 1 - np.eye(n)])
        number = kept.sum(axis=1)
        own = kept @ np.diagonal(gram)
        pairs = np.einsum("ki,ij,kj->k", kept, gram, kept) - own
        whole_matrix = self.size + own / number
        diagonal = self.diagonal @ self.diagonal + 2 * (kept @ along) / number
        return np.stack([whole_matrix, diagonal + pairs / (number * (number - 1))])


def _of_matrices(exact: FloatArray, difference: FloatArray) -> OwnError:
    relative = _ratio(np.sum(difference**2), np.sum(exact**2))
    for matrix in (difference, exact):
        np.fill_diagonal(matrix, 0.0)
    return OwnError(
        float(relative), 0.0, float(_ratio(np.sum(difference**2), np.sum(exact**2))), 0.0, 0
    )


def _ratio(difference: Any, size: Any) -> FloatArray:
    """Roots of quotients; zero where there is nothing to divide by."""
    positive = np.asarray(size) > 0
    return np.asarray(np.sqrt(np.maximum(difference, 0.0) / np.where(positive, size, np.inf)))
