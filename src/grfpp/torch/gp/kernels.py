"""gpytorch kernels on the nodes of a graph: `NodeKernel` (exact) and `GRFKernel` (walks)."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from grfpp._checks import between, listed, node_numbers, one_of, positive
from grfpp._imports import require
from grfpp.errors import InputError, shown
from grfpp.graph import as_graph
from grfpp.linalg.chebyshev import ChebyshevTerms, chebyshev_points, coefficients_of
from grfpp.nodes import NodeNames
from grfpp.torch.arguments import node_indices
from grfpp.torch.gp.operators import KernelLinearOperator, PolynomialLinearOperator
from grfpp.torch.gp.process import SOLVERS
from grfpp.torch.kernels.learnable import LearnableKernel
from grfpp.torch.kernels.modulation import DiffusionModulation, LearnableModulation
from grfpp.typing import FloatArray

gpytorch = require("gpytorch")

#: The initial parameter where none is given or searched: diffusion over about two edges.
_START = 5.0
#: Number of columns that inputs may have; the indices are int32.
_MAX_DIMS = 1 << 31
#: Tolerance of the check of the spectral radius, which is known to about nine digits.
_RADIUS_ROUNDING = 1e-6


class Family(NamedTuple):
    """Kernels ``g(L)``, ``L = I − W``, with one positive parameter; ``g`` is at most 1."""

    parameter: str
    #: Bounds of the parameter by default.
    bounds: tuple[float, float]
    #: ``log g`` of eigenvalues of ``L``, the parameter and the power.
    log_value: Callable[[Tensor, Tensor, float], Tensor]


FAMILIES = {
    "diffusion": Family("lam", (0.1, 1e4), lambda gaps, lam, _: -lam * gaps),
    "regularized-laplacian": Family(
        "sigma2",
        (0.1, 1e3),
        # Rounding can make eigenvalues of L slightly negative.
        lambda gaps, sigma2, power: -power * torch.log1p(sigma2 * gaps.clamp_min(0.0)),
    ),
}


class _KernelOnNodes(gpytorch.kernels.Kernel):  # type: ignore[misc, name-defined]  # untyped base
    """A gpytorch kernel whose inputs are nodes, in one column."""

    #: A tensor of the type and on the device of all results.
    like: Tensor

    def __init__(self, names: NodeNames, active_dims: Any = None) -> None:
        dims = None if active_dims is None else node_numbers(active_dims, _MAX_DIMS, "active_dims")
        super().__init__(active_dims=None if dims is None else torch.from_numpy(dims))
        #: The names of the nodes.
        self.names = names

    def nodes(self, nodes: Any) -> Tensor:
        """Indices of nodes, which may be given by name, as a tensor."""
        return node_indices(nodes, self.names).to(self.like.device)

    def forward(self, x1: Tensor, x2: Tensor, diag: bool = False, **params: Any) -> Any:
        """The kernel between two lists of nodes, each of shape ``(n, 1)``."""
        for x in (x1, x2):
            if x.dim() != 2 or x.shape[1] != 1:
                raise InputError(f"must have shape (n, 1), found {tuple(x.shape)}", argument="x")
        rows, columns = self.nodes(x1[:, 0]), self.nodes(x2[:, 0])
        return self._pairs(rows, columns) if diag else self.operator(rows, columns)


class NodeKernel(_KernelOnNodes):
    """``exp(−λ L)`` or ``(I + σ² L)^−power`` with ``L = I − W``, exactly; inputs are nodes.

    Without walks: entries, columns and products come from Chebyshev polynomials of ``W``, to `tol`
    of the kernel's largest value, in float64. Wrap it in ``gpytorch.kernels.ScaleKernel`` to learn
    the size too, as `NodeGP` does.

    Parameters
    ----------
    W
        The weight matrix of an undirected graph with a spectral radius of at most 1, usually
        ``graph.normalized("sym")``: a `grfpp.Graph`, or anything that it takes.
    family
        ``"diffusion"`` for ``exp(−λ L)``, ``"regularized-laplacian"`` for ``(I + σ² L)^−power``.
    power
        The exponent of the regularised Laplacian, which is not learned.
    start
        The initial parameter, λ or σ². If not given, `NodeGP.fit` searches for it; models of
        gpytorch start at 5.
    bounds
        Bounds of the parameter: 0.1 to 10,000 for λ, 0.1 to 1,000 for σ², if not given.
    how
        How `NodeGP` solves: ``"columns"``, ``"precision"``, ``"products"`` or ``"features"``;
        ``"auto"`` for the lowest predicted cost.
    tol
        Accuracy, relative to the kernel's largest value.
    n_jobs
        Number of threads; the result does not depend on it.
    active_dims
        As for `GRFKernel`.

    Examples
    --------
    >>> import grfpp, networkx as nx
    >>> W = grfpp.Graph(nx.karate_club_graph()).normalized("sym")
    >>> kernel = NodeKernel(W, start=3.0)
    >>> exact = np.exp(-3) * grfpp.Diffusion(3.0).exact(W)
    >>> K = kernel(torch.arange(34)).to_dense().detach().numpy()
    >>> bool(abs(K - exact).max() < 1e-9)
    True

    References
    ----------
    Kondor and Lafferty, "Diffusion kernels on graphs and other discrete input spaces", 2002. Smola
    and Kondor, "Kernels and regularization on graphs", 2003.
    """

    like = torch.zeros((), dtype=torch.float64)

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
        graph = as_graph(W)
        super().__init__(graph.names, active_dims)
        self.graph = graph
        if self.graph.is_directed:
            raise InputError("must be undirected", argument="W", advice="use Graph(symmetrize=...)")
        if (radius := self.graph.spectral_radius()) > 1 + _RADIUS_ROUNDING:
            problem = f"must have a spectral radius of at most 1, found {radius:.4g}"
            raise InputError(problem, argument="W", advice="use graph.normalized('sym')")
        self.family = one_of(family, "family", tuple(FAMILIES))
        self.power = positive(power, "power")
        self.how = one_of(how, "how", ("auto", *SOLVERS))
        self.bounds = _checked_bounds(FAMILIES[family].bounds if bounds is None else bounds)
        self.tol = between(tol, "tol", 1e-13, 1e-2)
        self.terms = ChebyshevTerms(self.graph, n_jobs)
        low, high = self.bounds
        value = min(max(_START, low), high) if start is None else between(start, "start", low, high)
        raw = torch.nn.Parameter(torch.zeros((), dtype=torch.float64))
        self.register_parameter("raw_log_parameter", raw)
        interval = gpytorch.constraints.Interval(math.log(low), math.log(high))
        self.register_constraint("raw_log_parameter", interval.double())
        self.set_parameter(value)

    @property
    def parameter(self) -> Tensor:
        """λ of diffusion, σ² of the regularised Laplacian."""
        return torch.exp(self.raw_log_parameter_constraint.transform(self.raw_log_parameter))

    @property
    def lam(self) -> Tensor:
        """The time λ of diffusion."""
        return self._named("lam")

    @property
    def sigma2(self) -> Tensor:
        """The regularisation σ²."""
        return self._named("sigma2")

    def _named(self, name: str) -> Tensor:
        if FAMILIES[self.family].parameter != name:
            raise AttributeError(f"a kernel of the family {self.family!r} has no {name}")
        return self.parameter

    def set_parameter(self, number: float) -> None:
        """Set the parameter, within its bounds."""
        # Not on a bound, where the raw parameter is infinite.
        low, high = (math.log(bound) for bound in self.bounds)
        inside = min(max(math.log(number), low + 1e-4), high - 1e-4)
        logarithm = torch.tensor(inside, dtype=torch.float64)
        with torch.no_grad():
            raw = self.raw_log_parameter_constraint.inverse_transform(logarithm)
            self.raw_log_parameter.copy_(raw)

    def n_terms(self, number: float | None = None, power: float = 1.0) -> int:
        """Number of terms for a parameter, by default the current one."""
        at = self.parameter.detach() if number is None else torch.tensor(number).double()

        def function(x: FloatArray) -> FloatArray:
            return np.asarray(self._values(torch.from_numpy(1 - x), at, power))

        return len(coefficients_of(function, self.terms.radius, self.tol))

    def coefficients(self, n_terms: int | None = None, power: float = 1.0) -> Tensor:
        """Coefficients of ``g^power`` in Chebyshev polynomials, with gradients."""
        return self._series(self.parameter, n_terms, power)

    def _series(self, parameter: Tensor, n_terms: int | None = None, power: float = 1.0) -> Tensor:
        count = self.n_terms(float(parameter.detach()), power) if n_terms is None else n_terms
        # Twice as many points as terms, rounded to a power of two.
        n_points = max(32, 2 << math.ceil(math.log2(count)))
        x, matrix = _points(n_points, self.terms.radius)
        return matrix[:count] @ self._values(1 - x, parameter.double(), power)

    def _values(self, gaps: Tensor, parameter: Tensor, power: float) -> Tensor:
        return torch.exp(power * FAMILIES[self.family].log_value(gaps, parameter, self.power))

    def operator(self, rows: Tensor, columns: Tensor) -> Any:
        """The kernel between two lists of node indices as a linear operator."""
        return self._polynomial(self.coefficients(), rows, columns)

    def _pairs(self, rows: Tensor, columns: Tensor) -> Tensor:
        return self._polynomial(self.coefficients(), rows, columns).diagonal()

    def _polynomial(self, coefficients: Tensor, rows: Tensor, columns: Tensor) -> Any:
        nodes = {"rows": rows.numpy(), "columns": columns.numpy()}
        return PolynomialLinearOperator(coefficients, terms=self.terms, **nodes)

    def prior_draws(self, gaussians: Tensor) -> Tensor:
        """Draws of the process at all nodes, from one Gaussian number per node."""
        nodes = torch.arange(self.graph.n_nodes)
        root = self._polynomial(self.coefficients(power=0.5), nodes, nodes)
        return root._matmul(gaussians)


@lru_cache(maxsize=8)
def _points(n: int, radius: float) -> tuple[Tensor, Tensor]:
    """Chebyshev points, and the matrix from values there to coefficients."""
    x, matrix = chebyshev_points(n, radius)
    return torch.from_numpy(x), torch.from_numpy(matrix)


class GRFKernel(_KernelOnNodes):
    """A learnable graph kernel for Gaussian processes, from walks; inputs are nodes.

    ``K = X Xᵀ`` with the stitched walk features ``X``: positive semidefinite whatever the
    modulation, with a cost linear in the number of nodes. See `grfpp.torch.LearnableKernel` for its
    small bias. Wrap it in ``gpytorch.kernels.ScaleKernel`` to learn the size too.

    Parameters
    ----------
    W
        The weight matrix of an undirected graph, usually normalised.
    modulation
        The modulation, with the stitching degree and the initial parameters;
        ``DiffusionModulation(16, degree=4, laplacian=True)`` if not given, that is ``exp(−λ L)``.
    n_walks, n_exact, **options
        As for `grfpp.torch.LearnableKernel`, which is symmetric here: `walks`, `dtype`, `seed`, …
        40 pooled walks leave errors within 0.2 % of an exact process (`docs/torch.md`).
    active_dims
        The column of the inputs that holds the nodes, for products and sums with other gpytorch
        kernels on other columns. Batches of kernels (``batch_shape``) are not supported.

    Examples
    --------
    >>> import grfpp, networkx as nx, torch
    >>> W = grfpp.Graph(nx.karate_club_graph()).normalized("sym")
    >>> kernel = GRFKernel(W, seed=0)
    >>> kernel(torch.tensor([0, 3, 7])).shape
    torch.Size([3, 3])

    References
    ----------
    Reid et al., "General graph random features", 2024.
    Choromanski et al., "Computationally-efficient graph modeling with refined graph random
    features", 2026, eqs. (3) and (4).
    """

    def __init__(
        self,
        W: Any,
        modulation: LearnableModulation | None = None,
        *,
        n_walks: int = 40,
        n_exact: int = 0,
        active_dims: tuple[int, ...] | None = None,
        **options: Any,
    ) -> None:
        if modulation is None:
            modulation = DiffusionModulation(16, degree=4, laplacian=True)
        options |= {"n_walks": n_walks, "n_exact": n_exact}
        graph_kernel = LearnableKernel(W, modulation, symmetric=True, **options)
        super().__init__(graph_kernel.names, active_dims)
        self.graph_kernel = graph_kernel

    @classmethod
    def of(cls, graph_kernel: LearnableKernel) -> GRFKernel:
        """The kernel of an existing `LearnableKernel`, which must be symmetric."""
        if not graph_kernel.symmetric:
            raise InputError("must be made with symmetric=True", argument="kernel")
        kernel = cls.__new__(cls)
        _KernelOnNodes.__init__(kernel, graph_kernel.names)
        kernel.graph_kernel = graph_kernel
        return kernel

    @property
    def modulation(self) -> LearnableModulation:
        """The modulation, whose parameters are learned."""
        return self.graph_kernel.modulation

    @property
    def like(self) -> Tensor:
        """A tensor of the type and on the device of all results."""
        return self.graph_kernel.factors[0].amounts

    def operator(self, rows: Tensor, columns: Tensor) -> KernelLinearOperator:
        """The kernel between two lists of node indices as a linear operator."""
        chain, values = self.graph_kernel.chain.select(self.graph_kernel.values(), rows, columns)
        return KernelLinearOperator(*values, chain=chain)

    def prior_draws(self, gaussians: Tensor) -> Tensor:
        """Draws of the process at all nodes, from one Gaussian number per node."""
        return self.graph_kernel.chain.halves()[0].matmat(self.graph_kernel.values(), gaussians)

    def _pairs(self, rows: Tensor, columns: Tensor) -> Tensor:
        return self.graph_kernel.entries(rows, columns)


def _checked_bounds(bounds: Any) -> tuple[float, float]:
    numbers = [positive(bound, "bounds") for bound in listed(bounds, "bounds")]
    if len(numbers) != 2 or numbers[0] >= numbers[1]:
        raise InputError(f"must be two rising numbers, found {shown(bounds)}", argument="bounds")
    return numbers[0], numbers[1]
