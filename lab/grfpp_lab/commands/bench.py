"""`grfpp bench`: this package beside its peers, as tables, as JSON, as a page.

Sets:
  quick    at most five minutes
  full     at most an hour; ten million nodes, dense brute force, needs 16 GB
  smoke    seconds; sizes that mean nothing, to see that everything runs

Example commands:
  grfpp bench
  grfpp bench --set full --out another/folder
  grfpp bench --peers ".venv-bench/bin/python benchmarks/peers"

Peers live in an environment of their own and in the repository, not in this package: `make bench`
builds that and passes it. Meshes are read from the folder that GRFPP_DATA names.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grfpp._imports import missing_packages
from grfpp._parallel import thread_count
from grfpp.cli import console, options
from grfpp.errors import InputError
from grfpp_lab.commands import shared

if TYPE_CHECKING:
    from grfpp_lab.report.page import Table


@options.command
@options.option(
    "--set",
    "chosen",
    help="How much to measure.",
    type=click.Choice(["quick", "full", "smoke"]),
    default="quick",
)
@options.path_option(
    "--out",
    help="For results.json and the page; made if need be.",
    metavar="FOLDER",
    default="out/bench",
)
@options.option("--peers", help="What runs the peers.", metavar="COMMAND")
@options.jobs_option
@options.json_option
def bench(chosen: str, out: Path, peers: str | None, n_jobs: int, as_json: bool) -> None:
    """Measure speed, memory and where walks lose, side by side with peers.

    Everything runs one after the other, in processes of its own and with limits in time. What
    cannot be run becomes a row that says why.
    """
    threads, command = thread_count(n_jobs), _command(peers)
    missing = missing_packages()
    shared.make_folder(out)

    from grfpp_lab.benchmark.run import run_set, write_results

    rows, document = run_set(chosen, threads=threads, peers=command, progress=_say)
    written = [out / "results.json"]
    write_results(written[0], document)
    if not missing:
        from grfpp_lab.benchmark.page import write_bench_page

        written.append(out / "index.html")
        write_bench_page(written[1], document, rows)
    if as_json:
        console.print_json(document)
    else:
        _print_text(rows, written)
    shared.say_no_page(missing)


def _command(peers: str | None) -> list[str] | None:
    if peers is None:
        return None
    try:
        parts = shlex.split(peers)
    except ValueError as error:
        raise InputError(f"--peers {peers!r} is not a command ({error})") from None
    if not parts:
        raise InputError("--peers is empty; name the command that runs the peers")
    return parts


def _say(text: str) -> None:
    if console.shows_progress():
        console.note(text)


def _print_text(rows: Any, written: list[Path]) -> None:
    from grfpp_lab.benchmark import tables

    for title, table in (
        ("Sampling", tables.sampling_table(rows)),
        ("Equal seconds", tables.equal_table(rows)),
        ("Growth", tables.growth_table(rows)),
        ("The paper's running times", tables.paper_rows(rows)),
        ("Where walks win and where they lose", tables.uses_table(rows)),
        ("What was to be shown", tables.bar_table(rows)),
    ):
        _print_table(title, table)
    for sentence in tables.winners(rows):
        print(sentence)
    shared.print_written(written)


def _print_table(title: str, table: Table) -> None:
    words = [table.columns[number] for number in table.words]
    shown = console.new_table(table.columns, words, title)
    for group in table.groups:
        if group.title:
            shown.add_row(f"[bold]{group.title.replace('[', chr(92) + '[')}[/bold]")
        for line in group.rows:
            shown.add_row(*(cell.replace("[", r"\[") for cell in line))
        shown.add_section()
    console.print_table(shown)
