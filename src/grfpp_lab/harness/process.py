"""A program in a process of its own: threads of its own, an end in time, nobody harmed by it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

#: Libraries that start threads of their own read how many from one of these.
_THREADS = (
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"),
    *("BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "NUMBA_NUM_THREADS"),
)


class TaskError(Exception):
    """The work did not end well; the message says why in one line."""


class Process:
    """A program that was started, with pipes to and from it.

    Parameters
    ----------
    command
        What to start.
    threads
        For libraries that start some.
    environment
        Variables beside ours.
    """

    def __init__(self, command: Sequence[str], threads: int, **environment: str) -> None:
        self.expired = False
        self._lock = threading.Lock()
        self._messages = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close()
        counts = dict.fromkeys(_THREADS, str(threads))
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._messages,
                encoding="utf-8",
                env={**os.environ, **counts, **environment},
                start_new_session=True,  # Ctrl-C is for the parent, which ends its children
            )
        except OSError as error:
            self._messages.close()
            raise TaskError(f"cannot start {command[0]} ({error.strerror})") from None

    def ask(self, request: Any, *, timeout: float | None = None, last: bool = False) -> str:
        """Send JSON as a line and return a line, cut short where the process has ended.

        With `timeout`, the process is killed after so many seconds. With `last`, nothing more can
        be sent, and all that it says is returned.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        answer, clock = "", threading.Timer(timeout or 0.0, self._expire)
        if timeout is not None:
            clock.start()
        try:
            with suppress(OSError):  # it may answer without having listened
                self._process.stdin.write(json.dumps(request) + "\n")
                self._process.stdin.flush()
                if last:
                    self._process.stdin.close()
            with suppress(OSError, ValueError):
                answer = self._process.stdout.read() if last else self._process.stdout.readline()
        finally:
            clock.cancel()
        if last or not answer.endswith("\n"):
            with suppress(subprocess.TimeoutExpired):  # it ends by itself, with its own exit code
                self._process.wait(1)
        return answer

    def _expire(self) -> None:
        self.expired = True
        self.kill()

    def kill(self) -> None:
        """End it and everything that it started, in the middle of whatever they do."""
        with self._lock:
            if self._process.poll() is not None:
                return
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def close(self) -> tuple[int, str]:
        """Let go of it: how it ended, negative by a signal, and its last words."""
        self.kill()
        code = self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            with suppress(OSError):  # what was not written has no reader any more
                stream.close()
        self._messages.seek(0)
        words = self._messages.read().decode(errors="replace").strip().splitlines()
        self._messages.close()
        return code, (words or [""])[-1][:300]


def run_command(
    command: Sequence[str], request: Mapping[str, Any], *, timeout: float, threads: int
) -> Any:
    """Start a program of another environment, hand it a request, return its answer.

    The request is JSON on stdin; the answer is the last line of stdout, JSON again.

    Raises
    ------
    TaskError
        When it ends badly, says nothing, or takes more than `timeout` seconds.
    """
    if timeout <= 0:
        raise TaskError("no time was left for it")
    process = Process(command, threads)
    try:
        lines = process.ask(request, timeout=timeout, last=True).strip().splitlines()
    finally:
        code, words = process.close()
    if process.expired:
        raise TaskError(f"stopped after {timeout:.0f} s, which is its limit")
    if code < 0:
        raise TaskError(f"ended by {signal.Signals(-code).name}")
    if code or not lines:
        raise TaskError(words or "it said nothing")
    try:
        return json.loads(lines[-1])
    except ValueError:
        raise TaskError(f"its answer is not JSON: {lines[-1][:200]}") from None
