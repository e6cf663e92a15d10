"""The machine's own limit: how many independent pointers a second can be followed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from grfpp.linalg.compiled import compiled
from grfpp_lab.benchmark.timing import timed

#: Pointers that a thread follows side by side; the best is taken.
_CHAINS = (64, 256, 1024, 4096)
_PILOT = 200_000


def chases_per_second(n_bytes: int, threads: int, seconds: float = 0.4) -> float:
    """Follow pointers through a random cycle over a table of so many bytes, on all threads.

    Every access goes to a place that nothing could guess, and depends on the one before it in its
    chain; the chains are independent, so that the processor can overlap as many as it is able to.
    A walk over a table of this size whose every step is such an access cannot be faster.

    Parameters
    ----------
    n_bytes
        Size of the table, whose entries have four.
    threads
        How many follow pointers at once.
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
