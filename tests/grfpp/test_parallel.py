import gc
import os
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_graphs import QUICK

from grfpp._parallel import in_order, split, thread_count
from grfpp.errors import InputError


def single(n):
    """Tasks of one number each."""
    return [range(i, i + 1) for i in range(n)]


def our_threads():
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("grfpp")]


@pytest.mark.parametrize(
    ("n_jobs", "expected"),
    [(1, 1), (3, 3), (100, 100), (-1, 8), (-2, 7), (-8, 1), (-100, 1), (np.int32(-1), 8)],
)
def test_n_jobs_is_read_as_scikit_learn_does(monkeypatch, n_jobs, expected):
    """Cores that the process may not use do not count."""
    for cores, found in ((set(range(8)), expected), ({5}, max(n_jobs, 1))):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, cores=cores: cores, raising=False)
        assert thread_count(n_jobs) == found


@pytest.mark.parametrize("cores", [None, 6])
def test_systems_without_affinity(monkeypatch, cores):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    assert thread_count(-1) == (cores or 1)


@pytest.mark.parametrize(
    "bad",
    [0, True, False, 1.0, "2", None, [1], np.timedelta64(3, "s"), 10**400, np.bool_(True), 2**40],
)
def test_what_is_no_number_of_threads_is_refused(bad):
    with pytest.raises(InputError, match="n_jobs must be a number of threads") as refused:
        thread_count(bad)
    assert refused.value.argument == "n_jobs"


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_results_come_in_the_order_of_the_tasks(n_threads):
    tasks = single(30)

    def slow_at_first(task):
        time.sleep(0.02 if task.start % 5 == 0 else 0.0)
        return task.start

    assert list(in_order(slow_at_first, tasks, n_threads)) == list(range(30))
    assert list(in_order(len, [], n_threads)) == []
    assert our_threads() == []


def test_work_is_really_shared_between_threads():
    barrier = threading.Barrier(3, timeout=10)

    def meet(task):
        barrier.wait()  # passes only when three threads are here at once
        return threading.current_thread().name

    names = list(in_order(meet, single(3), 3))
    assert len(set(names)) == 3 and all(name.startswith("grfpp") for name in names)


def test_one_thread_is_the_callers_own():
    caller = threading.current_thread()
    work = [range(2), range(2, 4)]
    assert list(in_order(lambda task: threading.current_thread(), work, 1)) == [caller, caller]


@pytest.mark.parametrize("n_threads", [1, 3])
def test_exceptions_of_the_work_reach_the_caller(n_threads):
    done = []

    def work(task):
        if task.start == 4:
            raise ZeroDivisionError("task four")
        return task.start

    with pytest.raises(ZeroDivisionError, match="task four"):
        for result in in_order(work, single(50), n_threads):
            done.append(result)
    assert done == [0, 1, 2, 3]
    assert our_threads() == []


def test_after_an_exception_what_has_not_begun_is_dropped():
    begun = []

    def work(task):
        begun.append(task.start)
        time.sleep(0.01)
        raise ValueError("at once")

    with pytest.raises(ValueError, match="at once"):
        list(in_order(work, single(1000), 2))
    assert len(begun) < 10


def test_only_so_many_tasks_are_ahead():
    begun = []

    def work(task):
        begun.append(task.start)

    results = in_order(work, single(1000), 2)
    for _ in range(3):
        next(results)
    time.sleep(0.05)
    assert len(begun) <= 3 + 2 * 2
    results.close()


def test_a_generator_that_is_closed_early_cancels_the_rest():
    begun = []
    may_go_on = threading.Event()

    def work(task):
        begun.append(task.start)
        if task.start:
            may_go_on.wait(10)
        return task.start

    results = in_order(work, single(1000), 2)
    threading.Timer(0.05, may_go_on.set).start()
    assert next(results) == 0
    results.close()
    assert our_threads() == []
    # Two could have begun beside the first; what waited in the queue never began.
    assert len(begun) <= 4


def test_a_generator_that_is_forgotten_leaves_no_threads():
    results = in_order(lambda task: task.start, single(100), 2)
    next(results)
    del results
    gc.collect()
    assert our_threads() == []


@QUICK
@given(st.integers(0, 300), st.integers(1, 40))
def test_split_covers_everything_evenly(n, n_parts):
    parts = split(n, n_parts)
    assert [i for part in parts for i in part] == list(range(n))
    assert len(parts) == min(n, n_parts)
    sizes = [len(part) for part in parts]
    assert not sizes or max(sizes) - min(sizes) <= 1
