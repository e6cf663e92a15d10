"""How a pool's steps are shared among the lengths."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from grfpp.series import exp, log, power
from grfpp.termination import Matched, Termination
from grfpp.typing import FloatArray

#: Share of a factor's series that a table may leave out: far below what counts as a bias.
NEGLIGIBLE_TAIL = 1e-18
#: What the shares of steps fall to, beside ``1 / k``, over all lengths of what is learned.
_FALL = 0.01


class Budget(NamedTuple):
    """What a step may take of what the steps before it have left.

    A step that is exact may take less than its share, and what it leaves goes to later ones.
    """

    #: Of step ``k``, at index ``k``: its share of what is left, and what it leaves at least.
    share: FloatArray
    rest: FloatArray
    #: Steps in all, for every walk.
    mean: float

    @classmethod
    def by_importance(cls, importance: FloatArray, mean: float) -> Budget:
        """Shares in proportion to numbers that do not grow, one for each step."""
        later = np.cumsum(importance[::-1])[::-1]
        with np.errstate(invalid="ignore"):
            share = np.append(0.0, importance / later)
            rest = np.append(0.0, np.append(later[1:], 0.0) / later)
        return cls(share, rest, float(mean) if len(importance) else 0.0)  # no loop for whole ones

    @classmethod
    def by_law(cls, law: Termination, max_length: int) -> Budget:
        """``n_walks · τ(k)`` for step ``k``: as many as walkers of this law would take."""
        survival = law.survival(np.arange(1, max_length + 1))
        return cls.by_importance(survival, float(survival.sum()))

    @classmethod
    def matched(cls, law: Matched, modulation: FloatArray, log_growth: FloatArray) -> Budget:
        """Shares by what still matters: ``t_k = Σ_{j ≥ k} |f(j)| ‖W^j‖``.

        The table ends where ``t_k`` is below `NEGLIGIBLE_TAIL` of the whole.
        """
        logs = log(np.abs(modulation)) + log_growth[: len(modulation)]
        terms = exp(logs - logs.max())
        tail = np.cumsum(terms[::-1])[::-1]
        n = int(np.flatnonzero(tail > NEGLIGIBLE_TAIL * tail[0])[-1])
        return cls.by_importance(tail[1 : n + 1], law.mean)

    @classmethod
    def for_learning(cls, law: Matched, n_lengths: int) -> Budget:
        """Shares for a modulation of so many lengths that is still to be learned.

        They are ``0.01^(k / n_lengths) / k``: every doubling of the lengths gets about as much as
        the one before, but for the last ones. So walks do not depend on where learning begins, and
        wherever it ends no length that matters is without steps (`docs/torch.md` has figures).
        """
        k = np.arange(1, n_lengths)
        return cls.by_importance(power(_FALL, k / n_lengths) / k, law.mean)

    @property
    def max_length(self) -> int:
        """Steps of a pool that goes on to the end."""
        return len(self.share) - 1

    @property
    def survival(self) -> FloatArray:
        """Edges that may be followed in each step, for every walk; one at index 0."""
        left = np.cumprod(np.append(1.0, self.rest[1:-1]))
        return np.append(1.0, self.mean * self.share[1:] * left)

    def divided(self, amounts: FloatArray, n_walks: int) -> FloatArray:
        """What deposits of a mass are: the amounts as they are."""
        return amounts
