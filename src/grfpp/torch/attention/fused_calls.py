"""Add a graph mask to calls of torch's fused attention, while a model runs.

For models with attention of their own, which call
``torch.nn.functional.scaled_dot_product_attention`` somewhere inside. Every module of such a model
begins and ends the masking, not only the outermost: gradient checkpointing runs modules again, one
by one, when the model has long ended.

Nothing of this is compiled. Else a call would be masked when it is traced, and again when it is run
by a compiler that keeps torch's functions.
"""

from __future__ import annotations

import sys
import threading
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from grfpp.errors import InputError
from grfpp.torch.attention.mask_bias import MaskBias
from grfpp.torch.attention.merging import Call, as_bias, merged, merged_arguments
from grfpp.torch.attention.padding import beside

_ARGUMENTS = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale", "enable_gqa")


@dataclass
class _Tally:
    """What a mask has met."""

    n_masked: int = 0
    #: Fused calls for other numbers of tokens.
    others: list[tuple[int, int]] = field(default_factory=list)
    #: Calls of ``nn.MultiheadAttention`` from some tokens to others.
    n_across: int = 0


class _Masking(TorchFunctionMode):  # type: ignore[misc]  # untyped base
    """While entered, fused self-attention among as many tokens as the mask has gets the mask."""

    def __init__(self, bias: MaskBias, tally: _Tally) -> None:
        super().__init__()
        self.bias = bias
        self.tally = tally

    @torch.compiler.disable  # type: ignore[untyped-decorator]  # torch or numba: no types
    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if func is not nn.functional.scaled_dot_product_attention:
            return func(*args, **(kwargs or {}))
        return self._attend(func, {**dict(zip(_ARGUMENTS, args, strict=False)), **(kwargs or {})})

    def _attend(self, func: Any, named: dict[str, Any]) -> Any:
        """A call of fused attention, with the mask where it is due."""
        inner = _RUNNING.stack[-1] if _RUNNING.stack else None
        if inner is None or inner.mode is not self or inner.is_over():
            return func(**named)
        sizes = int(named["query"].shape[-2]), int(named["key"].shape[-2])
        if sizes != (self.bias.n_tokens, self.bias.n_tokens):
            self.tally.others.append(sizes)
            return func(**named)
        other = named.get("attn_mask")
        if named.get("is_causal"):
            kept = torch.ones(sizes, dtype=torch.bool, device=named["query"].device).tril()
            other = merged(as_bias(kept, named["query"].dtype), other, kept=True)
        bias = beside(self.bias(named["query"]), named["query"])
        named["attn_mask"] = merged(bias, other, kept=True)
        named["is_causal"] = False
        self.tally.n_masked += 1
        return func(**named)


@dataclass
class _Run:
    """A module that runs."""

    module: nn.Module
    bias: MaskBias
    tally: _Tally
    #: What masks its fused calls, if anything does.
    mode: _Masking | None
    entered: bool
    #: Where in Python's stack it runs.
    call: FrameType | None

    def is_over(self) -> bool:
        """Whether it has ended without saying so: interrupted from the keyboard."""
        if self.call is None:
            return False
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame is not self.call:
            frame = frame.f_back
        return frame is None


class _Running(threading.local):
    """The modules that run in this thread, the innermost last."""

    def __init__(self) -> None:
        self.stack: list[_Run] = []


_RUNNING = _Running()


class Masker:
    """The hooks of a model's modules. It is copied and pickled with them."""

    def __init__(self, bias: MaskBias) -> None:
        self.bias = bias

    @torch.compiler.disable  # type: ignore[untyped-decorator]  # torch or numba: no types
    def begin(self, module: nn.Module, args: Any) -> None:
        """Before a module runs."""
        self._push(module, masks=True)

    @torch.compiler.disable  # type: ignore[untyped-decorator]  # torch or numba: no types
    def merge(
        self, attention: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Call | None:
        """Before an ``nn.MultiheadAttention`` runs: its own fused call is not masked again."""
        tally = self._push(attention, masks=False)
        found = merged_arguments(attention, args, kwargs)
        tally.n_across += found is None
        tally.n_masked += found is not None
        return found

    @torch.compiler.disable  # type: ignore[untyped-decorator]  # torch or numba: no types
    def end(self, module: nn.Module, args: Any, result: Any) -> None:
        """After a module has run, or has failed to."""
        self._pop(module)

    @torch.compiler.disable  # type: ignore[untyped-decorator]  # torch or numba: no types
    def finish(self, model: nn.Module, args: Any, result: Any) -> None:
        """After the whole model has run, or has failed to (there is no result then)."""
        tally = self._pop(model)
        if tally is None or tally.n_masked or result is None:
            return
        found = []
        if tally.others:
            seen = ", ".join(f"{a} to {b}" for a, b in dict.fromkeys(tally.others))
            found.append(
                f"scaled_dot_product_attention was called only for other numbers of tokens ({seen})"
            )
        if tally.n_across:
            found.append("nn.MultiheadAttention was called only with keys that are not its queries")
        raise InputError(
            f"the mask for {self.bias.n_tokens} tokens met no self-attention to mask: "
            + (
                ", and ".join(found)
                or "nn.MultiheadAttention and scaled_dot_product_attention were called nowhere"
            )
        )

    def _push(self, module: nn.Module, masks: bool) -> _Tally:
        stack = _RUNNING.stack
        while stack and stack[-1].is_over():
            stack.pop()  # its mode stays where torch has it, and does nothing any more
        outer = stack[-1] if stack and stack[-1].bias is self.bias else None
        tally = _Tally() if outer is None else outer.tally
        mode = outer.mode if outer is not None and masks else None
        entered = masks and mode is None
        if entered:
            mode = _Masking(self.bias, tally)
            mode.__enter__()
        stack.append(_Run(module, self.bias, tally, mode, entered, _caller()))
        return tally

    def _pop(self, module: nn.Module) -> _Tally | None:
        stack = _RUNNING.stack
        if not stack or stack[-1].module is not module:
            return None
        run = stack.pop()
        if run.entered and run.mode is not None:
            run.mode.__exit__(None, None, None)
        return run.tally


def _caller() -> FrameType | None:
    """The call, in Python's stack, that has a hook called and lasts until the module has ended."""
    frame: FrameType | None = sys._getframe(1)
    # A hook goes through functions of this module, and of the compiler.
    between = (__name__, "torch._dynamo")
    while frame is not None and frame.f_globals.get("__name__", "").startswith(between):
        frame = frame.f_back
    return frame
