"""`LearnableKernel`: walks are sampled once, and every modulation is differentiable.

`LengthFactor` is one factor as a function of its modulation.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from grfpp._checks import instance_of, one_of, truth, whole
from grfpp._memory import require_bytes
from grfpp.errors import (
    DivergentSeriesError,
    InputError,
    InputWarning,
    TruncationError,
    shown,
    warn_user,
)
from grfpp.graph import Graph, as_graph
from grfpp.options import OF_ESTIMATES, WalkOptions
from grfpp.torch.arguments import node_indices
from grfpp.torch.kernels.chain import FactorChain, Link, SparsePattern, chain_entries, no_autocast
from grfpp.torch.kernels.modulation import LearnableModulation
from grfpp.walks import WalkPlan
from grfpp.walks.by_length import (
    LengthDeposits,
    plan_by_length,
    require_deposits,
    sample_by_length,
    with_exact_head,
)

#: Share of a family's series that may be cut off without a warning.
_MAX_NEGLECTED_SHARE = 1e-3
#: Number types that torch has all sparse products for.
_DTYPES = (torch.float32, torch.float64)
#: Walk options that a learned modulation, which has a degree, decides by itself.
_UNUSED_OPTIONS = (*OF_ESTIMATES, "degree", "truncate", "on_infinite_variance", "full_walks")


class LearnableKernel(nn.Module):  # type: ignore[misc]  # untyped base
    """``K(f) = Φ₁(f) … Φₗ(f) · (Φ'₁(f) … Φ'ₗ(f))ᵀ``, differentiable in the modulation ``f``.

    Walks are sampled once, in the constructor, and their deposits are stored by length. For every
    ``f`` the same walks then estimate its kernel.

    Parameters
    ----------
    W
        The weight matrix: a `grfpp.Graph` (usually normalised), or anything that `Graph` takes.
    modulation
        The modulation with its parameters, its number of lengths and its stitching degree.
    n_walks
        Walks from every node for every factor.
    n_exact
        Number of lengths that are computed exactly: ``Φ_k = W^k`` below, and walks continue from
        there. It reduces the noise of independent walks and makes the factors denser, about as
        much as ``mean degree ** n_exact`` times the walks. Pooled walks need none: their first
        steps are exact where the budget allows.
    symmetric
        Use the same factors on both sides: ``K = X Xᵀ``, symmetric and positive semidefinite, as
        Gaussian processes need it, from half the walks. It is biased upwards by the variance of
        the features: at degree 1 on the diagonal only, because walks from different nodes are
        independent. `docs/torch.md` measures it: at degree 4 and ``λ = 12``, 0.01 % of the diagonal
        of a grid (independent walks: 4.24 %). Independent sides (the default) are unbiased and
        neither symmetric nor positive semidefinite.
    dtype
        ``torch.float32`` or ``torch.float64``; torch's default if not given. Under
        ``torch.autocast`` the kernel keeps it.
    **walks
        `walks`, `termination`, `seed`, `n_jobs`, …: see `grfpp.WalkOptions`. Walks end at the
        modulation's last length at the latest. With ``Matched(mean)``, the default of pooled walks,
        the budget of step ``k`` is proportional to ``0.01^(k / n_lengths) / k``: some for every
        length that training may come to need, most for the short ones. Any other law should reach
        every length that matters. The attribute `seed` holds the seed that was used.

    Attributes
    ----------
    modulation, factors, chain
        The modulation, the `LengthFactor` of every factor, and the order in which they multiply.
    seed, n_walks, n_exact, symmetric, names, spectral_radius
        The options as they were used, and the graph's node names and spectral radius.

    Raises
    ------
    grfpp.DivergentSeriesError
        The modulation's series diverges at the graph's spectral radius.

    Warns
    -----
    RuntimeWarning
        Once, when the series of the current modulation needs more lengths than it has.

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

    References
    ----------
    Choromanski et al., "Computationally-efficient graph modeling with refined graph random
    features", 2026, eqs. (3) and (4). Reid et al., "General graph random features", 2024, learns
    modulations.
    """

    number: Tensor

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
        instance_of(modulation, "modulation", LearnableModulation)
        options = WalkOptions.of(without=_UNUSED_OPTIONS, n_walks=n_walks, **walks)
        options = options.changed(degree=modulation.degree)
        self.symmetric = truth(symmetric, "symmetric")
        if self.symmetric and graph.is_directed:
            raise InputError("=True needs an undirected graph", argument="symmetric")
        dtype = one_of(torch.get_default_dtype() if dtype is None else dtype, "dtype", _DTYPES)
        self.names = graph.names
        self.spectral_radius = graph.spectral_radius()
        if self.spectral_radius >= modulation.radius_of_convergence:
            problem = f"{type(modulation).__name__} converges for spectral radii below "
            problem += f"{modulation.radius_of_convergence:.6g}, found {self.spectral_radius:.6g}"
            advice = "use graph.normalized('sym') or a smaller parameter"
            raise DivergentSeriesError(problem, advice=advice)
        self.modulation = modulation
        self.n_walks, self.seed = options.n_walks, options.seed
        self.n_exact = whole(n_exact, "n_exact", 0, modulation.n_lengths - 1)
        self._warned_of_neglected = False
        forward = self._plan(graph, options)
        back = self._plan(graph.reversed(), options) if graph.is_directed else forward
        # The same walks as those of `grfpp.sample_submatrix` with the same seed.
        numbers = range(0, 2 * self.degree, 2)
        left = [forward.with_factor(number) for number in numbers]
        right = [] if self.symmetric else [back.with_factor(number + 1) for number in numbers]
        self.factors = nn.ModuleList()
        # Two more, since the deposits of the current factor are sorted by length.
        require_deposits(forward, len(left + right) + 2)
        for plan in left + right:
            deposits = sample_by_length(plan, n_jobs=options.n_jobs)
            deposits = with_exact_head(deposits, plan.graph, self.n_exact, n_jobs=options.n_jobs)
            self.factors.append(LengthFactor(deposits, dtype))
        links = tuple(Link(factor.pattern, i) for i, factor in enumerate(self.factors))
        right_half = FactorChain(links[-self.degree :]).T
        self.chain = FactorChain(links[: self.degree] + right_half.links)
        self._register()

    def _register(self) -> None:
        number = next(_NUMBERS)
        # A tensor is an input of compiled code, which then serves every kernel of these shapes.
        self.register_buffer("number", torch.tensor(number), persistent=False)
        _KERNELS[number] = self

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._register()  # a copy is a kernel of its own

    def _plan(self, graph: Graph, options: WalkOptions) -> WalkPlan:
        n_lengths = self.modulation.n_lengths - self.n_exact
        plan = plan_by_length(graph, n_lengths, options)
        longest = plan.lengths.max_length
        if longest < n_lengths - 1:
            problem = f"walks of {options.termination!r} end after {longest} steps, but the "
            problem += f"modulation has values up to {n_lengths - 1}"
            advice = f"use longer walks or n_lengths={longest + 1 + self.n_exact}"
            raise TruncationError(problem, advice=advice)
        return plan

    def extra_repr(self) -> str:
        """Sizes and options, for the ``repr`` of the module."""
        names = ("n_nodes", "degree", "n_walks", "seed", "n_exact", "symmetric")
        return ", ".join(f"{name}={getattr(self, name)}" for name in names)

    @property
    def n_nodes(self) -> int:
        """Number of rows and of columns."""
        return self.chain.shape[0]

    @property
    def degree(self) -> int:
        """The stitching degree."""
        return self.modulation.degree

    def values(self) -> list[Tensor]:
        """The values of every factor at the current modulation."""
        self._warn_if_truncated()
        with no_autocast(self.factors[0].amounts.device):
            f = self.modulation()
            return [factor.values(f) for factor in self.factors]

    def forward(self, vectors: Tensor) -> Tensor:
        """``K(f) @ vectors``: a vector, a matrix, or a batch of shape ``(…, n_nodes, c)``.

        ``torch.compile`` sees one operator, also with ``fullgraph=True``.
        """
        block = self._block(vectors, "vectors")
        axis = max(-2, -block.dim())
        rows = block.movedim(axis, 0)
        columns = rows.reshape(self.n_nodes, rows.shape[1:].numel())
        if torch.compiler.is_compiling():
            with no_autocast(block.device):
                f = self.modulation().to(block.dtype)
            product = _compiled_product(f, columns, self.number)
        else:
            product = self.chain.matmat(self.values(), columns)
        return product.reshape(rows.shape).movedim(0, axis)

    def features(self) -> tuple[Tensor, Tensor]:
        """Sparse (COO) tensors ``X, Y`` with ``K = X Yᵀ``; equal where the kernel is symmetric.

        Beyond degree 1 these are products of sparse matrices, and much denser than those.
        """
        return self._sides(FactorChain.to_coo)

    def project(self, projection: Tensor) -> tuple[Tensor, Tensor]:
        """Dense features ``X G, Y G`` for a matrix ``G`` with a row for every node.

        With ``G Gᵀ`` of mean identity (Gaussian numbers over the root of their number of columns)
        the product of the two is an estimate of ``K``.
        """
        return self._sides(FactorChain.matmat, self._block(projection, "projection", most=2))

    def _sides(self, product: Callable[..., Tensor], *dense: Tensor) -> tuple[Tensor, Tensor]:
        """Products of both halves of the chain, which are the same where it is symmetric."""
        (left, right), values = self.chain.halves(), self.values()
        X = product(left, values, *dense)
        return X, X if self.symmetric else product(right, values, *dense)

    def rows(self, nodes: Any) -> Tensor:
        """Rows of ``K``, dense."""
        chosen = self.nodes(nodes)
        size = self.factors[0].amounts.element_size()
        require_bytes(3 * size * len(chosen) * self.n_nodes, f"{len(chosen)} dense rows")
        return FactorChain.to_dense(*self.chain.take_rows(self.values(), chosen))

    def entries(self, rows: Any, columns: Any) -> Tensor:
        """The entries ``K[rows[p], columns[p]]``."""
        left, right = self.nodes(rows), self.nodes(columns)
        if left.shape != right.shape:
            raise InputError(f"{len(left)} rows and {len(right)} columns do not make pairs")
        return chain_entries(self.chain, self.values(), left, right)

    def diagonal(self) -> Tensor:
        """The diagonal of ``K``."""
        nodes = torch.arange(self.n_nodes, device=self.factors[0].amounts.device)
        return chain_entries(self.chain, self.values(), nodes, nodes)

    def nodes(self, nodes: Any) -> Tensor:
        """Indices of nodes, which may be given by name, as a tensor."""
        return node_indices(nodes, self.names).to(self.factors[0].amounts.device)

    def _block(self, vectors: Any, name: str, most: float = np.inf) -> Tensor:
        """Check a vector, matrix or batch, of `most` dimensions, to multiply the kernel with."""
        dtype = self.factors[0].amounts.dtype
        block: Tensor = instance_of(vectors, name, Tensor)
        fits = torch.promote_types(block.dtype, dtype) == dtype
        n_rows = block.shape[max(-2, -block.dim())] if 0 < block.dim() <= most else -1
        if not fits or n_rows != self.n_nodes:
            problem = f"must have {self.n_nodes} rows of a type that fits {dtype}"
            problem += f", found {block.dtype} of shape {tuple(block.shape)}"
            raise InputError(problem, argument=name)
        return block.to(dtype)

    def _warn_if_truncated(self) -> None:
        if self._warned_of_neglected:
            return
        share = self.modulation.neglected(self.spectral_radius)
        if share > _MAX_NEGLECTED_SHARE:
            self._warned_of_neglected = True
            details: dict[str, Any] = {
                "neglected_share": share,
                "spectral_radius": self.spectral_radius,
            }
            details["n_lengths"] = self.modulation.n_lengths
            problem = "the modulation has too few lengths for its parameter"
            advice = "use more n_lengths or a higher degree"
            warn_user(InputWarning(problem, advice=advice, **details))


#: Kernels by number: operators for compilers take nothing but tensors.
_KERNELS: WeakValueDictionary[int, LearnableKernel] = WeakValueDictionary()
_NUMBERS = count()


@torch.library.custom_op("grfpp::learnable_product", mutates_args=())  # type: ignore[untyped-decorator]
def _compiled_product(f: Tensor, columns: Tensor, number: Tensor) -> Tensor:
    """``K(f) @ columns``, as one operator that compilers do not look into."""
    kernel = _KERNELS[int(number)]
    kernel._warn_if_truncated()
    with torch.no_grad():
        values = [factor.values(f) for factor in kernel.factors]
        return kernel.chain.matmat(values, columns).contiguous()


@torch.library.custom_op("grfpp::learnable_gradients", mutates_args=())  # type: ignore[untyped-decorator]
def _compiled_gradients(
    grad: Tensor, f: Tensor, columns: Tensor, number: Tensor
) -> tuple[Tensor, Tensor]:
    """Gradients of ``K(f) @ columns`` in ``f`` and in the columns."""
    kernel = _KERNELS[int(number)]
    with torch.enable_grad():
        inputs = [each.detach().requires_grad_() for each in (f, columns)]
        values = [factor.values(inputs[0]) for factor in kernel.factors]
        product = kernel.chain.matmat(values, inputs[1])
    of_f, of_columns = torch.autograd.grad(product, inputs, grad)
    return of_f, of_columns.contiguous()


def _backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None]:
    return (*_compiled_gradients(grad, *ctx.saved_tensors), None)


def _setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs)


_compiled_product.register_fake(lambda f, columns, number: columns.new_empty(columns.shape))
_compiled_gradients.register_fake(
    lambda grad, f, columns, number: (f.new_empty(f.shape), columns.new_empty(columns.shape))
)
_compiled_product.register_autograd(_backward, setup_context=_setup_context)


class LengthFactor(nn.Module):  # type: ignore[misc]  # untyped base
    """The factor ``Φ(f) = Σ_k f(k) Φ_k``, where the ``Φ_k`` share one pattern.

    All tensors are buffers that move with ``.to(device)`` and are not saved: the same seed gives
    them again.

    Parameters
    ----------
    deposits
        The matrices ``Φ_k``, from `grfpp.walks.by_length.sample_by_length`.
    dtype
        Of the values; torch's default if not given.

    Examples
    --------
    >>> import grfpp, numpy as np
    >>> from grfpp.walks import WalkPlan
    >>> from grfpp.walks.by_length import sample_by_length
    >>> W = grfpp.Graph([[0, 1], [1, 0]]).normalized("sym")
    >>> plan = WalkPlan.of(W, np.ones(3), grfpp.FixedLength(2), n_walks=5, seed=0)
    >>> factor = LengthFactor(sample_by_length(plan))
    >>> factor.values(torch.tensor([1.0, 0.5, 0.125]))   # of (0, 0), (0, 1), (1, 1), (1, 0)
    tensor([1.1250, 0.5000, 1.1250, 0.5000])
    """

    amounts: Tensor

    def __init__(self, deposits: LengthDeposits, dtype: torch.dtype | None = None) -> None:
        super().__init__()
        n_entries, n_deposits = len(deposits.columns), len(deposits.amounts)
        if n_deposits > np.iinfo(np.int32).max:
            problem = f"{n_deposits} deposits are too many for one factor"
            raise InputError(problem, advice="use fewer walks")
        self.n_lengths = deposits.n_lengths
        self.pattern = _pattern(deposits.indptr, deposits.columns, deposits.n_nodes)
        # One row per length; in each the deposits in the order of the entries they belong to.
        order = np.argsort(deposits.lengths, kind="stable")
        indices = np.arange(n_entries, dtype=np.int32)
        entries = np.repeat(indices, np.diff(deposits.ends, prepend=0))[order]
        self.counts = np.bincount(deposits.lengths, minlength=self.n_lengths).tolist()
        self.by_length = _pattern(np.cumsum([0, *self.counts]), entries, n_entries)
        amounts = torch.from_numpy(deposits.amounts[order]).to(dtype or torch.get_default_dtype())
        self.register_buffer("amounts", amounts, persistent=False)

    @property
    def n_nodes(self) -> int:
        """Number of rows and of columns."""
        return self.pattern.shape[0]

    def values(self, modulation: Tensor) -> Tensor:
        """The values of ``Φ(f)`` at the positions of `pattern`.

        Parameters
        ----------
        modulation
            ``f(0) … f(n_lengths - 1)``.
        """
        if not isinstance(modulation, Tensor) or modulation.shape != (self.n_lengths,):
            problem = f"must be a tensor of {self.n_lengths} numbers, found {shown(modulation)}"
            raise InputError(problem, argument="modulation")
        return _Combine.apply(modulation.to(self.amounts.dtype), self, False)

    def forward(self, modulation: Tensor) -> Tensor:
        """``Φ(f)`` as a sparse CSR tensor."""
        return self.pattern.matrix(self.values(modulation))


class _Combine(torch.autograd.Function):  # type: ignore[misc]  # untyped base
    """``Σ_k f(k) Φ_k``, a linear map of ``f``, or its transpose."""

    @staticmethod
    def forward(ctx: Any, vector: Tensor, factor: LengthFactor, transposed: bool) -> Tensor:
        ctx.factor, ctx.transposed = factor, transposed
        pattern, amounts, counts = factor.by_length, factor.amounts, factor.counts
        if transposed:
            return pattern.multiply(amounts, vector)
        values = vector.new_zeros(pattern.shape[1])
        # Faster than a sparse product, since memory is read in order.
        parts = zip(pattern.columns.split(counts), amounts.split(counts), strict=True)
        for f, (entries, deposits) in zip(vector.tolist(), parts, strict=True):
            values.index_add_(0, entries, deposits, alpha=f)
        return values

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        return _Combine.apply(grad, ctx.factor, not ctx.transposed), None, None


def _pattern(indptr: npt.NDArray[Any], columns: npt.NDArray[Any], n: int) -> SparsePattern:
    return SparsePattern(torch.from_numpy(indptr.astype(np.int32)), torch.from_numpy(columns), n)
