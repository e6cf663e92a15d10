"""Self-attention with a graph mask: ``softmax(Q Kᵀ / √d + λ M) V``."""

from __future__ import annotations

import torch
from torch import nn

from grfpp.arguments import probability
from grfpp.torch.attention.mask_bias import (
    MaskBias,
    check_mask,
    check_tokens,
    checked_strength,
    strengthened,
)
from grfpp.torch.attention.self_attention import SelfAttention, check_heads


def masked_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: torch.Tensor,
    lam: float | torch.Tensor = 0.5,
    *,
    dropout: float = 0.0,
) -> torch.Tensor:
    """``softmax(Q Kᵀ / √d + λ M) V``, the paper's formula, by torch's fused attention.

    Parameters
    ----------
    query, key, value
        Of shape ``(…, n_tokens, d)``.
    mask
        ``M`` of shape ``(n_tokens, n_tokens)``.
    lam
        ``λ``; gradients go through to it where it is a tensor that wants some.
    dropout
        Probability with which weights are dropped.

    Examples
    --------
    >>> import torch
    >>> from grfpp.torch import patch_grid_mask
    >>> q = k = v = torch.ones(1, 4, 2)
    >>> masked_attention(q, k, v, patch_grid_mask(2, 2)).shape
    torch.Size([1, 4, 2])
    """
    check_heads(query, key, value)
    check_mask(mask)
    check_tokens(mask.shape[0], query.shape[-2], key.shape[-2])
    bias = strengthened(mask, checked_strength(lam), query.dtype)
    p = probability(dropout, "dropout", below_one=True)
    return nn.functional.scaled_dot_product_attention(
        query, key, value, attn_mask=bias, dropout_p=p
    )


class MaskedAttention(SelfAttention):
    """Multi-head self-attention with a graph mask.

    Its weights have the names and shapes of those of ``nn.MultiheadAttention``, whose states it
    loads, and which loads its states unless ``λ`` is learned. To put a mask into a model that is
    there already, see `add_mask`.

    Parameters
    ----------
    embed_dim, num_heads, bias
        As for ``nn.MultiheadAttention``.
    mask
        ``M``, one row and one column a token, as `graph_mask` and `patch_grid_mask` make it.
    lam
        ``λ``, the paper's 0.5.
    learn
        Whether ``λ`` is learned; it is then ``graph_mask.lam`` in the state of the module.
    dropout
        Probability with which weights are dropped in training.

    Examples
    --------
    >>> import torch
    >>> from grfpp.torch import MaskedAttention, patch_grid_mask
    >>> attention = MaskedAttention(16, 4, patch_grid_mask(3, 3))
    >>> attention(torch.ones(2, 9, 16)).shape
    torch.Size([2, 9, 16])
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        mask: torch.Tensor,
        lam: float = 0.5,
        *,
        learn: bool = False,
        bias: bool = True,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(embed_dim, num_heads, bias)
        self.graph_mask = MaskBias(mask, lam, learn)
        self.dropout = probability(dropout, "dropout", below_one=True)

    def _attend(self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        self.graph_mask.check(query.shape[-2], key.shape[-2])
        return nn.functional.scaled_dot_product_attention(
            query,
            key,
            value,
            attn_mask=self.graph_mask(query),
            dropout_p=self.dropout if self.training else 0.0,
        )
