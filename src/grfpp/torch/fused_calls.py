"""Add a graph mask to calls of torch's fused attention, while a model runs.

For models with attention of their own, which call
``torch.nn.functional.scaled_dot_product_attention`` somewhere inside.
"""

from __future__ import annotations

import threading
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from grfpp.errors import InputError
from grfpp.torch.mask_bias import MaskBias
from grfpp.torch.merging import MASK, as_bias, merged

_ARGUMENTS = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale", "enable_gqa")


class _Masking(TorchFunctionMode):  # type: ignore[misc]
    """While entered, fused self-attention among as many tokens as the mask has gets the mask."""

    def __init__(self, bias: MaskBias) -> None:
        super().__init__()
        self.bias = bias
        self.n_masked = 0
        self.others: list[tuple[int, int]] = []

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if func is not nn.functional.scaled_dot_product_attention:
            return func(*args, **(kwargs or {}))
        named = {**dict(zip(_ARGUMENTS, args, strict=False)), **(kwargs or {})}
        sizes = int(named["query"].shape[-2]), int(named["key"].shape[-2])
        if sizes != (self.bias.n_tokens, self.bias.n_tokens):
            self.others.append(sizes)
            return func(**named)
        other = named.get("attn_mask")
        if named.get("is_causal"):
            kept = torch.ones(sizes, dtype=torch.bool, device=named["query"].device).tril()
            other = merged(as_bias(kept, named["query"].dtype), other, kept=True)
        named["attn_mask"] = merged(self.bias(named["query"]), other, kept=True)
        named["is_causal"] = False
        self.n_masked += 1
        return func(**named)


class _Running(threading.local):
    """The models that run in this thread, the innermost last."""

    def __init__(self) -> None:
        self.stack: list[tuple[nn.Module, _Masking]] = []


_RUNNING = _Running()


def begin_masking(module: nn.Module, args: Any) -> None:
    """Before a model runs."""
    mode = _Masking(getattr(module, MASK))
    mode.__enter__()
    _RUNNING.stack.append((module, mode))


def end_masking(module: nn.Module, args: Any, result: Any) -> None:
    """After a model has run, or has failed to (there is no result then)."""
    if not _RUNNING.stack or _RUNNING.stack[-1][0] is not module:
        return
    _, mode = _RUNNING.stack.pop()
    mode.__exit__(None, None, None)
    if mode.n_masked == 0 and result is not None:
        seen = ", ".join(f"{a} to {b}" for a, b in dict.fromkeys(mode.others))
        raise InputError(
            f"the mask for {mode.bias.n_tokens} tokens met no attention to mask: the model has no "
            "nn.MultiheadAttention, and called scaled_dot_product_attention "
            + (f"only for other numbers of tokens ({seen})" if seen else "nowhere")
        )
