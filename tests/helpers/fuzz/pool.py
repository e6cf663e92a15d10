"""Worker processes that others survive: crashes and hangs are outcomes like any other."""

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from select import select

from fuzz import formats, selftest

_STARTING_SECONDS = 120
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


@dataclass
class Report:
    """What became of the mutants: how many of each kind, by format, and those that failed."""

    counts: dict[str, Counter] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def add(self, name, number, result, detail):
        """Count one; what failed is told in full."""
        self.counts.setdefault(name, Counter())[result] += 1
        if result not in ("refused", "accepted", "compared"):
            self.failures.append(f"{name} {number}: {result}\n{detail}")


class _Worker:
    """A process, started when there is something to do and again when it has died."""

    def __init__(self, seconds):
        self._seconds, self._process = seconds, None

    def outcome(self, name, number):
        if self._process is None:
            self._start()
        try:
            self._process.stdin.write(f"{name} {number}\n")
            self._process.stdin.flush()
            line = self._line(self._seconds)
        except BrokenPipeError:
            line = ""
        if line:
            return json.loads(line)
        result = "hang" if line is None else f"crash, exit code {self._process.wait(10)}"
        return result, self.stop()[-3000:]

    def _start(self):
        paths = os.pathsep.join(path for path in sys.path if path)
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - read when it has died
        self._process = subprocess.Popen(
            [sys.executable, "-m", "fuzz.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            env={**os.environ, "PYTHONPATH": paths, **dict.fromkeys(_ONE_THREAD, "1")},
        )
        if self._line(_STARTING_SECONDS) != "ready\n":
            raise RuntimeError(f"no worker can be started: {self.stop()}")

    def _line(self, seconds):
        """The next line; nothing when the process has ended, None when it takes too long."""
        ready, _, _ = select([self._process.stdout], [], [], seconds)
        return self._process.stdout.readline() if ready else None

    def stop(self):
        """End the process, if there is one, and give what it wrote about errors."""
        if self._process is None:
            return ""
        self._process.kill()
        self._process.communicate()
        self._process = None
        with self._errors as errors:
            errors.seek(0)
            return errors.read()


def run(jobs, *, n_workers=2, seconds=20.0, folder=None, progress=lambda report: None):
    """Read mutants, given as pairs of a format's name and a number; save those that fail."""
    report, lock = Report(), threading.Lock()
    waiting = queue.SimpleQueue()
    for job in jobs:
        waiting.put(job)

    def work():
        worker = _Worker(seconds)
        try:
            while True:
                try:
                    name, number = waiting.get_nowait()
                except queue.Empty:
                    return
                result, detail = worker.outcome(name, number)
                with lock:
                    n_failures = len(report.failures)
                    report.add(name, number, result, detail)
                    if folder is not None and len(report.failures) > n_failures:
                        _save(folder, name, number, report.failures[-1])
                    progress(report)
        finally:
            worker.stop()

    threads = [threading.Thread(target=work) for _ in range(n_workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return report


def _save(folder, name, number, text):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    form = (formats.FORMATS | selftest.FORMATS)[name]
    (folder / f"{name}-{number}{form.suffix}").write_bytes(selftest.mutant(name, number))
    (folder / f"{name}-{number}.why").write_text(text)
