"""What is added to the logits of attention: ``λ M``, with ``λ`` given or learned."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from grfpp.arguments import finite, truth
from grfpp.errors import InputError


class MaskBias(nn.Module):  # type: ignore[misc]  # untyped base
    """Holds a mask and its strength; ``bias(query)`` is ``λ M`` as the query wants it.

    The mask moves with the module and is not saved with the weights; ``λ`` is, as ``lam``, where
    it is learned. Without a mask, each call brings its own.

    Examples
    --------
    >>> bias = MaskBias(torch.eye(3), lam=0.5)
    >>> list(bias.state_dict()), float(bias.lam)
    ([], 0.5)
    """

    def __init__(self, mask: torch.Tensor | None, lam: float = 0.5, learn: bool = False) -> None:
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
        """Tokens that the mask is for."""
        return int(self.mask.shape[-1])

    def forward(self, query: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        """``λ M``, in the type of the query and beside it; of another mask where one is given."""
        chosen = self.mask if mask is None else mask
        if chosen is None:
            raise InputError("this attention was made without a mask: pass one to every call")
        moved, lam = (each.to(query.device) for each in (chosen, self.lam))
        return strengthened(moved, lam, query.dtype)

    def exchange(self, mask: torch.Tensor) -> None:
        """Take another mask from now on."""
        check_mask(mask)
        self.mask = mask.detach().to(self.lam.device)

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        """A state from before the mask was added leaves ``λ`` as it is."""
        if isinstance(self.lam, nn.Parameter):
            state_dict.setdefault(f"{prefix}lam", self.lam.detach())
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def extra_repr(self) -> str:
        """What is told of the module."""
        learned = isinstance(self.lam, nn.Parameter)
        if self.mask is None:
            return f"no mask, lam={self.lam.item():g}, learned={learned}"
        batch = f"batch={len(self.mask)}, " if self.mask.ndim == 3 else ""
        return f"{batch}n_tokens={self.n_tokens}, lam={self.lam.item():g}, learned={learned}"

    def check(self, n_queries: int, n_keys: int) -> None:
        """Refuse sequences of another length."""
        check_tokens(self.n_tokens, n_queries, n_keys)


def strengthened(mask: torch.Tensor, lam: float | torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """``λ M`` in a type, multiplied in the finer one of that and the mask's.

    In a batch, minus infinity is padding, which stays that for every ``λ``.
    """
    finer = mask.to(torch.promote_types(mask.dtype, dtype))
    if mask.ndim == 2:
        return (lam * finer).to(dtype)
    padding = torch.isneginf(finer)
    # Not infinity times λ: that is nothing at 0, and its derivative is nothing anywhere.
    return (lam * finer.masked_fill(padding, 0)).masked_fill(padding, float("-inf")).to(dtype)


def check_tokens(n_tokens: int, n_queries: int, n_keys: int) -> None:
    """Refuse attention among other numbers of tokens than a mask has."""
    if not n_queries == n_keys == n_tokens:
        raise InputError(
            f"this mask is for {n_tokens} tokens, but attention was asked for from {n_queries} to "
            f"{n_keys}; a mask for a model with a class token is made with class_token=True"
        )


def checked_strength(lam: Any) -> float | torch.Tensor:
    """Take ``λ`` at the door: a number, or a tensor of one."""
    if not isinstance(lam, torch.Tensor):
        return finite(lam, "lam")
    if lam.numel() != 1 or lam.is_complex() or lam.dtype == torch.bool:
        raise InputError(
            f"lam must be one real number, found {lam.dtype} of shape {tuple(lam.shape)}"
        )
    # While compiling there are no values to look at.
    if not torch.compiler.is_compiling() and not torch.isfinite(lam).all():
        raise InputError(f"lam must be a finite number, found {lam.item()!r}")
    return lam.reshape(())


def check_mask(mask: Any) -> None:
    """Refuse what is no mask."""
    if not isinstance(mask, torch.Tensor):
        raise InputError(
            f"mask must be a tensor, as graph_mask makes it, not a {type(mask).__name__}"
        )
    if mask.ndim not in (2, 3) or mask.shape[-2] != mask.shape[-1] or mask.numel() == 0:
        raise InputError(
            "a mask has one row and one column a token, and a batch of them one such matrix a "
            f"sequence, found shape {tuple(mask.shape)}"
        )
    if not mask.is_floating_point() or mask.layout != torch.strided:
        raise InputError(
            f"a mask is a dense tensor of floating-point numbers, found {mask.layout} {mask.dtype}"
        )
    if torch.compiler.is_compiling():
        return  # there are no values to look at
    kept = torch.isfinite(mask)
    if not kept.all() and (mask.ndim == 2 or not (kept | torch.isneginf(mask)).all()):
        raise InputError("a mask must be finite, found NaN or infinite entries")
    if not kept.any(dim=-1).all():
        raise InputError("a mask leaves some token nothing to attend to: its row is all infinite")
