"""Several processes at work."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import cell_functions
import pytest
from experiment_cases import ran, squares


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


def test_workers_have_one_thread_each(tmp_path):
    outcome = ran(squares([{"x": 1}], run=cell_functions.threads), tmp_path)
    assert outcome.rows == [{"blas": 1, "numba": 1}]


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")
def test_workers_end_with_a_parent_that_is_killed(tmp_path):
    code = (
        f"import sys; sys.path[:0] = {sys.path!r}\n"
        "from pathlib import Path; from experiment_cases import squares\n"
        "from grfpp_lab.harness.experiment import Settings\n"
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
