"""A gpytorch kernel on nodes without randomness: exact columns, exact products."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from grfpp.arguments import listed, one_of, positive, whole
from grfpp.errors import InputError, shown
from grfpp.graph import as_graph
from grfpp.imports.optional import require
from grfpp.linalg.functions.chebyshev_terms import ChebyshevTerms
from grfpp.torch.arguments import node_numbers
from grfpp.torch.gp.families import family_of
from grfpp.torch.gp.inputs import node_column
from grfpp.torch.gp.node_block import NodeBlock
from grfpp.torch.gp.polynomial import PolynomialLinearOperator
from grfpp.torch.gp.solve_plan import WAYS
from grfpp.torch.gp.spectral import FamilyPolynomials, KernelSpan

gpytorch = require("gpytorch")

#: Where training begins unless it is told, or searched for.
_START = 5.0
#: The terms between observed nodes are made for parameters up to this, and then to four times it.
_REACH, _FURTHER = 32.0, 4.0
#: The spectral radius is known to about nine digits.
_ROUNDING = 1e-6
#: Columns of inputs.
_MOST_DIMS = 1 << 31


class NodeKernel(gpytorch.kernels.Kernel):  # type: ignore[misc, name-defined]  # untyped base
    """``exp(−λ L)`` or ``(I + σ² L)^−power`` with ``L = I − W``, exactly; inputs are nodes.

    Without walks: entries, columns and products come from Chebyshev polynomials of ``W``, to `tol`
    of the kernel's largest value, in float64. The polynomials between observed nodes are made once
    and serve every λ. Wrap it in ``gpytorch.kernels.ScaleKernel`` to learn the size too, as
    `NodeGP` does.

    Parameters
    ----------
    W
        The weight matrix of an undirected graph with a spectral radius of at most 1, usually
        ``graph.normalized("sym")``: a `grfpp.Graph`, or anything that it takes.
    family
        ``"diffusion"`` for ``exp(−λ L)``, ``"regularized-laplacian"`` for ``(I + σ² L)^−power``.
    power
        The exponent of the latter, which is not learned.
    start
        The parameter, λ or σ², to begin with. If not given, `NodeGP.fit` searches for it; all else
        begins at 5.
    bounds
        Where the parameter may be: 0.1 to 10,000 for λ, 0.1 to 1,000 for σ², if not given.
    how
        How `NodeGP` solves: ``"columns"``, ``"products"`` or ``"features"``, see
        `grfpp.torch.gp.solve_plan.SolvePlan`; ``"auto"`` for what is predicted to be cheapest.
    tol
        Accuracy, relative to the kernel's largest value.
    n_jobs
        Threads; they change no bit of the result.
    active_dims
        As for `GRFKernel`.

    Examples
    --------
    >>> import grfpp, networkx as nx
    >>> W = grfpp.Graph(nx.karate_club_graph()).normalized("sym")
    >>> kernel = NodeKernel(W, start=3.0)
    >>> exact = np.exp(-3) * grfpp.Diffusion(3.0).exact(W)
    >>> found = kernel(torch.arange(34)).to_dense().detach().numpy()
    >>> bool(abs(found - exact).max() < 1e-9)
    True
    """

    #: Tells it apart where gpytorch need not be installed.
    is_exact = True

    def __init__(
        self,
        W: Any,
        family: str = "diffusion",
        *,
        power: float = 1.0,
        start: float | None = None,
        bounds: tuple[float, float] | None = None,
        how: str = "auto",
        tol: float = 1e-10,
        n_jobs: int = -1,
        active_dims: tuple[int, ...] | None = None,
    ) -> None:
        super().__init__(active_dims=_dims(active_dims))
        graph = as_graph(W)
        if graph.is_directed:
            raise InputError(
                "W must be undirected, found a directed graph, whose kernel is not symmetric; "
                "make it with grfpp.Graph(source, symmetrize='mean')"
            )
        if graph.spectral_radius() > 1 + _ROUNDING:
            raise InputError(
                f"W must have a spectral radius of at most 1, found {graph.spectral_radius():.4g}: "
                "use graph.normalized('sym')"
            )
        self.family = family_of(family, power)
        self.how = one_of(how, "how", ("auto", *WAYS))
        self.bounds = _bounds(self.family.bounds if bounds is None else bounds)
        accuracy = positive(tol, "tol")
        if not 1e-13 <= accuracy <= 1e-2:
            raise InputError(f"tol must be from 1e-13 to 0.01, found {shown(tol)}")
        self.graph, self.names = graph, graph.names
        self.terms = ChebyshevTerms(graph, n_jobs)
        self.polynomials = FamilyPolynomials(self.family, self.terms.radius, accuracy)
        self.is_searched = start is None
        begin = min(max(_START, self.bounds[0]), self.bounds[1]) if start is None else start
        if not self.bounds[0] <= positive(begin, "start") <= self.bounds[1]:
            raise InputError(
                f"start must lie within the bounds {self.bounds[0]:g} to {self.bounds[1]:g}, "
                f"found {shown(start)}"
            )
        raw = torch.nn.Parameter(torch.zeros((), dtype=torch.float64))
        self.register_parameter("raw_log_parameter", raw)
        logs = (math.log(each) for each in self.bounds)
        self.register_constraint("raw_log_parameter", gpytorch.constraints.Interval(*logs).double())
        self.set_parameter(begin)
        self._span: KernelSpan | None = None

    @property
    def parameter(self) -> torch.Tensor:
        """λ of diffusion, σ² of the regularised Laplacian."""
        logarithm = self.raw_log_parameter_constraint.transform(self.raw_log_parameter)
        return torch.exp(logarithm)

    @property
    def lam(self) -> torch.Tensor:
        """The time λ of diffusion."""
        return self._named("lam")

    @property
    def sigma2(self) -> torch.Tensor:
        """The regularisation σ²."""
        return self._named("sigma2")

    def _named(self, name: str) -> torch.Tensor:
        if self.family.parameter != name:
            raise AttributeError(f"the parameter of {self.family} is {self.family.parameter}")
        return self.parameter

    def set_parameter(self, number: float) -> None:
        """Put the parameter somewhere within its bounds."""
        # Not on a bound, where the raw number is infinite.
        low, high = (math.log(each) for each in self.bounds)
        inside = min(max(math.log(number), low + 1e-4), high - 1e-4)
        constraint = self.raw_log_parameter_constraint
        with torch.no_grad():
            logarithm = torch.tensor(inside, dtype=torch.float64)
            self.raw_log_parameter.copy_(constraint.inverse_transform(logarithm))

    @property
    def n_terms(self) -> int:
        """Terms for parameters as far as they are tried in any case."""
        low, high = self.bounds
        return self.polynomials.n_terms(min(max(_REACH, 2 * low), high))

    def coefficients(self, power: float = 1.0) -> torch.Tensor:
        """Coefficients of the kernel, or of a power of it, in Chebyshev polynomials."""
        return self.polynomials.coefficients(self.parameter, power=power)

    def prepare(self, nodes: Any) -> None:
        """Make what every kernel between these nodes comes from, at any parameter."""
        self._span = self._span_to(self.nodes(nodes).numpy(), _REACH)

    def _span_to(self, nodes: Any, reach: float) -> KernelSpan:
        low, high = self.bounds
        top = min(max(reach, 2 * low), high)
        while float(self.parameter.detach()) > top * (1 + 1e-9) and top < high:
            top = min(_FURTHER * top, high)
        return KernelSpan.of(self.terms, self.polynomials, nodes, (low, top))

    def forward(
        self,
        x1: torch.Tensor,
        x2: torch.Tensor,
        diag: bool = False,
        last_dim_is_batch: bool = False,
        **params: Any,
    ) -> Any:
        """The kernel between two lists of nodes, each of shape ``(n, 1)``."""
        rows, columns = (self.nodes(node_column(x)).numpy() for x in (x1, x2))
        if diag:
            return self._pairs(rows, columns)
        span = self._span
        if span is not None and all(np.array_equal(each, span.nodes) for each in (rows, columns)):
            if float(self.parameter.detach()) > span.reach * (1 + 1e-9):
                span = self._span = self._span_to(span.nodes, _FURTHER * span.reach)
            numbers = self.polynomials.coefficients(self.parameter, span.n_terms)
            return span.kernel(numbers)
        block = NodeBlock(self.terms, rows, columns)
        return PolynomialLinearOperator(self.coefficients(), block=block)

    def _pairs(self, rows: Any, columns: Any) -> torch.Tensor:
        if np.array_equal(rows, columns):
            numbers = self.coefficients()
            every = self.terms.diagonals(np.eye(len(numbers)), rows)
            return numbers @ torch.from_numpy(every)
        chosen, place = np.unique(columns, return_inverse=True)
        block = NodeBlock(self.terms, rows, chosen)
        dense = PolynomialLinearOperator(self.coefficients(), block=block).to_dense()
        return dense[torch.arange(len(rows)), torch.from_numpy(place)]

    def nodes(self, nodes: Any) -> torch.Tensor:
        """Numbers of nodes, given so or by name, as a tensor of whole numbers, checked."""
        return node_numbers(nodes, self.names)


def _dims(active_dims: Any) -> tuple[int, ...] | None:
    if active_dims is None:
        return None
    return tuple(
        whole(each, "active_dims", 0, _MOST_DIMS) for each in listed(active_dims, "active_dims")
    )


def _bounds(bounds: Any) -> tuple[float, float]:
    try:
        low, high = (positive(each, "bounds") for each in bounds)
    except (TypeError, ValueError):
        raise InputError(f"bounds must be two positive numbers, found {shown(bounds)}") from None
    if low >= high:
        raise InputError(f"bounds must be a smaller and a larger number, found {shown(bounds)}")
    return low, high
