"""Sparse matrices as positions and values apart: products that are differentiable in the values."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import scipy.sparse as sp
import torch
from torch import nn

from grfpp.linalg.tensors import csr_tensor

#: Choices of rows that a pattern remembers: for training and testing, with some to spare.
_KEPT = 4


class SparsePattern(nn.Module):  # type: ignore[misc]  # untyped base
    """The positions of a sparse matrix, by rows and by columns.

    The values come with every call, so that gradients reach them, and several matrices can share
    one pattern. All methods can be differentiated, any number of times.
    """

    #: Where each row begins and ends.
    crow: torch.Tensor
    #: The column of every entry, row by row.
    columns: torch.Tensor

    def __init__(self, crow: torch.Tensor, columns: torch.Tensor, n_columns: int) -> None:
        super().__init__()
        self.shape = (len(crow) - 1, n_columns)
        self._taken: list[tuple[torch.Tensor, SparsePattern, torch.Tensor]] = []
        self.register_buffer("crow", crow, persistent=False)
        self.register_buffer("columns", columns, persistent=False)
        self._by_columns: tuple[torch.Tensor, ...] = ()

    @classmethod
    def of(cls, matrix: torch.Tensor) -> SparsePattern:
        """The positions of a sparse CSR tensor."""
        return cls(matrix.crow_indices(), matrix.col_indices(), matrix.shape[1])

    @property
    def n_entries(self) -> int:
        """Number of positions."""
        return len(self.columns)

    def multiply(
        self, values: torch.Tensor, dense: torch.Tensor, transposed: bool = False
    ) -> torch.Tensor:
        """``A @ dense`` or ``A.T @ dense``, where ``A`` has these values."""
        product: torch.Tensor = _Multiply.apply(values, dense, self, transposed)
        return product

    def sample(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        """``left @ right.T`` at the positions of the pattern only."""
        sampled: torch.Tensor = _Sample.apply(left, right, self)
        return sampled

    def coo(self, values: torch.Tensor) -> torch.Tensor:
        """``A`` as a sparse COO tensor, which torch can multiply with others and differentiate."""
        positions = self.positions()
        return torch.sparse_coo_tensor(positions, values, self.shape, check_invariants=False)

    def positions(self) -> torch.Tensor:
        """Row and column of every entry."""
        rows = torch.repeat_interleave(
            torch.arange(self.shape[0], device=self.crow.device), self.crow.diff()
        )
        return torch.stack([rows, self.columns.long()])

    def take_rows(self, nodes: torch.Tensor) -> tuple[SparsePattern, torch.Tensor]:
        """The pattern of chosen rows, and which entries of this one it is made of.

        The last few answers are kept: training asks for the same rows again and again.
        """
        for known, pattern, entries in self._taken:
            if known.device == nodes.device and torch.equal(known, nodes):
                return pattern, entries
        counts = self.crow.diff()[nodes]
        crow = torch.zeros(len(nodes) + 1, dtype=self.crow.dtype, device=counts.device)
        crow[1:] = torch.cumsum(counts, 0)
        entries = torch.arange(int(crow[-1]), device=counts.device)
        entries += torch.repeat_interleave(self.crow[nodes] - crow[:-1], counts)
        pattern = SparsePattern(crow, self.columns[entries], self.shape[1])
        self._taken = [*self._taken[1 - _KEPT :], (nodes.clone(), pattern, entries)]
        return pattern, entries

    def matrix(self, values: torch.Tensor, transposed: bool = False) -> torch.Tensor:
        """``A`` or its transpose as a sparse CSR tensor."""
        if not transposed:
            return csr_tensor(self.crow, self.columns, values, self.shape)
        if not self._by_columns or self._by_columns[0].device != values.device:
            # By scipy, once: several times faster than to sort.
            places = torch.arange(self.n_entries, dtype=self.columns.dtype)
            arrays = (each.cpu().numpy() for each in (places, self.columns, self.crow))
            turned = sp.csr_array(tuple(arrays), shape=self.shape).tocsc()
            parts = (turned.indptr, turned.indices, turned.data)
            self._by_columns = tuple(torch.from_numpy(each).to(self.columns) for each in parts)
        crow, rows, order = self._by_columns
        return csr_tensor(crow, rows, values.index_select(0, order), self.shape[::-1])


def no_autocast(device: torch.device) -> AbstractContextManager[Any]:
    """Sparse products have no lower precision that automatic mixed precision could choose."""
    if device.type == "meta":
        return nullcontext()
    off: AbstractContextManager[Any] = torch.autocast(device.type, enabled=False)
    return off


class _Multiply(torch.autograd.Function):  # type: ignore[misc]  # untyped base
    """A sparse matrix or its transpose times a dense one."""

    @staticmethod
    def forward(
        ctx: Any,
        values: torch.Tensor,
        dense: torch.Tensor,
        pattern: SparsePattern,
        transposed: bool,
    ) -> torch.Tensor:
        # The dense block is for the gradient of the values, which masks do not want.
        ctx.save_for_backward(values, dense if values.requires_grad else None)
        ctx.pattern, ctx.transposed = pattern, transposed
        with no_autocast(dense.device):
            return pattern.matrix(values, transposed) @ dense

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        values, dense = ctx.saved_tensors
        pattern, transposed = ctx.pattern, ctx.transposed
        grad_values = grad_dense = None
        if ctx.needs_input_grad[0]:
            pair = (dense, grad) if transposed else (grad, dense)
            grad_values = pattern.sample(*pair)
        if ctx.needs_input_grad[1]:
            grad_dense = _Multiply.apply(values, grad, pattern, not transposed)
        return grad_values, grad_dense, None, None


class _Sample(torch.autograd.Function):  # type: ignore[misc]  # untyped base
    """The product of two dense matrices at the positions of a pattern."""

    @staticmethod
    def forward(
        ctx: Any, left: torch.Tensor, right: torch.Tensor, pattern: SparsePattern
    ) -> torch.Tensor:
        ctx.save_for_backward(left, right)
        ctx.pattern = pattern
        nothing = pattern.matrix(left.new_zeros(pattern.n_entries))
        with no_autocast(left.device):
            sampled = torch.sparse.sampled_addmm(
                nothing, left.contiguous(), right.T.contiguous(), beta=0.0
            )
        result: torch.Tensor = sampled.values()
        return result

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        left, right = ctx.saved_tensors
        grad_left = grad_right = None
        if ctx.needs_input_grad[0]:
            grad_left = ctx.pattern.multiply(grad, right)
        if ctx.needs_input_grad[1]:
            grad_right = ctx.pattern.multiply(grad, left, True)
        return grad_left, grad_right, None
