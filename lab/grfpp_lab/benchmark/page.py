"""The page of a benchmark and its charts."""

import tomllib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from grfpp_lab.benchmark import sampling, tables
from grfpp_lab.benchmark.settings import KERNEL, LAW, N_WALKS, Row, of_section, workloads
from grfpp_lab.benchmark.tables import grown, ratios, short, slope
from grfpp_lab.harness.machine import hardware, versions
from grfpp_lab.report import figures
from grfpp_lab.report.page import Gallery, Picture, Section, Table, render_page, write_page
from grfpp_lab.report.panels import Curve, Panel
from grfpp_lab.report.surfaces import INK

_TEXTS = tomllib.loads(files("grfpp_lab.benchmark").joinpath("texts.toml").read_text("utf-8"))


def speed_charts(rows: Sequence[Row]) -> list[Picture]:
    """Million steps a second, a picture for each graph."""
    return _bar_charts(rows, "sampling", "steps_per_second", 1e-6, "million steps/s")


def uses_charts(rows: Sequence[Row]) -> list[Picture]:
    """Seconds, a picture for each use."""
    return _bar_charts(rows, "uses", "seconds", 1.0, "seconds")


def _bar_charts(
    rows: Sequence[Row], section: str, number: str, unit: float, label: str
) -> list[Picture]:
    pictures = []
    for name in workloads(rows, section):
        bars = [
            (row.method, unit * row.numbers[number], row.status)
            for row in of_section(rows, section)
            if row.workload == name and row.get(number)
        ]
        if bars:
            pictures.append(Picture(_bar_chart(bars, label), f"{name}: {label} by method", name))
    return pictures


def _bar_chart(bars: Sequence[tuple[str, float, str]], label: str) -> str:
    """Horizontal bars on a logarithmic axis, each with its number."""
    figure = figures.new_figure(5.2, 0.75 + 0.33 * len(bars))
    axes = figure.add_subplot()
    values = [value for _, value, _ in bars]
    low = 10.0 ** np.floor(np.log10(min(values)) - 0.3)
    for line, (method, value, status) in enumerate(bars):
        axes.barh(
            line,
            value - low,
            left=low,
            color=_colour(method),
            hatch="///" if status == "estimated" else None,
            edgecolor="white",
            height=0.7,
        )
        axes.text(value * 1.15, line, short(value), va="center", fontsize=9, color=INK)
    axes.set_xscale("log")
    axes.set_xlim(low, 6 * max(values))
    axes.set_yticks(range(len(bars)), [method for method, _, _ in bars], fontsize=9)
    axes.invert_yaxis()
    axes.set_xlabel(label, color=INK, fontsize=9)
    figures.grid_lines(axes)
    return figures.data_uri(figure)


def _colour(method: str) -> str:
    if method.startswith("grfpp"):
        return figures.COLOURS[0]
    return figures.FAINT if method == sampling.LIMIT else figures.COLOURS[4]


def growth_panels(rows: Sequence[Row]) -> list[Panel]:
    """Time and memory per node against the number of nodes."""
    own = [row for row in grown(rows) if row.numbers]
    if len(own) < 2:
        return []

    def curve(name: str, number: str, style: int = 0) -> Curve:
        # Tiny graphs may need no new memory.
        points = [(r.numbers["n_nodes"], r.numbers[number]) for r in own if r.numbers[number] > 0]
        return Curve(name, [x for x, _ in points], [y for _, y in points], (), style)

    time = [curve("plan and factor", "microseconds_per_node")]
    memory = [
        curve("peak, while sampling", "peak_bytes_per_node", 1),
        curve("stored factor", "stored_bytes_per_node", 2),
    ]
    note = "one float32 factor"
    return [
        Panel("Time", time, "nodes", "µs per node", note),
        Panel("Memory", memory, "nodes", "bytes per node", note),
    ]


def paper_panels(rows: Sequence[Row]) -> list[Panel]:
    """Seconds against mesh size, a curve a method."""
    curves = []
    for style, method in enumerate(sampling.METHODS):
        own = [row for row in of_section(rows, "paper") if row.method == method]
        own = [row for row in own if row.get("seconds")]
        estimated = any(row.status == "estimated" for row in own)
        if own:
            name = f"{method} (estimated)" if estimated else method
            x, y = ([row.numbers[key] for row in own] for key in ("n_nodes", "seconds"))
            curves.append(Curve(name, x, y, (), style, estimated or method.startswith("paper")))
    return [Panel("Every method", curves, "nodes", "seconds")] if curves else []


def write_bench_page(path: Path, document: dict[str, Any], rows: Sequence[Row]) -> None:
    """Write the page of a run."""
    write_page(path, bench_page(document, rows))


def bench_page(document: dict[str, Any], rows: Sequence[Row]) -> str:
    """The whole page as text."""
    machine = document["machine"]
    lead = [
        "Everything on this page was measured in one run on one machine, one after the other, "
        "with the same number of threads for everybody; ratios compare numbers of this run only.",
        f"Machine: {hardware(machine)}, {machine['system']}. {versions(machine)}. Threads: "
        f"{document['threads']}. Set: {document['set']}, {document['seconds']:.0f} s in all.",
        f"Walks: {N_WALKS} from every node, lengths `{LAW!r}`, {LAW.mean:g} steps on average; "
        f"kernel `{KERNEL!r}` of the weights `D^-1/2 A D^-1/2`. Times are the best of a few runs "
        "after a first one.",
    ]
    sections = [
        Section("What was to be shown", [], [tables.bar_table(rows)]),
        _sampling(rows),
        _equal(rows),
        _growth(rows),
        _paper(rows),
        _uses(rows),
    ]
    footer = (
        f"Made by `grfpp bench --set {document['set']}`, grfpp {document['grfpp']}, "
        f"{document['began']}. The numbers are in `results.json` beside this page."
    )
    return render_page("Walks side by side", lead, sections, footer)


def _sampling(rows: Sequence[Row]) -> Section:
    text = [*_TEXTS["sampling"]]
    return _section("Sampling", text, _gallery(speed_charts(rows)), tables.sampling_table(rows))


def _equal(rows: Sequence[Row]) -> Section:
    text = [*_TEXTS["equal"]]
    return _section("Equal seconds", text, None, tables.equal_table(rows))


def _growth(rows: Sequence[Row]) -> Section:
    text = [*_TEXTS["growth"]]
    powers = [
        f"{what} by the power {power:.3f}"
        for what, number in (("time", "microseconds_per_node"), ("memory", "peak_bytes_per_node"))
        if (power := slope(rows, number, 9_000)) is not None
    ]
    if powers:
        text.append(f"From 10⁴ nodes on, {' and '.join(powers)} of the number of nodes.")
    charts = figures.gallery(growth_panels(rows), columns=2)
    return _section("Growth", text, charts, tables.growth_table(rows))


def _paper(rows: Sequence[Row]) -> Section:
    text = [*_TEXTS["paper"], *_faster_than_walks(rows)]
    charts = figures.gallery(paper_panels(rows), columns=1)
    return _section("The paper's running times", text, charts, tables.paper_rows(rows))


def _faster_than_walks(rows: Sequence[Row]) -> list[str]:
    """Say plainly which methods beat walks on these meshes."""
    own = [ratio for ratio in ratios(rows) if ratio.section == "paper" and ratio.times < 1]
    worst = {ratio.other: min(r.times for r in own if r.other == ratio.other) for ratio in own}
    return [
        f"{name} is deterministic, accurate to many digits, and up to {tables.short(1 / times)} × "
        "faster than walks here."
        for name, times in worst.items()
    ]


def _uses(rows: Sequence[Row]) -> Section:
    text = [*_TEXTS["uses"], *tables.winners(rows)]
    charts = _gallery(uses_charts(rows))
    return _section("Where walks win and where they lose", text, charts, tables.uses_table(rows))


def _gallery(pictures: list[Picture]) -> Gallery:
    return Gallery(pictures, columns=2)


def _section(title: str, text: list[str], charts: Gallery | None, table: Table) -> Section:
    return Section(title, text, [charts, table] if charts and charts.pictures else [table])
