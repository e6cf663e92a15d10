"""Masks for modules that call ``scaled_dot_product_attention`` themselves.

`MaskedForward` takes the place of a module's ``forward`` and runs it inside a `TorchFunctionMode`
that adds the mask. Neither is compiled: compilers that retain torch's functions would mask twice.
Importing this module imports torch's compiler, which takes seconds.
"""

from __future__ import annotations

from contextvars import ContextVar
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention
from torch.overrides import TorchFunctionMode

from grfpp.errors import InputError
from grfpp.torch.attention.softmax import MaskBias, broadcast_bias, merged

_ARGUMENTS = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale", "enable_gqa")


#: The masks that are active in this thread, the innermost last.
_ACTIVE: ContextVar[tuple[_Masking, ...]] = ContextVar("active graph masks", default=())


class _Masking(TorchFunctionMode):  # type: ignore[misc]  # untyped base
    """While it is the innermost, adds the mask to fused self-attention among its tokens."""

    def __init__(self, bias: MaskBias) -> None:
        super().__init__()
        self.bias = bias
        self.n_masked = 0
        #: Numbers of queries and keys of the calls without the mask.
        self.other_sizes: set[tuple[int, int]] = set()

    @torch.compiler.disable  # type: ignore[untyped-decorator]  # untyped in torch
    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        named = kwargs or {}
        if func is scaled_dot_product_attention and _ACTIVE.get()[-1] is self:
            named = self._masked({**dict(zip(_ARGUMENTS, args, strict=False)), **named})
            args = ()
        return func(*args, **named)

    def _masked(self, named: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a call, with the mask if it is self-attention among its tokens."""
        query, n = named["query"], self.bias.n_tokens
        sizes = int(query.shape[-2]), int(named["key"].shape[-2])
        if sizes != (n, n):
            self.other_sizes.add(sizes)
            return named
        self.n_masked += 1
        bias = broadcast_bias(self.bias(query), query, named["key"])
        attn_mask = merged(bias, named.get("attn_mask"), True)
        if named.get("is_causal"):
            causal = torch.ones(sizes, dtype=torch.bool, device=query.device).tril()
            attn_mask = merged(attn_mask, causal, True)
        return {**named, "attn_mask": attn_mask, "is_causal": False}


class MaskedForward:
    """The ``forward`` of a module that calls fused attention itself, with the mask.

    Every module of a model has one, not only the outermost: gradient checkpointing runs modules
    again, one by one, after the model has ended.

    Parameters
    ----------
    module, bias
        The module and its mask.
    is_model
        Whether it is the whole model, where a mask that was never used is an error.
    """

    def __init__(self, module: nn.Module, bias: MaskBias, is_model: bool) -> None:
        self.module, self.bias, self.is_model = module, bias, is_model
        #: The function by which another library has replaced the method, if any.
        self.patched = vars(module).get("forward")

    @torch.compiler.disable(recursive=False)  # type: ignore[untyped-decorator]  # untyped in torch
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the module with the mask."""
        forward = self.patched or partial(type(self.module).forward, self.module)
        active = _ACTIVE.get()
        if active and active[-1].bias is self.bias:
            return forward(*args, **kwargs)
        masking = _Masking(self.bias)
        token = _ACTIVE.set((*active, masking))
        try:
            with masking:
                result = forward(*args, **kwargs)
        finally:
            _ACTIVE.reset(token)
        if self.is_model and not masking.n_masked:
            sizes = ", ".join(f"{q} to {k}" for q, k in sorted(masking.other_sizes)) or "none"
            problem = f"for {self.bias.n_tokens} tokens fits no self-attention of this model "
            problem += f"(numbers of queries and keys of fused calls: {sizes})"
            raise InputError(problem, argument="mask")
        return result


@torch.compiler.disable  # type: ignore[untyped-decorator]  # untyped in torch
def count_masked(bias: MaskBias) -> None:
    """Count an ``nn.MultiheadAttention`` inside a model that has been masked."""
    active = _ACTIVE.get()
    if active and active[-1].bias is bias:
        active[-1].n_masked += 1
