"""What every kernel knows: its series, the root of it, where both converge, its exact value."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from grfpp import series
from grfpp.arguments import finite, whole
from grfpp.errors import DivergentSeriesError, InputError, InputWarning, shown, warn_user
from grfpp.graph import Graph, as_graph
from grfpp.linalg.functions import blocks, chebyshev, dense, shared, taylor
from grfpp.memory import require_bytes
from grfpp.typing import FloatArray

# Spectral radii are known to about nine digits, and Chebyshev's interval is a little wider.
_SAFETY = 1e-7
#: Tables of decimals with more digits in all are not kept.
_MOST_KEPT = 200_000


class Kernel(ABC):
    """A function ``g(x) = Σ α_k x^k`` of weight matrices, ``K = g(W)``.

    Kernels are immutable, hashable and can be pickled. With the stitching degree ``l``, the
    *modulation* ``f`` is the series of ``h = (sign · g)^(1/2l)``, so that ``K = sign · h(W)^(2l)``.

    Attributes
    ----------
    name
        What the kernel is called, also on the command line.
    normalization
        Of the weights that the kernel is meant for: ``"rw"`` for those of the random walk.
    """

    name: str
    normalization: ClassVar[Literal["sym", "rw"]] = "sym"

    @property
    @abstractmethod
    def radius(self) -> float:
        """Radius of convergence of ``g``: ``K`` exists for spectral radii below it."""

    @property
    @abstractmethod
    def sign(self) -> int:
        """1, or −1 when ``α_0 < 0``: then the modulation is that of ``−K``."""

    @abstractmethod
    def modulation_radius(self, degree: int) -> float:
        """Radius of convergence of the modulation.

        It is the distance from 0 to the nearest singularity *or zero* of ``g``, because a root
        branches at a zero, and so it can be smaller than `radius`.
        """

    @abstractmethod
    def value(self, x: npt.ArrayLike) -> FloatArray:
        """``g(x)`` for real numbers, such as the eigenvalues of an undirected graph."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return what `from_dict` needs, in values that JSON can hold."""

    @abstractmethod
    def _coefficients_here(self, n: int) -> list[Decimal]:
        """``α_0 … α_{n−1}`` in the current decimal context."""

    @abstractmethod
    def _modulation(self, order: int, n: int, digits: int) -> list[Decimal]:
        """Root of ``sign · g`` of the given order, settled to so many digits."""

    @abstractmethod
    def _dense(self, weights: FloatArray) -> FloatArray:
        """``g`` of a dense matrix that need not be symmetric."""

    @property
    def longest_gap(self) -> float:
        """More zeros in a row than this mean that the modulation has ended."""
        return 2

    def _remedies(self) -> dict[str, Any]:
        """What else than scaling the graph makes the series converge, for `InputError`."""
        return {}

    #: Rebuilds the kernel that `to_dict` described; the registry, which knows all kernels, puts it
    #: here.
    from_dict: ClassVar[Callable[[dict[str, Any]], Kernel]]

    def coefficients(self, n: int, *, scale: float = 1.0) -> FloatArray:
        """First `n` coefficients ``α_k``, rounded to float64.

        Parameters
        ----------
        n
            How many, at least 1.
        scale
            Return ``α_k · scale^k``, which may be in the range of float64 where ``α_k`` is not.
        """
        return _table(self, None, whole(n, "n", 1), finite(scale, "scale"))

    def coefficients_decimal(self, n: int, digits: int = series.DIGITS) -> list[Decimal]:
        """First `n` coefficients ``α_k``, each to at least so many digits."""
        return list(_decimals(self, None, *_table_size(n, digits)))

    def modulation(self, degree: int, n: int, *, scale: float = 1.0) -> FloatArray:
        """First `n` values ``f(k)`` of the modulation, rounded to float64.

        Their `2 · degree`-fold convolution is ``sign · α``.

        Parameters
        ----------
        degree
            The stitching degree ``l``, at least 1.
        n
            How many values, at least 1.
        scale
            Return ``f(k) · scale^k``, which may be in the range of float64 where ``f(k)`` is not.

        Raises
        ------
        InputError
            When ``α_0 = 0``: there is no root. When a value exceeds the range of float64.
        """
        stitches, count = whole(degree, "degree", 1), whole(n, "n", 1)
        return _table(self, stitches, count, finite(scale, "scale"))

    def modulation_decimal(self, degree: int, n: int, digits: int = series.DIGITS) -> list[Decimal]:
        """First `n` values of the modulation, each to at least so many digits."""
        return list(_decimals(self, whole(degree, "degree", 1), *_table_size(n, digits)))

    def check_converges(self, W: Any, degree: int | None = None) -> None:
        """Raise `DivergentSeriesError` unless the series converges on a graph.

        Parameters
        ----------
        W
            A `Graph`, or anything that `Graph` takes.
        degree
            Check the modulation of this stitching degree; without it, the kernel's own series.
        """
        graph = as_graph(W)
        if degree is None:
            self.check_weights(graph)
        if self._radius_of(degree) < math.inf:
            self.check_radius(graph.spectral_radius(), degree)

    def check_weights(self, graph: Graph) -> None:
        """Warn where the kernel is one of random walks, and the weights are normalised otherwise.

        That is told where it is known, without a look at the weights.
        """
        if self.normalization == "rw" and graph.is_symmetrically_normalized:
            warn_user(
                InputWarning(
                    f"{self!r} is a kernel of random walks, but these weights are normalised "
                    "symmetrically: its rows are no probabilities here, nor what other packages "
                    "give",
                    normalization="rw",
                ),
                InputWarning,
            )

    def check_radius(self, largest: float, degree: int | None = None) -> None:
        """As `check_converges`, for all graphs whose spectral radius is `largest`."""
        radius = self._radius_of(degree)
        if largest < radius * (1 - _SAFETY):
            return
        what = "series" if degree is None else f"modulation of degree {degree}"
        raise DivergentSeriesError(
            f"the {what} of {self!r} converges for spectral radii below {radius:.6g}, but this "
            f"graph's is {largest:.6g}",
            radius=radius,
            spectral_radius=largest,
            scale=_below(radius),
            factor=_below(radius / largest),
            **self._remedies(),
        )

    def _radius_of(self, degree: int | None) -> float:
        return self.radius if degree is None else self.modulation_radius(degree)

    def exact(self, W: Any) -> FloatArray:
        """``g(W)`` as a dense array, to rounding.

        From eigenvalues and eigenvectors for undirected graphs; by `scipy.linalg.expm`, linear
        solves or matrix powers for directed ones, in time proportional to ``N³``. Beyond 500 nodes
        by polynomials of ``W``, some columns at a time, wherever that is faster, as it is on sparse
        graphs, and as accurate: errors are below 1e-12 of the largest singular value.

        Parameters
        ----------
        W
            A `Graph`, or anything that `Graph` takes.

        Raises
        ------
        InputError
            When the array would not fit into memory.
        DivergentSeriesError
            When the series of ``g`` diverges on this graph.
        """
        graph = as_graph(W)
        n = graph.n_nodes
        require_bytes(16 * n * n, f"a dense kernel of {n} nodes", other="use kernel.apply(W, V)")
        self.check_converges(graph)
        found = (
            blocks.directed_by_blocks(graph, self._scaled, self.radius)
            if graph.is_directed
            else blocks.symmetric_by_blocks(graph, self.value)
        )
        if found is not None:
            return found
        weights = dense.dense_weights(graph)
        if not graph.is_directed:
            return dense.dense_symmetric(weights, self.value)
        with np.errstate(over="ignore", invalid="ignore"):
            return shared.finite(self._dense(weights))

    def apply(
        self, W: Any, V: npt.ArrayLike, tol: float = 1e-10, method: str = "auto"
    ) -> FloatArray:
        """``g(W) @ V`` without forming ``g(W)`` and without randomness.

        Parameters
        ----------
        W
            A `Graph`, or anything that `Graph` takes.
        V
            Real numbers, of shape ``(N,)`` or ``(N, c)``.
        tol
            Relative accuracy, from 1e-14 up; see each method for what it is relative to.
        method
            ``"chebyshev"``: polynomials of ``W`` on ``[−ρ, ρ]``, ``ρ`` the spectral radius; for
            undirected graphs. The error of a column ``v`` is at most
            ``tol · max_{|x| ≤ ρ} |g(x)| · ‖v‖``.
            ``"taylor"``: the power series; for all graphs. The error of a column is at most
            ``tol`` times its largest entry, else an error is raised.
            ``"expm_multiply"``: the method of Al-Mohy and Higham, for `Diffusion` and `HeatKernel`,
            to double precision whatever `tol`.
            ``"auto"``: the first of these for undirected graphs; for directed ones the last where
            it exists and the second elsewhere.

        Returns
        -------
        numpy.ndarray
            Of the shape of `V`.
        """
        graph = as_graph(W)
        vectors = _vectors(V, graph.n_nodes)
        accuracy = finite(tol, "tol")
        if not 1e-14 <= accuracy < 1:
            raise InputError(f"tol must be at least 1e-14 and below 1, found {shown(tol)}")
        chosen = self._method(method, graph)
        self.check_converges(graph)
        if chosen == "chebyshev":
            return chebyshev.apply(graph, self.value, vectors, accuracy)
        if chosen == "taylor":
            return taylor.apply(graph, self._scaled, self.radius, vectors, accuracy)
        return self._expm_multiply(graph, vectors)

    def _method(self, method: str, graph: Graph) -> str:
        known = ["chebyshev", "taylor"]
        if type(self)._expm_multiply is not Kernel._expm_multiply:
            known.append("expm_multiply")
        if method == "auto":
            return known[-1] if graph.is_directed else known[0]
        if method not in known:
            names = ", ".join(repr(name) for name in ["auto", *known])
            raise InputError(f"method must be one of {names} for {self!r}, found {shown(method)}")
        if method == "chebyshev" and graph.is_directed:
            raise InputError(
                "method 'chebyshev' needs an undirected graph, whose eigenvalues are real; "
                "use method='auto' or 'taylor'"
            )
        return method

    def _scaled(self, n: int, scale: float) -> FloatArray:
        return _cached_table(self, None, n, scale)

    def _expm_multiply(self, graph: Graph, vectors: FloatArray) -> FloatArray:
        raise NotImplementedError


def _decimals(kernel: Kernel, degree: int | None, n: int, digits: int) -> Sequence[Decimal]:
    """Terms of the kernel's series or modulation; as they are asked for at many scales, kept."""
    find = _settled_decimals if n * digits > _MOST_KEPT else _kept_decimals
    return find(kernel, degree, n, digits)


def _settled_decimals(kernel: Kernel, degree: int | None, n: int, digits: int) -> Sequence[Decimal]:
    if degree is None:
        return series.settled(lambda: kernel._coefficients_here(n), digits)
    return kernel._modulation(2 * degree, n, digits)


_kept_decimals = lru_cache(maxsize=32)(_settled_decimals)


@lru_cache(maxsize=128)
def _cached_table(kernel: Kernel, degree: int | None, n: int, scale: float) -> FloatArray:
    """Float64 table of the kernel's series, or of its modulation when a degree is given."""
    if degree is None:
        exactly = kernel.coefficients_decimal(n)
    else:
        exactly = kernel.modulation_decimal(degree, n)
    table = series.to_float64(exactly, scale)
    table.flags.writeable = False
    return table


def _table(kernel: Kernel, degree: int | None, n: int, scale: float) -> FloatArray:
    """Return a table of the caller's own, or say where it leaves the range of float64."""
    try:
        return _cached_table(kernel, degree, n, scale).copy()
    except OverflowError as error:
        (k,) = error.args
        what = "coefficient" if degree is None else f"modulation of degree {degree}"
        if k == 0:
            raise InputError(f"{kernel!r}: the {what} {series.OUT_OF_RANGE}") from None
        raise InputError(
            f"{kernel!r}: the {what} exceeds the range of float64 at k={k}; ask for n={k} at most, "
            "or for values times scale^k with a small scale"
        ) from None


def _table_size(n: int, digits: int) -> tuple[int, int]:
    """Numbers of terms and of digits that fit: two lists of decimals, one twice as precise."""
    count, precision = whole(n, "n", 1), whole(digits, "digits", 1)
    if precision > series.MOST_DIGITS:
        raise InputError(f"must be at most {series.MOST_DIGITS}, found {digits}", argument="digits")
    require_bytes(count * (400 + 3 * precision), f"a table of {count} terms of a series")
    return count, precision


def _vectors(V: npt.ArrayLike, n_nodes: int) -> FloatArray:
    array = np.asarray(V)
    if array.dtype.kind not in "buif":
        raise InputError(
            f"V must be an array of real numbers, found {type(V).__name__} of dtype {array.dtype}"
        )
    if array.ndim not in (1, 2) or array.shape[0] != n_nodes:
        raise InputError(
            f"V must have shape ({n_nodes},) or ({n_nodes}, c) for a graph of {n_nodes} nodes, "
            f"found {array.shape}"
        )
    require_bytes(
        6 * 8 * array.size,
        f"a product with {' x '.join(map(str, array.shape))} numbers",
        most_rows=lambda room: f"{room // (48 * n_nodes)} columns",
    )
    return np.ascontiguousarray(array, dtype=np.float64)


def _below(bound: float) -> float:
    """Nine tenths of a bound, of two digits."""
    return float(f"{0.9 * bound:.2g}")
