"""A kernel whose modulation is learned: walked for once, differentiable ever after."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from grfpp.arguments import truth, whole
from grfpp.errors import DivergentSeriesError, InputError, TruncationError, shown, warn_user
from grfpp.graph import Graph, as_graph
from grfpp.memory import require_bytes
from grfpp.options import OF_ESTIMATES, WalkOptions
from grfpp.torch.arguments import node_numbers
from grfpp.torch.kernels.chain import FactorChain, Link
from grfpp.torch.kernels.entries import chain_entries
from grfpp.torch.kernels.length_factor import LengthFactor
from grfpp.torch.kernels.modulation import LearnableModulation
from grfpp.torch.kernels.pattern import no_autocast
from grfpp.walks import WalkPlan
from grfpp.walks.by_length import sample_by_length
from grfpp.walks.by_length.deposits import require_deposits
from grfpp.walks.by_length.exact_head import with_exact_head
from grfpp.walks.by_length.planning import plan_by_length

#: Share of a family's series that may be left out unsaid.
_NEGLIGIBLE = 1e-3
#: Number types that torch has all sparse products for.
_DTYPES = (torch.float32, torch.float64)
#: Options that a learned modulation, which has a degree, leaves nothing to choose about.
_UNUSED = (*OF_ESTIMATES, "degree", "truncate", "on_infinite_variance", "full_walks")


class LearnableKernel(nn.Module):  # type: ignore[misc]  # untyped base
    """``K(f) = Φ₁(f) … Φₗ(f) · (Φ'₁(f) … Φ'ₗ(f))ᵀ``, differentiable in the modulation ``f``.

    Walks are taken once, when the module is made, and kept apart by their length. Every value of
    ``f`` then gives the estimate that these walks make of its kernel, without walking again.

    Parameters
    ----------
    W
        The weight matrix: a `grfpp.Graph` (usually normalised), or anything that `Graph` takes.
    modulation
        The modulation with its parameters, its number of lengths and its stitching degree.
    n_walks
        Walks from every node for every factor.
    n_exact
        How many lengths are computed and not walked for: the ``Φ_k`` below are ``W^k`` itself, and
        the later ones begin where these end. The noise of independent walks falls, and the factors
        have more entries, about as many as by ``mean degree ** n_exact`` times the walks. Pools
        need none: their first steps are exact where the budget allows.
    symmetric
        Use the same factors on both sides: ``K = X Xᵀ``, symmetric and positive semidefinite, as
        Gaussian processes want it, from half the walks. It is biased upwards by the variance of
        the features: at degree 1 on the diagonal only, because walks from different nodes are
        independent. `docs/torch.md` measures it: at degree 4 and ``λ = 12``, 0.01 % of the diagonal
        of a grid (independent walks: 4.24 %). Independent sides (the default) are unbiased and
        neither symmetric nor positive.
    dtype
        Of the numbers, ``torch.float32`` or ``torch.float64``; torch's default if not given. Under
        ``torch.autocast`` the kernel keeps it.
    **walks
        `walks`, `termination`, `seed`, `n_jobs`, …: see `grfpp.WalkOptions`. Walks end at the
        modulation's last length at the latest. With ``Matched(mean)``, the default of pools, step
        ``k`` gets its share of the budget in proportion to ``0.01^(k / n_lengths) / k``: some for
        every length that training may come to need, most for the short ones. Any other law should
        give every length that matters its share. The seed is to be found in the attribute `seed`.

    Raises
    ------
    grfpp.DivergentSeriesError
        The modulation's series diverges at the graph's spectral radius.

    Warns
    -----
    RuntimeWarning
        Once, where the modulation as it is now would need more lengths than it has.

    Examples
    --------
    >>> import grfpp, networkx as nx
    >>> from grfpp.torch import DiffusionModulation, LearnableKernel
    >>> W = grfpp.Graph(nx.karate_club_graph()).normalized("sym")
    >>> K = LearnableKernel(W, DiffusionModulation(12, lam=0.7), n_walks=400, seed=0)
    >>> exact = torch.as_tensor(grfpp.Diffusion(0.7).exact(W), dtype=torch.float32)
    >>> bool(torch.linalg.norm(K.rows(range(34)) - exact) < 0.05 * torch.linalg.norm(exact))
    True
    >>> K(torch.ones(34, 1)).sum().backward()
    >>> K.modulation.raw.grad > 0                    # a longer time, a larger kernel
    tensor(True)
    """

    def __init__(
        self,
        W: Any,
        modulation: LearnableModulation,
        *,
        n_walks: int = 64,
        n_exact: int = 0,
        symmetric: bool = False,
        dtype: torch.dtype | None = None,
        **walks: Any,
    ) -> None:
        super().__init__()
        graph = as_graph(W)
        if not isinstance(modulation, LearnableModulation):
            raise InputError(
                "modulation must be a LearnableModulation such as DiffusionModulation(12), "
                f"not {shown(modulation)}"
            )
        asked = WalkOptions.of(without=_UNUSED, n_walks=n_walks, **walks)
        options = asked.changed(degree=modulation.degree)
        self.symmetric = truth(symmetric, "symmetric")
        if self.symmetric and graph.is_directed:
            raise InputError(
                "symmetric=True needs an undirected graph: a directed graph's kernel is not "
                "symmetric"
            )
        kind = _checked(torch.get_default_dtype() if dtype is None else dtype)
        self.names = graph.names
        self.spectral_radius = graph.spectral_radius()
        if self.spectral_radius >= modulation.radius_of_convergence:
            raise DivergentSeriesError(
                f"the series of {type(modulation).__name__} converges, with the parameters it "
                f"begins with, for spectral radii below {modulation.radius_of_convergence:.6g}, "
                f"but this graph's is {self.spectral_radius:.6g}; use graph.normalized('sym'), or "
                "begin with a smaller parameter"
            )
        self.modulation = modulation
        self.n_walks, self.seed = options.n_walks, options.seed
        self.n_exact = whole(n_exact, "n_exact", 0)
        if self.n_exact >= modulation.n_lengths:
            raise InputError(
                f"n_exact must be below the modulation's {modulation.n_lengths} lengths, "
                f"found {n_exact}"
            )
        self._said_neglected = False
        forward = self._plan(graph, options)
        back = self._plan(graph.reversed(), options) if graph.is_directed else forward
        # The walks of every factor are those of `grfpp.sample_submatrix` with the same seed.
        numbers = range(0, 2 * self.degree, 2)
        left = [forward.with_factor(number) for number in numbers]
        right = [] if self.symmetric else [back.with_factor(number + 1) for number in numbers]
        self.factors = nn.ModuleList()
        # Sorted by length beside what was walked, and kept in much the same size.
        require_deposits(forward, len(left + right) + 2)
        for plan in left + right:
            walked = sample_by_length(plan, n_jobs=options.n_jobs)
            deposits = with_exact_head(walked, plan.graph, self.n_exact, n_jobs=options.n_jobs)
            self.factors.append(LengthFactor(deposits, kind))
        links = tuple(Link(factor.pattern, i) for i, factor in enumerate(self.factors))
        X, Y = (FactorChain(part) for part in (links[: self.degree], links[-self.degree :]))
        self.chain = FactorChain(X.links + Y.T.links)

    def _plan(self, graph: Graph, options: WalkOptions) -> WalkPlan:
        n_lengths = self.modulation.n_lengths - self.n_exact
        plan = plan_by_length(graph, n_lengths, options)
        reached = plan.lengths.max_length
        if reached < n_lengths - 1:
            raise TruncationError(
                f"walks of {options.termination!r} end after {reached} steps, but the modulation "
                f"asks for {n_lengths - 1}: take a longer law or "
                f"n_lengths={reached + 1 + self.n_exact}"
            )
        return plan

    def extra_repr(self) -> str:
        """What the module is, for its ``repr``."""
        return (
            f"n_nodes={self.n_nodes}, degree={self.degree}, n_walks={self.n_walks}, "
            f"seed={self.seed}, n_exact={self.n_exact}, symmetric={self.symmetric}"
        )

    @property
    def n_nodes(self) -> int:
        """Number of rows and of columns."""
        return self.chain.shape[0]

    @property
    def degree(self) -> int:
        """The stitching degree."""
        return self.modulation.degree

    def values(self) -> list[torch.Tensor]:
        """The values of every factor for the modulation as it is now."""
        like = self.factors[0].amounts
        _checked(like.dtype)  # .half() comes after the beginning
        self._warn_if_cut()
        with no_autocast(like.device):
            f = self.modulation()
            return [factor.values(f) for factor in self.factors]

    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        """``K(f) @ vectors``, for one vector or a matrix of them."""
        given = self._block(vectors, "vectors")
        product = self.chain.matmat(self.values(), given[:, None] if given.dim() == 1 else given)
        return product[:, 0] if given.dim() == 1 else product

    def features(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Sparse (COO) tensors ``X, Y`` with ``K = X Yᵀ``; equal where the kernel is symmetric.

        Beyond degree 1 these are products of sparse matrices, and much fuller than those.
        """
        left, right = self.chain.halves()
        values = self.values()
        X = left.rows(values)
        return X, X if self.symmetric else right.rows(values)

    def project(self, projection: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Dense features ``X G, Y G`` for a matrix ``G`` with a row for every node.

        With ``G Gᵀ`` of mean identity (Gaussian numbers over the root of their number of columns)
        the product of the two is an estimate of ``K``.
        """
        G = self._block(projection, "projection")
        if G.dim() == 1:
            raise InputError(
                "projection must be a matrix, found a vector; take projection[:, None]"
            )
        left, right = self.chain.halves()
        values = self.values()
        X = left.matmat(values, G)
        return X, X if self.symmetric else right.matmat(values, G)

    def rows(self, nodes: Any) -> torch.Tensor:
        """Rows of ``K``, dense."""
        chosen = self.nodes(nodes)
        size = self.factors[0].amounts.element_size()
        require_bytes(3 * size * len(chosen) * self.n_nodes, f"{len(chosen)} dense rows")
        chain, values = self.chain.select(self.values(), chosen, None)
        units = torch.eye(len(chosen), dtype=values[0].dtype, device=values[0].device)
        return chain.T.matmat(values, units).T

    def entries(self, rows: Any, columns: Any) -> torch.Tensor:
        """The numbers ``K[rows[p], columns[p]]``."""
        left, right = self.nodes(rows), self.nodes(columns)
        if left.shape != right.shape:
            raise InputError(f"{len(left)} rows and {len(right)} columns do not make pairs")
        return chain_entries(self.chain, self.values(), left, right)

    def diagonal(self) -> torch.Tensor:
        """The diagonal of ``K``."""
        every = torch.arange(self.n_nodes, device=self.factors[0].amounts.device)
        return chain_entries(self.chain, self.values(), every, every)

    def nodes(self, nodes: Any) -> torch.Tensor:
        """Numbers of nodes, given so or by name, as a tensor of whole numbers, checked."""
        return node_numbers(nodes, self.names).to(self.factors[0].amounts.device)

    def _block(self, vectors: Any, name: str) -> torch.Tensor:
        """A vector or matrix that the kernel can be multiplied with, checked."""
        dtype = self.factors[0].amounts.dtype
        if not isinstance(vectors, torch.Tensor):
            raise InputError(f"{name} must be a torch tensor, found {type(vectors).__name__}")
        if vectors.dim() not in (1, 2) or len(vectors) != self.n_nodes:
            raise InputError(
                f"{name} must have {self.n_nodes} rows, found a tensor of shape "
                f"{tuple(vectors.shape)}"
            )
        if torch.promote_types(vectors.dtype, dtype) != dtype:
            raise InputError(
                f"{name} must fit the kernel's number type {dtype}, found {vectors.dtype}: "
                f"convert them with .to({dtype}), or make the kernel with another dtype"
            )
        return vectors.to(dtype)

    def _warn_if_cut(self) -> None:
        """Say once when training has led to where the lengths do not suffice."""
        if self._said_neglected:
            return
        share = self.modulation.neglected(self.spectral_radius)
        if share > _NEGLIGIBLE:
            self._said_neglected = True
            warn_user(
                f"the modulation's {self.modulation.n_lengths} lengths leave out {share:.2g} of "
                f"its series at this graph's spectral radius {self.spectral_radius:.4g}: its "
                "parameter is no longer that of the kernel by that name; make it with more "
                "n_lengths or a higher degree"
            )


def _checked(dtype: Any) -> torch.dtype:
    if dtype not in _DTYPES:
        raise InputError(f"dtype must be torch.float32 or torch.float64, found {shown(dtype)}")
    return dtype
