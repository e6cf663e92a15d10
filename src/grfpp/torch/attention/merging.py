"""Merge a graph mask with the other masks that attention is called with."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from grfpp.errors import InputError
from grfpp.torch.attention.padding import check_batch

#: The name of the submodule that holds a mask.
MASK = "graph_mask"
_ARGUMENTS = (
    *("query", "key", "value", "key_padding_mask", "need_weights", "attn_mask"),
    *("average_attn_weights", "is_causal"),
)

Call = tuple[tuple[Any, ...], dict[str, Any]]


def merged_arguments(
    attention: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Call | None:
    """Add the mask of an ``nn.MultiheadAttention`` to what it is called with.

    Nothing comes back for attention from some tokens to others, which gets no mask.
    """
    named = {**dict(zip(_ARGUMENTS, args, strict=False)), **kwargs}
    query, key = named.get("query"), named.get("key")
    if query is None or key is None:
        return args, kwargs  # what is missing is for torch to say
    # Two views of the same numbers are the same tokens too.
    if query is not key and not query.is_set_to(key):
        return None
    if query.is_nested:
        raise InputError("attention with a graph mask takes no nested tensors")
    bias, first = getattr(attention, MASK), attention.batch_first and query.ndim == 3
    bias.check(*(int(each.shape[1 if first else 0]) for each in (query, key)))
    other = named.get("attn_mask")
    if named.get("is_causal") and other is None:
        raise InputError("is_causal is a hint about attn_mask, which is missing")
    named["attn_mask"] = merged(_for_heads(bias(query), attention, query), other)
    named["is_causal"] = False
    padding = named.get("key_padding_mask")
    # Torch wants both masks of one type.
    if padding is not None and padding.dtype == torch.bool:
        named["key_padding_mask"] = as_bias(~padding, query.dtype)
    elif padding is not None and padding.is_floating_point():
        named["key_padding_mask"] = padding.to(query.dtype)
    return (), named


def _for_heads(bias: torch.Tensor, attention: nn.Module, query: torch.Tensor) -> torch.Tensor:
    """``λ M`` as ``nn.MultiheadAttention`` takes it: of a batch, one for each of its heads."""
    if bias.ndim == 2:
        return bias
    axis = 0 if attention.batch_first else 1
    check_batch(bias, query.shape[axis] if query.ndim == 3 else None)
    return bias.repeat_interleave(attention.num_heads, dim=0)


def merged_or_refused(
    attention: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Call | None:
    """The same for an ``nn.MultiheadAttention`` that is the whole model."""
    found = merged_arguments(attention, args, kwargs)
    if found is None:
        raise InputError(
            "a graph mask is for self-attention, and the keys of this call are not its queries; "
            "pass the same tensor for both"
        )
    return found


def merged(bias: torch.Tensor, other: torch.Tensor | None, *, kept: bool = False) -> torch.Tensor:
    """The sum of ``λ M`` and another mask, of numbers or of truth values.

    Of the latter, "true" means that the pair is kept, or (as in ``nn.MultiheadAttention``) left
    out.
    """
    if other is None:
        return bias
    if other.dtype == torch.bool:
        other = as_bias(other if kept else ~other, bias.dtype)
    elif not other.is_floating_point():
        raise InputError(
            f"attn_mask must hold truth values or floating-point numbers, found {other.dtype}"
        )
    return bias + other.to(bias.dtype)


def as_bias(kept: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Zero for pairs that are kept, minus infinity for others."""
    return torch.zeros(kept.shape, dtype=dtype, device=kept.device).masked_fill(
        ~kept, float("-inf")
    )
