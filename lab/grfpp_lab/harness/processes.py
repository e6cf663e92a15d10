"""Work in processes of their own: a program, a function, many functions at once."""

import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from time import perf_counter
from typing import Any, TextIO

import numpy as np

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

        The process is killed after `timeout` seconds. With `last`, nothing more can
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
        """End the process; return its exit code, negative for a signal, and the last error line."""
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
    """Start a program of another environment, send it a request and return its answer.

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
    """The address of a function, ``module:name``."""
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
        """Call a function by ``module:name``; an error is returned as an answer."""
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
                command = [sys.executable, "-m", "grfpp_lab.harness.processes"]
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
        """End the process and release its resources."""
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
    """Call the requested function; an error is returned as an answer."""
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


def _limit(limits: Mapping[str, float | None], reply: Callable[[Answer], None]) -> None:
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
            reply({"error": f"stopped after {seconds:g} s of work, which is its limit"})
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

    def reply(what: Answer) -> None:
        print(json.dumps(what), file=answers, flush=True)

    while True:
        request = json.loads(requests.get())
        _limit(request["limits"], reply)
        reply(answer(request))


def _read(stream: TextIO, requests: SimpleQueue[str]) -> None:
    for line in stream:
        requests.put(line)
    os._exit(0)


@dataclass(frozen=True)
class Task:
    """A function, by ``module:name``, and what to call it with."""

    number: int
    run: str
    cell: dict[str, Any]


def work_through(tasks: Sequence[Task], n_workers: int) -> Generator[tuple[Task, Answer]]:
    """Answers to the tasks as they come in.

    Each process has one thread: the processes are what fills the cores, and the same work then
    gives the same bits. Closing the iterator, by an error or by Ctrl-C, ends the processes.
    """
    waiting, lock = iter(tasks), threading.Lock()
    answers: SimpleQueue[tuple[Task, Answer]] = SimpleQueue()
    workers = [Worker() for _ in range(max(1, min(n_workers, len(tasks))))]

    def serve(worker: Worker) -> None:
        while not worker.stopped:
            with lock:
                task = next(waiting, None)
            if task is None:
                break
            answers.put((task, worker.ask(task.run, task.cell)))

    threads = [threading.Thread(target=serve, args=(each,), daemon=True) for each in workers]
    try:
        for thread in threads:
            thread.start()
        for _ in tasks:
            yield answers.get()
    finally:
        for worker in workers:
            worker.stop()
        for thread in threads:
            thread.join()
        for worker in workers:
            worker.close()


if __name__ == "__main__":
    main()
