"""What is to be multiplied, and what is known of it before."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.kernels import Kernel
from grfpp.linalg.functions import chebyshev
from grfpp.linalg.functions.expansion import Expansion
from grfpp.linalg.norms import frobenius
from grfpp.planner.locality import scattering
from grfpp.planner.weights import Weights
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
    #: Steps that Lanczos' method took, once it has run.
    krylov_steps: int | None = field(default=None, init=False)
    #: The error of a product by walks that was too large.
    walks_fail: float | None = field(default=None, init=False)

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
        """The share of entries of ``W`` that lead elsewhere in memory."""
        return scattering(self.graph)

    @cached_property
    def weights(self) -> Weights:
        """``W`` for products."""
        return Weights(self.graph, self.n_jobs)

    @cached_property
    def radius(self) -> float:
        """No eigenvalue is larger in absolute value; positive also where there are no edges."""
        found = self.graph.spectral_radius() * (1 + chebyshev.MARGIN)
        return found or 0.5 * min(1.0, self.kernel.radius)

    @cached_property
    def expansion(self) -> Expansion | str:
        """The kernel's Chebyshev series on the interval of the spectrum, or why there is none."""
        if self.graph.is_directed:
            return "the graph is directed: eigenvalues are not real"
        try:
            return Expansion.of(self.kernel.value, self.radius)
        except InputError as error:
            return error.problem

    def scaled_value(self, x: FloatArray) -> FloatArray:
        """The kernel in units of its largest value on the interval of the spectrum."""
        found = self.expansion
        if isinstance(found, str):
            raise InputError(found)
        with np.errstate(over="ignore"):
            return np.asarray(self.kernel.value(x) / found.peak)

    @cached_property
    def bulk(self) -> float:
        """Where most eigenvalues would end, were edges drawn at random: on meshes they do not."""
        spread = frobenius(self.graph.weights) / max(self.n_nodes, 1) ** 0.5
        return min(2 * spread, self.radius) or self.radius

    @cached_property
    def share(self) -> float:
        """About what ``‖K V‖`` is, in units of ``peak · ‖V‖``, for columns without preference.

        The mean square of the eigenvalues is known; they are taken to lie as those of a random
        matrix do, but for one at the end of the interval.
        """
        if isinstance(self.expansion, str):
            return 1.0
        angles = (np.arange(32) + 0.5) * (np.pi / 32)
        places = self.bulk * np.cos(angles)
        squares = self.scaled_value(places) ** 2
        inside = float(np.average(squares, weights=np.sin(angles) ** 2))
        end = float(self.scaled_value(np.array([self.radius]))[0] ** 2)
        return float(np.sqrt(inside + end / self.n_nodes))

    @cached_property
    def n_terms(self) -> int:
        """Terms of the Chebyshev series that reach the tolerance, as far as can be told."""
        if isinstance(self.expansion, str):
            return 0
        return self.expansion.n_terms(0.8 * self.tol * min(1.0, self.share))

    @cached_property
    def hoped_steps(self) -> int:
        """Steps of Lanczos' method if all eigenvalues but a few lie within `bulk`."""
        whole = self.expansion
        if isinstance(whole, str) or self.bulk > 0.95 * self.radius:
            return self.n_terms
        try:
            part = Expansion.of(self.kernel.value, self.bulk)
        except InputError:
            return self.n_terms
        wanted = self.tol * self.share * whole.peak / part.peak
        return min(self.n_terms, 3 + part.n_terms(min(wanted, 0.5)))
