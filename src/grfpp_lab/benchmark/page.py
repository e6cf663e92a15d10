"""The benchmark's page: what was to be shown, the tables, the pictures, how to read them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grfpp_lab.benchmark import tables
from grfpp_lab.benchmark.charts import growth_charts, paper_chart, speed_charts, uses_charts
from grfpp_lab.benchmark.ratios import ratios, slope
from grfpp_lab.benchmark.rows import Row
from grfpp_lab.benchmark.settings import KERNEL, LAW, N_WALKS
from grfpp_lab.harness.machine import hardware, versions
from grfpp_lab.report.page import Gallery, Picture, Section, Table, render_page, write_page


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
    text = [
        "Million walk steps a second. grfpp walks and builds the sparse factor; torch_cluster and "
        "PecanPy only walk and keep the raw walks, so they do less; fast-graph-gp and plain Python "
        "make features too.",
        "Pointer chases are what the machine itself can do: independent random reads a second in a "
        "table of the graph's size. A walk on a random graph pays for one such read or two in "
        "every step and cannot be faster. Walks on a grid or a mesh stay where the cache is warm, "
        "and small graphs fit into it, so there the share says little.",
    ]
    return _section("Sampling", text, speed_charts(rows), tables.sampling_table(rows))


def _equal(rows: Sequence[Row]) -> Section:
    text = [
        "The library's default, pooled and symmetrised walks, against the paper's independent "
        "ones: both from the graph to the stored float32 factors, on all threads. Independent "
        "walks are as many as take about as long, and their error is scaled to just as long by "
        "the root of the seconds. Errors are probed with random signs.",
    ]
    return _section("Equal seconds", text, [], tables.equal_table(rows))


def _growth(rows: Sequence[Row]) -> Section:
    text = [
        "Grids of more and more nodes, each in a fresh process; one float32 factor. Peak memory is "
        "what sampling adds to the process at its highest, plan and buffers included, the graph "
        "not. The last column is the public call: two factors, and all checks before them. "
        "Recomputed factors are not stored at all.",
    ]
    powers = [
        f"{what} by the power {power:.3f}"
        for what, number in (("time", "microseconds_per_node"), ("memory", "peak_bytes_per_node"))
        if (power := slope(rows, number, 9_000)) is not None
    ]
    if powers:
        text.append(f"From 10⁴ nodes on, {' and '.join(powers)} of the number of nodes.")
    return _section("Growth", text, growth_charts(rows), tables.growth_table(rows))


def _paper(rows: Sequence[Row]) -> Section:
    text = [
        "`K · F` for three columns on the meshes of the paper's table, at its settings. The "
        "paper's seconds were measured by its authors on another machine, for their code.",
        *_faster_than_walks(rows),
    ]
    charts = paper_chart(rows)
    return _section("The paper's running times", text, charts, tables.paper_rows(rows), 1)


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
    text = [
        "Chebyshev's tolerance is loosened until its error is just below that of the walks; "
        "`expm_multiply` has no such choice.",
        *tables.winners(rows),
    ]
    return _section(
        "Where walks win and where they lose", text, uses_charts(rows), tables.uses_table(rows)
    )


def _section(
    title: str, text: list[str], pictures: list[Picture], table: Table, columns: int = 2
) -> Section:
    gallery = [Gallery(pictures, columns=columns)] if pictures else []
    return Section(title, text, [*gallery, table])
