"""Run experiments: what is stored is not run again, what crashes harms nobody else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from grfpp_lab.harness.experiment import Experiment, Plan, Row, Settings
from grfpp_lab.harness.pool import Task, work_through
from grfpp_lab.harness.store import CellStore, Finished
from grfpp_lab.harness.worker import address

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


@dataclass
class _Job:
    """A cell, where it belongs, and what became of it."""

    experiment: Experiment
    cell: dict[str, object]
    cost: float
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
        Told of every cell that is done.
    prepare
        Called before the first cell, if there is any to run.
    """
    store = CellStore(folder / "cells")
    plans = [each.plan(settings) for each in experiments]
    jobs_of = [
        [_Job(each, dict(cell), each.cost(cell)) for cell in plan.cells]
        for each, plan in zip(experiments, plans, strict=True)
    ]
    everything = [job for own in jobs_of for job in own]
    for job in everything:
        job.finished = store.load(job.experiment, job.cell)
        job.found = job.finished is not None
    left = [job for job in everything if not job.found]
    if left:
        prepare()
    clock = _Clock(left, progress)
    together = [job for job in left if not job.experiment.timings]
    # The longest first, so that no core waits for it in the end.
    together.sort(key=lambda job: -job.cost)
    _run(together, jobs, store, clock)
    _run([job for job in left if job.experiment.timings], 1, store, clock)
    return [
        _outcome(experiment, plan, own)
        for experiment, plan, own in zip(experiments, plans, jobs_of, strict=True)
    ]


class _Clock:
    """How much of the work is done, each experiment's cells weighed by their guessed cost."""

    def __init__(self, left: Sequence[_Job], progress: Progress) -> None:
        self._total = sum(job.cost for job in left)
        self._done = 0.0
        self._progress = progress

    def tick(self, job: _Job) -> None:
        self._done += job.cost
        self._progress(self._done / self._total, job.experiment.name)


def _run(jobs: Sequence[_Job], n_workers: int, store: CellStore, clock: _Clock) -> None:
    tasks = [Task(number, address(job.experiment.run), job.cell) for number, job in enumerate(jobs)]
    with closing(work_through(tasks, n_workers)) as answers:
        for task, answer in answers:
            job = jobs[task.number]
            if "error" in answer:
                job.error = answer["error"]
            else:
                job.finished = Finished(answer["result"], answer["seconds"])
                store.save(job.experiment, job.cell, job.finished)
            clock.tick(job)


def _outcome(experiment: Experiment, plan: Plan, jobs: Sequence[_Job]) -> Outcome:
    done = [job.finished for job in jobs if job.finished is not None]
    return Outcome(
        experiment=experiment,
        plan=plan,
        rows=[row for finished in done for row in finished.rows],
        errors=[CellError(describe(job.cell), job.error) for job in jobs if job.error],
        seconds=sum(finished.seconds for finished in done),
        n_found=sum(job.found for job in jobs),
    )


def describe(cell: dict[str, object]) -> str:
    """A cell in a few words."""
    return ", ".join(f"{name} {value}" for name, value in cell.items() if name != "seed")
