"""Seconds of repeated calls, what memory allows, and walks in plain numpy to compare with."""

import resource
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from grfpp._compiled import compiled
from grfpp.graph import Graph
from grfpp.typing import FloatArray

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
    raise OSError(f"the system does not report {name}")


def _process_peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


#: Pointers that a thread follows side by side; the best is taken.
_CHAINS = (64, 256, 1024, 4096)
_PILOT = 200_000


def chases_per_second(n_bytes: int, threads: int, seconds: float = 0.4) -> float:
    """Follow pointers through a random cycle over a table of `n_bytes`, on all threads.

    Every access is random and depends on the previous one of its chain; the chains are
    independent, so that the processor can overlap them. A walk over a table of this size whose
    every step is such an access cannot be faster.

    Parameters
    ----------
    n_bytes
        Size of the table, whose entries have four.
    threads
        Number of threads.
    seconds
        How long to measure each number of chains.
    """
    table = random_cycle(max(n_bytes // 4, 2))
    starts = np.random.default_rng(1).integers(0, len(table), (threads, max(_CHAINS)))
    best = 0.0
    with ThreadPoolExecutor(threads) as pool:

        def rate(n_chains: int, n_steps: int) -> float:
            cursors = [start[:n_chains].astype(np.int32) for start in starts]
            rounds = max(1, n_steps // n_chains)
            _, taken = timed(lambda: list(pool.map(lambda c: _chase(table, c, rounds), cursors)))
            return threads * n_chains * rounds / taken

        for n_chains in _CHAINS:
            rate(n_chains, _PILOT)  # compiles
            n_steps = int(seconds * rate(n_chains, _PILOT) / threads)
            best = max(best, rate(n_chains, n_steps))
    return best


def random_cycle(n: int, seed: int = 0) -> npt.NDArray[np.int32]:
    """A table in which following the entries leads through all of it and back to the start.

    Examples
    --------
    >>> table = random_cycle(5)
    >>> node, way = 0, []
    >>> for _ in range(5):
    ...     node = table[node]
    ...     way.append(int(node))
    >>> sorted(way), way[-1]
    ([0, 1, 2, 3, 4], 0)
    """
    order = np.random.default_rng(seed).permutation(n).astype(np.int32)
    table = np.empty(n, np.int32)
    table[order] = np.roll(order, -1)
    return table


@compiled()
def _chase(
    table: npt.NDArray[np.int32], cursors: npt.NDArray[np.int32], n_rounds: int
) -> npt.NDArray[np.int32]:
    for _ in range(n_rounds):
        for i in range(len(cursors)):
            cursors[i] = table[cursors[i]]
    return cursors


def list_features(
    neighbours: Sequence[Sequence[int]],
    weights: Sequence[Sequence[float]],
    start: int,
    n_walks: int,
    p_halt: float,
    modulation: Sequence[float],
    random: Random,
) -> tuple[dict[int, float], int]:
    """The feature vector of one node, and the number of steps that it took."""
    features: dict[int, float] = {}
    steps = 0
    for _ in range(n_walks):
        node, load, length = start, 1.0, 0
        while length < len(modulation):
            features[node] = features.get(node, 0.0) + load * modulation[length]
            degree = len(neighbours[node])
            if degree == 0 or random.random() < p_halt:
                break
            choice = int(random.random() * degree)
            load *= weights[node][choice] * degree / (1 - p_halt)
            node = neighbours[node][choice]
            length += 1
            steps += 1
    return {node: value / n_walks for node, value in features.items()}, steps


def array_features(
    graph: Graph,
    start: int,
    n_walks: int,
    p_halt: float,
    modulation: Sequence[float],
    random: np.random.Generator,
) -> tuple[FloatArray, int]:
    """The same with a vector of ``n_nodes`` numbers."""
    features = np.zeros(graph.n_nodes)
    steps = 0
    for _ in range(n_walks):
        node, load, length = start, 1.0, 0
        while length < len(modulation):
            features[node] += load * modulation[length]
            first, end = graph.indptr[node], graph.indptr[node + 1]
            if first == end or random.random() < p_halt:
                break
            edge = random.integers(first, end)
            load *= graph.weights[edge] * (end - first) / (1 - p_halt)
            node = graph.indices[edge]
            length += 1
            steps += 1
    return features / n_walks, steps


def time_lists(
    graph: Graph, n_walks: int, p_halt: float, modulation: Sequence[float], budget: float
) -> tuple[int, float]:
    """Walk from one node after the other on lists until the budget of seconds is used up.

    Returns
    -------
    steps, seconds
        Lists are made of the graph's arrays before the clock starts.
    """
    ends = graph.indptr.tolist()
    columns, values = graph.indices.tolist(), graph.weights.tolist()
    neighbours = [columns[a:b] for a, b in pairwise(ends)]
    weights = [values[a:b] for a, b in pairwise(ends)]
    random = Random(0)
    return _until(
        budget,
        graph.n_nodes,
        lambda node: list_features(neighbours, weights, node, n_walks, p_halt, modulation, random),
    )


def time_arrays(
    graph: Graph, n_walks: int, p_halt: float, modulation: Sequence[float], budget: float
) -> tuple[int, float]:
    """The same on arrays."""
    random = np.random.default_rng(0)
    return _until(
        budget,
        graph.n_nodes,
        lambda node: array_features(graph, node, n_walks, p_halt, modulation, random),
    )


def _until(
    budget: float, n_nodes: int, features: Callable[[int], tuple[Any, int]]
) -> tuple[int, float]:
    steps, began = 0, perf_counter()
    for node in range(n_nodes):
        steps += features(node)[1]
        if perf_counter() - began > budget:
            break
    return steps, perf_counter() - began
