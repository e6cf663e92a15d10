"""Bars that were set before, what was found, and the verdict on all of them together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from grfpp_lab.experiments.verdicts import verdict
from grfpp_lab.harness.experiment import Verdict

#: What the paper says, before what we do.
OURS = "nothing of pooled walks; our bar: "


class Bar(NamedTuple):
    """A number that may be at most so large."""

    what: str
    found: float
    most: float

    @property
    def is_met(self) -> bool:
        """Whether it is small enough."""
        return self.found <= self.most

    def words(self) -> str:
        """What was found, and the bar where it is not met."""
        missed = "" if self.is_met else f" (bar {self.number(self.most)}, missed)"
        return f"{self.what} {self.number(self.found)}{missed}"

    def number(self, value: float) -> str:
        """How numbers are written."""
        return small(value)


class Ratio(Bar):
    """One error over another."""

    def number(self, value: float) -> str:
        """As one part in so many."""
        return part(value)


def judge_bars(claim: str, bars: Sequence[Bar], more: Sequence[str] = ()) -> Verdict:
    """Whether all bars are met; nothing is judged where there is none.

    Examples
    --------
    >>> judge_bars("small", [Bar("a", 0.01, 0.02), Bar("b", 0.05, 0.02)]).measured
    '1 of 2 bars met: a 0.01, b 0.05 (bar 0.02, missed)'
    """
    if not bars:
        return verdict(OURS + claim)
    n_met = sum(bar.is_met for bar in bars)
    told = f"{n_met} of {len(bars)} bars met: {', '.join(bar.words() for bar in bars)}"
    return verdict(OURS + claim, [told, *more], n_met == len(bars))


def small(value: float) -> str:
    """A number in two digits.

    Examples
    --------
    >>> small(0.0123), small(5e-8)
    ('0.012', '5e-08')
    """
    return f"{value:.2g}"


def part(ratio: float) -> str:
    """A ratio as one part in so many.

    Examples
    --------
    >>> part(0.0123), part(1e-6), part(1.2)
    ('1/81', '1/1,000,000', '× 1.2')
    """
    return f"1/{1 / ratio:,.0f}" if 0 < ratio < 0.7 else f"× {ratio:.2g}"
