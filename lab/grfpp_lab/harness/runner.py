"""Cells of experiments: run, kept on disk, and written as tables."""

import csv
import hashlib
import io
import json
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import grfpp
from grfpp.cli.results import csv_cell
from grfpp.io.atomic import atomic_write
from grfpp_lab.harness.experiment import Cell, Experiment, Plan, Row, Settings, but
from grfpp_lab.harness.machine import load
from grfpp_lab.harness.processes import Task, address, work_through

_FORMAT = "grfpp-cell-1"
#: Folders of the library that numbers depend on only where an experiment says so.
_NO_NUMBERS = {"cli", "plots", "tasks", "torch"}
#: Parts of the laboratory that numbers do depend on, beside each experiment's own `version`.
_NUMBERS = ("measuring.py",)


@dataclass(frozen=True)
class Finished:
    """The rows of a cell, the seconds that it took, and the machine's load when it was done."""

    rows: Sequence[Row]
    seconds: float
    load: float | None = None


class CellStore:
    """A folder of finished cells.

    Each has a name made from its parameters and from the version of the code, so that one run
    finds what another one left, and never what other code or other parameters gave.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, experiment: Experiment, cell: Cell) -> Path:
        """Where a cell is kept."""
        identity = {
            "experiment": experiment.name,
            "version": experiment.version,
            "code": code_fingerprint(tuple(experiment.parts)),
            "cell": dict(cell),
        }
        return self.folder / experiment.name / f"{digest(identity)}.json"

    def load(self, experiment: Experiment, cell: Cell) -> Finished | None:
        """Return a finished cell, or nothing when it is missing or damaged."""
        try:
            found = json.loads(self.path(experiment, cell).read_bytes())
            rows, seconds, load = found["rows"], float(found["seconds"]), found.get("load")
            whole = (
                found["format"] == _FORMAT
                and found["cell"] == json.loads(_canonical(dict(cell)))
                and found["checksum"] == digest(rows)
                and all(isinstance(row, dict) for row in rows)
            )
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None
        return Finished(rows, seconds, load) if whole else None

    def save(self, experiment: Experiment, cell: Cell, finished: Finished) -> None:
        """Keep a finished cell."""
        path = self.path(experiment, cell)
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = [dict(row) for row in finished.rows]
        document = {
            "format": _FORMAT,
            "cell": dict(cell),
            "seconds": round(finished.seconds, 4),
            "load": finished.load,
            "checksum": digest(rows),
            "rows": rows,
        }
        with atomic_write(path) as stream:
            stream.write(json.dumps(document, allow_nan=False).encode())


def digest(value: Any) -> str:
    """A short name for a JSON value, the same on every machine.

    Examples
    --------
    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    True
    """
    return hashlib.sha256(_canonical(value).encode()).hexdigest()[:24]


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


@cache
def code_fingerprint(parts: tuple[str, ...] = ()) -> str:
    """A hash of the code that numbers depend on: the library, and what measures with it.

    Parameters
    ----------
    parts
        Folders of the library that count beside the rest of it.
    """
    root = files("grfpp")
    own = files("grfpp_lab") / "experiments"
    more = [(f"experiments/{name}", (own / name).read_bytes()) for name in _NUMBERS]
    for part in parts:
        more += [(f"{part}/{name}", text) for name, text in _sources(root / part)]
    total = hashlib.sha256(grfpp.__version__.encode())
    for name, text in sorted([*_sources(root), *more]):
        total.update(f"\0{name}\0".encode() + text)
    return total.hexdigest()[:16]


def _sources(folder: Any) -> list[tuple[str, bytes]]:
    """Names and contents of the Python files below a folder, but for parts without numbers."""
    found = []
    for entry in folder.iterdir():
        if entry.is_dir() and entry.name not in _NO_NUMBERS:
            found += [(f"{entry.name}/{name}", text) for name, text in _sources(entry)]
        elif entry.name.endswith(".py"):
            found.append((entry.name, entry.read_bytes()))
    return found


#: Called with the share of the work that is done and with what has just been done.
Progress = Callable[[float, str], None]


@dataclass(frozen=True)
class CellError:
    """A cell that gave no rows."""

    cell: str
    error: str


@dataclass(frozen=True)
class Outcome:
    """What an experiment gave."""

    experiment: Experiment
    plan: Plan
    #: Of all cells that ended well, in the order of the plan.
    rows: Sequence[Row]
    #: Of the others.
    errors: Sequence[CellError]
    #: Work in all cells, whenever they were run; several run at a time.
    seconds: float
    #: Cells that an earlier run had finished.
    n_found: int
    #: The machine's load at the end of each cell, where it is known.
    loads: Sequence[float] = ()


@dataclass
class _Job:
    """A cell, its experiment, and its result."""

    experiment: Experiment
    cell: dict[str, object]
    finished: Finished | None = None
    found: bool = False
    error: str | None = None


def run_experiments(
    experiments: Sequence[Experiment],
    settings: Settings,
    folder: Path,
    jobs: int,
    progress: Progress = lambda share, text: None,
    prepare: Callable[[], None] = lambda: None,
) -> list[Outcome]:
    """Run what is not stored yet, and store every cell as soon as it is done.

    Parameters
    ----------
    experiments
        What to run.
    settings
        How much of it, and with which seed.
    folder
        Where finished cells are kept, below ``cells``.
    jobs
        Processes. Experiments that measure time run one cell at a time, after all others.
    progress
        Called after every cell.
    prepare
        Called before the first cell, if there is any to run.
    """
    store = CellStore(folder / "cells")
    plans = [each.plan(settings) for each in experiments]
    jobs_of = [
        [_Job(each, dict(cell)) for cell in plan.cells]
        for each, plan in zip(experiments, plans, strict=True)
    ]
    everything = [job for own in jobs_of for job in own]
    for job in everything:
        job.finished = store.load(job.experiment, job.cell)
        job.found = job.finished is not None
    left = [job for job in everything if not job.found]
    if left:
        prepare()
    n_done = 0

    def tick(job: _Job) -> None:
        nonlocal n_done
        n_done += 1
        progress(n_done / len(left), job.experiment.name)

    # Plans begin with what is small: the longest first, so that no core waits for it in the end.
    together = [job for job in reversed(left) if not job.experiment.timings]
    _run(together, jobs, store, tick)
    _run([job for job in left if job.experiment.timings], 1, store, tick)
    return [
        _outcome(experiment, plan, own)
        for experiment, plan, own in zip(experiments, plans, jobs_of, strict=True)
    ]


def _run(
    jobs: Sequence[_Job], n_workers: int, store: CellStore, tick: Callable[[_Job], None]
) -> None:
    tasks = [Task(number, address(job.experiment.run), job.cell) for number, job in enumerate(jobs)]
    with closing(work_through(tasks, n_workers)) as answers:
        for task, answer in answers:
            job = jobs[task.number]
            if "error" in answer:
                job.error = answer["error"]
            else:
                job.finished = Finished(answer["result"], answer["seconds"], load())
                store.save(job.experiment, job.cell, job.finished)
            tick(job)


def _outcome(experiment: Experiment, plan: Plan, jobs: Sequence[_Job]) -> Outcome:
    done = [job.finished for job in jobs if job.finished is not None]
    return Outcome(
        experiment=experiment,
        plan=plan,
        rows=[row for finished in done for row in finished.rows],
        errors=[CellError(describe(job.cell), job.error) for job in jobs if job.error],
        seconds=sum(finished.seconds for finished in done),
        n_found=sum(job.found for job in jobs),
        loads=[finished.load for finished in done if finished.load is not None],
    )


def describe(cell: dict[str, object]) -> str:
    """A cell in a few words."""
    return ", ".join(f"{name} {value}" for name, value in cell.items() if name != "seed")


def write_tables(folder: Path, outcomes: Sequence[Outcome], meta: dict[str, Any]) -> list[Path]:
    """Write ``rows.csv``, ``timings.csv`` (if any time was measured) and ``rows.json``.

    The first is the same, to the last byte, whenever the same experiments run with the same seed
    on the same machine, in one go or in several. Columns of measured seconds are in the second.
    """
    steady, timed = [], []
    for outcome in outcomes:
        name, seconds = outcome.experiment.name, outcome.experiment.timings
        for row in outcome.rows:
            steady.append({"experiment": name, **but(row, *seconds)})
            if seconds:
                timed.append({"experiment": name, **row})
    written = [_write_csv(folder / "rows.csv", steady)]
    timings = folder / "timings.csv"
    if timed:
        written.append(_write_csv(timings, timed))
    else:
        timings.unlink(missing_ok=True)
    document = {
        **meta,
        "experiments": {
            outcome.experiment.name: {
                "parameters": dict(outcome.plan.parameters),
                **summary(outcome),
                "rows": [dict(row) for row in outcome.rows],
            }
            for outcome in outcomes
        },
    }
    path = folder / "rows.json"
    with atomic_write(path) as stream:
        stream.write(json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False).encode())
    return [*written, path]


def summary(outcome: Outcome) -> dict[str, Any]:
    """The result of an experiment, without its rows."""
    return {
        "skipped": dict(outcome.plan.skipped),
        "seconds": round(outcome.seconds, 2),
        "load": [min(outcome.loads), max(outcome.loads)] if outcome.loads else None,
        "verdicts": verdicts(outcome),
        "errors": [asdict(each) for each in outcome.errors],
    }


def verdicts(outcome: Outcome) -> list[dict[str, str]]:
    """The verdicts of an experiment as plain values."""
    judged = [(claim.title, claim.verdict(outcome.rows)) for claim in outcome.experiment.claims]
    return [
        {"claim": title, "paper": each.paper, "measured": each.measured, "holds": str(each.holds)}
        for title, each in judged
    ]


def _write_csv(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    columns = list(dict.fromkeys(name for row in rows for name in row)) or ["experiment"]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([csv_cell(row.get(name, "")) for name in columns] for row in rows)
    with atomic_write(path) as stream:
        stream.write(text.getvalue().encode())
    return path
