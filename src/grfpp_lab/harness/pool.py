"""Several processes at work: each takes the next task when it is done with one.

A task that ends its process (a crash, a kill by the system) is answered by an error, and another
process takes over.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from typing import IO, Any

#: Libraries that start threads of their own read how many from one of these. One each: the
#: processes are what fills the cores, and the same work then gives the same bits.
_ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "BLIS_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "NUMBA_NUM_THREADS",
    ),
    "1",
)


@dataclass(frozen=True)
class Task:
    """A function, by ``module:name``, and what to call it with."""

    number: int
    run: str
    cell: dict[str, Any]


def work_through(tasks: Sequence[Task], n_workers: int) -> Generator[tuple[Task, dict[str, Any]]]:
    """Answers to the tasks as they come in.

    An answer holds ``rows`` and ``seconds``, or ``error``. Closing the iterator, by an error or by
    Ctrl-C, ends the processes.
    """
    waiting, lock = iter(tasks), threading.Lock()
    answers: SimpleQueue[tuple[Task, dict[str, Any]]] = SimpleQueue()
    workers = [_Worker() for _ in range(max(1, min(n_workers, len(tasks))))]

    def serve(worker: _Worker) -> None:
        while not worker.stopped:
            with lock:
                task = next(waiting, None)
            if task is None:
                break
            answers.put((task, worker.ask(task)))

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
            worker.bury()


class _Worker:
    """One process, started when it is first needed and again after it was lost."""

    def __init__(self) -> None:
        self.stopped = False
        self._process: subprocess.Popen[str] | None = None
        self._messages: IO[bytes] | None = None
        self._lock = threading.Lock()

    def ask(self, task: Task) -> dict[str, Any]:
        process = self._running()
        if process is None:
            return {"error": "stopped"}
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps({"run": task.run, "cell": task.cell}) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except (OSError, ValueError):
            line = ""
        if line.endswith("\n"):
            answer: dict[str, Any] = json.loads(line)
            return answer
        return {"error": f"its process ended {self.bury()}"}

    def _running(self) -> subprocess.Popen[str] | None:
        with self._lock:
            if self.stopped:
                return None
            if self._process is None:
                self._messages = tempfile.TemporaryFile()  # noqa: SIM115 - closed by bury()
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "grfpp_lab.harness.worker"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._messages,
                    encoding="utf-8",
                    env={
                        **os.environ,
                        **_ONE_THREAD,
                        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
                    },
                    start_new_session=True,  # Ctrl-C is for the parent, which ends its workers
                )
            return self._process

    def stop(self) -> None:
        """End the process in the middle of whatever it does, and start no other."""
        with self._lock:
            self.stopped = True
            if self._process is not None:
                self._process.kill()

    def bury(self) -> str:
        """Let go of the process and say how it ended; the next task starts a new one."""
        with self._lock:
            process, messages = self._process, self._messages
            self._process = self._messages = None
        if process is None or messages is None:
            return "before"
        process.kill()
        code = process.wait()
        for stream in (process.stdin, process.stdout):
            assert stream is not None
            with suppress(OSError):  # what was not written has no reader any more
                stream.close()
        messages.seek(0)
        last = (messages.read().decode(errors="replace").strip().splitlines() or [""])[-1]
        messages.close()
        how = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
        return f"{how}: {last[:300]}" if last else how
