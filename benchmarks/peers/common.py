"""What all peers share: the graph from its file, and a clock."""

from __future__ import annotations

import os
from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

_MOST_RUNS = 30


class Arrays(NamedTuple):
    """A graph's rows, one after the other."""

    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray

    @property
    def n_nodes(self) -> int:
        """Number of rows."""
        return len(self.indptr) - 1


def read_graph(path: str) -> Arrays:
    """Read what `grfpp.Graph.save` wrote."""
    with np.load(path) as archive:
        return Arrays(archive["indptr"], archive["indices"], archive["weights"])


def seconds(work: Callable[[], Any]) -> float:
    """How long the work takes."""
    began = perf_counter()
    work()
    return perf_counter() - began


def processor_seconds() -> float:
    """Processor time of this process and of its children that have ended."""
    return sum(os.times()[:4])


def best_rate(walk: Callable[[int], int], n_starts: int, budget: float) -> tuple[int, float]:
    """Walk from as many nodes as the budget of seconds allows, and keep the fastest run.

    Parameters
    ----------
    walk
        Walks from so many nodes, and tells how many steps that were.
    n_starts
        All nodes.
    budget
        Seconds for everything but a short first run, which also compiles and warms up.

    Returns
    -------
    steps, seconds
        Of the run with most steps a second.
    """
    few = max(1, n_starts // 50)
    walk(few)
    pilot = seconds(lambda: walk(few))
    some = int(min(n_starts, max(few, few * budget / 2 / max(pilot, 1e-9))))
    best, left = (0, 1.0), budget
    for _ in range(_MOST_RUNS):
        began = perf_counter()
        steps = walk(some)
        taken = perf_counter() - began
        if steps / taken > best[0] / best[1]:
            best = steps, taken
        left -= taken
        if left < taken:
            break
    return best
