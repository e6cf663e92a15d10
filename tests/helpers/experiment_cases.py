"""Experiments to test the runner with: cells that end well, raise, or end their process."""

import os
import signal
import time

from grfpp_lab.harness.experiment import Claim, Experiment, Holds, Plan, Settings, Verdict
from grfpp_lab.harness.runner import run_experiments
from grfpp_lab.report.panels import Curve, Panel


def run(cell):
    act = cell.get("act")
    if act == "raise":
        raise ValueError("no luck\nat all")
    if act == "exit":
        print("last words", file=os.sys.stderr, flush=True)
        os._exit(3)
    if act == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if act == "print":
        print("this is no answer")
    if act == "sleep":
        time.sleep(cell["seconds"])
    return [{"x": cell["x"], "square": cell["x"] ** 2, "seed": cell.get("seed")}]


def echo(argument):
    """The argument, and how many threads libraries are told to start."""
    return {**argument, "threads": int(os.environ["OMP_NUM_THREADS"])}


def endless(argument):
    while True:
        pass


def large(argument):
    """More memory than was allowed."""
    import numpy as np

    return {"sum": float(np.ones(argument["n"]).sum())}


def threads(cell):
    """How many threads BLAS and numba would use."""
    import numba
    import numpy as np
    from threadpoolctl import threadpool_info

    np.ones((2, 2)) @ np.ones((2, 2))
    counts = [each["num_threads"] for each in threadpool_info()]
    return [{"blas": max(counts, default=1), "numba": numba.config.NUMBA_NUM_THREADS}]


def panels(rows):
    x = [row["x"] for row in rows]
    return [Panel("squares", [Curve("x²", x, [row["square"] for row in rows])], "x", "x²")]


def judge(rows):
    return Verdict("x² is x·x", f"{len(rows)} squares", Holds.YES if rows else Holds.OPEN)


def squares(cells, name="squares", **options):
    return Experiment(
        name=name,
        title="Squares",
        source="nowhere",
        about=["Numbers and their squares."],
        plan=lambda settings: Plan(
            [{**cell, "seed": settings.seed} for cell in cells], {"cells": str(len(cells))}
        ),
        run=options.pop("run", run),
        claims=[Claim(name, "The squares", "Squares.", panels, judge)],
        **options,
    )


def ran(experiment, folder, jobs=2, seed=0, **options):
    (outcome,) = run_experiments([experiment], Settings(seed=seed), folder, jobs, **options)
    return outcome
