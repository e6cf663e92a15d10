"""What follows from the rows: ratios within one run, slopes, and the bars that were set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from grfpp_lab.benchmark import equal_seconds, growth, paper_table, sampling
from grfpp_lab.benchmark.peers import FAST_GRAPH_GP, TORCH_CLUSTER
from grfpp_lab.benchmark.rows import Row, find, of_section, workloads
from grfpp_lab.benchmark.suite import workload
from grfpp_lab.meshes import LARGEST

Verdict = Literal["met", "not met", "not measured"]

GRID_SMALL = workload("grid", 10**4)
GRID_LARGE = workload("grid", 10**6)
REGULAR = workload("regular", 10**6)
SCALE_FREE = workload("scale-free", 10**6)
MESH = workload("mesh", LARGEST.n_nodes)
#: Steps a second of pooled walks, in those of independent ones.
_POOLED_SPEEDS = ((GRID_LARGE, 1.0), (REGULAR, 0.8), (SCALE_FREE, 0.8))
#: Kernel, family of graphs, and one part in how many of the error of independent walks.
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
        ("paper", paper_table.OURS),
        ("uses", paper_table.OURS),
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
    """A bar with its verdict; nothing was measured where nobody knows whether it is enough."""
    verdict: Verdict = "met" if enough else "not met"
    return Bar(name, target, found, "not measured" if enough is None else verdict)


def _speed_bar(rows: Sequence[Row], name: str, million: float, times: float) -> Bar:
    """So many million steps a second, or so many times torch_cluster's raw walks."""
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
    ours = find(rows, "paper", MESH, paper_table.OURS, "seconds")
    paper = find(rows, "paper", MESH, paper_table.PAPER, "seconds")
    target = "≥ 5,000 × less time than the paper"
    if ours is None or paper is None:
        return _bar(MESH, target)
    return _bar(MESH, target, f"{paper / ours:,.0f} × ({ours:.3g} s)", paper >= 5000 * ours)


def _recompute_bar(rows: Sequence[Row]) -> Bar:
    target = "recompute, 10⁷ nodes: one product under 4 GB, same numbers as stored"
    for row in rows:
        if row.method == growth.RECOMPUTE and row.status == "measured":
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
    """At 10⁶ nodes; smaller graphs are told of, and not judged."""
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
