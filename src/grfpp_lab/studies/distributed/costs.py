"""The cost model beside what is measured on workers of this machine."""

from __future__ import annotations

from time import perf_counter, process_time
from typing import Any

import numpy as np

from grfpp import distributed
from grfpp.sampling import sample
from grfpp_lab.families import scale_free
from grfpp_lab.studies.distributed.bits import KERNEL
from grfpp_lab.studies.distributed.kills import held
from grfpp_lab.studies.distributed.model import Work

SIZES = (25_000, 50_000, 100_000, 200_000)
_COLUMNS = 8
_N_WORKERS = 2


def tell(client: Any, seed: int, sizes: tuple[int, ...] = SIZES) -> None:
    """Print both, for graphs of several sizes."""
    print("\nCosts: scale-free graphs, exp(W), degree 2; as the model has it / as measured")
    print(f"{'nodes':>9} {'walking, s':>16} {'held, MB':>16} {'exchanged, MB':>16} ", end="")
    print(f"{'a product, MB':>16} {'exchange, MB/s':>15} {'product, s':>11} {'of CPU':>8}")
    for n_nodes in sizes:
        print(_line(client, n_nodes, seed), flush=True)


def _line(client: Any, n_nodes: int, seed: int) -> str:
    W = scale_free(n_nodes, 4, seed=seed).normalized("sym")
    rate = max(_steps_a_second(W, seed) for _ in range(2))
    began = perf_counter()
    K = distributed.sample(client, W, KERNEL, seed=seed, check_error=False)
    walking = perf_counter() - began
    factors = {link.factor for link in K.chain.links}
    entries = sum(each.n_entries for each in factors) / len(factors)
    work = Work(n_nodes, len(W.indices), entries / n_nodes)
    plan_bytes = 2 * (work.layout_bytes + work.graph_bytes - 16 * n_nodes - 8 * work.n_stored)
    before, began = _received(client), perf_counter()
    nothing = np.zeros((n_nodes, 1))
    K @ nothing
    first = _received(client) - before
    exchange_seconds = perf_counter() - began
    exchanged = first - work.product_bytes(_N_WORKERS, 1)
    before, cpu, began = _received(client), _cpu_seconds(client), perf_counter()
    K @ np.ones((n_nodes, _COLUMNS))
    seconds, product = perf_counter() - began, _received(client) - before
    cpu = _cpu_seconds(client) - cpu
    in_all = held(client)[0] - plan_bytes
    pairs = [
        (work.walking_seconds(_N_WORKERS, rate), walking, 2),
        (work.held_bytes / 1e6, in_all / 1e6, 1),
        (work.exchanged_bytes(_N_WORKERS) / 1e6, exchanged / 1e6, 1),
        (work.product_bytes(_N_WORKERS, _COLUMNS) / 1e6, product / 1e6, 1),
    ]
    shown = " ".join(f"{f'{a:.{digits}f} / {b:.{digits}f}':>16}" for a, b, digits in pairs)
    rate = exchanged / 1e6 / exchange_seconds
    return f"{n_nodes:>9,} {shown} {rate:>15.0f} {seconds:>11.2f} {cpu:>8.2f}"


def _steps_a_second(W: Any, seed: int) -> float:
    """Of one thread of this process."""
    began = perf_counter()
    K = sample(W, KERNEL, seed=seed, check_error=False, n_jobs=1)
    seconds = perf_counter() - began
    return float(K.meta["steps_per_node"] * W.n_nodes / seconds)


def _cpu_seconds(client: Any) -> float:
    """Of this process and of all workers so far."""
    return float(process_time() + sum(client.run(process_time).values()))


def _received(client: Any) -> float:
    """Bytes that workers have had from each other so far."""
    return float(sum(client.run(_incoming).values()))


def _incoming(dask_worker: Any) -> float:
    return float(sum(each["total"] for each in dask_worker.transfer_incoming_log))
