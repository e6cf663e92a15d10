"""The runner: what is done is kept, what crashes harms nobody else."""

import itertools
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import experiment_cases
import pytest
from experiment_cases import squares

from grfpp_lab.experiments.experiment import Settings
from grfpp_lab.harness import store
from grfpp_lab.harness.runner import run_experiments
from grfpp_lab.harness.worker import answer


def ran(experiment, folder, jobs=2, seed=0, **options):
    (outcome,) = run_experiments([experiment], Settings(seed=seed), folder, jobs, **options)
    return outcome


def test_rows_come_in_the_order_of_the_cells_whatever_the_costs(tmp_path):
    cells = [{"x": x} for x in range(1, 7)]
    outcome = ran(squares(cells, cost=lambda cell: float(cell["x"])), tmp_path)
    assert [row["square"] for row in outcome.rows] == [1, 4, 9, 16, 25, 36]
    assert (outcome.errors, outcome.n_found) == ([], 0)
    assert outcome.seconds > 0


def test_a_cell_that_crashes_does_not_lose_the_others(tmp_path):
    acts = [None, "raise", "exit", None, "kill", "print", None]
    cells = [{"x": x, "act": act} for x, act in enumerate(acts, start=1)]
    outcome = ran(squares(cells), tmp_path, jobs=1)
    assert [row["x"] for row in outcome.rows] == [1, 4, 6, 7]
    errors = [each.error for each in outcome.errors]
    assert errors == [
        "ValueError: no luck at all",
        "its process ended with exit code 3: last words",
        "its process ended by SIGKILL",
    ]
    assert "x 2, act raise" in outcome.errors[0].cell
    # Only those are run again.
    again = ran(squares(cells), tmp_path)
    assert again.n_found == 4
    assert [each.error for each in again.errors] == errors
    assert again.rows == outcome.rows


def test_what_is_stored_is_not_run_again(tmp_path):
    cells = [{"x": 1}, {"x": 2}]
    first = ran(squares(cells), tmp_path)
    called = []
    again = ran(squares(cells), tmp_path, prepare=lambda: called.append(True))
    assert (again.rows, again.n_found, called) == (first.rows, 2, [])
    more = ran(squares([*cells, {"x": 3}]), tmp_path, prepare=lambda: called.append(True))
    assert (len(more.rows), more.n_found, called) == (3, 2, [True])


def test_other_parameters_and_other_code_are_run_anew(tmp_path, monkeypatch):
    cells, cell = store.CellStore(tmp_path), {"x": 1, "seed": 0}
    experiment = squares([])
    cells.save(experiment, cell, store.Finished([{"x": 1}], 0.5))
    assert cells.load(experiment, cell) == store.Finished([{"x": 1}], 0.5)
    assert cells.load(experiment, {**cell, "seed": 1}) is None
    assert cells.load(squares([], version=2), cell) is None
    assert cells.load(squares([], name="other"), cell) is None
    monkeypatch.setattr(store, "code_fingerprint", lambda: "another")
    assert cells.load(experiment, cell) is None


def damages(path):
    text = path.read_text()
    document = json.loads(text)
    document["rows"][0]["square"] += 1
    return {
        "cut": text[: len(text) // 2],
        "empty": "",
        "garbage": "\0\xff not JSON",
        "other form": "[1, 2]",
        "a digit": json.dumps(document),
        "rows gone": text.replace('"rows"', '"lines"'),
    }


def test_damaged_cells_are_run_again(tmp_path):
    experiment, cell = squares([{"x": 3}]), {"x": 3, "seed": 0}
    ran(experiment, tmp_path)
    cells = store.CellStore(tmp_path / "cells")
    path = cells.path(experiment, cell)
    rows, kinds = cells.load(experiment, cell).rows, damages(path)
    for text in kinds.values():
        path.write_text(text)
        assert cells.load(experiment, cell) is None
    again = ran(experiment, tmp_path)
    assert (again.n_found, again.rows) == (0, rows)
    assert cells.load(experiment, cell).rows == rows


def test_progress_is_a_share_that_grows_to_one(tmp_path):
    seen = []
    cells = [{"x": x} for x in range(4)]
    ran(squares(cells), tmp_path, progress=lambda share, name: seen.append((share, name)))
    assert [share for share, _ in seen] == pytest.approx([0.25, 0.5, 0.75, 1])
    assert {name for _, name in seen} == {"squares"}


def test_timing_experiments_run_alone_and_last(tmp_path):
    order = []
    cells = [{"x": x, "act": "sleep", "seconds": 0.2} for x in range(2)]
    timed = squares(cells, "timed", timings=("seconds",))
    other = squares(cells, "other")
    began = time.perf_counter()
    run_experiments(
        *([timed, other], Settings(), tmp_path, 2), lambda share, name: order.append(name)
    )
    assert order == ["other", "other", "timed", "timed"]
    assert time.perf_counter() - began > 0.6  # two at a time, then one by one


def test_workers_have_one_thread_each(tmp_path):
    outcome = ran(squares([{"x": 1}], run=experiment_cases.threads), tmp_path)
    assert outcome.rows == [{"blas": 1, "numba": 1}]


def test_ctrl_c_keeps_what_is_done_and_ends_the_workers(tmp_path):
    cells = [{"x": 1}, {"x": 2}, {"x": 3, "act": "sleep", "seconds": 60}]
    count = itertools.count(1)

    def interrupt(share, name):
        if next(count) == 2:
            raise KeyboardInterrupt

    began = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        ran(squares(cells), tmp_path, progress=interrupt)
    assert time.perf_counter() - began < 30
    assert len(list((tmp_path / "cells" / "squares").iterdir())) == 2


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")
def test_workers_end_with_a_parent_that_is_killed(tmp_path):
    code = (
        f"import sys; sys.path[:0] = {sys.path!r}\n"
        "from pathlib import Path; from experiment_cases import squares\n"
        "from grfpp_lab.experiments.experiment import Settings\n"
        "from grfpp_lab.harness.runner import run_experiments\n"
        "cells = [dict(x=1), dict(x=2, act='sleep', seconds=300)]\n"
        f"run_experiments([squares(cells)], Settings(), Path({str(tmp_path)!r}), 1,"
        " lambda *_: print('done', flush=True))"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout.readline() == "done\n"
    tasks = Path(f"/proc/{parent.pid}/task").iterdir()
    children = [child for each in tasks for child in (each / "children").read_text().split()]
    assert children
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 20
    while any(_alive(child) for child in children):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _alive(process):
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_an_answer_holds_plain_numbers_only():
    import numpy as np

    def rows(cell):
        return [{"a": np.float64(1) / 3, "b": np.int64(2), "c": float("inf"), "d": True, "e": None}]

    experiment_cases.rows = rows
    told = answer({"run": "experiment_cases:rows", "cell": {}})
    assert told["rows"] == [{"a": 0.3333333333, "b": 2, "c": None, "d": True, "e": None}]
    json.dumps(told, allow_nan=False)
    assert "ModuleNotFoundError" in answer({"run": "no_such_module:run", "cell": {}})["error"]
