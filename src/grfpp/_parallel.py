"""Work on all cores: threads that run compiled code, which releases the interpreter's lock."""

from __future__ import annotations

import operator
import os
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from grfpp.errors import InputError, shown

Result = TypeVar("Result")

#: Largest accepted number of threads: more cores than any machine has.
_MAX_THREADS = 1 << 16


def thread_count(n_jobs: int) -> int:
    """Turn scikit-learn's `n_jobs` (-1: all cores) into a number of threads."""
    try:
        number = 0 if isinstance(n_jobs, bool | np.bool_) else operator.index(n_jobs)
    except TypeError:
        number = 0
    if number == 0 or abs(number) > _MAX_THREADS:
        problem = f"must be a number of threads up to {_MAX_THREADS}, or -1: all cores"
        raise InputError(f"{problem}, found {shown(n_jobs)}", argument="n_jobs")
    if number > 0:
        return number
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, (cores or 1) + 1 + number)


def in_order(
    work: Callable[[range], Result], tasks: Sequence[range], n_threads: int
) -> Generator[Result]:
    """Yield the results of the tasks in their order; at most `n_threads` are computed ahead."""
    if n_threads == 1:
        yield from map(work, tasks)
        return
    with ThreadPoolExecutor(n_threads, thread_name_prefix="grfpp") as pool:
        ahead: deque[Future[Result]] = deque()
        try:
            for task in tasks:
                ahead.append(pool.submit(work, task))
                if len(ahead) > n_threads:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            # On an error or Ctrl-C: cancel tasks that have not begun.
            for future in ahead:
                future.cancel()


@contextmanager
def one_blas_thread() -> Generator[None]:
    """Limit BLAS to one thread: in loops over small matrices others only wait, at full load."""
    with _blas().limit(limits=1, user_api="blas"):
        yield


@cache
def _blas() -> Any:
    """The BLAS libraries of NumPy and SciPy."""
    import scipy.linalg  # noqa: F401  # has a library of its own
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]  # it has no types

    return ThreadpoolController()


def split(n: int, n_parts: int) -> list[range]:
    """Split ``0 … n-1`` into at most `n_parts` ranges of nearly equal length."""
    edges = [n * part // n_parts for part in range(n_parts + 1)]
    return [range(a, b) for a, b in pairwise(edges) if b > a]
