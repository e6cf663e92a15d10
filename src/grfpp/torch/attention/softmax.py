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
from grfpp.torch.attention.padding import beside
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
        ``M`` of shape ``(n_tokens, n_tokens)``, or ``(batch, n_tokens, n_tokens)`` with one for
        each of a batch, the first axis of the queries, as `graph_mask` makes it of several graphs.
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
    check_tokens(mask.shape[-1], query.shape[-2], key.shape[-2])
    bias = strengthened(mask, checked_strength(lam), query.dtype)
    p = probability(dropout, "dropout", below_one=True)
    return nn.functional.scaled_dot_product_attention(
        query, key, value, attn_mask=beside(bias, query), dropout_p=p
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
        ``None`` where every batch has masks of its own: pass them with it, ``attention(x, mask)``.
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

    Graphs of different sizes in one batch:

    >>> import networkx as nx
    >>> from grfpp.torch import graph_mask
    >>> attention = MaskedAttention(16, 4, None)
    >>> masks = graph_mask([nx.path_graph(5), nx.cycle_graph(9)])
    >>> attention(torch.ones(2, 9, 16), masks).shape
    torch.Size([2, 9, 16])
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        mask: torch.Tensor | None,
        lam: float = 0.5,
        *,
        learn: bool = False,
        bias: bool = True,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(embed_dim, num_heads, bias)
        self.graph_mask = MaskBias(mask, lam, learn)
        self.dropout = probability(dropout, "dropout", below_one=True)

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        """Mix ``x`` of shape ``(…, n_tokens, embed_dim)`` among its tokens.

        With `mask`, by that one and not by the module's own.
        """
        if mask is not None:
            check_mask(mask)
        return self._joined(self._attend(*self._parts(x), mask))

    def _attend(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        mask: torch.Tensor | None = None,
    ) -> torch.Tensor:
        bias = self.graph_mask(query, mask)
        check_tokens(bias.shape[-1], query.shape[-2], key.shape[-2])
        return nn.functional.scaled_dot_product_attention(
            query,
            key,
            value,
            attn_mask=beside(bias, query),
            dropout_p=self.dropout if self.training else 0.0,
        )
