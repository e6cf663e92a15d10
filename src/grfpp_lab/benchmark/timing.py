"""Seconds and bytes of a piece of work."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

Result = TypeVar("Result")


def best_seconds(
    work: Callable[[], Any], *, budget: float = 2.0, most: int = 30, after: float = 0.0
) -> float:
    """The shortest of several runs: what the work takes when nothing disturbs it.

    Parameters
    ----------
    work
        Is run until the `budget` of seconds is used up, once at least and `most` times at most.
    after
        Seconds of an earlier run that count as used up.
    """
    times: list[float] = []
    while not times or (sum(times) + after < budget and len(times) < most):
        began = perf_counter()
        work()
        times.append(perf_counter() - began)
    return min(times)


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """What the work gives, and the seconds that it took."""
    began = perf_counter()
    result = work()
    return result, perf_counter() - began


@dataclass
class Peak:
    """How far a piece of work raised the memory of this process."""

    n_bytes: int = 0


@contextmanager
def peak_memory() -> Iterator[Peak]:
    """Measure by how much the block raises the resident memory, at its highest.

    Exact on Linux. Elsewhere only the peak of the whole process is known: then start a fresh one,
    and what came before must have been smaller.
    """
    peak = Peak()
    try:
        Path("/proc/self/clear_refs").write_text("5")  # the peak is now what is used
        before, highest = _status("VmRSS"), _highest
    except OSError:
        before, highest = _process_peak(), _process_peak
    yield peak
    peak.n_bytes = max(0, highest() - before)


def _highest() -> int:
    return _status("VmHWM")


def _status(name: str) -> int:
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise OSError(f"the system does not tell {name}")


def _process_peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
