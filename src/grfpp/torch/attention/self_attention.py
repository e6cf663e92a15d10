"""What the attention modules share: projections in and out, and heads."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import torch
from torch import nn

from grfpp.arguments import truth, whole
from grfpp.errors import InputError
from grfpp.memory import require_bytes


class SelfAttention(nn.Module):  # type: ignore[misc]  # untyped base
    """Multi-head self-attention whose heads a subclass joins.

    The weights have the names, shapes and initial values of those of ``nn.MultiheadAttention``.
    """

    def __init__(self, embed_dim: int, num_heads: int, bias: bool = True) -> None:
        super().__init__()
        self.embed_dim = whole(embed_dim, "embed_dim", 1)
        self.num_heads = whole(num_heads, "num_heads", 1)
        if self.embed_dim % self.num_heads:
            raise InputError(
                f"embed_dim must be a multiple of num_heads, found {embed_dim} and {num_heads}"
            )
        weights = 4 * self.embed_dim * (self.embed_dim + 1)
        require_bytes(4 * weights, f"an attention module of width {self.embed_dim}")
        twin = nn.MultiheadAttention(self.embed_dim, self.num_heads, bias=truth(bias, "bias"))
        self.register_parameter("in_proj_weight", twin.in_proj_weight)
        self.register_parameter("in_proj_bias", twin.in_proj_bias)
        self.out_proj = twin.out_proj

    @abstractmethod
    def _attend(self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        """Values mixed among the tokens; all of shape ``(…, num_heads, n_tokens, d)``."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Mix ``x`` of shape ``(…, n_tokens, embed_dim)`` among its tokens."""
        return self._joined(self._attend(*self._parts(x)))

    def _parts(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Queries, keys and values, by heads."""
        if x.ndim < 2 or x.shape[-1] != self.embed_dim:
            raise InputError(
                f"expected a tensor of shape (…, n_tokens, {self.embed_dim}), "
                f"found {tuple(x.shape)}"
            )
        projected = nn.functional.linear(x, self.in_proj_weight, self.in_proj_bias)
        parts = projected.unflatten(-1, (3, self.num_heads, -1)).movedim(-3, 0)
        query, key, value = parts.transpose(-3, -2)
        return query, key, value

    def _joined(self, mixed: torch.Tensor) -> torch.Tensor:
        """What comes out, of the heads' values."""
        joined: torch.Tensor = self.out_proj(mixed.transpose(-3, -2).flatten(-2))
        return joined


def check_heads(query: Any, key: Any, value: Any) -> None:
    """Refuse what attention cannot be computed from.

    Examples
    --------
    >>> check_heads(*torch.ones(3, 2, 5, 4))
    """
    for name, each in (("query", query), ("key", key), ("value", value)):
        if not isinstance(each, torch.Tensor) or not each.is_floating_point() or each.ndim < 2:
            found = (
                f"{each.dtype} of shape {tuple(each.shape)}"
                if isinstance(each, torch.Tensor)
                else f"a {type(each).__name__}"
            )
            raise InputError(
                f"{name} must be a floating-point tensor of shape (…, n_tokens, d), found {found}"
            )
    if query.shape[-1] != key.shape[-1] or key.shape[-2] != value.shape[-2]:
        raise InputError(
            "queries and keys must be of one length, and there must be as many keys as values; "
            f"found shapes {tuple(query.shape)}, {tuple(key.shape)} and {tuple(value.shape)}"
        )
