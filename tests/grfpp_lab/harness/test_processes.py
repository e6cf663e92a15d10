"""Programs of other environments: answers, ends, excuses."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import cell_functions
import numpy as np
import pytest
from cell_functions import wait_for
from experiment_cases import ran, squares

from grfpp_lab.harness.processes import TaskError, Worker, address, answer, call, run_command


def ask(code, timeout=30.0, **request):
    return run_command([sys.executable, "-c", code], request, timeout=timeout, threads=2)


def test_the_answer_is_the_last_line():
    code = "import json, sys; print('chatter'); print(json.dumps(json.load(sys.stdin)['x'] + 1))"
    assert ask(code, x=41) == 42
    assert ask("import os, json; print(json.dumps(os.environ['OMP_NUM_THREADS']))") == "2"


def test_what_goes_wrong_is_told_in_a_line():
    for code, why in {
        "raise ValueError('the reason')": "ValueError: the reason",
        "import sys; sys.exit('no such package')": "no such package",
        "pass": "it said nothing",
        "print('hello')": "not JSON: hello",
        "import os; os.kill(os.getpid(), 9)": "ended by SIGKILL",
    }.items():
        with pytest.raises(TaskError, match=why):
            ask(code)
    with pytest.raises(TaskError, match="cannot start no-such-program"):
        run_command(["no-such-program"], {}, timeout=1, threads=1)


def test_a_timeout_ends_everything_that_was_started(tmp_path):
    note = tmp_path / "pid"
    code = (
        "import os, subprocess, sys, time, pathlib;"
        "child = subprocess.Popen(['sleep', '600']);"
        f"pathlib.Path({str(note)!r}).write_text(str(child.pid));"
        "time.sleep(600)"
    )
    with pytest.raises(TaskError, match="stopped after 1 s"):
        ask(code, timeout=1.0)
    wait_for(lambda: not _alive(note.read_text()))


ECHO, RUN = (address(each) for each in (cell_functions.echo, cell_functions.run))


def test_a_function_is_called_by_name_with_as_many_threads_as_it_may_have():
    assert call(ECHO, {"x": [1, 2.5]}, threads=3) == {"x": [1, 2.5], "threads": 3}


def test_limits_of_time_by_the_clock_and_of_work():
    endless = address(cell_functions.endless)
    for ask_late in (lambda: call(endless, {}, timeout=0), lambda: ask("print(1)", timeout=-1.0)):
        with pytest.raises(TaskError, match="no time was left"):
            ask_late()
    with pytest.raises(TaskError, match="stopped after 1 s, which is its limit"):
        call(endless, {}, timeout=1.0)
    with pytest.raises(TaskError, match="stopped after 1 s of work, which is its limit"):
        call(endless, {}, cpu_seconds=1)


def test_a_limit_of_memory():
    large, limit = address(cell_functions.large), 2**30
    assert call(large, {"n": 1000}, memory_bytes=limit) == {"sum": 1000}
    with pytest.raises(TaskError, match="MemoryError"):
        call(large, {"n": limit}, memory_bytes=limit)


def test_a_worker_goes_on_after_its_process_was_lost_until_it_is_stopped():
    worker = Worker()
    assert worker.ask(RUN, {"x": 2})["result"][0]["square"] == 4
    assert "SIGKILL" in worker.ask(RUN, {"x": 2, "act": "kill"})["error"]
    assert worker.ask(RUN, {"x": 3})["result"][0]["square"] == 9
    worker.close()
    assert worker.ask(RUN, {"x": 3}) == {"error": "stopped"}


def test_an_answer_holds_plain_numbers_only():
    def rows(cell):
        return [{"a": np.float64(1) / 3, "b": np.int64(2), "c": float("inf"), "d": True, "e": None}]

    cell_functions.rows = rows
    told = answer({"run": "cell_functions:rows", "argument": {}})
    assert told["result"] == [{"a": 0.3333333333, "b": 2, "c": None, "d": True, "e": None}]
    json.dumps(told, allow_nan=False)
    assert "ModuleNotFoundError" in answer({"run": "no_such_module:run", "argument": {}})["error"]


def test_a_cell_that_crashes_does_not_lose_the_others(tmp_path):
    acts = [None, "raise", "exit", None, "kill", "print", None]
    cells = [{"x": x, "act": act} for x, act in enumerate(acts, start=1)]
    outcome = ran(squares(cells), tmp_path, jobs=1)
    assert [row["x"] for row in outcome.rows] == [1, 4, 6, 7]
    errors = [each.error for each in outcome.errors]
    assert errors[:2] == [
        "ValueError: no luck at all",
        "its process ended with exit code 3: last words",
    ]
    assert errors[2].startswith("its process ended by SIGKILL")
    assert "x 2, act raise" in outcome.errors[0].cell
    # Only those are run again.
    again = ran(squares(cells), tmp_path)
    assert again.n_found == 4
    assert [each.cell for each in again.errors] == [each.cell for each in outcome.errors]
    assert again.rows == outcome.rows


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")
def test_workers_end_with_a_parent_that_is_killed(tmp_path):
    code = (
        f"import sys; sys.path[:0] = {sys.path!r}\n"
        "from pathlib import Path; from experiment_cases import squares\n"
        "from grfpp_lab.harness.experiment import Settings\n"
        "from grfpp_lab.harness.runner import run_experiments\n"
        "cells = [dict(x=2, act='sleep', seconds=300), dict(x=1)]\n"
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
    wait_for(lambda: not any(_alive(child) for child in children))


def _alive(process):
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
