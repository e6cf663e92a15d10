"""Comparisons of errors, counted and put into words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grfpp_lab.harness.experiment import Holds, Row, Rows, Verdict

#: A difference is noise when it is smaller than so many of its standard errors. Claims are made
#: of dozens of comparisons, so some differ by two by chance.
NOISE = 3.0
_SHOWN = 3


@dataclass(frozen=True)
class Pair:
    """Two rows that differ in one thing, the first of which should have the smaller error."""

    low: Row
    high: Row

    @property
    def ratio(self) -> float:
        """Error of the first over that of the second."""
        return float(self.low["error"] / self.high["error"])

    @property
    def is_below(self) -> bool:
        """Whether the first has the smaller mean error."""
        return bool(self.low["error"] < self.high["error"])

    @property
    def is_noise(self) -> bool:
        """Whether the difference is too small to be told from chance."""
        difference = abs(self.low["error"] - self.high["error"])
        spread = math.hypot(self.low["standard_error"], self.high["standard_error"])
        return bool(difference < NOISE * spread)

    def __str__(self) -> str:
        chance = ", noise" if self.is_noise else ""
        return f"{plus_minus(self.low)} against {plus_minus(self.high)}{chance}"


@dataclass(frozen=True)
class Comparison:
    """All pairs of one kind."""

    text: str
    pairs: Sequence[Pair]
    by: Sequence[str]

    @property
    def exceptions(self) -> list[Pair]:
        """Pairs in which the first is not below the second, the worst first."""
        return sorted((p for p in self.pairs if not p.is_below), key=lambda p: -p.ratio)

    @property
    def holds(self) -> Holds:
        """Whether the first is below the second in every pair.

        Within noise: in most of them and on average, and no exception is larger than chance.
        """
        if self.pairs and self.exceptions and self.ratio >= 1:
            return Holds.NO
        return mostly(len(self.pairs), [pair.is_noise for pair in self.exceptions])

    @property
    def ratio(self) -> float:
        """Geometric mean of the ratios of the errors."""
        return math.exp(sum(math.log(p.ratio) for p in self.pairs) / len(self.pairs))

    def words(self) -> str:
        """How many, by how much, and where not."""
        if not self.pairs:
            return f"{self.text}: nothing to compare"
        worse = self.exceptions
        n_below = len(self.pairs) - len(worse)
        told = f"{self.text} in {n_below} of {len(self.pairs)}, error × {self.ratio:.2f} on average"
        if worse:
            shown = "; ".join(self._where(pair) for pair in worse[:_SHOWN])
            more = f"; and {len(worse) - _SHOWN} more" if len(worse) > _SHOWN else ""
            told += f" (not at {shown}{more})"
        return told

    def _where(self, pair: Pair) -> str:
        return f"{', '.join(_place(name, pair.low[name]) for name in self.by)}: {pair}"


def compare(
    rows: Rows,
    text: str,
    low: Mapping[str, Any],
    high: Mapping[str, Any],
    by: Sequence[str] = ("graph", "n_walks"),
) -> Comparison:
    """Pair the rows that match `low` with those that match `high` and agree in `by`.

    Examples
    --------
    >>> rows = [
    ...     {"graph": "a", "degree": d, "error": e, "standard_error": 0.01}
    ...     for d, e in [(1, 0.4), (2, 0.3)]
    ... ]
    >>> compare(rows, "degree 2 below degree 1", {"degree": 2}, {"degree": 1}, ["graph"]).words()
    'degree 2 below degree 1 in 1 of 1, error × 0.75 on average'
    """
    partners = {tuple(row[name] for name in by): row for row in rows if matches(row, high)}
    pairs = []
    for row in rows:
        partner = partners.get(tuple(row.get(name) for name in by))
        if matches(row, low) and partner is not None and partner is not row:
            pairs.append(Pair(row, partner))
    return Comparison(text, pairs, by)


def matches(row: Row, wanted: Mapping[str, Any]) -> bool:
    """Whether a row has all the wanted values."""
    return all(row.get(name) == value for name, value in wanted.items())


def verdict(
    paper: str,
    told: str | Sequence[str] = "nothing to compare",
    holds: Holds | bool | None = None,
) -> Verdict:
    """What the paper says beside what is told, in one or several parts.

    Whether it holds may be a plain yes or no; by default nothing is judged.

    Examples
    --------
    >>> verdict("more is better", ["3 above 2", "2 above 1"], True)
    Verdict(paper='more is better', measured='3 above 2; 2 above 1', holds=<Holds.YES: 'holds'>)
    """
    if not isinstance(holds, Holds):
        holds = Holds.OPEN if holds is None else Holds.YES if holds else Holds.NO
    return Verdict(paper, told if isinstance(told, str) else "; ".join(told), holds)


def judged(paper: str, comparisons: Sequence[Comparison], more: str = "") -> Verdict:
    """The verdict on a claim that is made of comparisons: it holds when all of them do."""
    told = [*(each.words() for each in comparisons), *([more] if more else [])]
    return verdict(paper, told or "nothing to compare", worst([c.holds for c in comparisons]))


def mostly(n: int, exceptions: Sequence[bool]) -> Holds:
    """Whether something holds in `n` cases but for exceptions, each of which is noise or not.

    Within noise: in most of them, and no exception is larger than chance.
    """
    if not n:
        return Holds.OPEN
    if not exceptions:
        return Holds.YES
    return Holds.NOISE if 2 * len(exceptions) < n and all(exceptions) else Holds.NO


def worst(answers: Sequence[Holds]) -> Holds:
    """The least favourable of several answers; open when there is none."""
    order = (Holds.NO, Holds.NOISE, Holds.YES)
    return next((answer for answer in order if answer in answers), Holds.OPEN)


def plus_minus(row: Row) -> str:
    """An error with its standard error, to the digits that the latter allows.

    Examples
    --------
    >>> plus_minus({"error": 0.12, "standard_error": 0.00041})
    '0.1200 ± 0.0004'
    """
    error, spread = row["error"], row["standard_error"]
    if not spread:
        return f"{error:.3g}"
    digits = min(max(-math.floor(math.log10(spread)), 0), 6)
    return f"{error:.{digits}f} ± {spread:.{digits}f}"


def _place(name: str, value: Any) -> str:
    from grfpp_lab.experiments.graphs import title_of

    if name == "graph":
        return title_of(value)
    if name == "n_walks":
        return "1 walk" if value == 1 else f"{value} walks"
    return {"budget": f"{value} steps", "degree": f"degree {value}"}.get(name, str(value))
