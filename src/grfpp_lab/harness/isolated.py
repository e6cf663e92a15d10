"""Work in a process of its own: memory of its own, an end in time, and a crash that harms nobody.

A request goes in as JSON on stdin; the answer is the last line of stdout, JSON again.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

#: Libraries that start threads of their own read how many from one of these.
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


class TaskError(Exception):
    """The work did not end well; the message says why in one line."""


def run_isolated(
    command: Sequence[str], request: Mapping[str, Any], *, timeout: float, threads: int
) -> Any:
    """Start a command, hand it the request, return its answer.

    Raises
    ------
    TaskError
        When it ends badly, says nothing, or takes more than `timeout` seconds; it and everything
        that it started is ended then.
    """
    if timeout <= 0:
        raise TaskError("no time was left for it")
    environment = {**os.environ, **dict.fromkeys(_THREADS, str(threads))}
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            start_new_session=True,
        )
    except OSError as error:
        raise TaskError(f"cannot start {command[0]} ({error.strerror})") from None
    try:
        out, err = process.communicate(json.dumps(request), timeout)
    except subprocess.TimeoutExpired:
        raise TaskError(f"stopped after {timeout:.0f} s, which is its limit") from None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    if process.returncode < 0:
        raise TaskError(f"ended by signal {-process.returncode}")
    lines = out.strip().splitlines()
    if process.returncode != 0 or not lines:
        reason = (err.strip().splitlines() or ["it said nothing"])[-1]
        raise TaskError(reason[:300])
    try:
        return json.loads(lines[-1])
    except ValueError:
        raise TaskError(f"its answer is not JSON: {lines[-1][:200]}") from None


def run_task(name: str, request: Mapping[str, Any], *, timeout: float, threads: int) -> Any:
    """Run one of this package's own measurements; see `grfpp_lab.benchmark.child`."""
    command = [sys.executable, "-m", "grfpp_lab.benchmark.child", name]
    return run_isolated(command, {**request, "threads": threads}, timeout=timeout, threads=threads)
