"""What claims are made of: comparisons, verdicts, charts and tables of rows.

A verdict is computed from rows: errors are compared pair by pair, differences by the paired t-test.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from math import nan, sqrt
from typing import Any

import numpy as np

from grfpp_lab.experiments.measuring import mean_and_error, title_of
from grfpp_lab.harness.experiment import Claim, Holds, Row, Rows, Verdict
from grfpp_lab.report.page import Table, TableGroup
from grfpp_lab.report.panels import Curve, Panel

#: Standard errors below which a difference is noise. Claims are made of dozens of comparisons, of
#: which some differ by two standard errors by chance.
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
        """Whether the difference is not significant."""
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
        facts = (
            f"{self.text} in {n_below} of {len(self.pairs)}, error × {self.ratio:.2f} on average"
        )
        if worse:
            shown = "; ".join(self._where(pair) for pair in worse[:_SHOWN])
            more = f"; and {len(worse) - _SHOWN} more" if len(worse) > _SHOWN else ""
            facts += f" (not at {shown}{more})"
        return facts

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
    facts: str | Sequence[str] = "nothing to compare",
    holds: Holds | bool | None = None,
    n_cases: int | None = None,
) -> Verdict:
    """What the paper says, and the measured facts, of `n_cases` graphs, meshes or data sets.

    Whether it holds may be a plain yes or no; by default nothing is judged.

    Examples
    --------
    >>> verdict("more is better", ["3 above 2", "2 above 1"], True)
    Verdict(paper='more is better', measured='3 above 2; 2 above 1', holds=<Holds.YES: 'holds'>)
    """
    if not isinstance(holds, Holds):
        holds = Holds.OPEN if holds is None else Holds.YES if holds else Holds.NO
    return Verdict(paper, facts if isinstance(facts, str) else "; ".join(facts), holds, n_cases)


def judged(paper: str, comparisons: Sequence[Comparison], more: str = "") -> Verdict:
    """The verdict on a claim that is made of comparisons: it holds when all of them do."""
    facts = [*(each.words() for each in comparisons), *([more] if more else [])]
    holds = worst([c.holds for c in comparisons])
    return verdict(paper, facts or "nothing to compare", holds, n_graphs(comparisons))


def n_graphs(comparisons: Sequence[Comparison]) -> int | None:
    """How many graphs are compared; nothing where there is nothing to compare."""
    return len({pair.low["graph"] for each in comparisons for pair in each.pairs}) or None


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
    if name == "graph":
        return title_of(value)
    if name == "n_walks":
        return "1 walk" if value == 1 else f"{value} walks"
    return {"budget": f"{value} steps", "degree": f"degree {value}"}.get(name, str(value))


#: Differences with a larger probability under chance are called noise.
LEVEL = 0.05


@dataclass(frozen=True)
class Difference:
    """By how much one method is above another in each pair.

    Examples
    --------
    >>> found = Difference([1.0, 2.0, 0.0])
    >>> found.mean, found.standard_error, found.p
    (1.0, 0.577..., 0.225...)
    >>> found.words()
    '+1.0 ± 0.6'
    """

    values: Sequence[float]

    @property
    def n(self) -> int:
        """How many pairs there are."""
        return len(self.values)

    @property
    def mean(self) -> float:
        """Of the differences."""
        return float(np.mean(self.values))

    @property
    def standard_error(self) -> float:
        """Of the mean; NaN for a single pair."""
        return float(np.std(self.values, ddof=1)) / sqrt(self.n) if self.n > 1 else nan

    @property
    def p(self) -> float:
        """Probability of a mean as far from 0, either way, if there were no difference.

        NaN for a single pair.
        """
        from scipy.stats import t

        mean, error = self.mean, self.standard_error
        if error == 0:
            return 1.0 if mean == 0 else 0.0
        return float(2 * t.sf(abs(mean) / error, self.n - 1)) if self.n > 1 else nan

    @property
    def is_sure(self) -> bool:
        """Whether the t-test is significant."""
        return self.p < LEVEL

    @property
    def is_noise(self) -> bool:
        """Whether it is small beside its standard error."""
        return abs(self.mean) <= NOISE * self.standard_error

    def words(self, digits: int = 1, times: float = 1.0) -> str:
        """Mean and standard error, both multiplied by `times`."""
        spread = f" ± {times * self.standard_error:.{digits}f}" if self.n > 1 else ""
        return f"{times * self.mean:+.{digits}f}{spread}"


def paired(ours: Mapping[Any, float], theirs: Mapping[Any, float]) -> Difference:
    """Compare two methods wherever both have a value.

    Examples
    --------
    >>> paired({0: 80.0, 1: 83.0, 2: 82.0}, {0: 79.0, 1: 81.0, 5: 90.0})
    Difference(values=[1.0, 2.0])
    """
    return Difference([ours[place] - theirs[place] for place in sorted(set(ours) & set(theirs))])


def our_bar(text: str, what: str = "pooled walks, which are ours") -> str:
    """Our bar, in place of a claim of the paper.

    Examples
    --------
    >>> our_bar("no error")
    'nothing of pooled walks, which are ours; our bar: no error'
    """
    return f"nothing of {what}; our bar: {text}"


def judge_gaps(
    bar: str,
    gaps: Mapping[str, float],
    words: Mapping[str, str],
    most: float,
    *,
    share: float = 1.0,
    unit: str = "",
    more: str = "",
) -> Verdict:
    """Whether pooled walks are within `most` of the exact kernel, in enough cases.

    Parameters
    ----------
    bar
        What is asked for.
    gaps, words
        By how much pooled walks are above the exact kernel, or below it, in each case, as a
        number and in words.
    most
        The largest gap, in either direction.
    share
        Of the cases in which that must be so.
    unit
        Of the gaps.
    more
        Further facts.

    Examples
    --------
    >>> judge_gaps("near", {"A": 0.1, "B": 2.0}, {"A": "+0.1", "B": "+2.0"}, 1.0).measured
    'pooled walks within 1 of exact on 1 of 2 (not on B +2.0)'
    """
    if not gaps:
        return verdict(our_bar(bar))
    missed = [name for name, gap in gaps.items() if not abs(gap) <= most]
    facts = (
        f"pooled walks within {most:g}{unit} of exact on {len(gaps) - len(missed)} of {len(gaps)}"
    )
    if missed:
        facts += f" (not on {'; '.join(f'{name} {words[name]}' for name in missed)})"
    holds = len(gaps) - len(missed) >= share * len(gaps)
    return verdict(our_bar(bar), [facts, more] if more else facts, holds, len(gaps))


def quoted_cells(experiment: str, name: str) -> dict[tuple[str, str], str]:
    """The cells of a table, by the first word of their line and by the head of their column.

    Examples
    --------
    >>> quoted_cells("normals", "cosines.txt")["64", "GRF++"]
    '.3889'
    """
    text = (files("grfpp_lab.experiments") / experiment / name).read_text(encoding="utf-8")
    header, *lines = (line.split() for line in text.splitlines())
    return {
        (line, column): cell
        for line, *cells in lines
        for column, cell in zip(header[1:], cells, strict=True)
    }


#: The number of walks that tables show, where it was measured.
MAIN_WALKS = 16
#: Pooled walks; rows of the paper's walks have no such column.
POOLED = "pooled"
PAPER = {"walks": None}
#: Labels of the axes that errors are drawn against.
_AXES = {"n_walks": "walks", "budget": "steps per node"}


@dataclass(frozen=True)
class Series:
    """A method: its name, its rows, and the style of its curve."""

    name: str
    where: Mapping[str, Any]
    style: int
    dashed: bool = False


def degree_name(degree: int) -> str:
    """The title of a stitching degree; degree 1 is GRF, without stitching."""
    return "GRF" if degree == 1 else f"GRF++ degree {degree}"


def degree_series(rows: Rows) -> list[Series]:
    """One method a stitching degree, and pooled walks where there are any."""
    paper = [row for row in rows if "walks" not in row]
    return [
        *(Series(degree_name(d), {"degree": d, **PAPER}, d - 1) for d in values(paper, "degree")),
        *pooled_series(rows),
    ]


def pooled_series(rows: Rows) -> list[Series]:
    """Pooled walks, by degree."""
    degrees = values(select(rows, walks=POOLED), "degree")
    return [
        Series(f"{POOLED}, degree {d}", {"degree": d, "walks": POOLED}, 4, dashed=d > degrees[0])
        for d in degrees
    ]


def select(rows: Rows, **wanted: Any) -> list[Row]:
    """The rows that have all these values."""
    return [row for row in rows if matches(row, wanted)]


def values(rows: Rows, name: str) -> list[Any]:
    """The different values of a column, sorted, without those that are missing."""
    return sorted({row[name] for row in rows if row.get(name) is not None})


def distinct(rows: Rows, name: str) -> list[Any]:
    """The different values of a column, in the order of the rows."""
    return list(dict.fromkeys(row[name] for row in rows))


# --- charts ---------------------------------------------------------------------------------------


def curve(
    name: str, rows: Rows, x: str, y: str, style: int = 0, *, spread: str = "", **options: bool
) -> Curve:
    """A point a row, in the order of `x`; bars where a column holds standard errors."""
    own = sorted(rows, key=lambda row: row[x])
    xs, ys = ([row[column] for row in own] for column in (x, y))
    return Curve(name, xs, ys, [row[spread] for row in own] if spread else (), style, **options)


def error_curve(name: str, rows: Rows, x: str, style: int, dashed: bool = False) -> Curve:
    """Mean errors, with bars for their standard errors."""
    return curve(name, rows, x, "error", style, spread="standard_error", dashed=dashed)


def mean_curve(
    name: str, rows: Rows, x: str, y: Callable[[Row], float], style: int, bars: bool = True
) -> Curve:
    """The mean over all rows at each `x`, with its standard error."""
    xs = values(rows, x)
    points = [mean_and_error([y(row) for row in select(rows, **{x: at})]) for at in xs]
    errors = [error for _, error in points] if bars else ()
    return Curve(name, xs, [mean for mean, _ in points], errors, style)


def chart(title: str, curves: Sequence[Curve], x_label: str, y_label: str, **more: Any) -> Panel:
    """A panel with the curves that have any points."""
    return Panel(title, [each for each in curves if len(each.x)], x_label, y_label, **more)


def error_panels(rows: Rows, series: Sequence[Series], x: str = "n_walks") -> list[Panel]:
    """A panel a graph with errors against a column, and one for pooled walks.

    Their errors are so much smaller that in one panel all other curves would be one line.
    """
    pooled = [each for each in series if each.where.get("walks") == POOLED]
    others = [each for each in series if each not in pooled]
    panels = []
    for graph in distinct(rows, "graph"):
        own = select(rows, graph=graph)
        for title, methods in ((title_of(graph), others), (f"{title_of(graph)}, pooled", pooled)):
            curves = [
                error_curve(each.name, select(own, **each.where), x, each.style, each.dashed)
                for each in methods
            ]
            panels.append(chart(title, curves, _AXES[x], "relative error", note=graph_note(own[0])))
    return [panel for panel in panels if panel.curves]


def graph_note(row: Row) -> str:
    """Size of a graph, and which pairs of it count."""
    note = f"{row['n_nodes']:,} nodes"
    if "distance" in row:
        note += f", distance ≥ {row['distance']}"
    return note


# --- tables ---------------------------------------------------------------------------------------


def table(
    columns: Sequence[str], lines: Sequence[Sequence[str]], caption: str, **more: Any
) -> Table:
    """A table whose lines stand in one group."""
    return Table(columns, [TableGroup("", lines)], caption, **more)


def number(value: float | None, form: str = ".4f") -> str:
    """A number in a table; nothing where there is none."""
    return "" if value is None else format(value, form)


def mean_text(numbers: Sequence[float], digits: int = 2) -> str:
    """Mean and standard error in a table.

    Examples
    --------
    >>> mean_text([1.0, 2.0, 3.0]), mean_text([1.0]), mean_text([])
    ('2.00 ± 0.58', '1.00', '')
    """
    if not numbers:
        return ""
    mean, error = mean_and_error(numbers)
    return f"{mean:.{digits}f}" + (f" ± {error:.{digits}f}" if len(numbers) > 1 else "")


def error_table(rows: Rows, series: Sequence[Series], at: str = "n_walks") -> Table:
    """Errors of every method on every graph, at one value of a column."""
    measured = values(rows, at)
    value = MAIN_WALKS if MAIN_WALKS in measured else measured[len(measured) // 2]
    lines = []
    for graph in distinct(rows, "graph"):
        own = select(rows, graph=graph, **{at: value})
        cells = [next((r for r in own if matches(r, each.where)), None) for each in series]
        lines.append([title_of(graph), *("" if r is None else plus_minus(r) for r in cells)])
    caption = f"Relative error at {value:,} {_AXES[at]}, mean and standard error."
    return table(["graph", *(each.name for each in series)], lines, caption)


# --- both -----------------------------------------------------------------------------------------


def error_claim(
    name: str,
    series: Callable[[Rows], Sequence[Series]],
    judge: Callable[[Rows], Verdict],
    *tables: Callable[[Rows], Table],
    own: Callable[[Rows], Rows] = lambda rows: rows,
    x: str = "n_walks",
    drawn: Callable[[Rows], Sequence[Series]] | None = None,
) -> Claim:
    """A claim on errors: a chart a graph, the errors at one place as a table, a verdict.

    Parameters
    ----------
    name, judge, tables
        As for `Claim`; the table of errors stands before the others.
    series
        The methods that are compared.
    own
        The rows that the claim is about.
    x
        The column that errors stand against.
    drawn
        The methods of the charts, if not all.
    """
    return Claim(
        name,
        lambda rows: error_panels(own(rows), (drawn or series)(own(rows)), x),
        lambda rows: judge(own(rows)),
        (lambda rows: error_table(own(rows), series(own(rows)), x), *tables),
    )
