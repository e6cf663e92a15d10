"""Functions called in a process of their own, by name and with JSON, one after the other.

`Worker` is the side that asks: it starts the process when it is first needed, and again after it
was lost. Run as a module, this is the side that answers: requests come as lines on stdin, answers
go as lines to stdout. When stdin closes, because whoever asks has ended or was killed, the process
ends at once, in the middle of a call if need be.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from queue import SimpleQueue
from time import perf_counter
from typing import Any, TextIO

import numpy as np

from grfpp_lab.harness.process import Process, TaskError

#: Digits that are kept of a measured number: what rounding may change is cut off.
DIGITS = 10

#: ``result`` and ``seconds``, or ``error``.
Answer = dict[str, Any]


def call(
    function: str,
    argument: Mapping[str, Any],
    *,
    threads: int = 1,
    timeout: float | None = None,
    cpu_seconds: float | None = None,
    memory_bytes: int | None = None,
) -> Any:
    """Call a function in a process of its own, and return what it gives.

    Parameters
    ----------
    function, argument
        What to call, as ``module:name``, and with what; argument and result are values that JSON
        can hold.
    threads
        For libraries that start some.
    timeout, cpu_seconds, memory_bytes
        Limits: seconds by the clock and of work, and memory.

    Raises
    ------
    TaskError
        When it raises, ends its process, or reaches a limit.
    """
    if timeout is not None and timeout <= 0:
        raise TaskError("no time was left for it")
    worker = Worker(threads)
    limits = {"cpu_seconds": cpu_seconds, "memory_bytes": memory_bytes}
    try:
        answer = worker.ask(function, argument, timeout=timeout, limits=limits)
    finally:
        worker.close()
    if "error" in answer:
        raise TaskError(answer["error"])
    return answer["result"]


def address(function: Callable[..., Any]) -> str:
    """What another process finds a function by."""
    return f"{function.__module__}:{function.__name__}"


class Worker:
    """A process that calls functions; nothing is started before the first."""

    def __init__(self, threads: int = 1) -> None:
        self.stopped = False
        self._threads = threads
        self._process: Process | None = None
        self._lock = threading.Lock()

    def ask(
        self,
        function: str,
        argument: Mapping[str, Any],
        *,
        timeout: float | None = None,
        limits: Mapping[str, float | None] | None = None,
    ) -> Answer:
        """Have a function called, by ``module:name``; what goes wrong is an answer too."""
        process = self._running()
        if process is None:
            return {"error": "stopped"}
        request = {"run": function, "argument": dict(argument), "limits": dict(limits or {})}
        line = process.ask(request, timeout=timeout)
        if line.endswith("\n"):
            answer: Answer = json.loads(line)
            return answer
        how = self._bury()
        if process.expired:
            return {"error": f"stopped after {timeout:.0f} s, which is its limit"}
        return {"error": f"its process ended {how}"}

    def _running(self) -> Process | None:
        with self._lock:
            if self._process is None and not self.stopped:
                command = [sys.executable, "-m", "grfpp_lab.harness.worker"]
                path = os.pathsep.join(filter(None, sys.path))
                self._process = Process(command, self._threads, PYTHONPATH=path)
            return None if self.stopped else self._process

    def stop(self) -> None:
        """End the process in the middle of whatever it does, and start no other."""
        with self._lock:
            self.stopped = True
            if self._process is not None:
                self._process.kill()

    def close(self) -> None:
        """End it, and let go of what it held."""
        self.stop()
        self._bury()

    def _bury(self) -> str:
        """How the process ended; the next call starts a new one."""
        with self._lock:
            process, self._process = self._process, None
        if process is None:
            return "before"
        code, words = process.close()
        how = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
        return f"{how}: {words}" if words else how


# --- the side that answers ------------------------------------------------------------------------


def answer(request: Mapping[str, Any]) -> Answer:
    """Call what is asked for; an error is an answer too."""
    try:
        module, _, name = request["run"].partition(":")
        run = getattr(importlib.import_module(module), name)
        began = perf_counter()
        result = plain(run(request["argument"]))
        return {"result": result, "seconds": perf_counter() - began}
    except Exception as error:
        reason = " ".join(str(error).split()) or "no reason given"
        return {"error": f"{type(error).__name__}: {reason}"[:500]}


def plain(value: Any) -> Any:
    """A value that JSON can hold and that is the same whenever it is computed again.

    Examples
    --------
    >>> plain({"a": np.float64(1) / 3, "b": [np.int64(3), float("nan")]})
    {'a': 0.3333333333, 'b': [3, None]}
    """
    if isinstance(value, Mapping):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if np.isfinite(value) else None
    return value


def _limit(limits: Mapping[str, float | None], tell: Callable[[Answer], None]) -> None:
    """Bound the work and the memory of this process, where the system can do so."""
    try:
        import resource
    except ImportError:  # not on Windows, where only the clock ends it
        return
    seconds, memory = limits.get("cpu_seconds"), limits.get("memory_bytes")
    if memory:
        resource.setrlimit(resource.RLIMIT_DATA, (int(memory), int(memory)))
    if seconds:

        def stop(number: int, frame: Any) -> None:
            tell({"error": f"stopped after {seconds:g} s of work, which is its limit"})
            os._exit(1)

        signal.signal(signal.SIGXCPU, stop)
        most = max(1, int(seconds))
        resource.setrlimit(resource.RLIMIT_CPU, (most, most + 5))


def main() -> None:
    """Answer requests until stdin closes."""
    # Whatever prints in between must not be taken for an answer.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    requests: SimpleQueue[str] = SimpleQueue()
    threading.Thread(target=_read, args=(sys.stdin, requests), daemon=True).start()

    def tell(what: Answer) -> None:
        print(json.dumps(what), file=answers, flush=True)

    while True:
        request = json.loads(requests.get())
        _limit(request["limits"], tell)
        tell(answer(request))


def _read(stream: TextIO, requests: SimpleQueue[str]) -> None:
    for line in stream:
        requests.put(line)
    os._exit(0)


if __name__ == "__main__":
    main()
