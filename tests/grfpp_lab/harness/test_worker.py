"""Functions in processes of their own: answers, limits, ends."""

import json
import time

import cell_functions
import numpy as np
import pytest

from grfpp_lab.harness.process import TaskError
from grfpp_lab.harness.worker import Worker, address, answer, call

ECHO, RUN = (address(each) for each in (cell_functions.echo, cell_functions.run))


def test_a_function_is_called_by_name_with_as_many_threads_as_it_may_have():
    assert call(ECHO, {"x": [1, 2.5]}, threads=3) == {"x": [1, 2.5], "threads": 3}


def test_calls_that_go_wrong_are_told_in_a_line():
    for act, why in {
        "raise": "ValueError: no luck at all",
        "exit": "its process ended with exit code 3: last words",
        "kill": "its process ended by SIGKILL",
    }.items():
        with pytest.raises(TaskError, match=why):
            call(RUN, {"x": 1, "act": act})


def test_limits_of_time_by_the_clock_and_of_work():
    endless = address(cell_functions.endless)
    began = time.monotonic()
    with pytest.raises(TaskError, match="stopped after 1 s, which is its limit"):
        call(endless, {}, timeout=1.0)
    with pytest.raises(TaskError, match="stopped after 1 s of work, which is its limit"):
        call(endless, {}, cpu_seconds=1)
    assert time.monotonic() - began < 60
    with pytest.raises(TaskError, match="no time was left"):
        call(endless, {}, timeout=0)


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
