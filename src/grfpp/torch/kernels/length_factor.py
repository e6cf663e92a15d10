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
        n_deposits = len(deposits.amounts)
        if n_deposits > np.iinfo(np.int32).max:
            raise InputError(f"{n_deposits} deposits are too many for one factor; take fewer walks")
        self.n_lengths = deposits.n_lengths
        self.pattern = _pattern(deposits.indptr, deposits.columns, deposits.n_nodes)
        # A row an entry, a column a length: times the modulation, these are the values.
        ends = np.concatenate([[0], deposits.ends])
        self.by_length = _pattern(ends, deposits.lengths, self.n_lengths)
        amounts = torch.from_numpy(deposits.amounts).to(dtype or torch.get_default_dtype())
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
        f = modulation.to(self.amounts.dtype)
        return self.by_length.multiply(self.amounts, f)

    def forward(self, modulation: torch.Tensor) -> torch.Tensor:
        """``Φ(f)`` as a sparse CSR tensor."""
        return self.pattern.matrix(self.values(modulation))


def _pattern(indptr: npt.NDArray[Any], columns: npt.NDArray[Any], n: int) -> SparsePattern:
    return SparsePattern(
        torch.from_numpy(indptr.astype(np.int32)), torch.from_numpy(columns.astype(np.int32)), n
    )
