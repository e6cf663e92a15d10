"""`Kernel`: power series, their roots (modulations), radii of convergence, values, products."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from grfpp import series
from grfpp._checks import CheckedFields, between, finite, one_of, whole
from grfpp._memory import require_bytes
from grfpp.errors import DivergentSeriesError, InputError, InputWarning, shown, warn_user
from grfpp.graph import Graph, as_graph
from grfpp.linalg import chebyshev, functions
from grfpp.linalg.csr import CsrProduct
from grfpp.typing import FloatArray

#: Distance to the radius of convergence that is required, relative to it: spectral radii are known
#: to about nine digits, and Chebyshev's interval is a little wider.
_RADIUS_MARGIN = 1e-7
#: Largest number of digits, in all, of a table of decimals that is cached: 32 tables take 10 MB.
_MAX_CACHED_DIGITS = 200_000
#: Error of `Kernel.exact`, over the largest singular value or a column's largest entry.
_EXACT_SHARE = 1e-12
#: Largest number of nodes for which dense algebra is not compared with polynomials.
_DENSE_NODES = 500


class InversePowerForm(NamedTuple):
    """A kernel as ``factor · (I − c W^of)^-power``."""

    c: float
    of: int
    power: float
    factor: float


#: The classes of kernels by name.
KERNEL_CLASSES: dict[str, type[Kernel]] = {}


def kernel_class(name: Any) -> type[Kernel]:
    """The class of kernels of a name; `InputError` where there is none.

    Examples
    --------
    >>> kernel_class("diffusion")()
    Diffusion(lam=1.0)
    """
    if not isinstance(name, str) or name not in KERNEL_CLASSES:
        names = ", ".join(KERNEL_CLASSES)
        raise InputError(f"there is no kernel {shown(name)}", advice=f"use one of {names}")
    return KERNEL_CLASSES[name]


class Kernel(ABC):
    """A function ``g(x) = Σ α_k x^k`` of weight matrices, ``K = g(W)``.

    Kernels are immutable, hashable and can be pickled. With the stitching degree ``l``, the
    *modulation* ``f`` is the series of ``h = (sign · g)^(1/2l)``, so that ``K = sign · h(W)^(2l)``.

    Attributes
    ----------
    name
        The kernel's name, also on the command line.
    radius
        Radius of convergence of ``g``: ``K`` exists for spectral radii below it.
    sign
        1, or −1 when ``α_0 < 0``: then the modulation is that of ``−K``.
    normalization
        Of the weights that the kernel is meant for: ``"rw"`` for those of the random walk.

    Examples
    --------
    >>> import grfpp
    >>> kernel: grfpp.Kernel = grfpp.PStep(2, a=2.0)            # (2 I + W)²
    >>> kernel.coefficients(3), kernel.radius
    (array([4., 4., 1.]), inf)
    >>> kernel.apply([[0, 1], [1, 0]], [1.0, 0.0])
    array([5., 4.])
    >>> grfpp.Kernel.from_dict(kernel.to_dict()) == kernel
    True

    References
    ----------
    R. I. Kondor and J. Lafferty, Diffusion kernels on graphs and other discrete input spaces, ICML
    2002.
    A. J. Smola and R. Kondor, Kernels and regularization on graphs, COLT 2003.
    """

    name: str
    radius: float
    sign: int
    normalization: ClassVar[Literal["sym", "rw"]] = "sym"
    #: Number of successive zeros beyond which all later values of the modulation are zero.
    longest_gap: float = 2
    #: ``(factor, rate)`` where the kernel is ``factor · exp(rate · W)``.
    _exponential: tuple[float, float] | None = None
    #: Advice for convergence besides scaling the graph.
    _advice: str | None = None

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
        """The kernel as JSON values, for `from_dict`."""

    @abstractmethod
    def _coefficients_here(self, n: int) -> list[Decimal]:
        """``α_0 … α_{n−1}`` in the current decimal context."""

    @abstractmethod
    def _modulation(self, order: int, n: int, digits: int) -> list[Decimal]:
        """Root of ``sign · g`` of the given order, to `digits` correct digits."""

    @abstractmethod
    def _dense(self, weights: FloatArray) -> FloatArray:
        """``g`` of a dense matrix that need not be symmetric."""

    @property
    def inverse_power_form(self) -> InversePowerForm | None:
        """The kernel as an inverse power, for linear solvers; ``None`` for other kernels."""
        return None

    def __init_subclass__(cls) -> None:
        if "name" in vars(cls):
            KERNEL_CLASSES.setdefault(cls.name, cls)

    @staticmethod
    def from_dict(values: dict[str, Any]) -> Kernel:
        """Rebuild the kernel that `to_dict` described.

        Examples
        --------
        >>> import grfpp
        >>> grfpp.Kernel.from_dict({"kernel": "p-step", "p": 4, "a": 1.5})
        PStep(p=4, a=1.5)
        """
        parameters = dict(values)
        name = parameters.pop("kernel", None)
        kernel = kernel_class(name)
        try:
            return kernel._of_parameters(**parameters)
        except TypeError:
            names = ", ".join(sorted(parameters)) or "none"
            raise InputError(f"the kernel {name!r} does not take the parameters {names}") from None

    @classmethod
    def _of_parameters(cls, **parameters: Any) -> Kernel:
        return cls(**parameters)

    def coefficients(self, n: int, *, scale: float = 1.0) -> FloatArray:
        """First `n` coefficients ``α_k``, rounded to float64.

        Parameters
        ----------
        n
            Number of coefficients, at least 1.
        scale
            Return ``α_k · scale^k``, which may be in the range of float64 where ``α_k`` is not.
        """
        return _table(self, None, whole(n, "n", 1), finite(scale, "scale"))

    def coefficients_decimal(self, n: int, digits: int = series.DIGITS) -> list[Decimal]:
        """First `n` coefficients ``α_k``, each to at least `digits` correct digits."""
        return list(_decimals(self, None, n, digits))

    def modulation(self, degree: int, n: int, *, scale: float = 1.0) -> FloatArray:
        """First `n` values ``f(k)`` of the modulation, rounded to float64.

        Their `2 · degree`-fold convolution is ``sign · α``.

        Parameters
        ----------
        degree
            The stitching degree ``l``, at least 1.
        n
            Number of values, at least 1.
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
        """First `n` values of the modulation, each to at least `digits` correct digits."""
        return list(_decimals(self, whole(degree, "degree", 1), n, digits))

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
        """Warn where a kernel of random walks gets symmetrically normalised weights."""
        if self.normalization == "rw" and graph.is_symmetrically_normalized:
            problem, advice = "W is normalised symmetrically, not for", "use normalization='rw'"
            problem += f" a kernel of random walks such as {type(self).__name__}"
            warn_user(InputWarning(problem, advice=advice, kernel=self))

    def check_radius(self, largest: float, degree: int | None = None) -> None:
        """As `check_converges`, for all graphs whose spectral radius is `largest`."""
        radius = self._radius_of(degree)
        if largest < radius * (1 - _RADIUS_MARGIN):
            return
        what = "series" if degree is None else f"modulation of degree {degree}"
        bound = f"the {what} of {self!r} converges for spectral radii below {radius:.6g}"
        problem = f"{bound}, but this graph's is {largest:.6g}"
        known: dict[str, Any] = {"radius": radius, "spectral_radius": largest}
        # Weights of the random walk are stochastic: their scale is 1 where the series allows it.
        scale = _below(radius) if self.normalization == "sym" else min(1.0, _below(radius))
        known |= {"scale": scale, "factor": _below(radius / largest)}
        known |= {"advice": self._advice, "normalization": self.normalization}
        raise DivergentSeriesError(problem, **known)

    def _radius_of(self, degree: int | None) -> float:
        return self.radius if degree is None else self.modulation_radius(degree)

    def exact(self, W: Any) -> FloatArray:
        """``g(W)`` as a dense array, to rounding.

        From eigenvalues and eigenvectors for undirected graphs; by `scipy.linalg.expm`, linear
        solves or matrix powers for directed ones, in time proportional to ``N³``. Beyond 500 nodes
        by polynomials of ``W`` in blocks of columns where that is faster, as on sparse graphs, with
        errors below 1e-12 of the largest singular value.

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
        require_bytes(16 * n * n, f"a dense kernel of {n} nodes")
        self.check_converges(graph)
        if n > _DENSE_NODES:
            try:
                kernel = self._directed(graph) if graph.is_directed else self._symmetric(graph)
            except InputError:  # near a singularity; terms that cancel, or too many of them
                kernel = None
            if kernel is not None:
                return kernel
        with np.errstate(over="ignore", invalid="ignore"):
            if graph.is_directed:
                return functions.finite(self._dense(functions.dense_weights(graph)))
            values, vectors = functions.dense_spectrum(graph, self.value)
            kernel = (vectors * values) @ vectors.T
            kernel *= 0.5  # first: the sum of two large numbers could leave the range of float64
            kernel += kernel.T
            return np.asarray(kernel)

    def _symmetric(self, graph: Graph) -> FloatArray | None:
        """The whole kernel by Chebyshev polynomials; ``None`` where dense algebra is better.

        The error of a polynomial is relative to the largest value of ``g`` on ``[−ρ, ρ]``, which
        may be far above all of ``g(λ)``, as on a complete graph for ``exp(-20 x)``.
        """
        radius = graph.spectral_radius() * (1 + chebyshev.MARGIN)
        if radius == 0:
            return None
        coefficients = chebyshev.coefficients_of(self.value, radius, 1e-15)
        if not _is_polynomial_faster(graph, len(coefficients)):
            return None
        # Rounding in the values, in the coefficients and in every product.
        rounding = 8 * np.finfo(np.float64).eps * math.sqrt(4 * len(coefficients))
        error = rounding * float(np.abs(coefficients).sum())
        end = float(np.abs(functions.finite(self.value([radius])))[0])
        product = CsrProduct(graph.adjacency)
        kernel = functions.by_columns(
            graph.n_nodes,
            lambda units: chebyshev.series_times(product, radius, coefficients, units),
            # ``g(ρ)`` and the columns are lower bounds of the norm.
            lambda first: error <= _EXACT_SHARE * max(end, np.linalg.norm(first, axis=0).max()),
        )
        if kernel is not None:
            kernel += kernel.T
            kernel *= 0.5
        return kernel

    def _directed(self, graph: Graph) -> FloatArray | None:
        """The whole kernel by its power series; ``None`` where dense algebra is better."""
        _, _, table, _ = functions.bounded_terms(graph, self._scaled, self.radius)
        if not _is_polynomial_faster(graph, len(table)):
            return None
        times = partial(self._taylor, graph, tol=_EXACT_SHARE / 10)
        return functions.by_columns(graph.n_nodes, times)

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
            Relative accuracy, from 1e-14 to 0.99; for what it is relative to see `method`.
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
        accuracy = between(tol, "tol", 1e-14, 0.99)
        methods = ["chebyshev", "taylor", *["expm_multiply"] * (self._exponential is not None)]
        one_of(method, "method", ("auto", *methods))
        if method == "auto":
            method = methods[-1] if graph.is_directed else methods[0]
        elif method == "chebyshev" and graph.is_directed:
            problem = "'chebyshev' needs an undirected graph, whose eigenvalues are real"
            raise InputError(problem, argument="method", advice="use method='auto'")
        self.check_converges(graph)
        if method == "chebyshev":
            return chebyshev.apply(graph, self.value, vectors, accuracy)
        if self._exponential is None or method == "taylor":
            return self._taylor(graph, vectors, accuracy)
        from scipy.sparse.linalg import expm_multiply

        factor, rate = self._exponential
        with np.errstate(over="ignore", invalid="ignore"):
            return factor * functions.finite(expm_multiply(graph.adjacency * rate, vectors))

    def _taylor(self, graph: Graph, vectors: FloatArray, tol: float) -> FloatArray:
        return functions.taylor_times(graph, self._scaled, self.radius, vectors, tol)

    def _scaled(self, n: int, scale: float) -> FloatArray:
        return _cached_table(self, None, n, scale)


class NamedKernel(CheckedFields, Kernel):
    """A kernel with parameters, the fields of a frozen dataclass."""

    #: The kernel in plain text, its parameters in capitals, for the help of the command line.
    formula: ClassVar[str]
    radius = math.inf
    sign = 1

    def value(self, x: npt.ArrayLike) -> FloatArray:
        """``g(x)`` for real numbers, such as the eigenvalues of an undirected graph.

        Infinite where it exceeds the range of float64, NaN where it is not real; also beyond the
        radius of convergence.
        """
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            return np.asarray(self._value(np.asarray(x, dtype=np.float64)))[()]

    @abstractmethod
    def _value(self, x: FloatArray) -> FloatArray:
        """``g(x)`` of an array."""

    def to_dict(self) -> dict[str, Any]:
        """The kernel's name and parameters, for `from_dict`."""
        return {"kernel": self.name, **asdict(self)}  # type: ignore[call-overload]

    def modulation_radius(self, degree: int) -> float:
        """Radius of convergence of the modulation: the kernel's, which has no zero within it."""
        whole(degree, "degree", 1)
        return self.radius

    @abstractmethod
    def _root_here(self, order: int, n: int) -> list[Decimal]:
        """Root of ``sign · g`` of an order from 1 on, in the current decimal context."""

    def _coefficients_here(self, n: int) -> list[Decimal]:
        return [self.sign * value for value in self._root_here(1, n)]

    def _modulation(self, order: int, n: int, digits: int) -> list[Decimal]:
        return series.stable_digits(lambda: self._root_here(order, n), digits)


class LogDerivativeKernel(NamedKernel):
    """A named kernel whose ``g'/g`` is a ratio of polynomials.

    The series of ``g`` and of all its roots are short recurrences then
    (`grfpp.series.from_log_derivative_here`).
    """

    def _constant_here(self, order: int) -> Decimal:
        """``|α_0|^(1/order)`` in the current decimal context; ``α_0 = g(0)`` is not zero."""
        return Decimal(1)

    @abstractmethod
    def _log_derivative(self) -> tuple[list[Fraction], list[Fraction]]:
        """Numerator and denominator of ``g'/g``."""

    def _root_here(self, order: int, n: int) -> list[Decimal]:
        numerator, denominator = self._log_derivative()
        # Whole coefficients, which decimals hold exactly.
        common = math.lcm(*(value.denominator for value in [*numerator, *denominator]))
        upper = [series.decimal_here(common * value) for value in numerator]
        lower = [series.decimal_here(common * value) for value in denominator]
        return series.from_log_derivative_here(self._constant_here(order), upper, lower, order, n)


def _is_polynomial_faster(graph: Graph, n_products: int) -> bool:
    """Whether `n_products` products with the identity take less time than dense algebra.

    Eigenvectors take 1.1 ns times ``n³``; a product takes 0.5 ns for each entry of the weights and
    1.1 ns for each node, times ``n`` (measured on scale-free graphs of 1,000 and 2,000 nodes).
    """
    n = graph.n_nodes
    return bool(n_products * (0.5 * graph.adjacency.nnz + n) < n * n)


def _decimals(kernel: Kernel, degree: int | None, n: int, digits: int) -> Sequence[Decimal]:
    """Terms of the kernel's series or modulation, cached since several scales need them."""
    count = whole(n, "n", 1)
    precision = whole(digits, "digits", 1, series.MAX_DIGITS)
    # Two lists of decimals, one twice as precise.
    require_bytes(count * (400 + 3 * precision), f"a table of {count} terms of a series")
    compute = _terms.__wrapped__ if count * precision > _MAX_CACHED_DIGITS else _terms
    return compute(kernel, degree, count, precision)


@lru_cache(maxsize=32)
def _terms(kernel: Kernel, degree: int | None, n: int, digits: int) -> Sequence[Decimal]:
    if degree is None:
        return series.stable_digits(lambda: kernel._coefficients_here(n), digits)
    return kernel._modulation(2 * degree, n, digits)


@lru_cache(maxsize=128)
def _cached_table(kernel: Kernel, degree: int | None, n: int, scale: float) -> FloatArray:
    """Float64 table of the kernel's series, or of its modulation when a degree is given."""
    table = series.to_float64(_decimals(kernel, degree, n, series.DIGITS), scale)
    table.flags.writeable = False
    return table


def _table(kernel: Kernel, degree: int | None, n: int, scale: float) -> FloatArray:
    """A copy of the table; `InputError` where it exceeds the range of float64."""
    try:
        return _cached_table(kernel, degree, n, scale).copy()
    except OverflowError as error:
        (k,) = error.args
        what = "coefficient" if degree is None else f"modulation of degree {degree}"
        if k == 0:
            raise series.out_of_range(f"{kernel!r}: the {what}") from None
        problem = f"{kernel!r}: the {what} exceeds the range of float64 at k={k}"
        advice = f"pass n={k} at most, or a small scale for values times scale^k"
        raise InputError(problem, advice=advice) from None


def _vectors(V: npt.ArrayLike, n_nodes: int) -> FloatArray:
    array = np.asarray(V)
    if array.dtype.kind not in "buif" or array.ndim not in (1, 2) or len(array) != n_nodes:
        required = f"real numbers of shape ({n_nodes},) or ({n_nodes}, c), a row for each node"
        problem = f"must be {required}, found {array.shape} of dtype {array.dtype}"
        raise InputError(problem, argument="V")
    require_bytes(6 * 8 * array.size, f"a product with {' x '.join(map(str, array.shape))} numbers")
    return np.ascontiguousarray(array, dtype=np.float64)


def _below(bound: float) -> float:
    """Nine tenths of a bound, rounded to two digits."""
    return float(f"{0.9 * bound:.2g}")
