"""Pooled walks against the paper's: charts, tables and verdicts."""

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any, NamedTuple

from grfpp_lab.experiments import claims as views
from grfpp_lab.experiments.claims import (
    Comparison,
    Series,
    chart,
    compare,
    distinct,
    judged,
    select,
    verdict,
)
from grfpp_lab.experiments.measuring import EIGHT
from grfpp_lab.experiments.refined import measuring as graphs
from grfpp_lab.experiments.refined.measuring import (
    AVERAGED,
    CHEBYSHEV,
    DEFLATED,
    DEGREE,
    FAST,
    INDEPENDENT,
    LARGEST,
    MIDDLE,
    POOLED,
    SLOW,
    SLOW_INVERSE,
    WALKED,
    series,
    title_of,
)
from grfpp_lab.harness.experiment import Claim, Row, Rows, Verdict
from grfpp_lab.report.page import Table
from grfpp_lab.report.panels import Panel

#: What the paper says, before what we do.
OURS = "nothing of pooled walks; our bar: "


class Bar(NamedTuple):
    """A number and its upper bound."""

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
        """As a fraction 1/n."""
        return part(value)


def judge_bars(
    claim: str, bars: Sequence[Bar], more: Sequence[str] = (), n_cases: int | None = None
) -> Verdict:
    """Whether all bars are met; nothing is judged where there is none.

    Examples
    --------
    >>> judge_bars("small", [Bar("a", 0.01, 0.02), Bar("b", 0.05, 0.02)]).measured
    '1 of 2 bars met: a 0.01, b 0.05 (bar 0.02, missed)'
    """
    if not bars:
        return verdict(OURS + claim)
    n_met = sum(bar.is_met for bar in bars)
    facts = f"{n_met} of {len(bars)} bars met: {', '.join(bar.words() for bar in bars)}"
    return verdict(OURS + claim, [facts, *more], n_met == len(bars), n_cases)


def small(value: float) -> str:
    """A number in two digits.

    Examples
    --------
    >>> small(0.0123), small(5e-8)
    ('0.012', '5e-08')
    """
    return f"{value:.2g}"


def part(ratio: float) -> str:
    """A ratio as a fraction 1/n.

    Examples
    --------
    >>> part(0.0123), part(1e-6), part(1.2)
    ('1/81', '1/1,000,000', '× 1.2')
    """
    return f"1/{1 / ratio:,.0f}" if 0 < ratio < 0.7 else f"× {ratio:.2g}"


#: Steps a node in all of the claims: what 16 walks of the paper take at degree 2.
STEPS = 576
#: Graphs with hubs, where pooled walks gain least.
WITH_HUBS = ("eurosis", graphs.SCALE_FREE)
#: Error of independent walks over that of pooled ones, at equal steps and entries.
HUBS_GAIN, GAIN, ENTRIES_GAIN = 25, 80, 20
SLOW_BARS = {SLOW: 0.02, SLOW_INVERSE: 0.09}
#: Graph and kernel: error of the whole matrix, and without the diagonal.
WEIGHTED_BARS = {
    (graphs.NEIGHBOURS, FAST): (0.002, 0.003),
    (graphs.DENSE, FAST): (0.03, 0.08),
    (graphs.RANDOM + graphs.LOG_NORMAL, FAST): (0.003, 0.005),
    (graphs.NEIGHBOURS, MIDDLE): (0.02, 0.02),
    (graphs.DENSE, MIDDLE): (0.1, 0.1),
    (graphs.RANDOM + graphs.LOG_NORMAL, MIDDLE): (0.05, 0.05),
}
#: Smallest graph whose times are compared: those of smaller ones are set-up.
LEAST_TIMED = 1000


def _one(rows: Rows, **wanted: Any) -> Row | None:
    return next(iter(select(rows, **wanted)), None)


def judge_steps(rows: Rows) -> Verdict:
    """The default against independent walks at equal steps, graph by graph."""
    claim = (
        f"exp(W), degree {DEGREE}, {STEPS} steps a node: at most 1/{GAIN} of the error of "
        f"independent walks on the eight graphs, at most 1/{HUBS_GAIN} on Eurosis and a "
        "Barabási–Albert graph of 2,000 nodes"
    )
    at = {"kernel": FAST, "degree": DEGREE, "budget": STEPS}
    bars, plain = [], []
    for graph in (*EIGHT, graphs.SCALE_FREE):
        paper, pooled, averaged = (
            _one(rows, graph=graph, method=method, **at)
            for method in (INDEPENDENT, POOLED, AVERAGED)
        )
        if paper and pooled and averaged:
            gain = HUBS_GAIN if graph in WITH_HUBS else GAIN
            bars.append(Ratio(title_of(graph), averaged["error"] / paper["error"], 1 / gain))
            plain.append(part(pooled["error"] / paper["error"]))
    more = [f"not averaged {', '.join(plain)}"] if plain else ()
    return judge_bars(claim, bars, more, len(bars))


def judge_everywhere(rows: Rows) -> Verdict:
    """Pooled below independent for every graph, kernel and number of steps, both errors."""
    whole, off = (_gain(_with_error(rows, error), error) for error in ("error", "off_error"))
    claim = (
        f"{OURS}pooled walks have less error at equal steps, on every graph and for every kernel"
    )
    return judged(claim, [each for each in (whole, off) if each.pairs])


def _gain(rows: Rows, error: str) -> Comparison:
    text = "pooled below independent" + ("" if error == "error" else " off the diagonal")
    low, high = ({"method": method, "degree": DEGREE} for method in (POOLED, INDEPENDENT))
    return compare(rows, text, low, high, ("graph", "kernel", "budget"))


def _with_error(rows: Rows, error: str) -> Rows:
    """The rows with another error in the place of that of the whole matrix."""
    spread = error.replace("error", "standard_error")
    return [{**row, "error": row[error], "standard_error": row[spread]} for row in rows]


def judge_entries(rows: Rows) -> Verdict:
    """Pooled against independent walks that store at least as many entries."""
    claim = (
        f"exp(W): at most 1/{ENTRIES_GAIN} of the error of independent walks that store as many "
        "entries, on a grid and a mesh"
    )
    bars, more = [], []
    for graph in (graphs.GRID, graphs.MESH, graphs.SPHERE):
        own = select(rows, graph=graph, kernel=FAST)
        for pooled in select(own, method=POOLED, degree=DEGREE):
            independent = _least(select(own, method=INDEPENDENT), "entries", pooled)
            if independent:
                what = f"{title_of(graph)}, {pooled['entries']:.0f} entries,"
                ratio = pooled["error"] / independent["error"]
                bars.append(Ratio(what, ratio, 1 / ENTRIES_GAIN))
            more += _best_sparse(select(own, method=LARGEST), pooled)
    return judge_bars(claim, bars, [*more, *_above_best(rows)])


def _least(rows: Rows, column: str, other: Row) -> Row | None:
    """Of the rows that have at least as much as another, the one with the least."""
    enough = [row for row in rows if row[column] >= other[column]]
    return min(enough, key=lambda row: row[column], default=None)


def _best_sparse(rows: Rows, pooled: Row) -> list[str]:
    best = _least(rows, "entries", pooled)
    if best is None or pooled["budget"] != STEPS:
        return []
    better = "better" if best["error"] < pooled["error"] else "worse"
    return [
        f"on {title_of(pooled['graph'])} the {best['entries']:.0f} largest entries of each row "
        f"have {small(best['error'])}, {better} than pooled walks with {pooled['entries']:.0f} "
        f"({small(pooled['error'])})"
    ]


def _above_best(rows: Rows) -> list[str]:
    """Where the default is better than the largest entries, given at least as many."""
    found = []
    for kernel in (FAST, MIDDLE):
        own = select(rows, kernel=kernel, budget=STEPS, method=AVERAGED, degree=DEGREE)
        largest = select(rows, kernel=kernel, method=LARGEST)
        pairs = [(row, _least(select(largest, graph=row["graph"]), "entries", row)) for row in own]
        names = [
            title_of(row["graph"]) for row, best in pairs if best and row["error"] < best["error"]
        ]
        if names:
            found.append(f"{kernel}: better than the largest entries on {', '.join(names)}")
    return found


def judge_slow(rows: Rows) -> Verdict:
    """The best degree, with eigenvectors or without, on Cora."""
    claim = (
        f"slow kernels on Cora, {STEPS} steps a node: exp(20 W) at most {SLOW_BARS[SLOW]:g}, "
        f"(I − 0.95 W)^-2 at most {SLOW_BARS[SLOW_INVERSE]:g}"
    )
    bars, more = [], []
    for kernel, most in SLOW_BARS.items():
        own = select(rows, graph=graphs.CORA, kernel=kernel, budget=STEPS)
        candidates = [row for row in own if row["method"] in (AVERAGED, DEFLATED)]
        if candidates:
            best = min(candidates, key=lambda row: float(row["error"]))
            how = f"{kernel}, {best['method']}, degree {best['degree']}:"
            bars.append(Bar(how, best["error"], most))
        more += [
            f"independent walks have {small(row['error'])} for {kernel}"
            for row in select(own, method=INDEPENDENT)
        ]
    return judge_bars(claim, bars, more)


def judge_weighted(rows: Rows) -> Verdict:
    """The library's default on three weighted graphs, with and without the diagonal."""
    claim = "weighted graphs at the default settings: errors of a few per mille to a few per cent"
    bars, more = [], []
    for (graph, kernel), (most, most_off) in WEIGHTED_BARS.items():
        at = {"graph": graph, "kernel": kernel, "degree": DEGREE, "budget": STEPS}
        row, paper = _one(rows, method=AVERAGED, **at), _one(rows, method=INDEPENDENT, **at)
        if row:
            what = f"{title_of(graph)}, {kernel},"
            bars.append(Bar(what, row["error"], most))
            bars.append(Bar("off the diagonal", row["off_error"], most_off))
        if paper:
            more.append(small(paper["error"]))
    return judge_bars(claim, bars, [f"independent walks: {', '.join(more)}"] if more else ())


def judge_stitching(rows: Rows) -> Verdict:
    """Degree 8 below degree 2 at equal steps, for the slowest diffusion."""
    low, high = ({"method": POOLED, "degree": degree, "kernel": SLOW} for degree in (8, 2))
    text = "degree 8 below degree 2"
    claim = (
        f"{OURS}stitching pays with pooled walks: exp(20 W) has less error at equal steps, on "
        "every graph"
    )
    found = compare(rows, text, low, high, ("graph", "budget"))
    cora = [pair for pair in found.pairs if pair.low["graph"] == graphs.CORA]
    facts = "; ".join(f"on Cora × {pair.ratio:.2f} at {pair.low['budget']} steps" for pair in cora)
    return judged(claim, [found] if found.pairs else [], facts)


def judge_seconds(rows: Rows) -> Verdict:
    """Pooled against independent walks that take at least as long; and Chebyshev."""
    claim = (
        "exp(W): less error than independent walks that take at least as long; Chebyshev "
        "polynomials are for few columns"
    )
    large = [row for row in rows if row["n_nodes"] >= LEAST_TIMED and row["kernel"] == FAST]
    bars: list[Bar] = []
    more: list[str] = []
    for graph in distinct(large, "graph"):
        own = select(large, graph=graph)
        pairs = [
            (pooled, independent)
            for pooled in select(own, method=AVERAGED, degree=DEGREE)
            if (independent := _least(select(own, method=INDEPENDENT), "seconds", pooled))
        ]
        if pairs:
            ratio = max(pooled["error"] / independent["error"] for pooled, independent in pairs)
            bars.append(Ratio(title_of(graph), ratio, 1.0))
            more += _as_exact(select(own, method=CHEBYSHEV), pairs[-1][0])
    return judge_bars(claim, bars, list(dict.fromkeys([*more[:1], *more[-1:]])), len(bars))


def _as_exact(rows: Rows, pooled: Row) -> Sequence[str]:
    """What Chebyshev polynomials need for the same error."""
    enough = [row for row in rows if row["error"] <= pooled["error"]]
    if not enough:
        return []
    row = min(enough, key=lambda row: float(row["seconds"]))
    return [
        f"on {title_of(row['graph'])} Chebyshev polynomials have {small(row['error'])} in "
        f"{row['seconds']:.2g} s for all columns, {row['seconds'] / row['n_nodes']:.2g} s for one; "
        f"pooled walks {small(pooled['error'])} in {pooled['seconds']:.2g} s for the factors of all"
    ]


_AXES = {"budget": "steps per node", "seconds": "seconds", "entries": "stored entries per node"}
_ERRORS = {"error": "relative error", "off_error": "error off the diagonal"}
_FEW = (INDEPENDENT, 2), (POOLED, 2), (AVERAGED, 2), (POOLED, 8)
_MESHES, _LARGE = (graphs.MESH, graphs.SPHERE), (graphs.LARGE_SCALE_FREE, graphs.LARGE_REGULAR)


def panel(
    rows: Rows, graph: str, kernel: str, methods: Sequence[Series], x: str, error: str = "error"
) -> Panel | None:
    """The errors of some methods on one graph; nothing where none was measured."""
    own = [row for row in select(rows, graph=graph, kernel=kernel) if row.get(x)]
    spread = error.replace("error", "standard_error")
    curves = [
        views.curve(
            *(each.name, select(own, **each.where), x, error, each.style),
            spread=spread,
            dashed=each.dashed,
        )
        for each in methods
    ]
    if not any(len(each.x) for each in curves):
        return None
    note = f"{kernel}, {own[0]['n_nodes']:,} nodes"
    return chart(title_of(graph), curves, _AXES[x], _ERRORS[error], note=note)


def _some(rows: Rows, *names: str) -> list[str]:
    """Of these graphs those that were measured, or else all."""
    measured = distinct(rows, "graph")
    return [name for name in names if name in measured] or measured


def _panels(
    rows: Rows,
    places: Iterable[tuple[str, str]],
    methods: Sequence[Series],
    x: str = "budget",
    errors: Sequence[str] = ("error",),
) -> list[Panel]:
    """A panel a graph, kernel and error where any was measured."""
    found = [panel(rows, *place, methods, x, error) for place in places for error in errors]
    return [each for each in found if each is not None]


def _kernel_by_kernel(rows: Rows, kernels: Iterable[str], *names: str) -> list[tuple[str, str]]:
    return [(graph, kernel) for kernel in kernels for graph in _some(rows, *names)]


def step_panels(rows: Rows) -> list[Panel]:
    """exp(W) against steps on every graph."""
    return _panels(rows, product(distinct(rows, "graph"), (FAST,)), series(*_FEW))


def off_panels(rows: Rows) -> list[Panel]:
    """Errors without the diagonal, all kernels on some graphs."""
    kernels, names = distinct(rows, "kernel"), (graphs.CORA, *_MESHES, *_LARGE)
    places = _kernel_by_kernel(rows, kernels, *names)
    return _panels(rows, places, series(*_FEW), errors=("off_error",))


def entry_panels(rows: Rows) -> list[Panel]:
    """Errors against stored entries, compared with the best sparse matrix."""
    methods = series((INDEPENDENT, 2), (POOLED, 2), (AVERAGED, 2), (LARGEST, None))
    names = (graphs.GRID, *_MESHES, graphs.CORA, *_LARGE)
    return _panels(rows, _kernel_by_kernel(rows, (FAST, MIDDLE), *names), methods, "entries")


def slow_panels(rows: Rows) -> list[Panel]:
    """Slow kernels against steps, with eigenvectors."""
    names = (graphs.CORA, graphs.SCALE_FREE, *_MESHES, *_LARGE)
    places = _kernel_by_kernel(rows, (SLOW, SLOW_INVERSE), *names)
    return _panels(rows, places, series(*WALKED, (DEFLATED, 4), (AVERAGED, 8)))


def weighted_panels(rows: Rows) -> list[Panel]:
    """Weighted graphs, with and without the diagonal."""
    weighted = dict.fromkeys(graph for graph, _ in WEIGHTED_BARS)
    places = product(_some(rows, *weighted), (FAST, MIDDLE))
    return _panels(rows, places, series(*_FEW), errors=("error", "off_error"))


def stitching_panels(rows: Rows) -> list[Panel]:
    """exp(20 W) by degree."""
    methods = series((INDEPENDENT, 2), (POOLED, 2), (POOLED, 4), (POOLED, 8))
    return _panels(rows, product(distinct(rows, "graph"), (SLOW,)), methods)


def second_panels(rows: Rows) -> list[Panel]:
    """Errors against seconds, beside polynomials."""
    methods = series((INDEPENDENT, 2), (AVERAGED, 2), (DEFLATED, 8), (CHEBYSHEV, None))
    names = (graphs.CORA, graphs.DENSE, graphs.GRID, *_MESHES, *_LARGE)
    return _panels(rows, _kernel_by_kernel(rows, (FAST, SLOW), *names), methods, "seconds")


# --- tables ---------------------------------------------------------------------------------------

_COLUMNS: tuple[tuple[str, int], ...] = (
    *((INDEPENDENT, 2), (POOLED, 2), (AVERAGED, 2)),
    *((AVERAGED, 4), (AVERAGED, 8), (DEFLATED, 4), (DEFLATED, 8)),
)


def error_table(rows: Rows) -> Table:
    """All errors at the steps of the claims: of the whole matrix, and without the diagonal."""
    return _table(rows, "error", "Relative error")


def off_table(rows: Rows) -> Table:
    """The same without the diagonal."""
    return _table(rows, "off_error", "Relative error without the diagonal")


def _table(rows: Rows, error: str, title: str) -> Table:
    lines = []
    own = select(rows, budget=STEPS)
    for graph in distinct(own, "graph"):
        for kernel in distinct(own, "kernel"):
            here = {(r["method"], r["degree"]): r for r in select(own, graph=graph, kernel=kernel)}
            if here:
                cells = (_number(here.get(column), error) for column in _COLUMNS)
                lines.append([title_of(graph), kernel, *cells])
    columns = [f"{method}, {degree}" for method, degree in _COLUMNS]
    return views.table(
        ["graph", "kernel", *columns],
        lines,
        f"{title} at {STEPS} steps per node, all factors counted; after the comma the degree.",
        words=(0, 1),
    )


def _number(row: Row | None, column: str) -> str:
    return "" if row is None else f"{row[column]:.2g}"


CLAIMS = (
    Claim("refined", step_panels, judge_steps, (error_table,)),
    Claim("refined-off", off_panels, judge_everywhere, (off_table,)),
    Claim("refined-entries", entry_panels, judge_entries),
    Claim("refined-slow", slow_panels, judge_slow),
    Claim("refined-weighted", weighted_panels, judge_weighted),
    Claim("refined-stitching", stitching_panels, judge_stitching),
    Claim("refined-seconds", second_panels, judge_seconds),
)
