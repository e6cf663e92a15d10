"""Worker processes that others survive: crashes and hangs are outcomes like any other."""

import faulthandler
import multiprocessing
import os
import resource
import tempfile
import threading
import time
import traceback
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fuzz import check, formats

from grfpp import _memory as memory

# Workers have little address space, of which glibc reserves 64 MB for the heap of every thread.
os.environ["MALLOC_ARENA_MAX"] = "1"

#: What a mutant may take beside what the process has, and what grfpp is told that there is.
_LIMIT_BYTES = 3 * 2**29
_STARTING_SECONDS = 300
_GOOD = ("refused", "accepted", "compared")


#: Formats that end badly, to see that it is noticed.
BAD_FORMATS = {
    name: formats.Format(".txt", lambda: [b"0 1\n"], (), None, read)
    for name, read in {
        "crash": lambda path: os.abort(),
        "hang": lambda path: time.sleep(1000),
        "hunger": lambda path: bytes(2**40),
        "error": lambda path: {}[path],  # not an InputError
    }.items()
}


def _known(name, number):
    """The format and the content of a mutant."""
    if name in BAD_FORMATS:
        return BAD_FORMATS[name], b"0 1\n"
    return formats.FORMATS[name], formats.mutant(name, number)


def work(connection):
    """Read mutants, given as pairs of a name and a number, until nobody sends any."""
    faulthandler.enable()
    memory_disk = Path("/dev/shm")  # files there cost nothing
    with tempfile.TemporaryDirectory(dir=memory_disk if memory_disk.is_dir() else None) as folder:
        path = Path(folder, "mutant.txt")
        path.write_bytes(b"0 1\n")
        check.outcome(formats.FORMATS["txt"], path)  # compiles
        memory.available_bytes = lambda root="/": _LIMIT_BYTES * 2 // 3
        now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + _LIMIT_BYTES, now + _LIMIT_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        connection.send("ready")
        while (job := connection.recv()) is not None:
            form, content = _known(*job)
            path = Path(folder, f"mutant{form.suffix}")
            path.write_bytes(content)
            try:
                result, detail = check.outcome(form, path), ""
            except BaseException as error:
                result = "failed"
                detail = f"{type(error).__name__}: {error}\n{traceback.format_exc(limit=-6)}"
            connection.send((result, detail))


class _Worker:
    """A process, started when there is something to do and again when it has died."""

    def __init__(self):
        self._process = None

    def outcome(self, job, seconds):
        if self._process is None:
            context = multiprocessing.get_context("spawn")
            self._connection, other = context.Pipe()
            self._process = context.Process(target=work, args=(other,), daemon=True)
            self._process.start()
            other.close()
            self._answer(_STARTING_SECONDS)
        try:
            self._connection.send(job)
            return self._answer(seconds)
        except TimeoutError:
            self._process.kill()
            result = "hang"
        except (EOFError, OSError):
            self._process.join(10)
            result = f"crash, exit code {self._process.exitcode}"
        self._process = None
        return result, ""

    def _answer(self, seconds):
        if not self._connection.poll(seconds):
            raise TimeoutError
        return self._connection.recv()

    def stop(self):
        if self._process is not None:
            self._process.kill()


def run(jobs, *, n_workers=2, seconds=20.0, folder=None, progress=lambda n_done, n_failed: None):
    """Read mutants: the numbers of outcomes by format, and a text about each that failed."""
    local, workers = threading.local(), []

    def outcome(job):
        if not hasattr(local, "worker"):
            local.worker = _Worker()
            workers.append(local.worker)
        return local.worker.outcome(job, seconds)

    counts, failures = defaultdict(Counter), []
    with ThreadPoolExecutor(n_workers) as pool:
        for n_done, (job, (result, detail)) in enumerate(
            zip(jobs, pool.map(outcome, jobs), strict=True), start=1
        ):
            counts[job[0]][result] += 1
            if result not in _GOOD:
                failures.append(f"{job[0]} {job[1]}: {result}\n{detail}")
                if folder is not None:
                    _save(Path(folder), *job, failures[-1])
            progress(n_done, len(failures))
    for worker in workers:
        worker.stop()
    return counts, failures


def _save(folder, name, number, text):
    folder.mkdir(parents=True, exist_ok=True)
    form, content = _known(name, number)
    (folder / f"{name}-{number}{form.suffix}").write_bytes(content)
    (folder / f"{name}-{number}.why").write_text(text)
