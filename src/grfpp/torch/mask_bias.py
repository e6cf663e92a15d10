"""What is added to the logits of attention: ``λ M``, with ``λ`` given or learned."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from grfpp.arguments import finite
from grfpp.errors import InputError


class MaskBias(nn.Module):  # type: ignore[misc]
    """Holds a mask and its strength; ``bias(query)`` is ``λ M`` as the query wants it.

    Parameters
    ----------
    mask
        ``M``, one row and one column a token. It moves with the module, and is not saved with the
        weights.
    lam
        ``λ``.
    learn
        Whether ``λ`` is a parameter, ``lam`` in the state of the module; else nothing is saved.

    Examples
    --------
    >>> bias = MaskBias(torch.eye(3), lam=0.5)
    >>> list(bias.state_dict()), float(bias.lam)
    ([], 0.5)
    """

    def __init__(self, mask: torch.Tensor, lam: float = 0.5, learn: bool = False) -> None:
        super().__init__()
        checked = checked_mask(mask)
        self.register_buffer("mask", checked, persistent=False)
        strength = torch.tensor(finite(lam, "lam"), dtype=checked.dtype, device=checked.device)
        if learn:
            self.lam = nn.Parameter(strength)
        else:
            self.register_buffer("lam", strength, persistent=False)

    @property
    def n_tokens(self) -> int:
        """Tokens that the mask is for."""
        return int(self.mask.shape[0])

    def forward(self, query: torch.Tensor) -> torch.Tensor:
        """``λ M``, in the type of the query."""
        return strengthened(self.mask, self.lam, query.dtype)

    def extra_repr(self) -> str:
        """What is told of the module."""
        learned = isinstance(self.lam, nn.Parameter)
        return f"n_tokens={self.n_tokens}, lam={self.lam.item():g}, learned={learned}"

    def check(self, n_queries: int, n_keys: int) -> None:
        """Refuse sequences of another length."""
        if not n_queries == n_keys == self.n_tokens:
            raise InputError(
                f"this mask is for {self.n_tokens} tokens, but attention was asked for from "
                f"{n_queries} to {n_keys}; a mask for a model with a class token is made with "
                "class_token=True"
            )


def strengthened(mask: torch.Tensor, lam: float | torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """``λ M`` in a type, multiplied in the finer one of that and the mask's."""
    return (lam * mask.to(torch.promote_types(mask.dtype, dtype))).to(dtype)


def checked_mask(mask: Any) -> torch.Tensor:
    """Take a mask at the door."""
    if not isinstance(mask, torch.Tensor):
        raise InputError(
            f"mask must be a tensor, as graph_mask makes it, not a {type(mask).__name__}"
        )
    if mask.ndim != 2 or mask.shape[0] != mask.shape[1] or mask.numel() == 0:
        raise InputError(
            f"a mask has one row and one column a token, found shape {tuple(mask.shape)}"
        )
    if not mask.is_floating_point() or mask.layout != torch.strided:
        raise InputError(
            f"a mask is a dense tensor of floating-point numbers, found {mask.layout} {mask.dtype}"
        )
    if not torch.isfinite(mask).all():
        raise InputError("a mask must be finite, found NaN or infinite entries")
    return mask.detach()
