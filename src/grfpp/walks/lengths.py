"""Walk-length laws as thresholds on random bits."""

from __future__ import annotations

from math import ldexp
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from grfpp.memory import require_bytes
from grfpp.termination import Termination
from grfpp.typing import FloatArray, WordArray

#: Bits of the uniform number that decides a length: survival below ``2^-128`` never happens.
LENGTH_BITS = 128
#: Cells of the guide table: a power of two, so that a cell is named by leading bits.
GUIDE_BITS = 10
#: No table is longer; at this length `p_halt` is below 1e-5.
MAX_TABLE = 1 << 23


class LengthTable(NamedTuple):
    """A walk-length law as integer thresholds on 128 random bits ``u``.

    A walk has at least ``k`` steps when ``u < threshold(k)``. The thresholds are the law's survival
    rounded down to a multiple of ``2^-128``, and `survival` holds that rounded value, so what is
    simulated and what deposits are divided by are the same numbers.
    """

    high: WordArray
    low: WordArray
    survival: FloatArray
    guide: npt.NDArray[np.int32]

    @classmethod
    def of(cls, law: Termination, max_length: int) -> LengthTable:
        """Tabulate `law` for lengths up to `max_length`, or to the resolution if that is less."""
        require_bytes(150 * max_length, f"a table of {max_length} walk lengths")
        thresholds = []
        for survival in law.survival(np.arange(1, max_length + 1)).tolist():
            threshold = min(int(ldexp(survival, LENGTH_BITS)), (1 << LENGTH_BITS) - 1)
            if threshold == 0:
                break
            thresholds.append(threshold)
        word = (1 << 64) - 1
        high = np.array([t >> 64 for t in thresholds], dtype=np.uint64)
        low = np.array([t & word for t in thresholds], dtype=np.uint64)
        return cls(
            high=high,
            low=low,
            survival=np.array([1.0, *(ldexp(float(t), -LENGTH_BITS) for t in thresholds)]),
            guide=_guide(high),
        )

    @property
    def max_length(self) -> int:
        """Steps of the longest walk."""
        return len(self.high)

    @property
    def mean(self) -> float:
        """Expected number of steps."""
        return float(self.survival[1:].sum())

    def divided(self, amounts: FloatArray, n_walks: int) -> FloatArray:
        """What deposits of one walker are: ``amounts / τ(k) / n_walks``."""
        return amounts / self.survival / n_walks


def resolvable_length(law: Termination, at_most: int = MAX_TABLE) -> int:
    """Longest walk of this law that 128 random bits can bring about, `at_most` as it is."""
    if law.max_length is not None:
        return min(law.max_length, at_most)
    low, high = 0, 1
    while high <= at_most and law.survival(high) >= ldexp(1.0, -LENGTH_BITS):
        low, high = high, 2 * high
    high = min(high, at_most + 1)
    while high - low > 1:
        middle = (low + high) // 2
        if law.survival(middle) >= ldexp(1.0, -LENGTH_BITS):
            low = middle
        else:
            high = middle
    return low


def _guide(high: WordArray) -> npt.NDArray[np.int32]:
    """For every value of the leading bits, the length that all such draws reach at least."""
    cells = 1 << GUIDE_BITS
    tops = np.arange(1, cells, dtype=np.uint64) << np.uint64(64 - GUIDE_BITS)
    reached = len(high) - np.searchsorted(high[::-1], tops, side="left")
    return np.append(reached, 0).astype(np.int32)
