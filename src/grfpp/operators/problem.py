"""`Problem`, the product to compute; `CostEstimate` of each method; the chosen `Plan`."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from grfpp._memory import readable_bytes
from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.kernels import Kernel
from grfpp.linalg.chebyshev import MARGIN, Expansion
from grfpp.linalg.csr import CsrProduct, frobenius
from grfpp.operators.costs import scattering
from grfpp.typing import FloatArray


@dataclass(eq=False)
class Problem:
    """``K = g(W)``, to be multiplied to a relative error of `tol`.

    Examples
    --------
    >>> import grfpp, networkx as nx
    >>> W = grfpp.Graph(nx.karate_club_graph()).normalized("sym")
    >>> problem = Problem(W, grfpp.Diffusion(20.0), 1e-3)
    >>> problem.n_terms
    18
    """

    graph: Graph
    kernel: Kernel
    tol: float
    n_jobs: int = -1
    seed: int | None = None
    #: Steps of Lanczos' method in its last product, if any.
    lanczos_steps: int | None = field(default=None, init=False)
    #: Relative error of a product by walks that missed the tolerance, if any.
    walk_error: float | None = field(default=None, init=False)

    @property
    def n_nodes(self) -> int:
        """Rows of the matrix."""
        return self.graph.n_nodes

    @property
    def n_entries(self) -> int:
        """Entries of ``W`` that are not zero."""
        return len(self.graph.indices)

    @cached_property
    def scattered(self) -> float:
        """The share of entries of ``W`` that lead to another page of memory."""
        return scattering(self.graph)

    @cached_property
    def weights(self) -> CsrProduct:
        """``W`` for products."""
        return CsrProduct(self.graph.adjacency, self.n_jobs)

    @cached_property
    def radius(self) -> float:
        """A bound of the spectral radius, positive also for graphs without edges."""
        radius = self.graph.spectral_radius() * (1 + MARGIN)
        return radius or 0.5 * min(1.0, self.kernel.radius)

    @cached_property
    def expansion(self) -> Expansion | str:
        """The kernel's Chebyshev series on the interval of the spectrum, or why there is none."""
        if self.graph.is_directed:
            return "the graph is directed: eigenvalues are not real"
        try:
            return Expansion.of(self.kernel.value, self.radius)
        except InputError as error:
            return error.problem

    def require_expansion(self) -> Expansion:
        """The Chebyshev series; `InputError` where there is none."""
        if isinstance(self.expansion, str):
            raise InputError(self.expansion)
        return self.expansion

    def scaled_value(self, x: FloatArray) -> FloatArray:
        """The kernel in units of its largest value on the interval of the spectrum."""
        peak = self.require_expansion().peak
        with np.errstate(over="ignore"):
            return np.asarray(self.kernel.value(x) / peak)

    @cached_property
    def bulk(self) -> float:
        """The radius of most eigenvalues of a random graph (Wigner's semicircle law)."""
        spread = frobenius(self.graph.weights) / max(self.n_nodes, 1) ** 0.5
        return min(2 * spread, self.radius) or self.radius

    @cached_property
    def typical_norm(self) -> float:
        """Predicted ``‖K V‖`` in units of ``peak · ‖V‖`` for random columns.

        The eigenvalues, whose mean square is known, are assumed to follow the semicircle law, but
        for one at the end of the interval.
        """
        if isinstance(self.expansion, str):
            return 1.0
        angles = (np.arange(32) + 0.5) * (np.pi / 32)
        squares = self.scaled_value(self.bulk * np.cos(angles)) ** 2
        inside = float(np.average(squares, weights=np.sin(angles) ** 2))
        end = float(self.scaled_value(np.array([self.radius]))[0] ** 2)
        return float(np.sqrt(inside + end / self.n_nodes))

    @cached_property
    def n_terms(self) -> int:
        """Predicted terms of the Chebyshev series that reach the tolerance."""
        if isinstance(self.expansion, str):
            return 0
        return self.expansion.n_terms(0.8 * self.tol * min(1.0, self.typical_norm))

    @cached_property
    def optimistic_steps(self) -> int:
        """Steps of Lanczos' method if all eigenvalues but a few lie within `bulk`."""
        whole = self.expansion
        if isinstance(whole, str) or self.bulk > 0.95 * self.radius:
            return self.n_terms
        try:
            part = Expansion.of(self.kernel.value, self.bulk)
        except InputError:
            return self.n_terms
        share = self.tol * self.typical_norm * whole.peak / part.peak
        return min(self.n_terms, 3 + part.n_terms(min(share, 0.5)))


@dataclass(frozen=True)
class CostEstimate:
    """Predicted cost of one method, or why it is ineligible.

    Examples
    --------
    >>> CostEstimate("dense", setup=0.5, product=0.01).seconds(n_products=10)
    0.6
    """

    method: str
    #: Seconds of what all products share.
    setup: float = 0.0
    #: Seconds of each product.
    product: float = 0.0
    #: Memory of the method.
    n_bytes: float = 0.0
    #: How it works here, in words.
    note: str = ""
    #: Why the method cannot be used; ``None`` where it can.
    ineligible_reason: str | None = None

    def seconds(self, n_products: float = 1.0) -> float:
        """Predicted time of `n_products` products."""
        return self.setup + n_products * self.product


@dataclass(frozen=True)
class Plan:
    """The chosen method, the predicted costs of all methods, and the reason of the choice.

    Examples
    --------
    >>> fast = CostEstimate("chebyshev", product=0.002, n_bytes=1e6, note="9 products with W")
    >>> other = CostEstimate("solve", ineligible_reason="not an inverse power")
    >>> print(Plan("Diffusion(lam=1.0)", 34, 156, 1e-3, 16, "chebyshev", (fast, other),
    ...            "the fastest"))
    Diffusion(lam=1.0) of 34 nodes, 156 entries, 16 columns to 0.001: chebyshev, the fastest
      method        seconds    memory
    * chebyshev       0.002      1 MB  9 products with W
      solve               -         -  not an inverse power
    """

    kernel: str
    n_nodes: int
    n_entries: int
    tol: float
    #: Columns of each product.
    n_columns: int
    #: The method that was chosen.
    method: str
    estimates: tuple[CostEstimate, ...]
    #: Why this one.
    reason: str
    #: Number of products that were planned for.
    n_products: float = 1.0

    def __getitem__(self, method: str) -> CostEstimate:
        return next(estimate for estimate in self.estimates if estimate.method == method)

    def __str__(self) -> str:
        lines = [
            f"{self.kernel} of {self.n_nodes:,} nodes, {self.n_entries:,} entries, "
            f"{self.n_columns:,} column{'s' * (self.n_columns > 1)} to {self.tol:g}: "
            f"{self.method}, {self.reason}",
            f"  {'method':<12}{'seconds':>9}{'memory':>10}",
        ]
        for estimate in self.estimates:
            seconds, memory, note = "-", "-", estimate.ineligible_reason
            if note is None:
                seconds = f"{estimate.seconds(self.n_products):.2g}"
                memory, note = readable_bytes(int(estimate.n_bytes)), estimate.note
            mark = "*" if estimate.method == self.method else " "
            lines.append(f"{mark} {estimate.method:<12}{seconds:>9}{memory:>10}  {note}")
        return "\n".join(lines)

    __repr__ = __str__
