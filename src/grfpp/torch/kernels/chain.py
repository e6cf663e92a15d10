"""Products of sparse matrices, differentiable in their values.

`SparsePattern` holds the positions of one matrix, `FactorChain` those of a product; the values come
with every call. `chain_entries` evaluates single entries of a chain, a block of pairs at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from grfpp.estimate.chain import Chain
from grfpp.estimate.factor import StoredFactor
from grfpp.linalg.tensors import csr_tensor

Values = Sequence[Tensor]

#: Row selections that a pattern caches: training and test nodes, with some to spare.
_CACHED_SELECTIONS = 4
#: Smallest number of pairs in a block, which share the overhead of torch.
_MIN_PAIRS = 16
#: Largest number of pairs in a block, which bounds its memory.
_MAX_PAIRS = 256
#: Numbers in a block of dense rows, so that it fits into the cache of a core.
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
        return _Multiply.apply(values, dense, self, transposed)

    def sample(self, left: Tensor, right: Tensor) -> Tensor:
        """``left @ right.T`` at the positions of the pattern only."""
        return _Sample.apply(left, right, self)

    def positions(self) -> Tensor:
        """Row and column of every entry."""
        return torch.stack([torch.repeat_interleave(self.crow.diff()), self.columns.long()])

    def take_rows(self, nodes: Tensor) -> tuple[SparsePattern, Tensor]:
        """The pattern of selected rows, and the indices of its entries in this one.

        The last few selections are cached: training asks for the same rows in every step.
        """
        for known, pattern, entries in self._selections:
            if known.device == nodes.device and torch.equal(known, nodes):
                return pattern, entries
        counts = self.crow.diff()[nodes]
        crow = nn.functional.pad(counts.cumsum(0, dtype=self.crow.dtype), (1, 0))
        entries = torch.arange(int(crow[-1]), device=counts.device)
        entries += torch.repeat_interleave(self.crow[nodes] - crow[:-1], counts)
        pattern = SparsePattern(crow, self.columns[entries], self.shape[1])
        latest = self._selections[1 - _CACHED_SELECTIONS :]
        self._selections = [*latest, (nodes.clone(), pattern, entries)]
        return pattern, entries

    def matrix(self, values: Tensor, transposed: bool = False) -> Tensor:
        """``A`` or its transpose as a sparse CSR tensor."""
        if not transposed:
            return csr_tensor(self.crow, self.columns, values, self.shape)
        if not self._by_columns or self._by_columns[0].device != values.device:
            # By scipy, once: several times faster than sorting.
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

    def to_coo(self, values: Values) -> Tensor:
        """The matrix as a sparse COO tensor."""
        positions, shape = self.pattern.positions(), self.pattern.shape
        entries = values[self.value]
        matrix = torch.sparse_coo_tensor(positions, entries, shape, check_invariants=False)
        return matrix.t() if self.transposed else matrix

    def to_dense(self, values: Values) -> Tensor:
        """A dense matrix; differentiable any number of times, which COO tensors are not."""
        entries, positions = values[self.value], tuple(self.pattern.positions())
        matrix = entries.new_zeros(self.pattern.shape).index_put(positions, entries)
        return matrix.T if self.transposed else matrix


@dataclass(frozen=True)
class FactorChain:
    """``L_1 L_2 … L_2l``: the positions of the matrices; their values come with every call.

    As `grfpp.estimate.chain.Chain`, for tensors with gradients. A palindrome, ``X Xᵀ`` with ``X``
    the first half, is symmetric and positive semidefinite. Rows are selected of chains whose first
    link is not transposed, columns of chains whose last link is transposed.
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

    def to_coo(self, values: Values) -> Tensor:
        """The product as a sparse COO tensor."""
        first, *others = self.links
        product = first.to_coo(values)
        with no_autocast(product.device):
            for link in others:
                product = torch.sparse.mm(product, link.to_coo(values))
        return product.coalesce()

    def to_dense(self, values: Values) -> Tensor:
        """The product as a dense matrix."""
        others = FactorChain(self.links[1:])
        return others.T.matmat(values, self.links[0].to_dense(values).T).T

    def to_numpy(self, values: Values) -> Chain:
        """The same product of scipy's matrices, which is computed on all cores."""
        factors, numbers = [], [entries.detach().double().cpu() for entries in values]
        for link in self.links:
            matrix = link.pattern.matrix(numbers[link.value], link.transposed)
            parts = (matrix.values(), matrix.col_indices(), matrix.crow_indices())
            arrays = tuple(part.numpy() for part in parts)
            factors.append(StoredFactor(sp.csr_array(arrays, shape=tuple(matrix.shape))))
        return Chain.by_rows(factors)

    def take_rows(self, values: Values, nodes: Tensor) -> tuple[FactorChain, list[Tensor]]:
        """The chain of selected rows, and its values: those of the new first link come last."""
        first, *others = self.links
        pattern, entries = first.pattern.take_rows(nodes)
        links = (Link(pattern, len(values)), *others)
        return FactorChain(links), [*values, values[first.value][entries]]

    def select(
        self, values: Values, rows: Tensor | None, columns: Tensor | None
    ) -> tuple[FactorChain, list[Tensor]]:
        """The chain of selected rows and columns (``None``: all of them), and its values."""
        chain, chosen = self, list(values)
        if rows is not None:
            chain, chosen = chain.take_rows(chosen, rows)
        both = rows is not None and columns is not None
        if self.is_symmetric and both and torch.equal(rows, columns):
            chain = FactorChain((*chain.links[:-1], chain.links[0].T))
        elif columns is not None:
            chain, chosen = chain.T.take_rows(chosen, columns)
            chain = chain.T
        used = sorted({link.value for link in chain.links})
        links = (link._replace(value=used.index(link.value)) for link in chain.links)
        return FactorChain(tuple(links)), [chosen[value] for value in used]


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
        sides = left.contiguous(), right.T.contiguous()
        with no_autocast(left.device):
            return torch.sparse.sampled_addmm(zeros, *sides, beta=0.0).values()

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
    """The entries of the chain at ``(rows[p], columns[p])``.

    A block of pairs at a time: by scipy, or with gradients from dense rows, which the backward pass
    computes again.
    """
    if len(rows) == 0:
        return values[0].new_zeros(0)
    left, right = chain.halves()
    if not (torch.is_grad_enabled() and any(entries.requires_grad for entries in values)):
        X, Y = left.to_numpy(values), right.to_numpy(values)
        pairs = torch.stack([rows, columns]).cpu().numpy()
        parts = np.array_split(pairs, -(-len(rows) // _MAX_PAIRS), axis=1)
        sums = [X.rows(i).multiply(Y.rows(j)).sum(axis=1) for i, j in parts]
        return torch.from_numpy(np.concatenate(sums)).to(values[0])

    def block(i: Tensor, j: Tensor, *entries: Tensor) -> Tensor:
        X = FactorChain.to_dense(*left.take_rows(entries, i))
        is_square = left == right and torch.equal(i, j)
        Y = X if is_square else FactorChain.to_dense(*right.take_rows(entries, j))
        return (X * Y).sum(1)

    size = min(_MAX_PAIRS, max(_MIN_PAIRS, _MAX_BLOCK_SIZE // left.shape[1]))
    blocks = zip(rows.split(size), columns.split(size), strict=True)
    return torch.cat([checkpoint(block, i, j, *values, use_reentrant=False) for i, j in blocks])
