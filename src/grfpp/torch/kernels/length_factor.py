"""A factor as a differentiable function of its modulation, from one set of walks."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
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

    amounts: torch.Tensor

    def __init__(self, deposits: LengthDeposits, dtype: torch.dtype | None = None) -> None:
        super().__init__()
        n_entries, n_deposits = len(deposits.columns), len(deposits.amounts)
        if n_deposits > np.iinfo(np.int32).max:
            raise InputError(f"{n_deposits} deposits are too many for one factor; take fewer walks")
        self.n_lengths = deposits.n_lengths
        self.pattern = _pattern(deposits.indptr, deposits.columns, deposits.n_nodes)
        # A row a length, and in each the deposits in the order of the entries they go to.
        order = np.argsort(deposits.lengths, kind="stable")
        every = np.arange(n_entries, dtype=np.int32)
        entries = np.repeat(every, np.diff(deposits.ends, prepend=0))[order]
        self.counts = np.bincount(deposits.lengths, minlength=self.n_lengths).tolist()
        self.by_length = _pattern(np.cumsum([0, *self.counts]), entries, n_entries)
        amounts = torch.from_numpy(deposits.amounts[order]).to(dtype or torch.get_default_dtype())
        self.register_buffer("amounts", amounts, persistent=False)

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
        combined: torch.Tensor = _Combine.apply(modulation.to(self.amounts.dtype), self, False)
        return combined

    def forward(self, modulation: torch.Tensor) -> torch.Tensor:
        """``Φ(f)`` as a sparse CSR tensor."""
        return self.pattern.matrix(self.values(modulation))


class _Combine(torch.autograd.Function):  # type: ignore[misc]  # untyped base
    """``Σ_k f(k) Φ_k``, a linear map of f, or its transpose."""

    @staticmethod
    def forward(
        ctx: Any, vector: torch.Tensor, factor: LengthFactor, transposed: bool
    ) -> torch.Tensor:
        ctx.factor, ctx.transposed = factor, transposed
        pattern, amounts, counts = factor.by_length, factor.amounts, factor.counts
        if transposed:
            return pattern.multiply(amounts, vector)
        values = vector.new_zeros(pattern.shape[1])
        # Faster than a sparse product: memory is met in order.
        parts = zip(pattern.columns.split(counts), amounts.split(counts), strict=True)
        for f, (entries, deposits) in zip(vector.tolist(), parts, strict=True):
            values.index_add_(0, entries, deposits, alpha=f)
        return values

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        return _Combine.apply(grad, ctx.factor, not ctx.transposed), None, None


def _pattern(indptr: npt.NDArray[Any], columns: npt.NDArray[Any], n: int) -> SparsePattern:
    return SparsePattern(torch.from_numpy(indptr.astype(np.int32)), torch.from_numpy(columns), n)
