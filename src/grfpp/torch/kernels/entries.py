"""Entries of a chain of matrices, from rows of both of its halves: a block of pairs at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from grfpp.torch.kernels.chain import FactorChain, Values

#: Rows that tell how full the others are, and how full they must be for dense ones to be faster.
_PILOT_ROWS, _FULL = 8, 1 / 20
#: Pairs whose rows are held at a time, and numbers of dense ones: these stay in a core's cache.
_LEAST_PAIRS, _MOST_PAIRS, _BLOCK_NUMBERS = 16, 256, 400_000

Block = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def chain_entries(
    chain: FactorChain, values: Values, rows: torch.Tensor, columns: torch.Tensor
) -> torch.Tensor:
    """The numbers of the chain at ``(rows[p], columns[p])``."""
    if len(rows) == 0:
        return values[0].new_zeros(0)
    numbers: torch.Tensor = _Entries.apply(chain, rows, columns, *values)
    return numbers


class _Entries(torch.autograd.Function):  # type: ignore[misc]  # untyped base
    """The numbers at chosen places of a chain; rows are made again for the gradients."""

    @staticmethod
    def forward(
        ctx: Any,
        chain: FactorChain,
        rows: torch.Tensor,
        columns: torch.Tensor,
        *values: torch.Tensor,
    ) -> torch.Tensor:
        halves = [half.to_numpy(values) for half in chain.halves()]
        pilots = halves[0].rows(rows[:: 1 + len(rows) // _PILOT_ROWS].cpu().numpy())
        ctx.full = pilots.nnz > _FULL * np.prod(pilots.shape)
        ctx.chain, ctx.rows, ctx.columns = chain, rows, columns
        ctx.save_for_backward(*values)

        def sparse(i: torch.Tensor, j: torch.Tensor) -> torch.Tensor:
            X, Y = (
                half.rows(each.cpu().numpy()) for half, each in zip(halves, (i, j), strict=True)
            )
            return torch.from_numpy(X.multiply(Y).sum(axis=1)).to(values[0])

        compute = _dense_block(chain, values) if ctx.full else sparse
        parts = [compute(i, j) for i, j in _blocks(ctx)]
        return torch.cat(parts)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        values, twice = ctx.saved_tensors, torch.is_grad_enabled()
        needed = ctx.needs_input_grad[3:]
        if not twice:
            values = [v.detach().requires_grad_(n) for v, n in zip(values, needed, strict=True)]
        inputs = [v for v, n in zip(values, needed, strict=True) if n]
        sums = [torch.zeros_like(each) for each in inputs]
        options = {"create_graph": twice, "allow_unused": True, "materialize_grads": True}
        with torch.enable_grad():
            for i, j, weights in _blocks(ctx, grad):
                part = _differentiable_block(ctx.chain, values, ctx.full, i, j)
                found = torch.autograd.grad(part, inputs, weights, **options)
                sums = [total + each for total, each in zip(sums, found, strict=True)]
        totals = iter(sums)
        return None, None, None, *(next(totals) if n else None for n in needed)


def _blocks(ctx: Any, *others: torch.Tensor) -> Iterator[tuple[torch.Tensor, ...]]:
    """Rows and columns, and numbers that go with them, of some pairs at a time."""
    size = _MOST_PAIRS
    if ctx.full:
        size = min(size, max(_LEAST_PAIRS, _BLOCK_NUMBERS // ctx.chain.links[0].shape[1]))
    lists = (ctx.rows, ctx.columns, *others)
    return zip(*(each.split(size) for each in lists), strict=True)


def _dense_block(chain: FactorChain, values: Values) -> Block:
    """Products of dense rows, without gradients: transposes are made once for all blocks."""
    left, right = chain.halves()
    left_rows = left.dense_rows_maker(values)
    right_rows = left_rows if left == right else right.dense_rows_maker(values)

    def block(i: torch.Tensor, j: torch.Tensor) -> torch.Tensor:
        X = left_rows(i)
        return (X * (X if left == right and torch.equal(i, j) else right_rows(j))).sum(0)

    return block


def _differentiable_block(
    chain: FactorChain, values: Values, full: bool, rows: torch.Tensor, columns: torch.Tensor
) -> torch.Tensor:
    left, right = chain.halves()
    same = left == right and torch.equal(rows, columns)
    if full:
        X = left.to_dense(values, rows)
        return (X * (X if same else right.to_dense(values, columns))).sum(1)
    X = left.rows(values, rows)
    Y = X if same else right.rows(values, columns)
    total: torch.Tensor = torch.sparse.sum(X * Y, dim=1).to_dense()
    return total
