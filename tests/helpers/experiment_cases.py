"""Experiments to test the runner with: cells that end well, raise, or end their process."""

import itertools
import json
import sys
from contextlib import redirect_stdout
from io import StringIO

import cell_functions
import pytest

from grfpp.cli import run
from grfpp_lab.harness import processes
from grfpp_lab.harness.experiment import Claim, Experiment, Holds, Plan, Settings, Verdict
from grfpp_lab.harness.runner import run_experiments
from grfpp_lab.report.panels import Curve, Panel


def panels(rows):
    x = [row["x"] for row in rows]
    return [Panel("squares", [Curve("x²", x, [row["square"] for row in rows])], "x", "x²")]


def judge(rows):
    return Verdict("x² is x·x", f"{len(rows)} squares", Holds.YES if rows else Holds.OPEN)


def squares(cells, name="squares", **options):
    def plan(settings):
        seeded = [{**cell, "seed": settings.seed} for cell in cells]
        return Plan(seeded, {"cells": str(len(cells))})

    return Experiment(
        **{"name": name, "title": "Squares", "source": "nowhere", "plan": plan},
        about=["Numbers and their squares."],
        claims=[Claim(name, panels, judge, title="The squares", caption="Squares.")],
        **{"run": cell_functions.run, **options},
    )


def ran(experiment, folder, jobs=2, seed=0, **options):
    (outcome,) = run_experiments([experiment], Settings(seed=seed), folder, jobs, **options)
    return outcome


class WorkerHere:
    """In place of a process of its own: cells are run in this one, with JSON in between."""

    stopped = False

    def __init__(self, threads=1):
        pass

    def ask(self, function, argument, *, timeout=None, limits=None):
        request = json.loads(json.dumps({"run": function, "argument": dict(argument)}))
        return json.loads(json.dumps(processes.answer(request)))

    def stop(self):
        self.stopped = True

    close = stop


def forget_loaded():
    """Clear the caches of the laboratory, which may hold other data than a test asks for."""
    for name, module in list(sys.modules.items()):
        if name.startswith("grfpp_lab."):
            for value in vars(module).values():
                getattr(value, "cache_clear", lambda: None)()


def run_cells_here(patch):
    """Run cells without starting processes, which takes most of the time of small ones."""
    forget_loaded()
    patch.setattr(processes, "Worker", WorkerHere)
    patch.setattr("grfpp.warmup.warmup", lambda: None)


def draw_one_file(patch):
    """Draw one figure as PDF and leave the others out: the page has all panels as SVG."""
    from grfpp_lab.experiments import page

    count, drawn = itertools.count(), page.image_bytes

    def image(figure, kind, dpi):
        if kind == "png" or next(count):
            return {"png": b"\x89PNG", "pdf": b"%PDF"}[kind]
        return drawn(figure, kind, dpi)

    patch.setattr(page, "image_bytes", image)


def reproduced(folder, *names):
    """What ``grfpp reproduce`` tells of the smallest run, without any data, in this process."""
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()) as out:
        patch.delenv("GRFPP_DATA", raising=False)
        patch.setenv("GRFPP_CACHE", str(folder / "none"))
        run_cells_here(patch)
        draw_one_file(patch)
        options = ["--tiny", "--jobs", "1", "--json", "--out", str(folder)]
        assert run(["reproduce", *names, *options]) == 0
    return json.loads(out.getvalue())
