"""Programs of other environments: answers, ends, excuses."""

import os
import sys
import time

import pytest

from grfpp_lab.harness.process import TaskError, run_command


def ask(code, timeout=30.0, **request):
    return run_command([sys.executable, "-c", code], request, timeout=timeout, threads=2)


def test_the_answer_is_the_last_line():
    code = "import json, sys; print('chatter'); print(json.dumps(json.load(sys.stdin)['x'] + 1))"
    assert ask(code, x=41) == 42


def test_threads_of_libraries():
    code = "import os, json; print(json.dumps(os.environ['OMP_NUM_THREADS']))"
    assert ask(code) == "2"


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("raise ValueError('the reason')", "ValueError: the reason"),
        ("import sys; sys.exit('no such package')", "no such package"),
        ("pass", "it said nothing"),
        ("print('hello')", "not JSON: hello"),
        ("import os; os.kill(os.getpid(), 9)", "ended by SIGKILL"),
    ],
)
def test_what_goes_wrong_is_told_in_a_line(code, why):
    with pytest.raises(TaskError, match=why):
        ask(code)


def test_no_such_command():
    with pytest.raises(TaskError, match="cannot start no-such-program"):
        run_command(["no-such-program"], {}, timeout=1, threads=1)


def test_no_time_left():
    with pytest.raises(TaskError, match="no time was left"):
        ask("print(1)", timeout=-1.0)


def test_a_timeout_ends_everything_that_was_started(tmp_path):
    note = tmp_path / "pid"
    code = (
        "import os, subprocess, sys, time, pathlib;"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']);"
        f"pathlib.Path({str(note)!r}).write_text(str(child.pid));"
        "time.sleep(60)"
    )
    began = time.monotonic()
    with pytest.raises(TaskError, match="stopped after 1 s"):
        ask(code, timeout=1.0)
    assert time.monotonic() - began < 20
    for _ in range(100):
        if not is_alive(int(note.read_text())):
            return
        time.sleep(0.05)
    raise AssertionError("the grandchild lives on")


def is_alive(pid):
    try:
        os.kill(pid, 0)
        with open(f"/proc/{pid}/stat") as stream:  # noqa: PTH123
            return stream.read().rsplit(")", 1)[1].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
