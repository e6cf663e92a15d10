"""How long sampling takes on one worker and on two."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from grfpp import distributed
from grfpp.graph import Graph
from grfpp.sampling import sample
from grfpp_lab.studies.distributed.bits import KERNEL
from grfpp_lab.studies.distributed.clusters import line, workers

#: What two workers are to bring.
BAR = 1.6


def tell(W: Graph, n_turns: int, seed: int) -> list[bool]:
    """Time both in turn, and compare their best times."""
    print(f"\nSampling: {W!r}, exp(W), degree 2, workers of one thread, best of {n_turns} in turn")
    seconds: dict[int, list[float]] = {1: [], 2: []}
    with workers(1) as one, workers(2) as two:
        clients = {1: one, 2: two}
        for client in clients.values():  # loops are loaded, and graphs have been there
            sampled(client, W, seed)
        for _ in range(n_turns):
            for number, client in clients.items():
                seconds[number].append(sampled(client, W, seed))
    alone = min(_locally(W, seed) for _ in range(2))
    best = {number: min(each) for number, each in seconds.items()}
    for number, each in seconds.items():
        print(f"{number} worker(s): " + ", ".join(f"{one:.2f}" for one in each) + " s")
    print(f"one thread of this process: {alone:.2f} s")
    ratio = best[1] / best[2]
    return [
        line("two workers over one", f"{ratio:.2f} times as fast", f"{BAR} times", ratio >= BAR)
    ]


def sampled(client: Any, W: Graph, seed: int) -> float:
    """Seconds until all factors are there."""
    began = perf_counter()
    distributed.sample(client, W, KERNEL, seed=seed, check_error=False)
    return perf_counter() - began


def _locally(W: Graph, seed: int) -> float:
    began = perf_counter()
    sample(W, KERNEL, seed=seed, check_error=False, n_jobs=1)
    return perf_counter() - began
