"""Self-attention with a dense graph mask: ``softmax(Q Kᵀ / √d + λ M) V``.

`MaskBias` holds ``λ M``, `SelfAttention` the projections that all attention modules share.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from grfpp._checks import finite, probability, truth, whole
from grfpp._memory import require_bytes
from grfpp.errors import InputError, shown


def masked_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor,
    lam: float | Tensor = 0.5,
    *,
    dropout: float = 0.0,
) -> Tensor:
    """``softmax(Q Kᵀ / √d + λ M) V``, the paper's formula, by torch's fused attention.

    Parameters
    ----------
    query, key, value
        Of shape ``(…, n_tokens, d)``.
    mask
        ``M`` of shape ``(n_tokens, n_tokens)``, or ``(batch, n_tokens, n_tokens)`` with one per
        sequence (the first axis of the queries), as `graph_mask` makes it of several graphs.
    lam
        ``λ``; a tensor may have gradients.
    dropout
        Probability with which weights are dropped.

    Examples
    --------
    >>> import torch
    >>> from grfpp.torch import masked_attention, patch_grid_mask
    >>> q = k = v = torch.ones(1, 4, 2)
    >>> masked_attention(q, k, v, patch_grid_mask(2, 2)).shape
    torch.Size([1, 4, 2])

    References
    ----------
    Choromanski et al., "Computationally-efficient graph modeling with refined graph random
    features", 2026, paragraph "Image Classification".
    """
    check_mask(mask)
    p = probability(dropout, "dropout", below_one=True)
    bias = broadcast_bias(_scaled(mask, checked_strength(lam), query.dtype), query, key)
    return nn.functional.scaled_dot_product_attention(query, key, value, bias, p)


class SelfAttention(nn.Module):  # type: ignore[misc]  # untyped base
    """Multi-head self-attention; subclasses implement `_attend`.

    The weights have the names, shapes and initial values of those of ``nn.MultiheadAttention``.
    """

    def __init__(self, embed_dim: int, num_heads: int, bias: bool = True) -> None:
        super().__init__()
        self.embed_dim = whole(embed_dim, "embed_dim", 1)
        self.num_heads = whole(num_heads, "num_heads", 1)
        if self.embed_dim % self.num_heads:
            problem = f"must be a multiple of num_heads, found {embed_dim} and {num_heads}"
            raise InputError(problem, argument="embed_dim")
        n_weights = 4 * self.embed_dim * (self.embed_dim + 1)
        require_bytes(4 * n_weights, f"an attention module of width {self.embed_dim}")
        model = nn.MultiheadAttention(self.embed_dim, self.num_heads, bias=truth(bias, "bias"))
        self.register_parameter("in_proj_weight", model.in_proj_weight)
        self.register_parameter("in_proj_bias", model.in_proj_bias)
        self.out_proj = model.out_proj

    @abstractmethod
    def _attend(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
        """Mix values among the tokens; all of shape ``(…, num_heads, n_tokens, d)``."""

    def forward(self, x: Tensor) -> Tensor:
        """Mix ``x`` of shape ``(…, n_tokens, embed_dim)`` among its tokens."""
        return self._mix(x)

    def _mix(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        if x.ndim < 2 or x.shape[-1] != self.embed_dim:
            problem = f"must have shape (…, n_tokens, {self.embed_dim}), found {tuple(x.shape)}"
            raise InputError(problem, argument="x")
        projected = nn.functional.linear(x, self.in_proj_weight, self.in_proj_bias)
        parts = projected.unflatten(-1, (3, self.num_heads, -1)).movedim(-3, 0)
        query, key, value = parts.transpose(-3, -2)
        mixed = self._attend(query, key, value, mask)
        return self.out_proj(mixed.transpose(-3, -2).flatten(-2))


class MaskedAttention(SelfAttention):
    """Multi-head self-attention with a graph mask.

    Its weights have the names and shapes of those of ``nn.MultiheadAttention``: either loads the
    other's states, unless ``λ`` is learned. To put a mask into an existing model, see `add_mask`.

    Parameters
    ----------
    embed_dim, num_heads, bias
        As for ``nn.MultiheadAttention``.
    mask
        ``M``, one row and one column per token, as `graph_mask` and `patch_grid_mask` make it.
        ``None`` where the mask is passed with every batch: ``attention(x, mask)``.
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

    References
    ----------
    Choromanski et al., "Computationally-efficient graph modeling with refined graph random
    features", 2026, paragraph "Image Classification".
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        mask: Tensor | None,
        lam: float = 0.5,
        *,
        learn: bool = False,
        bias: bool = True,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(embed_dim, num_heads, bias)
        self.graph_mask = MaskBias(mask, lam, learn)
        self.dropout = probability(dropout, "dropout", below_one=True)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Mix ``x`` of shape ``(…, n_tokens, embed_dim)`` among its tokens.

        A `mask` is used in place of the module's.
        """
        if mask is not None:
            check_mask(mask)
        return self._mix(x, mask)

    def _attend(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
        bias = broadcast_bias(self.graph_mask(query, mask), query, key)
        p = self.dropout if self.training else 0.0
        return nn.functional.scaled_dot_product_attention(query, key, value, bias, p)


class MaskBias(nn.Module):  # type: ignore[misc]  # untyped base
    """Holds a mask and its strength; ``bias(query)`` is ``λ M`` in the query's number type.

    The mask moves with the module and is not saved with the weights; a learned ``λ`` is, as
    ``lam``. Without a mask, one is passed with every call.

    Examples
    --------
    >>> bias = MaskBias(torch.eye(3), lam=0.5)
    >>> list(bias.state_dict()), float(bias.lam)
    ([], 0.5)
    """

    def __init__(self, mask: Tensor | None, lam: float = 0.5, learn: bool = False) -> None:
        super().__init__()
        if mask is not None:
            check_mask(mask)
        self.register_buffer("mask", None if mask is None else mask.detach(), persistent=False)
        like = torch.empty(0) if mask is None else mask
        strength = torch.tensor(finite(lam, "lam"), dtype=like.dtype, device=like.device)
        if truth(learn, "learn"):
            self.lam = nn.Parameter(strength)
        else:
            self.register_buffer("lam", strength, persistent=False)

    @property
    def n_tokens(self) -> int:
        """Number of tokens of the mask."""
        return int(self.mask.shape[-1])

    def forward(self, query: Tensor, mask: Tensor | None = None) -> Tensor:
        """``λ M`` in the type and on the device of the query, of `mask` where one is given."""
        chosen = self.mask if mask is None else mask
        if chosen is None:
            raise InputError("must be passed to every call of this module", argument="mask")
        return _scaled(chosen.to(query.device), self.lam.to(query.device), query.dtype)

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        # A state from before the mask was added leaves λ as it is.
        if isinstance(self.lam, nn.Parameter):
            state_dict.setdefault(f"{prefix}lam", self.lam.detach())
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def extra_repr(self) -> str:
        """Shape of the mask, strength and whether it is learned."""
        shape = None if self.mask is None else tuple(self.mask.shape)
        return f"shape={shape}, lam={self.lam.item():g}, learned={self.lam.requires_grad}"


def _scaled(mask: Tensor, lam: float | Tensor, dtype: torch.dtype) -> Tensor:
    """``λ M``, multiplied in the more precise type; in a batch, minus infinity is padding."""
    precise = mask.to(torch.promote_types(mask.dtype, dtype))
    if mask.ndim == 2:
        return (lam * precise).to(dtype)
    padding = torch.isneginf(precise)
    # Infinity times λ is NaN at λ = 0, and its derivative is NaN everywhere.
    return (lam * precise.masked_fill(padding, 0)).masked_fill(padding, float("-inf")).to(dtype)


def broadcast_bias(bias: Tensor, query: Tensor, key: Tensor) -> Tensor:
    """``λ M`` in a shape that broadcasts to queries of shape ``(batch, …, n_tokens, d)``."""
    check_sizes(bias.shape, query, key)
    if bias.ndim == 2:
        return bias
    return bias.reshape(len(bias), *[1] * (query.ndim - 3), *bias.shape[1:])


def merged(bias: Tensor, other: Tensor | None, keeps_true: bool) -> Tensor:
    """The sum of ``λ M`` and another mask, of numbers or of booleans.

    True keeps a pair in ``scaled_dot_product_attention`` and drops it in ``MultiheadAttention``.
    """
    if other is None:
        return bias
    if other.dtype == torch.bool:
        zeros = torch.zeros(other.shape, dtype=bias.dtype, device=other.device)
        other = zeros.masked_fill(~other if keeps_true else other, float("-inf"))
    elif not other.is_floating_point():
        problem = f"must hold booleans or floating-point numbers, found {other.dtype}"
        raise InputError(problem, argument="attn_mask")
    return bias + other.to(bias.dtype)


def check_sizes(
    shape: Sequence[int], query: Tensor, key: Tensor, axis: int = -2, batch_axis: int = 0
) -> None:
    """Check that numbers of tokens and of sequences are those of a mask."""
    n_queries, n_keys = query.shape[axis], key.shape[axis]
    n_sequences = query.shape[batch_axis] if query.ndim > 2 else None
    fits = n_queries == n_keys == shape[-1]
    if not fits or (len(shape) == 3 and shape[0] != n_sequences):
        problem = f"has shape {tuple(shape)}, found {n_queries} queries and {n_keys} keys"
        problem += f", in a batch of {n_sequences}"
        advice = "use class_token=True for a model with a class token"
        raise InputError(problem, argument="mask", advice=advice)


def checked_strength(lam: Any) -> float | Tensor:
    """Check that ``λ`` is a number, or a tensor of one."""
    if not isinstance(lam, Tensor):
        return finite(lam, "lam")
    is_number = lam.numel() == 1 and not lam.is_complex() and lam.dtype != torch.bool
    # While compiling there are no values to check.
    if not is_number or not (torch.compiler.is_compiling() or torch.isfinite(lam).all()):
        raise InputError(f"must be one finite real number, found {shown(lam)}", argument="lam")
    return lam.reshape(())


def check_mask(mask: Any) -> None:
    """Check that a mask is a square matrix of finite numbers, or a padded batch of them."""
    is_dense = isinstance(mask, Tensor) and mask.is_floating_point()
    is_dense = is_dense and mask.layout == torch.strided and mask.numel() > 0
    if not is_dense or mask.ndim not in (2, 3) or mask.shape[-2] != mask.shape[-1]:
        problem = "must be a dense floating-point tensor of shape (n_tokens, n_tokens) or "
        problem += f"(batch, n_tokens, n_tokens), found {shown(mask)}"
        raise InputError(problem, argument="mask")
    if torch.compiler.is_compiling():
        return  # there are no values to check
    is_finite = torch.isfinite(mask)
    is_padding = torch.isneginf(mask) if mask.ndim == 3 else torch.zeros_like(is_finite)
    if not (is_finite | is_padding).all() or not is_finite.any(dim=-1).all():
        problem = "must be finite but for padding of a batch, and let each token attend to some"
        raise InputError(problem, argument="mask")
