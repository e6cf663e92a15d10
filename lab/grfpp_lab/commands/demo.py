"""`grfpp demo`: GRFs, GRFs++ and pooled walks on four small graphs, as a table and as a page.

Example commands:
  grfpp demo
  grfpp demo --seed 1 --out another/folder
  grfpp demo --json
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from grfpp._imports import missing_packages
from grfpp.cli import console, options
from grfpp_lab.commands import shared

if TYPE_CHECKING:
    from grfpp_lab.demo.measure import Measurement


@options.command
@shared.out_option("out/demo")
@options.seed_option
@options.json_option
def demo(out: Path, seed: int, as_json: bool) -> None:
    """Compare GRFs, GRFs++ and pooled walks on four small graphs.

    Estimates the diffusion kernel of the karate club, a binary tree, an Erdős–Rényi graph and a
    triangulated sphere with stitching degrees 1, 2 and 4 and with pooled walks, the default of
    grfpp.sample, prints the errors, and writes a page with pictures. Everything is generated: no
    data, no network. The first run also compiles.
    """
    missing = missing_packages()
    if not missing:
        shared.make_folder(out)

    from grfpp_lab.demo.measure import demo_graphs, kernel_rows, measure_all, warm_up

    began = perf_counter()
    with console.status("loading (the first run compiles, which takes a few seconds)"):
        compiling = warm_up()
        graphs = demo_graphs()
    with console.progress_bar("measuring") as update:
        results = measure_all(graphs, seed, lambda done, n: update(completed=done, total=n))
    written: list[Path] = []
    if not missing:
        from grfpp_lab.demo.page import write_demo

        with console.status("drawing"):
            rows = [kernel_rows(each, seed) for each in graphs]
            written = write_demo(out, graphs, rows, results, seed)
    seconds = {"total": perf_counter() - began, "compiling": compiling}

    if as_json:
        console.print_json(_document(seed, results, seconds, written))
    else:
        _print_text(results, seconds, written)
    shared.say_no_page(missing)


def _print_text(
    results: Sequence[Measurement], seconds: dict[str, float], written: Sequence[Path]
) -> None:
    from grfpp_lab.demo import measure

    table = console.new_table(
        ("graph", "nodes", "method", "walks", "steps per node", "relative error", "seconds"),
        ("graph", "method"),
        f"{measure.KERNEL!r}, {measure.LAW!r}; error: mean and standard error of "
        f"{measure.N_REPEATS} seeds",
    )
    before = None
    for result in measure.worth_a_line(results):
        if before not in (None, result.graph):
            table.add_section()
        name = ["", ""] if before == result.graph else [result.graph, str(result.n_nodes)]
        before = result.graph
        method, *cells = measure.table_cells(result)
        table.add_row(*name, f"{method} *" if measure.has_equal_steps(result) else method, *cells)
    console.print_table(table)
    print(
        "* equal steps: compare these for equal cost; pooled walks are what sample does by default"
    )
    print(f"{seconds['total']:.1f} s, {seconds['compiling']:.1f} s of it loading and compiling")
    shared.print_written(written)


def _document(
    seed: int,
    results: Sequence[Measurement],
    seconds: dict[str, float],
    written: Sequence[Path],
) -> dict[str, Any]:
    from grfpp_lab.demo.measure import KERNEL, LAW, N_REPEATS

    return {
        "kernel": KERNEL.to_dict(),
        "termination": LAW.to_dict(),
        "seed": seed,
        "n_repeats": N_REPEATS,
        "seconds": seconds,
        "results": [{**asdict(result), "method": result.method} for result in results],
        "written": [str(path) for path in written],
    }
