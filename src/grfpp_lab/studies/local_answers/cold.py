"""The first questions to a graph that is on disk and not in memory: seconds, and bytes read."""

from __future__ import annotations

import os
from pathlib import Path
from time import perf_counter
from typing import Any
from unittest.mock import patch

import numpy as np

from grfpp.graph import Graph
from grfpp.io.folder import reader
from grfpp.kernels import Diffusion
from grfpp.local import LocalKernel
from grfpp_lab.harness.worker import call
from grfpp_lab.studies.local_answers.process import resident
from grfpp_lab.studies.local_answers.rows import Lines

N_ENTRIES = 8
_MB = 1e6


def run(path: Path, seed: int, budget: float) -> Lines:
    """Ask in fresh processes, with reading ahead and without: as for graphs larger than memory."""
    lines = []
    for fits in (False, True):
        request = {"path": str(path), "seed": seed, "budget": budget, "fits": fits}
        found = call("grfpp_lab.studies.local_answers.cold:work", request, threads=1, timeout=3600)
        lines.append("read ahead, as where it fits into memory:" if fits else "not read ahead:")
        lines += [
            f"  {name:<14} {1e3 * seconds:>8.1f} ms   {n_bytes / _MB:>7.1f} MB read"
            for name, seconds, n_bytes in found["asked"]
        ]
        lines.append(f"  pages of files in memory then: {found['files'] / _MB:.0f} MB")
    return lines


def work(request: dict[str, Any]) -> dict[str, Any]:
    """What the process does."""
    graph = Graph.open(request["path"])
    rng = np.random.default_rng(request["seed"])
    pairs = rng.integers(graph.n_nodes, size=(N_ENTRIES, 2)).tolist()
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
    """Let the system drop what it has of these files."""
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
