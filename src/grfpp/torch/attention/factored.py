"""A mask kept as the sparse factors of its estimate: it multiplies, and never becomes N×N."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import nn

from grfpp.arguments import whole
from grfpp.errors import InputError
from grfpp.memory import require_bytes
from grfpp.torch.floating import floating_or_default

#: One matrix of the chain: row pointers, columns, values.
_Step = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


class FactoredMask(nn.Module):  # type: ignore[misc]  # untyped base
    """``M = S_1 S_2 … S_2l``: the scaled kernel estimate of a graph, as sparse matrices.

    Usually made by `grfpp.torch.factored_mask`. Calling it multiplies: ``mask(x)`` is
    ``M x`` for ``x`` of shape ``(…, n_tokens, d)``. Gradients go through to ``x``. The factors are
    buffers that move with the module and are not saved with its weights; the same graph and seed
    give them again.

    Parameters
    ----------
    steps
        The matrices of the chain.
    n_prefix
        Tokens before the nodes, such as a class token: their rows and columns of ``M`` are zero.
    dtype, device
        Of the values; torch's defaults.

    Examples
    --------
    >>> import torch
    >>> from grfpp.datasets import grid
    >>> from grfpp.torch.attention.masks import factored_mask
    >>> mask = factored_mask(grid(4, 4), class_token=True)
    >>> mask
    FactoredMask(n_tokens=17, n_prefix=1, n_steps=4)
    >>> x = torch.ones(2, 17, 3)
    >>> bool(torch.allclose(mask(x), mask.dense() @ x, atol=1e-6))
    True
    """

    def __init__(
        self,
        steps: Sequence[sp.csr_array],
        *,
        n_prefix: int = 0,
        dtype: torch.dtype | None = None,
        device: Any = None,
    ) -> None:
        super().__init__()
        if not steps:
            raise InputError("a factored mask needs at least one matrix")
        n = steps[0].shape[0]
        if any(step.shape != (n, n) for step in steps):
            raise InputError(
                f"the matrices of a factored mask are square and of one size, found "
                f"{[step.shape for step in steps]}"
            )
        self.n_nodes = int(n)
        self.n_prefix = whole(n_prefix, "n_prefix", 0)
        self.n_steps = len(steps)
        kind = floating_or_default(dtype)
        for number, step in enumerate(steps):
            # scipy's indices are 32 bits wide wherever that suffices, and torch keeps them so.
            for part in ("indptr", "indices", "data"):
                # A copy, so that nobody else's arrays change with these.
                tensor = torch.from_numpy(np.array(getattr(step, part)))
                self.register_buffer(
                    f"{part}_{number}",
                    tensor.to(device, kind if part == "data" else None),
                    persistent=False,
                )

    @property
    def n_tokens(self) -> int:
        """Nodes, and tokens before them."""
        return self.n_nodes + self.n_prefix

    @property
    def n_entries(self) -> int:
        """Numbers that are stored."""
        return sum(values.numel() for _, _, values in self._steps())

    @property
    def is_nonnegative(self) -> bool:
        """Whether no entry of any factor is negative, so that none of ``M`` is."""
        return all(bool((values >= 0).all()) for _, _, values in self._steps())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """``M x``."""
        if not x.is_floating_point():
            raise InputError(
                f"a mask multiplies floating-point numbers, found {x.dtype}; use x.float()"
            )
        if x.ndim < 2 or x.shape[-2] != self.n_tokens:
            raise InputError(
                f"this mask is for {self.n_tokens} tokens, {self.n_prefix} of them not nodes; "
                f"found a tensor of shape {tuple(x.shape)}, whose last but one dimension counts "
                "tokens"
            )
        nodes = x[..., self.n_prefix :, :].movedim(-2, 0)
        product = _Chain.apply(nodes.reshape(self.n_nodes, -1), self._steps(), False)
        product = product.reshape(nodes.shape).movedim(0, -2)
        return nn.functional.pad(product, (0, 0, self.n_prefix, 0)) if self.n_prefix else product

    def dense(self) -> torch.Tensor:
        """The whole matrix, N×N; refused where it does not fit."""
        n, like = self.n_tokens, self.data_0
        require_bytes(4 * like.element_size() * n * n, f"a dense mask of {n} x {n} numbers")
        return self(torch.eye(n, dtype=like.dtype, device=like.device))

    def _steps(self) -> list[_Step]:
        return [
            (
                getattr(self, f"indptr_{number}"),
                getattr(self, f"indices_{number}"),
                getattr(self, f"data_{number}"),
            )
            for number in range(self.n_steps)
        ]

    def __repr__(self) -> str:
        return (
            f"FactoredMask(n_tokens={self.n_tokens}, n_prefix={self.n_prefix}, "
            f"n_steps={self.n_steps})"
        )


class _Chain(torch.autograd.Function):  # type: ignore[misc]  # untyped base
    """A product with all matrices of the chain, or with the transpose of that."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, steps: list[_Step], transposed: bool) -> torch.Tensor:
        ctx.steps, ctx.transposed = steps, transposed
        # Half precision has no sparse products everywhere, and would lose the small entries.
        block = x.to(torch.promote_types(x.dtype, torch.float32))
        with _no_autocast(x.device.type):
            for step in steps if transposed else reversed(steps):
                block = _matrix(step, block.dtype, transposed) @ block
        return block.to(x.dtype)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        return _Chain.apply(gradient, ctx.steps, not ctx.transposed), None, None


def _no_autocast(device: str) -> AbstractContextManager[Any]:
    """Automatic half precision reaches for products that torch does not have; see above."""
    if device == "meta":
        return nullcontext()
    off: AbstractContextManager[Any] = torch.autocast(device, enabled=False)
    return off


def _matrix(step: _Step, dtype: torch.dtype, transposed: bool) -> torch.Tensor:
    """A sparse tensor on the arrays of a step; read by columns, they are its transpose."""
    pointers, indices, values = step
    make = torch.sparse_csc_tensor if transposed else torch.sparse_csr_tensor
    n = len(pointers) - 1
    with warnings.catch_warnings():
        # Torch says once a process that these layouts are new.
        warnings.filterwarnings("ignore", "Sparse CS[RC] tensor support", UserWarning)
        return make(pointers, indices, values.to(dtype), (n, n), check_invariants=False)
