"""`grfpp demo`: GRFs beside GRFs++ on four small graphs, as a table and as a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from grfpp.cli import console, options
from grfpp.errors import InputError
from grfpp.optional import how_to_install, missing_packages

if TYPE_CHECKING:
    from grfpp_lab.demo.measure import Measurement, Progress

#: Shown below the options.
NOTES = """
\b
Examples:
  grfpp demo
  grfpp demo --seed 1 --out another/folder
  grfpp demo --json
"""


def demo(
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Folder for the page; made if need be.")
    ] = Path("out/demo"),
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Of the walks.")] = 0,
    as_json: options.AsJson = False,
) -> None:
    """Compare regular GRFs with GRFs++ on four small graphs.

    Estimates the diffusion kernel of the karate club, a binary tree, an Erdős–Rényi graph and a
    triangulated sphere with stitching degrees 1, 2 and 4, prints the errors, and writes a page
    with pictures. Everything is generated: no data, no network. The first run also compiles.
    """
    missing = missing_packages()
    if not missing:
        _make_folder(out)

    from grfpp_lab.demo.graphs import demo_graphs
    from grfpp_lab.demo.measure import kernel_rows, measure_all, warm_up

    began = perf_counter()
    with console.status("loading (the first run compiles, which takes a few seconds)"):
        compiling = warm_up()
        graphs = demo_graphs()
    with _bar("measuring") as progress:
        results = measure_all(graphs, seed, progress)
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
    if missing:
        console.note(f"no page was written, because {how_to_install(missing)}")


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--out {folder}: cannot make this folder ({error.strerror})") from None


@contextmanager
def _bar(text: str) -> Iterator[Progress]:
    """A progress bar on a terminal, nothing elsewhere."""
    if not console.shows_progress():
        yield lambda done, n: None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(text, total=None)
        yield lambda done, n: bar.update(task, completed=done, total=n)


def _print_text(
    results: Sequence[Measurement], seconds: dict[str, float], written: Sequence[Path]
) -> None:
    from rich.table import Table

    from grfpp_lab.demo.measure import (
        KERNEL,
        LAW,
        N_REPEATS,
        has_equal_steps,
        table_cells,
        worth_a_line,
    )

    table = Table(
        title=f"{KERNEL!r}, {LAW!r}; error: mean and standard error of {N_REPEATS} seeds",
        title_justify="left",
    )
    for column in ("graph", "nodes", "method", "walks", "steps per node", "relative error"):
        table.add_column(column, justify="left" if column in ("graph", "method") else "right")
    table.add_column("seconds", justify="right")
    before = None
    for result in worth_a_line(results):
        if before not in (None, result.graph):
            table.add_section()
        name = ["", ""] if before == result.graph else [result.graph, str(result.n_nodes)]
        before = result.graph
        method, *cells = table_cells(result)
        table.add_row(*name, f"{method} *" if has_equal_steps(result) else method, *cells)
    console.print_table(table)
    print("* equal steps: compare these for equal cost")
    print(f"{seconds['total']:.1f} s, {seconds['compiling']:.1f} s of it loading and compiling")
    for path in written:
        print(f"wrote {path}")


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
