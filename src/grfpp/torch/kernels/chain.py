"""Products of sparse matrices, differentiable in their values.

`SparsePattern` holds the positions of one matrix, `FactorChain` those of a product; the values come
with every call. `chain_entries` evaluates single entries of a chain, a block of pairs at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn

from grfpp.estimate.chain import Chain
from grfpp.estimate.factor import StoredFactor
from grfpp.linalg.tensors import csr_tensor

Values = Sequence[Tensor]

#: Row selections that a pattern caches: training and test nodes, with some to spare.
_CACHED_SELECTIONS = 4
#: Rows that are computed first to measure the density of all.
_N_PILOT_ROWS = 8
#: Rows denser than this multiply faster as dense matrices.
_MIN_DENSITY_FOR_DENSE_ROWS = 1 / 20
#: Pairs whose rows are held at a time.
_MIN_PAIRS, _MAX_PAIRS = 16, 256
#: Numbers in a block of dense rows, which then stays in a core's cache.
_MAX_BLOCK_SIZE = 400_000


class SparsePattern(nn.Module):  # type: ignore[misc]  # untyped base
    """The positions of a sparse matrix, by rows and by columns.

    Several matrices can share one pattern. All methods can be differentiated any number of times.
    """

    #: Where each row begins and ends.
    crow: Tensor
    #: The column of every entry, row by row.
    columns: Tensor

    def __init__(self, crow: Tensor, columns: Tensor, n_columns: int) -> None:
        super().__init__()
        self.shape = (len(crow) - 1, n_columns)
        self.register_buffer("crow", crow, persistent=False)
        self.register_buffer("columns", columns, persistent=False)
        self._selections: list[tuple[Tensor, SparsePattern, Tensor]] = []
        self._by_columns: tuple[Tensor, ...] = ()

    @classmethod
    def of(cls, matrix: Tensor) -> SparsePattern:
        """The positions of a sparse CSR tensor."""
        return cls(matrix.crow_indices(), matrix.col_indices(), matrix.shape[1])

    def multiply(self, values: Tensor, dense: Tensor, transposed: bool = False) -> Tensor:
        """``A @ dense`` or ``A.T @ dense``, where ``A`` has these values."""
        product: Tensor = _Multiply.apply(values, dense, self, transposed)
        return product

    def sample(self, left: Tensor, right: Tensor) -> Tensor:
        """``left @ right.T`` at the positions of the pattern only."""
        sampled: Tensor = _Sample.apply(left, right, self)
        return sampled

    def positions(self) -> Tensor:
        """Row and column of every entry."""
        rows = torch.arange(self.shape[0], device=self.crow.device)
        rows = torch.repeat_interleave(rows, self.crow.diff())
        return torch.stack([rows, self.columns.long()])

    def take_rows(self, nodes: Tensor) -> tuple[SparsePattern, Tensor]:
        """The pattern of selected rows, and the indices of its entries in this one.

        The last few selections are cached: training asks for the same rows in every step.
        """
        for known, pattern, entries in self._selections:
            if known.device == nodes.device and torch.equal(known, nodes):
                return pattern, entries
        counts = self.crow.diff()[nodes]
        crow = torch.zeros(len(nodes) + 1, dtype=self.crow.dtype, device=counts.device)
        crow[1:] = torch.cumsum(counts, 0)
        entries = torch.arange(int(crow[-1]), device=counts.device)
        entries += torch.repeat_interleave(self.crow[nodes] - crow[:-1], counts)
        pattern = SparsePattern(crow, self.columns[entries], self.shape[1])
        kept = self._selections[1 - _CACHED_SELECTIONS :]
        self._selections = [*kept, (nodes.clone(), pattern, entries)]
        return pattern, entries

    def matrix(self, values: Tensor, transposed: bool = False) -> Tensor:
        """``A`` or its transpose as a sparse CSR tensor."""
        if not transposed:
            return csr_tensor(self.crow, self.columns, values, self.shape)
        if not self._by_columns or self._by_columns[0].device != values.device:
            # By scipy, once: several times faster than to sort.
            order = torch.arange(len(self.columns), dtype=self.columns.dtype)
            arrays = (part.cpu().numpy() for part in (order, self.columns, self.crow))
            matrix = sp.csr_array(tuple(arrays), shape=self.shape).tocsc()
            parts = (matrix.indptr, matrix.indices, matrix.data)
            self._by_columns = tuple(torch.from_numpy(part).to(self.columns) for part in parts)
        crow, rows, order = self._by_columns
        return csr_tensor(crow, rows, values.index_select(0, order), self.shape[::-1])


class Link(NamedTuple):
    """One matrix of a chain: its positions, the index of its values, whether it is transposed."""

    pattern: SparsePattern
    value: int
    transposed: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        rows, columns = self.pattern.shape
        return (columns, rows) if self.transposed else (rows, columns)

    @property
    def T(self) -> Link:
        """The transpose."""
        return self._replace(transposed=not self.transposed)

    def matmat(self, values: Values, dense: Tensor) -> Tensor:
        """``link @ dense``."""
        return self.pattern.multiply(values[self.value], dense, self.transposed)

    def to_csr(self, values: Values) -> Tensor:
        """The matrix as a sparse CSR tensor."""
        return self.pattern.matrix(values[self.value], self.transposed)

    def to_coo(self, values: Values, nodes: Tensor | None = None) -> Tensor:
        """The matrix as a sparse COO tensor, or selected rows of one that is not transposed."""
        pattern, entries = self._rows(values, nodes)
        positions = pattern.positions()
        matrix = torch.sparse_coo_tensor(positions, entries, pattern.shape, check_invariants=False)
        return matrix.t() if self.transposed else matrix

    def to_dense(self, values: Values, nodes: Tensor | None = None) -> Tensor:
        """As `to_coo`, dense; differentiable any number of times, which COO tensors are not."""
        pattern, entries = self._rows(values, nodes)
        rows, columns = pattern.positions()
        matrix = entries.new_zeros(pattern.shape).index_put((rows, columns), entries)
        return matrix.T if self.transposed else matrix

    def _rows(self, values: Values, nodes: Tensor | None) -> tuple[SparsePattern, Tensor]:
        if nodes is None:
            return self.pattern, values[self.value]
        pattern, entries = self.pattern.take_rows(nodes)
        return pattern, values[self.value][entries]


@dataclass(frozen=True)
class FactorChain:
    """``L_1 L_2 … L_2l``: the positions of the matrices; their values come with every call.

    As `grfpp.estimate.chain.Chain`, for tensors with gradients. A palindrome, ``X Xᵀ`` with ``X``
    the first half, is symmetric and positive semidefinite. Rows are taken of chains whose first
    link is not transposed, columns of those whose last one is.
    """

    links: tuple[Link, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.links[0].shape[0], self.links[-1].shape[1]

    @property
    def is_symmetric(self) -> bool:
        """Whether the chain is a palindrome."""
        return self == self.T

    @property
    def T(self) -> FactorChain:
        """The transpose."""
        return FactorChain(tuple(link.T for link in reversed(self.links)))

    def halves(self) -> tuple[FactorChain, FactorChain]:
        """Chains ``X`` and ``Y`` with ``self = X Yᵀ``."""
        middle = len(self.links) // 2
        return FactorChain(self.links[:middle]), FactorChain(self.links[middle:]).T

    def matmat(self, values: Values, dense: Tensor) -> Tensor:
        """The chain times a dense matrix."""
        for link in reversed(self.links):
            dense = link.matmat(values, dense)
        return dense

    def matrices(self, values: Values) -> list[Tensor]:
        """The links as sparse CSR tensors, for many products without gradients."""
        return [link.to_csr(values) for link in self.links]

    def rows(self, values: Values, nodes: Tensor | None = None) -> Tensor:
        """Rows of the product as a sparse COO tensor; by default all."""
        first, *others = self.links
        product = first.to_coo(values, nodes)
        with no_autocast(product.device):
            for link in others:
                product = torch.sparse.mm(product, link.to_coo(values))
        return product.coalesce()

    def to_dense(self, values: Values, nodes: Tensor | None = None) -> Tensor:
        """The product, or selected rows of it, as a dense matrix."""
        first, *others = self.links
        product = first.to_dense(values, nodes).T
        for link in others:
            product = link.T.matmat(values, product)
        return product.T

    def to_numpy(self, values: Values) -> Chain:
        """The same product of scipy's matrices, which is computed on all cores."""
        factors = []
        for matrix in self.matrices([entries.detach().double().cpu() for entries in values]):
            parts = (matrix.values(), matrix.col_indices(), matrix.crow_indices())
            arrays = tuple(part.cpu().numpy() for part in parts)
            factors.append(StoredFactor(sp.csr_array(arrays, shape=tuple(matrix.shape))))
        return Chain.by_rows(factors)

    def select(
        self, values: Values, rows: Tensor | None, columns: Tensor | None
    ) -> tuple[FactorChain, list[Tensor]]:
        """The chain of selected rows and columns (``None``: all of them), and its values."""
        first, *inner, last = self.links
        chosen = list(values)
        same = rows is columns or (
            rows is not None and columns is not None and torch.equal(rows, columns)
        )
        first = _with_rows(first, chosen, rows)
        last = first.T if self.is_symmetric and same else _with_rows(last.T, chosen, columns).T
        links = (first, *inner, last)
        used = sorted({link.value for link in links})
        renumbered = tuple(link._replace(value=used.index(link.value)) for link in links)
        return FactorChain(renumbered), [chosen[value] for value in used]


def _with_rows(link: Link, values: list[Tensor], rows: Tensor | None) -> Link:
    """The link with selected rows, whose values are appended to the list."""
    if rows is None:
        return link
    pattern, entries = link.pattern.take_rows(rows)
    values.append(values[link.value][entries])
    return Link(pattern, len(values) - 1, link.transposed)


def product_of(matrices: Sequence[Tensor], dense: Tensor) -> Tensor:
    """The product of sparse matrices and a dense one, from the right."""
    with no_autocast(dense.device):
        for matrix in reversed(matrices):
            dense = matrix @ dense
    return dense


def no_autocast(device: torch.device) -> AbstractContextManager[Any]:
    """Switch automatic mixed precision off: sparse products have no lower precision."""
    if device.type == "meta":
        return nullcontext()
    off: AbstractContextManager[Any] = torch.autocast(device.type, enabled=False)
    return off


class _Multiply(torch.autograd.Function):  # type: ignore[misc]  # untyped base
    """A sparse matrix or its transpose times a dense one."""

    @staticmethod
    def forward(
        ctx: Any, values: Tensor, dense: Tensor, pattern: SparsePattern, transposed: bool
    ) -> Tensor:
        # Only the gradient of the values needs the dense block; masks have none.
        ctx.save_for_backward(values, dense if values.requires_grad else None)
        ctx.pattern, ctx.transposed = pattern, transposed
        with no_autocast(dense.device):
            return pattern.matrix(values, transposed) @ dense

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        values, dense = ctx.saved_tensors
        pattern, transposed = ctx.pattern, ctx.transposed
        grad_values = grad_dense = None
        if ctx.needs_input_grad[0]:
            grad_values = pattern.sample(*((dense, grad) if transposed else (grad, dense)))
        if ctx.needs_input_grad[1]:
            grad_dense = pattern.multiply(values, grad, not transposed)
        return grad_values, grad_dense, None, None


class _Sample(torch.autograd.Function):  # type: ignore[misc]  # untyped base
    """The product of two dense matrices at the positions of a pattern."""

    @staticmethod
    def forward(ctx: Any, left: Tensor, right: Tensor, pattern: SparsePattern) -> Tensor:
        ctx.save_for_backward(left, right)
        ctx.pattern = pattern
        zeros = pattern.matrix(left.new_zeros(len(pattern.columns)))
        with no_autocast(left.device):
            sampled = torch.sparse.sampled_addmm(
                zeros, left.contiguous(), right.T.contiguous(), beta=0.0
            )
        result: Tensor = sampled.values()
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        left, right = ctx.saved_tensors
        grad_left = grad_right = None
        if ctx.needs_input_grad[0]:
            grad_left = ctx.pattern.multiply(grad, right)
        if ctx.needs_input_grad[1]:
            grad_right = ctx.pattern.multiply(grad, left, True)
        return grad_left, grad_right, None


def chain_entries(chain: FactorChain, values: Values, rows: Tensor, columns: Tensor) -> Tensor:
    """The entries of the chain at ``(rows[p], columns[p])``."""
    if len(rows) == 0:
        return values[0].new_zeros(0)
    entries: Tensor = _Entries.apply(chain, rows, columns, *values)
    return entries


class _Entries(torch.autograd.Function):  # type: ignore[misc]  # untyped base
    """Entries of a chain; the backward pass computes their rows again instead of keeping them."""

    @staticmethod
    def forward(
        ctx: Any, chain: FactorChain, rows: Tensor, columns: Tensor, *values: Tensor
    ) -> Tensor:
        left, right = (half.to_numpy(values) for half in chain.halves())
        pilots = left.rows(rows[:: 1 + len(rows) // _N_PILOT_ROWS].cpu().numpy())
        ctx.dense = pilots.nnz > _MIN_DENSITY_FOR_DENSE_ROWS * np.prod(pilots.shape)
        ctx.chain, ctx.rows, ctx.columns = chain, rows, columns
        ctx.save_for_backward(*values)

        def block(i: Tensor, j: Tensor) -> Tensor:
            if ctx.dense:
                return _block_entries(chain, values, True, i, j)
            X, Y = left.rows(i.cpu().numpy()), right.rows(j.cpu().numpy())
            return torch.from_numpy(X.multiply(Y).sum(axis=1)).to(values[0])

        return torch.cat([block(i, j) for i, j in _blocks(ctx)])

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        values, twice = ctx.saved_tensors, torch.is_grad_enabled()
        needed = ctx.needs_input_grad[3:]
        if not twice:
            values = [v.detach().requires_grad_(n) for v, n in zip(values, needed, strict=True)]
        inputs = [v for v, n in zip(values, needed, strict=True) if n]
        sums = [torch.zeros_like(v) for v in inputs]
        options = {"create_graph": twice, "allow_unused": True, "materialize_grads": True}
        with torch.enable_grad():
            for i, j, weights in _blocks(ctx, grad):
                entries = _block_entries(ctx.chain, values, ctx.dense, i, j)
                gradients = torch.autograd.grad(entries, inputs, weights, **options)
                sums = [total + part for total, part in zip(sums, gradients, strict=True)]
        totals = iter(sums)
        return None, None, None, *(next(totals) if n else None for n in needed)


def _blocks(ctx: Any, *others: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """Rows, columns and what belongs to them, of some pairs at a time."""
    size = _MAX_PAIRS
    if ctx.dense:
        size = min(size, max(_MIN_PAIRS, _MAX_BLOCK_SIZE // ctx.chain.links[0].shape[1]))
    parts = (part.split(size) for part in (ctx.rows, ctx.columns, *others))
    return zip(*parts, strict=True)


def _block_entries(
    chain: FactorChain, values: Values, dense: bool, rows: Tensor, columns: Tensor
) -> Tensor:
    left, right = chain.halves()
    make = FactorChain.to_dense if dense else FactorChain.rows
    X = make(left, values, rows)
    Y = X if left == right and torch.equal(rows, columns) else make(right, values, columns)
    if dense:
        return (X * Y).sum(1)
    total: Tensor = torch.sparse.sum(X * Y, dim=1).to_dense()
    return total
