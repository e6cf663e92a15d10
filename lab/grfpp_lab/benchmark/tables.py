"""Ratios of rows, and tables of both."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from grfpp_lab.benchmark import equal_seconds, sampling
from grfpp_lab.benchmark.settings import Row, find, of_section, workloads
from grfpp_lab.benchmark.suite import workload
from grfpp_lab.benchmark.uses import FAST_GRAPH_GP, TORCH_CLUSTER
from grfpp_lab.graphs import LARGEST
from grfpp_lab.report.page import Table, TableGroup

Verdict = Literal["met", "not met", "not measured"]

GRID_SMALL = workload("grid", 10**4)
GRID_LARGE = workload("grid", 10**6)
REGULAR = workload("regular", 10**6)
SCALE_FREE = workload("scale-free", 10**6)
MESH = workload("mesh", LARGEST.n_nodes)
#: Steps a second of pooled walks over those of independent ones.
_POOLED_SPEEDS = ((GRID_LARGE, 1.0), (REGULAR, 0.8), (SCALE_FREE, 0.8))
#: Kernel, family of graphs, and error of independent walks over that of pooled walks.
_EQUAL_SECONDS = (
    ("exp(W)", "grid", 10_000),
    ("exp(W)", "regular", 60),
    ("exp(W)", "scale-free", 10),
    ("exp(5 W)", "grid", 20),
    ("exp(5 W)", "regular", 4),
    ("exp(5 W)", "scale-free", 3),
)


@dataclass(frozen=True)
class Ratio:
    """How many times faster ours is than another method on one workload; below 1 it is slower."""

    section: str
    workload: str
    ours: str
    other: str
    times: float


@dataclass(frozen=True)
class Bar:
    """A bar that was set before, what was found, and whether that is enough."""

    workload: str
    target: str
    found: str
    verdict: Verdict


def ratios(rows: Sequence[Row]) -> list[Ratio]:
    """Ours against every other method with a number: steps a second, or seconds."""
    found = []
    for section, ours in (
        ("sampling", sampling.OURS),
        ("paper", sampling.TABLE_METHOD),
        ("uses", sampling.TABLE_METHOD),
    ):
        for name in workloads(rows, section):
            own = [row for row in of_section(rows, section) if row.workload == name]
            base = next((row for row in own if row.method == ours), None)
            for other in own:
                times = _times_faster(base, other)
                if times is not None and other is not base:
                    found.append(Ratio(section, name, ours, other.method, times))
    return found


def _times_faster(ours: Row | None, other: Row) -> float | None:
    if ours is None:
        return None
    a, b = ours.get("steps_per_second"), other.get("steps_per_second")
    if a and b:
        return a / b
    a, b = ours.get("seconds"), other.get("seconds")
    return b / a if a and b else None


def slope(rows: Iterable[Row], number: str, least: int = 0) -> float | None:
    """The power of the number of nodes by which a cost per grid grows: 1 is proportional."""
    points = [
        (row.numbers["n_nodes"], row.numbers["n_nodes"] * row.numbers[number])
        for row in grown(rows)
        if number in row.numbers
    ]
    points = [point for point in points if point[0] >= least and point[1] > 0]
    if len(points) < 2:
        return None
    x, y = np.log(np.array(points)).T
    return float(np.polyfit(x, y, 1)[0])


def bars(rows: Sequence[Row]) -> list[Bar]:
    """The bars of the engine, judged by these rows."""
    return [
        _speed_bar(rows, GRID_LARGE, 100, 2),
        _speed_bar(rows, REGULAR, 45, 5),
        _ratio_bar(rows, FAST_GRAPH_GP.name, 300),
        _ratio_bar(rows, sampling.ARRAYS, 300),
        _ratio_bar(rows, sampling.LISTS, 300),
        _growth_bar(rows),
        _memory_bar(rows),
        _paper_bar(rows),
        _recompute_bar(rows),
        *(_pooled_speed_bar(rows, name, least) for name, least in _POOLED_SPEEDS),
        *(_equal_seconds_bar(rows, *each) for each in _EQUAL_SECONDS),
    ]


def _steps(rows: Sequence[Row], name: str, method: str) -> float | None:
    return find(rows, "sampling", name, method, "steps_per_second")


def _bar(name: str, target: str, found: str = "", enough: bool | None = None) -> Bar:
    """A bar with its verdict; `enough` is ``None`` where nothing was measured."""
    verdict: Verdict = "met" if enough else "not met"
    return Bar(name, target, found, "not measured" if enough is None else verdict)


def _speed_bar(rows: Sequence[Row], name: str, million: float, times: float) -> Bar:
    """A number of million steps a second, or a multiple of torch_cluster's raw walks."""
    ours, peer = _steps(rows, name, sampling.OURS), _steps(rows, name, TORCH_CLUSTER.name)
    limit = _steps(rows, name, sampling.LIMIT)
    target = f"≥ {million:g} million steps/s, or ≥ {times:g} × torch_cluster's raw walks"
    if ours is None:
        return _bar(name, target)
    found = f"{ours / 1e6:.1f} million steps/s"
    if peer is not None:
        found += f", {ours / peer:.2g} × torch_cluster"
    if limit is not None:
        found += f", {ours / limit:.0%} of the machine's pointer chases"
    enough = ours >= million * 1e6 or (peer is not None and ours >= times * peer)
    return _bar(name, target, found, enough)


def _ratio_bar(rows: Sequence[Row], method: str, times: float) -> Bar:
    ours, other = _steps(rows, GRID_SMALL, sampling.OURS), _steps(rows, GRID_SMALL, method)
    target = f"≥ {times:g} × {method}"
    if ours is None or other is None:
        return _bar(GRID_SMALL, target)
    return _bar(GRID_SMALL, target, f"{ours / other:,.0f} ×", ours >= times * other)


def grown(rows: Iterable[Row]) -> list[Row]:
    """The rows of one float32 factor on larger and larger grids."""
    return [row for row in of_section(rows, "growth") if row.method == sampling.OURS_SINGLE]


def _large(rows: Sequence[Row]) -> list[Row]:
    return [row for row in grown(rows) if row.numbers.get("n_nodes", 0) >= 0.9e4]


def _growth_bar(rows: Sequence[Row]) -> Bar:
    target = "10⁴ to 10⁷ nodes: time per node within 1.6 ×"
    large = _large(rows)
    if len(large) < 2:
        return _bar("grids", target)
    times = [row.numbers["microseconds_per_node"] for row in large]
    spread = max(times) / min(times)
    most = max(row.numbers["n_nodes"] for row in large)
    found = f"{spread:.2f} × up to {most:,.0f} nodes"
    if spread <= 1.6 and most < 0.9e7:
        return _bar("grids", target, f"{found}; 10⁷ nodes are in the full set")
    return _bar("grids", target, found, spread <= 1.6)


def _memory_bar(rows: Sequence[Row]) -> Bar:
    target = "10⁴ to 10⁷ nodes: peak memory < 600 bytes a node and stored float32 factor"
    peaks = [(row.numbers["peak_bytes_per_node"], row.numbers["n_nodes"]) for row in _large(rows)]
    if not peaks:
        return _bar("grids", target)
    found = ", ".join(f"{peak:.0f} at {n:,.0f} nodes" for peak, n in peaks)
    return _bar("grids", target, found, max(peaks)[0] < 600)


def _paper_bar(rows: Sequence[Row]) -> Bar:
    ours = find(rows, "paper", MESH, sampling.TABLE_METHOD, "seconds")
    paper = find(rows, "paper", MESH, sampling.PAPER, "seconds")
    target = "≥ 5,000 × less time than the paper"
    if ours is None or paper is None:
        return _bar(MESH, target)
    return _bar(MESH, target, f"{paper / ours:,.0f} × ({ours:.3g} s)", paper >= 5000 * ours)


def _recompute_bar(rows: Sequence[Row]) -> Bar:
    target = "recompute, 10⁷ nodes: one product under 4 GB, same numbers as stored"
    for row in rows:
        if row.method == sampling.RECOMPUTE and row.status == "measured":
            peak, same = row.numbers["peak_bytes"], bool(row.numbers["same_as_stored"])
            n = row.numbers["n_nodes"]
            found = f"{peak / 1e9:.2f} GB at {n:,.0f} nodes, {'same' if same else 'OTHER'} numbers"
            is_open = n < 0.9e7 and same
            return _bar("grids", target, found, None if is_open else peak < 4e9 and same)
    return _bar("grids", target)


def _pooled_speed_bar(rows: Sequence[Row], name: str, least: float) -> Bar:
    pooled, ours = (_steps(rows, name, method) for method in (sampling.POOLED, sampling.OURS))
    target = f"pooled walks: ≥ {least:g} × the steps a second of independent ones"
    if pooled is None or ours is None:
        return _bar(name, target)
    found = f"{pooled / ours:.2f} × ({pooled / 1e6:.0f} million steps/s)"
    return _bar(name, target, found, pooled >= least * ours)


def _equal_seconds_bar(rows: Sequence[Row], kernel: str, family: str, parts: int) -> Bar:
    """At 10⁶ nodes; smaller graphs are shown, and not judged."""
    name = f"{kernel}, {workload(family, 10**6)}"
    target = f"pooled walks: ≤ 1/{parts:,} of the error of independent ones in equal seconds"
    start = name.partition(", 1,000,000")[0]
    for other in reversed([each for each in workloads(rows, "equal") if each.startswith(start)]):
        pooled, independent = (
            find(rows, "equal", other, method, "error")
            for method in (equal_seconds.POOLED, equal_seconds.INDEPENDENT)
        )
        if pooled and independent:
            found = f"1/{independent / pooled:,.0f}"
            if other != name:
                return _bar(other, target, f"{found}; 10⁶ nodes are in the full set")
            return _bar(name, target, found, pooled * parts <= independent)
    return _bar(name, target)


def conclusions(rows: Sequence[Row]) -> dict[str, Any]:
    """Ratios, slopes and bars, for JSON."""
    return {
        "ratios": [asdict(ratio) for ratio in ratios(rows)],
        "slopes": {
            "seconds": slope(rows, "microseconds_per_node", 9_000),
            "peak_bytes": slope(rows, "peak_bytes_per_node", 9_000),
            "stored_bytes": slope(rows, "stored_bytes_per_node", 9_000),
        },
        "bars": [asdict(bar) for bar in bars(rows)],
    }


Cells = list[str]
NOTHING = "–"


def bar_table(rows: Sequence[Row]) -> Table:
    """What was to be shown, and whether it was."""
    lines = [[bar.verdict, bar.workload, bar.target, bar.found or NOTHING] for bar in bars(rows)]
    columns = ("verdict", "workload", "bar", "found")
    return Table(columns, [TableGroup("", lines)], words=(0, 1, 2, 3), wraps=(1, 2, 3))


def sampling_table(rows: Sequence[Row]) -> Table:
    """Million steps a second, ours against the others', and against the machine."""

    def cells(row: Row) -> Cells:
        ours = find(rows, "sampling", row.workload, sampling.OURS, "steps_per_second")
        limit = find(rows, "sampling", row.workload, sampling.LIMIT, "steps_per_second")
        rate = row.get("steps_per_second")
        if rate is None:
            return [row.method, row.status, "", "", "", row.version]
        return [
            row.method,
            short(rate / 1e6),
            short(ours / rate) if ours else NOTHING,
            _share(rate / limit) if limit and row.method != sampling.LIMIT else NOTHING,
            str(row.threads),
            row.version,
        ]

    return _grouped(
        rows,
        "sampling",
        ("method", "million steps/s", "grfpp is × faster", "of the limit", "threads", "version"),
        cells,
        words=(0, 5),
    )


def equal_table(rows: Sequence[Row]) -> Table:
    """Errors of pooled and of independent walks at equal seconds."""

    def cells(row: Row) -> Cells:
        error = row.get("error")
        ours = find(rows, "equal", row.workload, equal_seconds.POOLED, "error")
        return [
            row.method,
            _short(row.get("seconds")) if row.numbers else row.status,
            _short(row.get("steps")),
            NOTHING if error is None else f"{error:.2e}",
            short(error / ours) if error and ours else NOTHING,
        ]

    columns = ("method", "seconds", "steps per node", "error at equal seconds", "× pooled")
    return _grouped(rows, "equal", columns, cells, words=(0,))


def growth_table(rows: Sequence[Row]) -> Table:
    """Costs by the number of nodes."""
    own = of_section(rows, "growth")
    columns = ("nodes", "method", "seconds", "million steps/s", "µs/node", "peak B/node")
    return Table(
        (*columns, "stored B/node", "sample() s"),
        [TableGroup("", [_growth_cells(row) for row in own])],
        _notes(own),
        words=(0, 1),
    )


def _growth_cells(row: Row) -> Cells:
    if row.get("n_nodes") is None:
        return [row.workload, row.method, row.status, "", "", "", "", ""]
    return [
        f"{row.numbers['n_nodes']:,.0f}",
        row.method,
        short(row.numbers["seconds"]),
        _short(row.get("steps_per_second"), 1e-6),
        _short(row.get("microseconds_per_node")),
        _rounded(row.get("peak_bytes_per_node")),
        _rounded(row.get("stored_bytes_per_node")),
        _short(row.get("sample_seconds")),
    ]


def paper_rows(rows: Sequence[Row]) -> Table:
    """Seconds for ``K · F``, compared with the paper's."""
    return _seconds_table(rows, "paper")


def uses_table(rows: Sequence[Row]) -> Table:
    """Seconds at about equal error."""
    return _seconds_table(rows, "uses")


def _seconds_table(rows: Sequence[Row], section: str) -> Table:
    def cells(row: Row) -> Cells:
        seconds = row.get("seconds")
        ours = find(rows, section, row.workload, sampling.TABLE_METHOD, "seconds")
        return [
            row.method,
            _short(seconds),
            short(seconds / ours) if seconds and ours else NOTHING,
            _short(row.get("error")),
            row.status,
            row.version or NOTHING,
        ]

    columns = ("method", "seconds", "grfpp is × faster", "relative error", "how", "version")
    return _grouped(rows, section, columns, cells, words=(0, 4, 5))


def winners(rows: Sequence[Row]) -> list[str]:
    """One sentence for each use: who is fastest, and where that leaves the walks."""
    sentences = []
    for name in workloads(rows, "uses"):
        own = [row for row in of_section(rows, "uses") if row.workload == name]
        timed = sorted((row.numbers["seconds"], row.method) for row in own if row.get("seconds"))
        walks = [entry for entry in timed if entry[1].startswith("grfpp")]
        others = [entry for entry in timed if entry not in walks]
        if not walks or not others:
            continue
        ours, other = walks[0], others[0]
        times = max(ours[0], other[0]) / min(ours[0], other[0])
        if ours < other:
            sentence = f"walks win: {ours[1]} is {short(times)} × faster than {other[1]}"
        else:
            sentence = f"walks lose: {other[1]} is {short(times)} × faster than {ours[1]}"
        sentences.append(f"{name}: {sentence}.")
    return sentences


def short(value: float) -> str:
    """Three digits, without exponents.

    Examples
    --------
    >>> short(123456.0), short(12.345), short(0.00123)
    ('123,456', '12.3', '0.00123')
    """
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) >= 1e-4 or value == 0 else f"{value:.0e}"


def _share(value: float) -> str:
    return "<1%" if value < 0.01 else f"{value:.0%}"


def _short(value: float | None, unit: float = 1.0) -> str:
    return NOTHING if value is None else short(value * unit)


def _rounded(value: float | None) -> str:
    return NOTHING if value is None else f"{value:,.0f}"


def _grouped(
    rows: Sequence[Row],
    section: str,
    columns: tuple[str, ...],
    cells: Callable[[Row], Cells],
    words: tuple[int, ...],
) -> Table:
    ours = (sampling.OURS, equal_seconds.POOLED, sampling.TABLE_METHOD, sampling.RECOMPUTE)
    groups = []
    for name in workloads(rows, section):
        own = [row for row in of_section(rows, section) if row.workload == name]
        strong = [line for line, row in enumerate(own) if row.method in ours]
        groups.append(TableGroup(name, [cells(row) for row in own], strong))
    return Table(columns, groups, _notes(of_section(rows, section)), words)


def _notes(rows: Sequence[Row]) -> str:
    """The notes of the rows, each once."""
    ran = {row.method for row in rows if row.numbers}
    notes: dict[str, list[str]] = {}
    for row in rows:
        failed_here = row.status == "not run" and row.method in ran
        who = f"{row.method} ({row.workload})" if failed_here else row.method
        if row.note and who not in notes.setdefault(row.note, []):
            notes[row.note].append(who)
    return " ".join(f"{' and '.join(who)}: {note}." for note, who in notes.items())
