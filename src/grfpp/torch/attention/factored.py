"""A mask kept as the sparse factors of its estimate: it multiplies, and never becomes N×N."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import scipy.sparse as sp
import torch
from torch import nn

from grfpp.arguments import whole
from grfpp.errors import InputError
from grfpp.memory import require_bytes
from grfpp.torch.arguments import device_of, floating
from grfpp.torch.kernels.chain import FactorChain, Link
from grfpp.torch.kernels.pattern import SparsePattern


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
        heights = [step.shape[0] for step in steps]
        if [step.shape[1] for step in steps] != [*heights[1:], n]:
            raise InputError(
                f"the matrices of a factored mask have a product that is square, found "
                f"{[step.shape for step in steps]}"
            )
        self.n_nodes = int(n)
        self.n_prefix = whole(n_prefix, "n_prefix", 0)
        kind, where = floating(dtype), device_of(device)
        self.patterns = nn.ModuleList()
        for number, step in enumerate(steps):
            # Copies, so that nobody else's arrays change with these.
            crow, columns = (
                torch.tensor(each, device=where) for each in (step.indptr, step.indices)
            )
            self.patterns.append(SparsePattern(crow, columns, int(step.shape[1])))
            values = torch.tensor(step.data, dtype=kind, device=where)
            self.register_buffer(f"values_{number}", values, persistent=False)
        self.chain = FactorChain(tuple(map(Link, self.patterns, range(len(steps)))))

    @property
    def n_tokens(self) -> int:
        """Nodes, and tokens before them."""
        return self.n_nodes + self.n_prefix

    @property
    def n_entries(self) -> int:
        """Numbers that are stored."""
        return sum(values.numel() for values in self._values())

    @property
    def is_nonnegative(self) -> bool:
        """Whether no entry of any factor is negative, so that none of ``M`` is."""
        return all(bool((values >= 0).all()) for values in self._values())

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
        # Half precision has no sparse products everywhere, and would lose the small entries.
        block = nodes.reshape(self.n_nodes, -1).to(torch.promote_types(x.dtype, torch.float32))
        product = self.chain.matmat([each.to(block.dtype) for each in self._values()], block)
        product = product.to(x.dtype).reshape(nodes.shape).movedim(0, -2)
        return nn.functional.pad(product, (0, 0, self.n_prefix, 0)) if self.n_prefix else product

    def dense(self) -> torch.Tensor:
        """The whole matrix, N×N; refused where it does not fit."""
        n, like = self.n_tokens, self.values_0
        require_bytes(4 * like.element_size() * n * n, f"a dense mask of {n} x {n} numbers")
        return self(torch.eye(n, dtype=like.dtype, device=like.device))

    def _values(self) -> list[torch.Tensor]:
        return [getattr(self, f"values_{number}") for number in range(len(self.patterns))]

    def __repr__(self) -> str:
        return (
            f"FactoredMask(n_tokens={self.n_tokens}, n_prefix={self.n_prefix}, "
            f"n_steps={len(self.patterns)})"
        )
