"""`grfpp reproduce`: the paper's experiments as one command and one page.

The estimation study, together "estimation-study":
  estimation      error of exp(W) against walks, GRF and GRF++ (Fig. 2)
  long-range      the same for pairs of distant nodes
  halting         Poisson lengths against the Bernoulli scheme
  halting-long    the same for pairs of distant nodes
  reuse           the same walks for every factor, against fresh ones
  speed           time of walking and of stitching, by degree
  scaling         meshes of many sizes against dense brute force
  other-kernels   (I-W)^-4, (I-W^2)^-4, exp(W^2)
  equal-cost      errors against walk steps per node
  theory          the lemma and the theorem, measured against formula
  refined         pooled walks, averages and deflation, against the paper's walks

What kernels are used for, together "tasks":
  clustering      nodes of the paper's six graphs and Cora, beside Louvain
  normals         hidden vertex normals of meshes, predicted by the kernel
  labels          fields of papers from those of a few, by citations
  classification  graphs classified by the spectra of their kernels

Transformers and Gaussian processes, together "models"; they need the extras torch and gpytorch:
  vit             a small vision transformer with and without a mask
  gps             graph transformers with positional encodings
  gp              learned kernels on meshes, beside exact processes

"all" is all of them.

Data that is not at hand is left out; the page says so. See grfpp datasets.

Example commands:
  grfpp reproduce all --quick
  grfpp reproduce estimation-study
  grfpp reproduce estimation halting --jobs 2 --out out/reproduce
  grfpp reproduce theory --seed 1 --json

Exit code 1 says that some cells failed; what happened to them is on the page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from grfpp._imports import missing_packages
from grfpp.cli import console, options
from grfpp_lab.commands import shared

if TYPE_CHECKING:
    from grfpp_lab.harness.experiment import Settings
    from grfpp_lab.harness.runner import Outcome, Progress

#: Exit code when some cells failed; the others are on the page.
SOME_FAILED = 1


@options.command
@click.argument(
    "names", help="Experiments; see below.", metavar="NAME...|all", nargs=-1, required=True
)
@options.option("--quick", help="Fewer repeats and walks: minutes instead of hours.", is_flag=True)
@shared.out_option("out/reproduce")
@options.seed_option
@options.option(
    "--jobs",
    "-j",
    "n_jobs",
    help="Processes; -1 for all cores. The rows are the same.",
    type=int,
    default=-1,
    metavar="N",
)
@options.option(
    "--scale",
    help="W = X D^-1/2 A D^-1/2. [default: 1; 0.5 for other-kernels]",
    type=float,
    metavar="X",
)
@options.option("--p-halt", help="Halting probability. [default: 0.1]", type=float, metavar="P")
@options.option("--tiny", help="Sizes for tests.", is_flag=True, hidden=True)
@options.json_option
def reproduce(
    names: Sequence[str],
    quick: bool,
    out: Path,
    seed: int,
    n_jobs: int,
    scale: float | None,
    p_halt: float | None,
    tiny: bool,
    as_json: bool,
) -> None:
    """Run the paper's experiments again and write a page.

    Every figure stands beside what the paper says and what was measured. Finished parts are kept:
    a run that was interrupted goes on where it stopped.
    """
    from grfpp._checks import positive, probability
    from grfpp._parallel import thread_count
    from grfpp.warmup import warmup
    from grfpp_lab.experiments.registry import chosen_experiments
    from grfpp_lab.harness.experiment import Settings, Size
    from grfpp_lab.harness.runner import run_experiments

    experiments = chosen_experiments(names)
    size = Size.TINY if tiny else Size.QUICK if quick else Size.FULL
    settings = Settings(
        size,
        seed,
        None if scale is None else positive(scale, "scale"),
        None if p_halt is None else probability(p_halt, "p_halt", above_zero=True, below_one=True),
    )
    n_jobs = thread_count(n_jobs)
    shared.make_folder(out)

    began = perf_counter()
    try:
        with _bar() as progress:
            outcomes = run_experiments(experiments, settings, out, n_jobs, progress, warmup)
    except KeyboardInterrupt:
        console.note("what is finished is kept: the same command goes on from here")
        raise
    meta = _meta(settings, outcomes, n_jobs, perf_counter() - began, _command(names, settings))
    written = _write(out, outcomes, meta)

    if as_json:
        console.print_json(_document(outcomes, meta, written))
    else:
        _print_text(outcomes, meta, written)
    n_failed = sum(len(outcome.errors) for outcome in outcomes)
    if n_failed:
        first = next(each for outcome in outcomes for each in outcome.errors)
        console.note(f"{n_failed} cells failed, the first of them with: {first.error}")
        raise click.exceptions.Exit(SOME_FAILED)


@contextmanager
def _bar() -> Iterator[Progress]:
    """A progress bar with the time left."""
    columns: list[Any] = []
    if console.shows_progress():
        from rich import progress

        columns = [
            progress.TextColumn("{task.description:<13}"),
            progress.BarColumn(),
            progress.TaskProgressColumn(),
            progress.TimeElapsedColumn(),
            progress.TextColumn("left"),
            progress.TimeRemainingColumn(),
        ]
    with console.progress_bar("getting ready", *columns, speed_estimate_period=300) as update:
        update(total=1.0)
        yield lambda share, text: update(completed=share, description=text)


def _write(folder: Path, outcomes: Sequence[Outcome], meta: dict[str, Any]) -> list[Path]:
    from grfpp_lab.harness.runner import write_tables

    missing = missing_packages()
    if missing:
        shared.say_no_page(missing)
        return write_tables(folder, outcomes, meta)
    from grfpp_lab.experiments.page import write_report

    with console.status("drawing"):
        return write_report(folder, outcomes, meta) + write_tables(folder, outcomes, meta)


def _meta(
    settings: Settings, outcomes: Sequence[Outcome], jobs: int, seconds: float, command: str
) -> dict[str, Any]:
    from grfpp_lab.harness.machine import describe_machine
    from grfpp_lab.harness.runner import code_fingerprint

    return {
        "command": command,
        "size": str(settings.size),
        "seed": settings.seed,
        "jobs": jobs,
        "seconds": round(seconds, 2),
        "n_cells": sum(len(outcome.plan.cells) for outcome in outcomes),
        "n_found": sum(outcome.n_found for outcome in outcomes),
        "code": code_fingerprint(),
        "machine": describe_machine(),
    }


def _command(names: Sequence[str], settings: Settings) -> str:
    """The command that gives the same rows."""
    size = [] if settings.size == "full" else [f"--{settings.size}"]
    given = {"scale": settings.scale, "p-halt": settings.p_halt}
    values = [f"--{name} {value:g}" for name, value in given.items() if value is not None]
    return " ".join(["grfpp reproduce", *names, *size, f"--seed {settings.seed}", *values])


def _print_text(outcomes: Sequence[Outcome], meta: dict[str, Any], written: Sequence[Path]) -> None:
    from grfpp_lab.harness.runner import verdicts

    for outcome in outcomes:
        seconds = f"{outcome.seconds:.1f} s of work in {len(outcome.plan.cells)} cells"
        found = f", {outcome.n_found} found finished" if outcome.n_found else ""
        print(f"{outcome.experiment.name} ({outcome.experiment.source}): {seconds}{found}")
        for name, why in outcome.plan.skipped.items():
            print(f"  left out {name}: {why}")
        for each in verdicts(outcome):
            print(f"  {each['claim']}: {each['holds']}")
            print(f"    paper says {each['paper']}")
            print(f"    measured: {each['measured']}")
    print(f"{meta['seconds']:.1f} s")
    pages = [path for path in written if path.parent.name != "figures"]
    shared.print_written(pages)
    if len(pages) < len(written):
        print(f"wrote {len(written) - len(pages)} figures in {written[1].parent}")


def _document(
    outcomes: Sequence[Outcome], meta: dict[str, Any], written: Sequence[Path]
) -> dict[str, Any]:
    from grfpp_lab.harness.runner import summary

    return {
        **meta,
        "experiments": {
            outcome.experiment.name: {"n_rows": len(outcome.rows), **summary(outcome)}
            for outcome in outcomes
        },
        "written": [str(path) for path in written],
    }
