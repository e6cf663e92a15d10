"""A factor as a differentiable function of its modulation, from one set of walks."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from grfpp.errors import InputError
from grfpp.torch.kernels.pattern import SparsePattern
from grfpp.walks.by_length import LengthDeposits


class LengthFactor(nn.Module):  # type: ignore[misc]  # untyped base
    """The factor ``Φ(f) = Σ_k f(k) Φ_k``, where the ``Φ_k`` share one pattern.

    All tensors are buffers: they move with ``.to(device)`` and are no part of the state that is
    saved, since the seed tells them.

    Parameters
    ----------
    deposits
        The matrices ``Φ_k``, from `grfpp.walks.by_length.sample_by_length`.
    dtype
        Of the values; torch's default if not given.

    Examples
    --------
    >>> import grfpp, numpy as np
    >>> from grfpp.walks import WalkPlan
    >>> from grfpp.walks.by_length import sample_by_length
    >>> W = grfpp.Graph([[0, 1], [1, 0]]).normalized("sym")
    >>> plan = WalkPlan.of(W, np.ones(3), grfpp.FixedLength(2), n_walks=5, seed=0)
    >>> factor = LengthFactor(sample_by_length(plan))
    >>> factor.values(torch.tensor([1.0, 0.5, 0.125]))   # of (0, 0), (0, 1), (1, 1), (1, 0)
    tensor([1.1250, 0.5000, 1.1250, 0.5000])
    """

    entries: torch.Tensor
    amounts: torch.Tensor

    def __init__(self, deposits: LengthDeposits, dtype: torch.dtype | None = None) -> None:
        super().__init__()
        n_entries, n_deposits = len(deposits.columns), len(deposits.amounts)
        if n_deposits > np.iinfo(np.int32).max:
            raise InputError(f"{n_deposits} deposits are too many for one factor; take fewer walks")
        self.n_lengths = deposits.n_lengths
        self.pattern = SparsePattern(
            torch.from_numpy(deposits.indptr.astype(np.int32)),
            torch.from_numpy(deposits.columns),
            deposits.n_nodes,
        )
        # By length, and within each in the order of the entries: memory is met in order.
        order = np.argsort(deposits.lengths, kind="stable")
        counts = np.diff(deposits.ends, prepend=0)
        entries = np.repeat(np.arange(n_entries, dtype=np.int32), counts)[order]
        ends = np.cumsum(np.bincount(deposits.lengths, minlength=self.n_lengths)).tolist()
        self.spans = tuple(map(slice, [0, *ends[:-1]], ends))
        amounts = torch.from_numpy(deposits.amounts[order])
        self.register_buffer("entries", torch.from_numpy(entries), persistent=False)
        self.register_buffer(
            "amounts", amounts.to(dtype or torch.get_default_dtype()), persistent=False
        )

    @property
    def n_nodes(self) -> int:
        """Number of rows and of columns."""
        return self.pattern.shape[0]

    def values(self, modulation: torch.Tensor) -> torch.Tensor:
        """The values of ``Φ(f)`` at the positions of `pattern`.

        Parameters
        ----------
        modulation
            ``f(0) … f(n_lengths - 1)``.
        """
        if not isinstance(modulation, torch.Tensor) or modulation.shape != (self.n_lengths,):
            found = (
                f"a tensor of shape {tuple(modulation.shape)}"
                if isinstance(modulation, torch.Tensor)
                else repr(modulation)
            )
            raise InputError(
                f"the modulation must be a vector of {self.n_lengths} numbers, found {found}"
            )
        combined: torch.Tensor = _Combine.apply(modulation.to(self.amounts.dtype), self)
        return combined

    def forward(self, modulation: torch.Tensor) -> torch.Tensor:
        """``Φ(f)`` as a sparse CSR tensor."""
        return self.pattern.matrix(self.values(modulation))


class _Combine(torch.autograd.Function):  # type: ignore[misc]  # untyped base
    """``Σ_k f(k) Φ_k``, a linear map of f."""

    @staticmethod
    def forward(ctx: Any, modulation: torch.Tensor, factor: LengthFactor) -> torch.Tensor:
        ctx.factor = factor
        values = torch.zeros(
            factor.pattern.n_entries, dtype=modulation.dtype, device=modulation.device
        )
        for f, span in zip(modulation, factor.spans, strict=True):
            values.index_add_(0, factor.entries[span], f * factor.amounts[span])
        return values

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None]:
        return _Split.apply(grad, ctx.factor), None


class _Split(torch.autograd.Function):  # type: ignore[misc]  # untyped base
    """The transpose of `_Combine`: how much a change of each f(k) matters."""

    @staticmethod
    def forward(ctx: Any, grad: torch.Tensor, factor: LengthFactor) -> torch.Tensor:
        ctx.factor = factor
        return torch.stack(
            [
                torch.dot(factor.amounts[span], grad.index_select(0, factor.entries[span]))
                for span in factor.spans
            ]
        )

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None]:
        return _Combine.apply(grad, ctx.factor), None
