"""Where walks of each length lead, in some graphs side by side: exact, or walked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from grfpp.typing import FloatArray


class Powers(Protocol):
    """``W^1, W^2, …`` of a block-diagonal matrix of weights."""

    def spread(self, Y: FloatArray) -> Iterator[FloatArray]:
        """``W Y``, ``W² Y``, and so on."""
        ...

    def diagonals(self) -> FloatArray:
        """The diagonals of all powers, a row a length."""
        ...


@dataclass(frozen=True, eq=False)
class ExactPowers:
    """Of the weights themselves.

    Examples
    --------
    >>> powers = ExactPowers(sp.csr_array([[0.0, 1.0], [1.0, 0.0]]), 3)
    >>> [each.tolist() for each in powers.spread(np.array([1.0, 0.0]))]
    [[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]
    >>> powers.diagonals().tolist()
    [[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]]
    """

    weights: sp.csr_array
    n_lengths: int

    def spread(self, Y: FloatArray) -> Iterator[FloatArray]:
        """By so many products with the weights."""
        for _ in range(self.n_lengths):
            Y = self.weights @ Y
            yield Y

    def diagonals(self) -> FloatArray:
        """From powers of half the length: ``(W^2j)_ii = Σ_v (W^j)_iv (W^j)_vi``."""
        n = self.weights.shape[0]
        found = np.empty((self.n_lengths, n))
        half = sp.csr_array(sp.eye_array(n, format="csr"))
        for k in range(1, self.n_lengths + 1):
            following = sp.csr_array(half @ self.weights) if k % 2 else half
            found[k - 1] = (half * sp.csr_array(following.T)).sum(axis=1)
            half = following
        return found


@dataclass(frozen=True, eq=False)
class WalkedPowers:
    """Estimates of each power, of which the means are right: all here is linear in them."""

    matrices: Sequence[sp.csr_array]

    def spread(self, Y: FloatArray) -> Iterator[FloatArray]:
        """Products with the estimates."""
        for each in self.matrices:
            yield each @ Y

    def diagonals(self) -> FloatArray:
        """Of the estimates."""
        return np.array([each.diagonal() for each in self.matrices])
