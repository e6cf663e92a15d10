"""Prior covariances of nodes, ``C = R^-1 g(W) R^-1``, for kernels whose width can be chosen.

``R`` is the identity, or holds the roots of the degrees for the normalisation of the random walk.

References
----------
V. Borovitskiy et al., Matérn Gaussian processes on graphs, 2021.
F. Lindgren, H. Rue and J. Lindström, An explicit link between Gaussian fields and Gaussian Markov
random fields, 2011.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, dijkstra
from scipy.sparse.linalg import matrix_power

from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.kernels import Diffusion, Kernel, RegularizedLaplacian
from grfpp.linalg import chebyshev
from grfpp.linalg.factorization import SparseFactor, inverse_block
from grfpp.linalg.functions import unit_columns
from grfpp.typing import FloatArray, IntArray

#: Accuracy of polynomials, relative to the kernel's largest value.
_SERIES_TOL = 1e-12
#: Rounding of kernels over their width.
_ROUNDING = 16 * float(np.finfo(float).eps)
#: Number of points at which a kernel is tested for being a covariance; odd, so that 0 is one.
_COVARIANCE_POINTS = 2001
#: Multiplications of a complex factorisation over those of a real one.
_COMPLEX = 4.0
#: Numbers in the blocks that are kept while parameters are chosen: 256 MB.
_KEPT_NUMBERS = 1 << 25
#: Largest width of the first span, and number and smallest of the widths that find a span: eight
#: times its dimension.
_FIRST_REACH = 32.0
_N_SPAN_SAMPLES = 160
_LEAST_WIDTH = 0.1
#: Steps of the lazy walk that smooth the vector whose Rayleigh quotient bounds the spectral gap.
_N_SMOOTHING = 60


def is_covariance(kernel: Kernel, W: Graph) -> bool:
    """Whether a kernel is nonnegative wherever eigenvalues of symmetric weights can be.

    Examples
    --------
    >>> from grfpp import Cosine, Diffusion
    >>> W = Graph([[0, 1], [1, 0]])
    >>> is_covariance(Diffusion(5.0), W), is_covariance(Cosine(3.0), W)
    (True, False)
    """
    if W.is_directed:
        return False
    radius = W.spectral_radius()
    with np.errstate(all="ignore"):
        values = kernel.value(np.linspace(-radius, radius, _COVARIANCE_POINTS))
    return bool(np.nanmin(values) >= -1e-12 * np.nanmax(np.abs(values)))


def require_covariance(kernel: Kernel, W: Graph) -> None:
    """Refuse a kernel that is not the covariance of a Gaussian process."""
    if not is_covariance(kernel, W):
        problem = f"must have no negative eigenvalue for a Gaussian process, found {kernel!r}"
        advice = "use one such as 'diffusion:5' or 'regularized-laplacian:2'"
        raise InputError(problem, argument="kernel", advice=advice)


class Elimination(NamedTuple):
    """An order of elimination, and the number of entries of the factors."""

    order: IntArray
    n_entries: int


@dataclass(frozen=True, eq=False)
class Workspace:
    """What families of one graph share."""

    #: Kernels and powers of the families.
    kernels: dict[tuple[str, float], None] = field(default_factory=dict)
    #: By the observed nodes.
    spans: dict[bytes, Span] = field(default_factory=dict)
    #: Blocks ``g(W)[S, S]`` by kernel, power, width and nodes.
    blocks: dict[tuple[object, ...], FloatArray] = field(default_factory=dict)
    #: By the power of ``a I − b W``.
    eliminations: dict[int, Elimination] = field(default_factory=dict)

    def __reduce__(self) -> tuple[object, ...]:
        """Without what can be computed again."""
        return Workspace, (self.kernels,)


@dataclass(frozen=True, eq=False)
class Family:
    """Covariances of one graph: a function of the eigenvalues of ``W`` for every width.

    Families that are made by ``dataclasses.replace`` with other roots, kernels or powers share
    orders of elimination, polynomials between observed nodes and blocks of kernels.

    Attributes
    ----------
    W
        The normalised weights.
    roots
        The diagonal of ``R``.
    kernel
        ``"matern"`` for ``(I + t L)^-power``, ``"diffusion"`` for ``exp(−t L)``, ``L = I − W``; or
        a kernel, which has no width.
    power
        The exponent of ``"matern"``.
    normalization
        Its name; see `grfpp.gp.GraphGP`.
    log_prior
        Logarithm of the prior's share of this family.
    n_jobs
        Threads of polynomials.
    keeps
        Whether factorisations are kept, for further fits.
    """

    W: Graph
    roots: FloatArray
    kernel: str | Kernel = "matern"
    power: float = 2
    normalization: str | None = None
    log_prior: float = 0.0
    n_jobs: int = -1
    keeps: bool = False
    _kept: dict[float, FactorizedCovariance] = field(init=False, default_factory=dict)
    _shared: Workspace = field(default_factory=Workspace)

    def __post_init__(self) -> None:
        if isinstance(self.kernel, str):
            self._shared.kernels[self.kernel, self.power] = None

    @property
    def label(self) -> tuple[str | Kernel, float]:
        """What tells the kernels of families of one graph apart."""
        return self.kernel, self.power

    def inverse_form(self, width: float) -> tuple[float, float, int] | None:
        """``(a, b, p)`` if the kernel is ``(a I − b W)^-p`` with a whole power, up to a factor."""
        if isinstance(self.kernel, Kernel):
            form = self.kernel.inverse_power_form
            is_whole = form is not None and form.of == 1 and float(form.power).is_integer()
            return (1.0, form.c, int(form.power)) if form is not None and is_whole else None
        if self.kernel == "matern" and float(self.power).is_integer():
            return 1 + width, width, int(self.power)
        return None

    def kernel_of(self, width: float) -> Kernel:
        """The kernel of a width."""
        if isinstance(self.kernel, Kernel):
            return self.kernel
        is_matern = self.kernel == "matern"
        return RegularizedLaplacian(self.power, width) if is_matern else Diffusion(width)

    def function(self, width: float) -> Callable[[FloatArray], FloatArray]:
        """The kernel as a function of the eigenvalues of ``W``."""
        kernel, power = self.kernel, self.power
        if isinstance(kernel, Kernel):
            return kernel.value
        if kernel == "diffusion":
            return lambda x: np.exp(-width * (1 - x))
        # Rounding can make eigenvalues of L slightly negative.
        return lambda x: (1 + width * np.maximum(1 - x, 0.0)) ** -power

    @cached_property
    def terms(self) -> chebyshev.ChebyshevTerms:
        """Chebyshev polynomials of ``W``."""
        return chebyshev.ChebyshevTerms(self.W, self.n_jobs)

    @cached_property
    def elimination(self) -> Elimination:
        """Of ``a I − b W``: it does not depend on the width."""
        if 1 not in self._shared.eliminations:
            self.factor(_precision_root(self.W, 2.0, 1.0), 1)
        return self._shared.eliminations[1]

    def factor(self, matrix: sp.csc_array, power: int) -> SparseFactor:
        """Factors of a matrix with the pattern of ``(a I − b W)^power``, in one order for all."""
        known = self._shared.eliminations.get(power)
        factor = SparseFactor(matrix, None if known is None else known.order)
        if known is None:
            self._shared.eliminations[power] = Elimination(factor.order, factor.n_entries)
        return factor

    def span(self, nodes: IntArray, width: float) -> Span:
        """A span of the kernels between nodes for widths up to some width at least."""
        spans, key = self._shared.spans, nodes.tobytes()
        last = spans.get(key)
        if last is None or last.reach < width or (self.kernel, self.power) not in last.kernels:
            spans.clear()
            reach = max(_FIRST_REACH, width)
            if last is not None:
                reach = max(reach, last.reach if width <= last.reach else 4 * last.reach)
            spans[key] = Span.of(self, nodes, reach)
        return spans[key]

    def forget_blocks(self) -> None:
        """Free the blocks between observed nodes that were kept."""
        self._shared.blocks.clear()
        self._shared.spans.clear()

    def covariance(self, width: float, *, factorize: bool) -> Covariance:
        """The covariance of a width, by a factorisation or by polynomials."""
        form = self.inverse_form(width)
        if not factorize or form is None:
            return SeriesCovariance(self, width)
        if width not in self._kept:
            self._kept[width] = FactorizedCovariance(self, width)
        return self._kept[width] if self.keeps else self._kept.pop(width)


@dataclass(frozen=True, eq=False)
class Span:
    """Matrices between nodes that span the kernels of a family up to a width.

    Their Chebyshev coefficients lie, to rounding, in a space of some tens of dimensions.
    """

    #: The largest width whose kernels it contains, and the kernels with their powers.
    reach: float
    kernels: tuple[tuple[str, float], ...]
    #: A basis of the space of coefficients, by rows, and its matrices ``(n_basis, n, n)``.
    basis: FloatArray
    matrices: FloatArray

    @classmethod
    def of(cls, family: Family, nodes: IntArray, reach: float) -> Span:
        """Compute it for some nodes."""
        widths = np.geomspace(_LEAST_WIDTH, reach, _N_SPAN_SAMPLES)
        kernels = tuple(family._shared.kernels)
        series = [
            SeriesCovariance(replace(family, kernel=kernel, power=power), width).coefficients()
            for kernel, power in kernels
            for width in widths
        ]
        table = np.zeros((len(series), max(map(len, series))))
        for row, coefficients in zip(table, series, strict=True):
            row[: len(coefficients)] = coefficients
        _, sizes, directions = np.linalg.svd(table, full_matrices=False)
        basis = np.ascontiguousarray(directions[sizes > _SERIES_TOL * sizes[0]])
        matrices = family.terms.entries(basis, nodes, nodes)
        # Symmetric but for rounding.
        return cls(reach, kernels, basis, (matrices + matrices.transpose(0, 2, 1)) / 2)

    def block(self, coefficients: FloatArray) -> FloatArray:
        """``Σ_k c_k T_k`` between the nodes."""
        n = min(len(coefficients), self.basis.shape[1])
        return np.asarray(np.tensordot(self.basis[:, :n] @ coefficients[:n], self.matrices, 1))


def _precision_root(W: Graph, a: float, b: float) -> sp.csc_array:
    """``a I − b W``."""
    return sp.csc_array(a * sp.eye_array(W.n_nodes) - b * W.adjacency)


@dataclass(frozen=True, eq=False)
class Covariance(ABC):
    """A covariance ``C = R^-1 g(W) R^-1`` of one width."""

    family: Family
    width: float
    #: The last columns that were computed, by their nodes: several noises share them.
    _last: dict[bytes, FloatArray] = field(default_factory=dict)

    @property
    def n_nodes(self) -> int:
        """Number of rows."""
        return len(self.family.roots)

    @abstractmethod
    def _kernel_times(self, block: FloatArray) -> FloatArray:
        """``g(W) @ block``."""

    @abstractmethod
    def _kernel_block(self, nodes: IntArray) -> FloatArray:
        """``g(W)[S, S]`` for distinct nodes ``S``."""

    def _kernel_entries(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """``g(W)[S, T]`` by products with columns."""
        return self._kernel_times(unit_columns(self.n_nodes, columns))[rows]

    @property
    def max_columns(self) -> float:
        """Number of columns up to which `_kernel_entries` is cheaper than `_kernel_block`."""
        return np.inf

    @abstractmethod
    def _root_draws(self, rng: np.random.Generator, n_draws: int) -> FloatArray:
        """Gaussian columns with the covariance ``g(W)``."""

    def times(self, block: FloatArray) -> FloatArray:
        """``C @ block``."""
        roots = self.family.roots[:, None]
        return self._kernel_times(block / roots) / roots

    def block(self, nodes: IntArray) -> FloatArray:
        """``C[S, S]`` for distinct nodes ``S``."""
        family, roots = self.family, self.family.roots[nodes]
        kept, key = family._shared.blocks, (*family.label, self.width, nodes.tobytes())
        if key not in kept:
            while (len(kept) + 1) * len(nodes) ** 2 > _KEPT_NUMBERS and kept:
                kept.pop(next(iter(kept)))
            kept[key] = self._kernel_block(nodes)
        return np.asarray(kept[key] / np.outer(roots, roots))

    def entries(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """``C[S, T]``."""
        key = rows.tobytes() + columns.tobytes()
        if key not in self._last:
            roots = np.outer(self.family.roots[rows], self.family.roots[columns])
            self._last.clear()
            self._last[key] = self._kernel_entries(rows, columns) / roots
        return self._last[key]

    def draws(self, rng: np.random.Generator, n_draws: int) -> FloatArray:
        """Gaussian columns with this covariance and mean zero."""
        return self._root_draws(rng, n_draws) / self.family.roots[:, None]


class SeriesCovariance(Covariance):
    """By Chebyshev polynomials of ``W``, for any kernel."""

    def coefficients(self, power: float = 1.0) -> FloatArray:
        """Chebyshev coefficients of the kernel, or of a power of it."""
        function = self.family.function(self.width)

        def values(x: FloatArray) -> FloatArray:
            return np.maximum(function(x), 0.0) ** power

        # Near 1 samples have the rounding of x, times the width.
        tol = max(_SERIES_TOL, _ROUNDING * self.width)
        # The peak at 1 of wide kernels must not lie between samples.
        n_points = 32 << max(0, int(np.log2(1 + self.width) / 2) - 3)
        return chebyshev.coefficients_of(values, self.family.terms.radius, tol, n_points)

    def _kernel_times(self, block: FloatArray) -> FloatArray:
        return self.family.terms.product(self.coefficients(), block)

    def _kernel_block(self, nodes: IntArray) -> FloatArray:
        if isinstance(self.family.kernel, Kernel):
            return self._kernel_entries(nodes, nodes)
        return self.family.span(nodes, self.width).block(self.coefficients())

    def _kernel_entries(self, rows: IntArray, columns: IntArray) -> FloatArray:
        return np.asarray(self.family.terms.entries(self.coefficients()[None], rows, columns)[0])

    def _root_draws(self, rng: np.random.Generator, n_draws: int) -> FloatArray:
        gaussians = rng.standard_normal((self.n_nodes, n_draws))
        return self.family.terms.product(self.coefficients(0.5), gaussians)


class FactorizedCovariance(Covariance):
    """The kernel ``(a I − b W)^-p`` by a factorisation of ``a I − b W``."""

    @property
    def form(self) -> tuple[float, float, int]:
        """``a, b, p``."""
        form = self.family.inverse_form(self.width)
        assert form is not None
        return form

    @cached_property
    def root(self) -> sp.csc_array:
        """``a I − b W``."""
        return _precision_root(self.family.W, *self.form[:2])

    @cached_property
    def factor(self) -> SparseFactor:
        """Its factors."""
        return self.family.factor(self.root, 1)

    @cached_property
    def precision(self) -> sp.csc_array:
        """``C^-1 = R (a I − b W)^p R``."""
        R = sp.diags_array(self.family.roots)
        return sp.csc_array(R @ matrix_power(self.root, self.form[2]) @ R)

    def log_determinant(self) -> float:
        """``log det C``."""
        roots = 2 * float(np.log(self.family.roots).sum())
        return -self.form[2] * self.factor.log_determinant - roots

    def _solve(self, block: FloatArray, times: int) -> FloatArray:
        for _ in range(times):
            block = self.factor.solve(block)
        return block

    def _kernel_times(self, block: FloatArray) -> FloatArray:
        return self._solve(block, self.form[2])

    def _kernel_block(self, nodes: IntArray) -> FloatArray:
        if len(nodes) > self.max_columns:
            squared = self.form[2] == 2
            return inverse_block(self.root, self.family.elimination.order, nodes, squared=squared)
        if self.form[2] == 4 and len(nodes) * self.n_nodes <= _KEPT_NUMBERS:
            half = self._solve(unit_columns(self.n_nodes, nodes), 2)
            return np.asarray(half.T @ half)
        block = self._kernel_entries(nodes, nodes)
        return np.asarray((block + block.T) / 2)

    def _kernel_entries(self, rows: IntArray, columns: IntArray) -> FloatArray:
        return self.factor.inverse_entries(rows, columns, self.form[2])

    @property
    def max_columns(self) -> float:
        """From the fill, as factorisations grow with its square over the number of nodes."""
        per_row = self.family.elimination.n_entries / self.n_nodes
        return {1: per_row, 2: _COMPLEX * per_row / 2}.get(self.form[2], np.inf)

    def _root_draws(self, rng: np.random.Generator, n_draws: int) -> FloatArray:
        power = self.form[2]
        if power % 2:
            return SeriesCovariance(self.family, self.width)._root_draws(rng, n_draws)
        return self._solve(rng.standard_normal((self.n_nodes, n_draws)), power // 2)


def degree_roots(graph: Graph) -> FloatArray:
    """Roots of the weighted degrees over their mean; 1 for isolated nodes."""
    # In units of the largest weight no sum leaves the range of float64.
    degrees = (graph.adjacency * (1 / graph.weights.max(initial=1e-300))).sum(axis=1)
    mean = degrees.sum() / max(1, np.count_nonzero(degrees)) or 1.0
    return np.asarray(np.sqrt(degrees / mean, out=np.ones(len(degrees)), where=degrees > 0))


def spectral_gap(W: Graph) -> float:
    """An upper bound of the smallest positive eigenvalue of ``I − W``, close to it.

    The Rayleigh quotient of the distances from a peripheral node of the largest component, smoothed
    by steps of the lazy walk.

    Examples
    --------
    >>> from grfpp.datasets import grid
    >>> W = grid(3, 20).normalized("sym")
    >>> exact = 1 - np.linalg.eigvalsh(W.adjacency.toarray())[-2]
    >>> bool(exact <= spectral_gap(W) < 1.1 * exact)
    True
    """
    adjacency = W.adjacency
    if not adjacency.nnz:
        return 1.0
    _, labels = connected_components(adjacency, directed=False)
    inside = labels == np.bincount(labels).argmax()
    node = int(np.flatnonzero(inside)[0])
    for _ in range(2):
        distances = dijkstra(adjacency, indices=node, unweighted=True)
        distances[~inside] = -1
        node = int(distances.argmax())
    perron = min(W.perron_candidates(), key=lambda v: _quotient(adjacency, v * inside)) * inside
    vector = perron * distances
    for _ in range(_N_SMOOTHING):
        vector = vector - perron * (perron @ vector) / (perron @ perron)
        vector = (vector + adjacency @ vector) / 2
    return _quotient(adjacency, vector)


def _quotient(adjacency: sp.csr_array, vector: FloatArray) -> float:
    """The Rayleigh quotient of ``I − W``."""
    square = float(vector @ vector)
    return 1 - float(vector @ (adjacency @ vector)) / square if square else 1.0
