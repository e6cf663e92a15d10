"""Rows as tables, for the page and for the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from grfpp_lab.benchmark import equal_seconds, growth, paper_table, sampling
from grfpp_lab.benchmark.ratios import bars
from grfpp_lab.benchmark.rows import Row, find, of_section, workloads
from grfpp_lab.report.page import Table, TableGroup

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
    """Seconds for ``K · F``, beside the paper's."""
    return _seconds_table(rows, "paper")


def uses_table(rows: Sequence[Row]) -> Table:
    """Seconds at about equal error."""
    return _seconds_table(rows, "uses")


def _seconds_table(rows: Sequence[Row], section: str) -> Table:
    def cells(row: Row) -> Cells:
        seconds = row.get("seconds")
        ours = find(rows, section, row.workload, paper_table.OURS, "seconds")
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
    ours = (sampling.OURS, equal_seconds.POOLED, paper_table.OURS, growth.RECOMPUTE)
    groups = []
    for name in workloads(rows, section):
        own = [row for row in of_section(rows, section) if row.workload == name]
        strong = [line for line, row in enumerate(own) if row.method in ours]
        groups.append(TableGroup(name, [cells(row) for row in own], strong))
    return Table(columns, groups, _notes(of_section(rows, section)), words)


def _notes(rows: Sequence[Row]) -> str:
    """What the rows say besides their numbers, each thing once."""
    ran = {row.method for row in rows if row.numbers}
    notes: dict[str, list[str]] = {}
    for row in rows:
        failed_here = row.status == "not run" and row.method in ran
        who = f"{row.method} ({row.workload})" if failed_here else row.method
        if row.note and who not in notes.setdefault(row.note, []):
            notes[row.note].append(who)
    return " ".join(f"{' and '.join(who)}: {note}." for note, who in notes.items())
