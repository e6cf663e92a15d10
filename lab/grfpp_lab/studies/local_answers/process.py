"""Questions to a process of its own, with a map that is warm or only on disk."""

import os
import subprocess
import sys
from pathlib import Path
from time import perf_counter, process_time
from typing import Any
from unittest.mock import patch

import numpy as np

from grfpp.graph import Graph
from grfpp.io.folder import reader
from grfpp.kernels import Diffusion
from grfpp.local import LocalKernel
from grfpp_lab.harness.processes import call
from grfpp_lab.studies.local_answers.asking import Lines, Verdict

N_ENTRIES, N_BLOCK = 100, 100
MOST_MB, MOST_SECONDS = 300, 1.0
_MB = 1e6


def run(path: Path, seed: int, budget: float) -> Lines:
    """Answer queries in a separate process; report time and memory."""
    request = {"path": str(path), "seed": seed, "budget": budget}
    found = call("grfpp_lab.studies.local_answers.process:work", request, threads=2, timeout=3600)
    bare = _bare_interpreter()
    found["memory"] = {"Python alone, in another process": bare, **found["memory"]}
    lines = [
        f"{name:<44} {seconds:8.3f} s, {cpu:.3f} s of CPU"
        for name, (seconds, cpu) in found["seconds"].items()
    ]
    lines.append("resident memory, MB:                            all    anonymous   of files")
    for name, memory in found["memory"].items():
        numbers = (memory[part] / _MB for part in ("all", "anonymous", "files"))
        lines.append(f"  {name:<40} " + " ".join(f"{number:>10.0f}" for number in numbers))
    warm, _ = found["seconds"]["100 entries and a 100 x 100 block, warm"]
    last = found["memory"]["entries and block asked for"]
    above = {part: (last[part] - bare[part]) / _MB for part in bare}
    return [
        *lines,
        Verdict("entries and block in under 1 s, warm", f"{warm:.3f} s", warm < MOST_SECONDS),
        Verdict(
            "under 300 MB resident above the interpreter",
            f"{above['all']:.0f} MB, of these {above['files']:.0f} of files: libraries, map",
            above["all"] < MOST_MB,
        ),
        Verdict(
            "the same of its own memory, which the system cannot take back",
            f"{above['anonymous']:.0f} MB",
            above["anonymous"] < MOST_MB,
        ),
    ]


def work(request: dict[str, Any]) -> dict[str, Any]:
    """What the process does; its memory is measured after each step."""
    memory, seconds = {"grfpp imported": resident()}, {}
    began = _clocks()
    graph = Graph.open(request["path"])
    near = LocalKernel(
        graph.normalized("sym"), Diffusion(1.0), budget=request["budget"], seed=request["seed"]
    )
    seconds["open"] = _since(began)
    memory["graph opened"] = resident()
    rng = np.random.default_rng(request["seed"])
    pairs = rng.integers(graph.n_nodes, size=(N_ENTRIES, 2)).tolist()
    block = rng.choice(graph.n_nodes, N_BLOCK, replace=False)

    def ask() -> None:
        for i, j in pairs:
            near.entry(i, j)
        near.block(block)

    for name in ("first time", "warm"):
        began = _clocks()
        ask()
        seconds[f"100 entries and a 100 x 100 block, {name}"] = _since(began)
    memory["entries and block asked for"] = resident()
    return {"seconds": seconds, "memory": memory}


def _clocks() -> tuple[float, float]:
    return perf_counter(), process_time()


def _since(began: tuple[float, float]) -> list[float]:
    return [now - before for now, before in zip(_clocks(), began, strict=True)]


def _bare_interpreter() -> dict[str, int]:
    """The memory of a Python process without imports."""
    command = [sys.executable, "-c", "print(open('/proc/self/status').read())"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return _resident_bytes(done.stdout)


def resident() -> dict[str, int]:
    """Bytes of this process in memory: all, its own, and pages of files; from ``/proc``."""
    return _resident_bytes(Path("/proc/self/status").read_text(encoding="utf-8"))


def _resident_bytes(status: str) -> dict[str, int]:
    fields = {}
    for line in status.splitlines():
        name, _, value = line.partition(":")
        if name.startswith(("VmRSS", "Rss")):
            fields[name] = int(value.split()[0]) * 1024
    return {
        "all": fields["VmRSS"],
        "anonymous": fields["RssAnon"],
        "files": fields["RssFile"] + fields["RssShmem"],
    }


COLD_N_ENTRIES = 8


def run_cold(path: Path, seed: int, budget: float) -> Lines:
    """Ask in fresh processes, with reading ahead and without: as for graphs larger than memory."""
    lines = []
    for fits in (False, True):
        request = {"path": str(path), "seed": seed, "budget": budget, "fits": fits}
        function = "grfpp_lab.studies.local_answers.process:work_cold"
        found = call(function, request, threads=1, timeout=3600)
        lines.append("read ahead, as where it fits into memory:" if fits else "not read ahead:")
        lines += [
            f"  {name:<14} {1e3 * seconds:>8.1f} ms   {n_bytes / _MB:>7.1f} MB read"
            for name, seconds, n_bytes in found["asked"]
        ]
        lines.append(f"  pages of files in memory then: {found['files'] / _MB:.0f} MB")
    return lines


def work_cold(request: dict[str, Any]) -> dict[str, Any]:
    """What the process does."""
    graph = Graph.open(request["path"])
    rng = np.random.default_rng(request["seed"])
    pairs = rng.integers(graph.n_nodes, size=(COLD_N_ENTRIES, 2)).tolist()
    LocalKernel(Graph(np.ones((3, 3))).normalized("sym"), Diffusion(1.0)).entry(0, 1)  # compiled
    forget(Path(request["path"]))
    with patch.object(reader, "available_bytes", lambda: 1 << 60 if request["fits"] else 0):
        W = Graph.open(request["path"]).normalized("sym")
    near = LocalKernel(W, Diffusion(1.0), budget=request["budget"], seed=request["seed"])
    asked = []
    for number, (i, j) in enumerate(pairs):
        before, began = _read(), perf_counter()
        near.entry(i, j)
        asked.append((f"entry {number + 1}", perf_counter() - began, _read() - before))
    began = perf_counter()
    for i, j in pairs:
        near.entry(i, j)
    asked.append(("each, again", (perf_counter() - began) / len(pairs), 0))
    return {"asked": asked, "files": resident()["files"]}


def forget(folder: Path) -> None:
    """Drop the page cache of these files."""
    for file in folder.glob("*.bin"):
        with file.open("rb") as stream:
            os.fsync(stream.fileno())
            os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _read() -> int:
    """Bytes that this process has had read from disks."""
    for line in Path("/proc/self/io").read_text(encoding="utf-8").splitlines():
        name, _, value = line.partition(":")
        if name == "read_bytes":
            return int(value)
    return 0
