"""`grfpp reproduce`: the paper's experiments as one command and one page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from grfpp.cli import console, options
from grfpp.errors import InputError
from grfpp.optional import how_to_install, missing_packages

if TYPE_CHECKING:
    from grfpp_lab.experiments.experiment import Settings
    from grfpp_lab.harness.runner import Outcome, Progress

#: What shells are told when some cells failed; the others are on the page.
SOME_FAILED = 1

#: Shown below the options.
NOTES = """
\b
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

\b
What kernels are used for, together "tasks":
  clustering      nodes of seven graphs, beside Louvain and others
  normals         hidden vertex normals of meshes, predicted by the kernel
  classification  graphs told apart by the spectra of their kernels

\b
Transformers and Gaussian processes, together "models"; they need grfpp[torch,gp]:
  vit             a small vision transformer with and without a mask
  gps             graph transformers with positional encodings
  gp              learned kernels on meshes, beside exact processes

\b
"all" is all of them.

\b
Data that is not at hand is left out; the page says so. See grfpp datasets.

\b
Examples:
  grfpp reproduce all --quick
  grfpp reproduce estimation-study
  grfpp reproduce estimation halting --jobs 2 --out out/reproduce
  grfpp reproduce theory --seed 1 --json

\b
Exit code 1 says that some cells failed; what happened to them is on the page.
"""


def reproduce(
    names: Annotated[
        list[str],
        typer.Argument(metavar="NAME...|all", help="Experiments; see below.", show_default=False),
    ],
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer repeats and walks: minutes instead of an hour.")
    ] = False,
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Folder for the page; made if need be.")
    ] = Path("out/reproduce"),
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Of the walks.")] = 0,
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs", "-j", metavar="N", help="Processes; -1 for all cores. The rows are the same."
        ),
    ] = -1,
    scale: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="W = X D^-1/2 A D^-1/2. [default: 1; 0.5 for other-kernels]",
            show_default=False,
        ),
    ] = None,
    sigma2: Annotated[float | None, typer.Option(hidden=True, help="Once --scale.")] = None,
    p_halt: Annotated[
        float | None,
        typer.Option(metavar="P", help="Halting probability. [default: 0.1]", show_default=False),
    ] = None,
    tiny: Annotated[bool, typer.Option("--tiny", hidden=True)] = False,
    as_json: options.AsJson = False,
) -> None:
    """Run the paper's experiments again and write a page.

    Every figure stands beside what the paper says and what was measured. Finished parts are kept:
    a run that was interrupted goes on where it stopped.
    """
    from grfpp.arguments import positive, probability
    from grfpp.parallel import thread_count
    from grfpp.warmup import warmup
    from grfpp_lab.experiments.experiment import Settings, Size
    from grfpp_lab.experiments.registry import chosen_experiments
    from grfpp_lab.harness.runner import run_experiments

    experiments = chosen_experiments(names)
    size = Size.TINY if tiny else Size.QUICK if quick else Size.FULL
    if sigma2 is not None:
        console.note("--sigma2 is now called --scale")
        scale = sigma2
    settings = Settings(
        size,
        seed,
        None if scale is None else positive(scale, "--scale"),
        None
        if p_halt is None
        else probability(p_halt, "--p-halt", above_zero=True, below_one=True),
    )
    n_jobs = thread_count(jobs)
    _make_folder(out)

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
        raise typer.Exit(SOME_FAILED)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--out {folder}: cannot make this folder ({error.strerror})") from None


@contextmanager
def _bar() -> Iterator[Progress]:
    """A progress bar with the time left on a terminal, nothing elsewhere."""
    if not console.shows_progress():
        yield lambda share, text: None
        return
    from rich import progress
    from rich.console import Console

    columns = (
        progress.TextColumn("{task.description:<13}"),
        progress.BarColumn(),
        progress.TaskProgressColumn(),
        progress.TimeElapsedColumn(),
        progress.TextColumn("left"),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(
        *columns, console=Console(stderr=True), transient=True, speed_estimate_period=300
    ) as bar:
        task = bar.add_task("getting ready", total=1.0)
        yield lambda share, text: bar.update(task, completed=share, description=text)


def _write(folder: Path, outcomes: Sequence[Outcome], meta: dict[str, Any]) -> list[Path]:
    from grfpp_lab.harness.outputs import write_tables

    missing = missing_packages()
    if missing:
        console.note(f"no page was written, because {how_to_install(missing)}")
        return write_tables(folder, outcomes, meta)
    from grfpp_lab.experiments.page import write_report

    with console.status("drawing"):
        return write_report(folder, outcomes, meta) + write_tables(folder, outcomes, meta)


def _meta(
    settings: Settings, outcomes: Sequence[Outcome], jobs: int, seconds: float, command: str
) -> dict[str, Any]:
    from grfpp_lab.harness.machine import describe_machine
    from grfpp_lab.harness.store import code_fingerprint

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
    parts = ["grfpp reproduce", *names]
    if settings.size != "full":
        parts.append(f"--{settings.size}")
    parts.append(f"--seed {settings.seed}")
    if settings.scale is not None:
        parts.append(f"--scale {settings.scale:g}")
    if settings.p_halt is not None:
        parts.append(f"--p-halt {settings.p_halt:g}")
    return " ".join(parts)


def _print_text(outcomes: Sequence[Outcome], meta: dict[str, Any], written: Sequence[Path]) -> None:
    from grfpp_lab.harness.outputs import verdicts

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
    for path in pages:
        print(f"wrote {path}")
    if len(pages) < len(written):
        print(f"wrote {len(written) - len(pages)} figures in {written[1].parent}")


def _document(
    outcomes: Sequence[Outcome], meta: dict[str, Any], written: Sequence[Path]
) -> dict[str, Any]:
    from grfpp_lab.harness.outputs import summary

    return {
        **meta,
        "experiments": {
            outcome.experiment.name: {"n_rows": len(outcome.rows), **summary(outcome)}
            for outcome in outcomes
        },
        "written": [str(path) for path in written],
    }
