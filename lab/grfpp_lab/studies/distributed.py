"""Dask beside one machine: the same bits, how much faster, and what happens when workers die.

``python -m grfpp_lab.studies.distributed`` starts worker processes on this machine, of one thread
each, and prints what was measured, what was asked for, and whether that is met: that two workers
give the bits of one machine; how long sampling takes on one and on two workers, in turn, of which
the best times are compared; and what becomes of a job when a worker is killed (SIGKILL) at a random
moment. ``--parts costs`` compares the cost model of docs/scaling.md with what is measured, and
``--parts predict`` prints what it says of larger graphs.
"""

import argparse
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic, perf_counter, process_time, sleep
from typing import Any

import numpy as np
import scipy.sparse as sp

from grfpp import distributed
from grfpp._imports import require
from grfpp._memory import readable_bytes
from grfpp.distributed.cluster import NO_STEALING
from grfpp.estimate.sampling import sample
from grfpp.graph import Graph
from grfpp.kernels import Diffusion
from grfpp.local import LocalKernel
from grfpp_lab.graphs import scale_free


@contextmanager
def workers(number: int) -> Iterator[Any]:
    """A client of `number` worker processes of one thread each, restarted when they die."""
    dask = require("distributed", "this study")
    options = {"n_workers": number, "threads_per_worker": 1, "processes": True}
    with (
        require("dask").config.set(NO_STEALING),
        dask.LocalCluster(**options, dashboard_address=":0", silence_logs=logging.CRITICAL) as here,
        dask.Client(here, set_as_default=False) as client,
    ):
        client.wait_for_workers(number)
        yield client


def kill_worker(client: Any, which: int) -> bool:
    """Kill a worker's process; ``False`` where there is none."""
    found = sorted(client.run(os.getpid, on_error="ignore").values())
    if not found:
        return False
    os.kill(found[which % len(found)], signal.SIGKILL)
    return True


def same_bits(found: Any, wanted: Any) -> bool:
    """Whether two answers are equal to the last bit: arrays, sparse matrices, or several."""
    if isinstance(wanted, tuple | list):
        return len(found) == len(wanted) and all(map(same_bits, found, wanted))
    if sp.issparse(wanted):
        parts = ("indptr", "indices", "data")
        return found.shape == wanted.shape and all(
            same_bits(getattr(found, part), getattr(wanted, part)) for part in parts
        )
    return bool(np.array_equal(found, wanted) and found.dtype == wanted.dtype)


def line(name: str, found: str, bar: str, met: bool) -> bool:
    """Print one row of the table."""
    print(f"{name:<58} {found:<34} {bar:<22} {'met' if met else 'NOT MET'}", flush=True)
    return met


KERNEL = Diffusion(1.0)
#: Ways to sample, of which all have the bits of one machine.
OPTIONS: dict[str, dict[str, Any]] = {
    "pooled, degree 2": {},
    "degree 1, float32": {"degree": 1, "dtype": "float32"},
    "independent walks": {"walks": "independent", "n_walks": 4},
    "deflated": {"deflate": 2},
    "to a tolerance of 0.02": {"tol": 0.02, "degree": 1},
}


def columns(n_nodes: int, width: int = 4) -> Any:
    """A block to multiply."""
    return np.random.default_rng(1).normal(size=(n_nodes, width))


def questions(W: Graph) -> dict[str, Callable[[Any], Any]]:
    """What is asked of an estimate."""
    return {
        "factors": lambda K: [side for pair in K.factors for side in pair],
        "products": lambda K: (K @ columns(W.n_nodes), K.T @ columns(W.n_nodes)),
        "projections": lambda K: K.project(16, seed=0),
        "rows": lambda K: K.rows([0, W.n_nodes // 2], sparse=True),
    }


def report_bits(client: Any, W: Graph, seed: int) -> list[bool]:
    """Compare all of them."""
    print(f"\nBits: {W!r}, exp(W), two worker processes and this one")
    met = []
    for name, options in OPTIONS.items():
        there = distributed.sample(client, W, KERNEL, seed=seed, **options)
        here = sample(W, KERNEL, seed=seed, **options)
        found = {title: same_bits(ask(there), ask(here)) for title, ask in questions(W).items()}
        met.append(line(name, ", ".join(k for k, same in found.items() if same), *_all(found)))
    few = Graph(W.adjacency[:1500, :1500])  # of which features are not too many to compare
    there, here = (
        distributed.sample(client, few, KERNEL, seed=seed),
        sample(few, KERNEL, seed=seed),
    )
    same = same_bits(there.features(), here.features())
    met.append(line("features, degree 2, 1,500 nodes", "the same" if same else "", "same", same))
    near = LocalKernel(W, KERNEL, seed=seed).top_k(np.arange(W.n_nodes))
    same = same_bits(distributed.top_k(client, W, KERNEL, seed=seed), near)
    met.append(line("ten nearest of all nodes", "the same" if same else "", "same", same))
    return met


def _all(found: dict[str, bool]) -> tuple[str, bool]:
    return "all the same", all(found.values())


#: Least speed-up by two workers.
BAR = 1.6


def report_speed(W: Graph, n_turns: int, seed: int) -> list[bool]:
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


#: Seconds until a cluster has noticed a lost client.
_PATIENCE = 60.0


class Job:
    """Sampling, products, a projection and the nearest nodes of all, and where it is."""

    def __init__(self, client: Any, W: Graph, seed: int) -> None:
        self.client, self.W, self.seed = client, W, seed
        self.stage = ""

    def run(self) -> tuple[Any, ...]:
        """All answers."""
        W, seed = self.W, self.seed
        self.stage = "sampling"
        K = distributed.sample(self.client, W, KERNEL, seed=seed, check_error=False)
        self.stage = "products"
        products = K @ columns(W.n_nodes), K.T @ columns(W.n_nodes)
        self.stage = "projecting"
        projected = K.project(16, seed=0)
        self.stage = "nearest nodes"
        near = distributed.top_k(self.client, W, KERNEL, seed=seed)
        self.stage = "done"
        return products, projected, near


def expected(W: Graph, seed: int) -> tuple[Any, ...]:
    """The same on one machine."""
    K = sample(W, KERNEL, seed=seed, check_error=False)
    products = K @ columns(W.n_nodes), K.T @ columns(W.n_nodes)
    near = LocalKernel(W, KERNEL, seed=seed).top_k(np.arange(W.n_nodes))
    return products, K.project(16, seed=0), near


def report_kills(client: Any, W: Graph, n_kills: int, seed: int) -> list[bool]:
    """Kill a worker at random moments of a job, one each."""
    print(f"\nKills: {W!r}; sampling, products, projection, nearest nodes of all; two workers")
    wanted = expected(W, seed)
    began = perf_counter()
    Job(client, W, seed).run()
    usual = perf_counter() - began
    print(f"undisturbed: {usual:.2f} s")
    rng, finished = np.random.default_rng(seed), 0
    for number in range(n_kills):
        job, moment = Job(client, W, seed), float(rng.uniform(0, usual))
        found, when, seconds = disturbed(job, moment, int(rng.integers(2)))
        same = found is not None and same_bits(found, wanted)
        finished += same
        what = "bit-identical" if same else "NOT the same" if found else "did not finish"
        print(
            f"kill {number + 1} at {moment:.2f} s, {when}: {what} after {seconds:.2f} s", flush=True
        )
        client.wait_for_workers(2, timeout=_PATIENCE)
    return [
        line(
            "a worker killed (SIGKILL) at random moments",
            f"{finished} of {n_kills} finish, the same",
            f"{n_kills} of {n_kills}",
            finished == n_kills,
        )
    ]


def disturbed(job: Job, moment: float, which: int) -> tuple[Any, str, float]:
    """The job's answers where a worker dies after `moment` seconds, what that hit, and how long."""
    hit = []

    def kill() -> None:
        stage = job.stage
        hit.append(stage if kill_worker(job.client, which) else "nobody there")

    timer = threading.Timer(moment, kill)
    began = perf_counter()
    timer.start()
    try:
        found = job.run()
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
        found = None
    seconds = perf_counter() - began
    timer.join()
    return found, hit[0], seconds


_CLIENT = """
import sys, time, warnings; warnings.simplefilter("ignore")
import distributed, grfpp
from grfpp_lab.graphs import scale_free
client = distributed.Client(sys.argv[1])
W = scale_free(int(sys.argv[2]), 4).normalized("sym")
K = grfpp.distributed.sample(client, W, grfpp.Diffusion(1.0), seed=0, check_error=False)
print("sampled", flush=True)
time.sleep(1000)
"""


def report_gone(client: Any, n_nodes: int) -> list[bool]:
    """Kill a client that holds an estimate: workers must free its results."""
    print("\nThe client gone: another process samples, and is killed")
    command = [sys.executable, "-c", _CLIENT, client.scheduler.address, str(n_nodes)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as other:
        try:
            assert other.stdout is not None
            other.stdout.readline()
            before, n_keys = held(client)
        finally:
            other.kill()
    end = monotonic() + _PATIENCE
    while held(client)[1] and monotonic() < end:
        sleep(0.1)
    after, n_left = held(client)
    print(f"held by the workers: {readable_bytes(before)} in {n_keys} results, then {n_left}")
    return [line("a client that is killed", f"{after} bytes held", "0", before > 0 == after)]


def held(client: Any) -> tuple[int, int]:
    """Bytes that workers hold, and the number of results."""
    found = client.run_on_scheduler(_held)
    return int(found[0]), int(found[1])


def _held(dask_scheduler: Any) -> tuple[int, int]:
    states = dask_scheduler.workers.values()
    return sum(each.nbytes for each in states), sum(len(each.has_what) for each in states)


@dataclass(frozen=True)
class Work:
    """A graph, and what is asked for on it.

    Parameters
    ----------
    n_nodes, n_stored
        Nodes, and entries of the adjacency matrix: two for an undirected edge.
    row_entries
        Entries of a row of a factor.
    n_factors, steps
        Number of factors, and walk steps from a node for each.
    on_disk
        Whether workers open the graph by its path.
    symmetrized
        Whether a product goes through the chain in both directions.
    """

    n_nodes: float
    n_stored: float
    row_entries: float
    n_factors: int = 4
    steps: float = 144.0
    on_disk: bool = False
    symmetrized: bool = True

    @property
    def layout_bytes(self) -> float:
        """What a worker process holds to walk: slots, words, first slots and potentials."""
        return 8 * self.n_stored + 24 * self.n_nodes

    @property
    def graph_bytes(self) -> float:
        """Neighbours and ends of rows; mapped once for a machine, or sent with their weights."""
        mapped = 4 * self.n_stored + 8 * self.n_nodes
        return mapped if self.on_disk else mapped + 8 * self.n_stored + 8 * self.n_nodes

    @property
    def factor_bytes(self) -> float:
        """What all workers together hold of one factor, or of its transpose."""
        return self.n_nodes * (12 * self.row_entries + 4)

    @property
    def held_bytes(self) -> float:
        """What all workers together hold once products have been made."""
        return 2 * self.n_factors * self.factor_bytes

    def walking_seconds(self, n_threads: int, steps_a_second: float) -> float:
        """Seconds to sample all factors."""
        return self.n_factors * self.steps * self.n_nodes / (n_threads * steps_a_second)

    def exchanged_bytes(self, n_workers: int) -> float:
        """What travels once, to transpose all factors: 16 bytes for an entry that moves."""
        entries = self.n_factors * self.n_nodes * self.row_entries
        return 16 * entries * (n_workers - 1) / n_workers

    def product_bytes(self, n_workers: int, n_columns: int) -> float:
        """What travels between workers for a product with so many columns.

        To every factor the whole block goes to all workers but the one that has it, and before
        that, but for the first, its parts to that one.
        """
        block = 8 * self.n_nodes * n_columns
        chains = 2 if self.symmetrized else 1
        spread = self.n_factors * (n_workers - 1) * block
        joined = (self.n_factors - 1) * (n_workers - 1) / n_workers * block
        return chains * (spread + joined)


@dataclass(frozen=True)
class Machine:
    """One of several machines, by what its maker says."""

    name: str
    n_cores: int
    memory: float
    #: Bytes a second to and from others.
    network: float


SIZES = (25_000, 50_000, 100_000, 200_000)
_COLUMNS = 8
_N_WORKERS = 2


def report_costs(client: Any, seed: int, sizes: tuple[int, ...] = SIZES) -> None:
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


#: What makers say of them: physical cores, memory, network.
MACHINES = (
    Machine("r7i.48xlarge (96 cores, 1.5 TB, 50 Gbit/s)", 96, 1.5e12, 50e9 / 8),
    Machine("u7i-6tb.112xlarge (224 cores, 6 TB, 100 Gbit/s)", 224, 6e12, 100e9 / 8),
)
#: Steps a second and thread on graphs far larger than any cache, and seconds of a local query.
STEPS_A_SECOND, QUERY_SECONDS = 1.0e7, 1.0e-3
#: Entries of a row of a factor of exp(W) with 144 steps; `costs` finds them on scale-free graphs.
ROW_ENTRIES = 130.0
#: Share of a machine's memory that may be taken.
_GRANTED = 0.6


def report_predictions() -> None:
    """Print a table for a few graphs and numbers of machines."""
    print("\nPredictions: exp(W), degree 2, one worker process a machine; graphs on disk")
    print(
        f"assumed: {STEPS_A_SECOND:.0e} steps a second and core, {ROW_ENTRIES:.0f} entries a row "
        f"of a factor, {1e3 * QUERY_SECONDS:g} ms a local query"
    )
    for n_nodes, n_edges in ((1e8, 1e9), (1e9, 1e10), (1e9, 1e11)):
        for machine in MACHINES:
            for number in (16, 64):
                print(f"{n_nodes:.0e} nodes, {n_edges:.0e} edges, {number} x {machine.name}")
                print("  " + described(n_nodes, n_edges, machine, number))


def described(n_nodes: float, n_edges: float, machine: Machine, number: int) -> str:
    """One line."""
    work = Work(n_nodes, 2 * n_edges, ROW_ENTRIES, on_disk=True)
    threads = number * machine.n_cores
    fixed = work.layout_bytes + work.graph_bytes
    each = fixed + work.held_bytes / number + 2 * 8 * n_nodes
    top_k = QUERY_SECONDS * n_nodes / threads
    local = f"nearest nodes of all: {top_k / 60:.0f} min, {work.graph_bytes / 1e9:,.0f} GB mapped"
    if each > _GRANTED * machine.memory:
        return (
            f"an estimate does not fit: {each / 1e9:,.0f} GB a machine, of which "
            f"{work.layout_bytes / 1e9:,.0f} to walk, and {_GRANTED * machine.memory / 1e9:,.0f} "
            f"may be taken; {local}"
        )
    walking = work.walking_seconds(threads, STEPS_A_SECOND)
    exchange = work.exchanged_bytes(number) / number / machine.network
    product = work.product_bytes(number, 1) / number / machine.network
    return (
        f"{each / 1e9:,.0f} GB a machine; walking {walking:,.0f} s, transposing {exchange:,.0f} s, "
        f"a product {product:,.0f} s a column; {local}"
    )


PARTS = ("bits", "speed", "kills", "gone", "costs", "predict")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    from grfpp.warmup import warmup
    from grfpp_lab.graphs import scale_free

    parser = argparse.ArgumentParser(prog="distributed", description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--nodes", type=int, default=20_000, help="of the graph whose bits count")
    parser.add_argument(
        "--walked-nodes", type=int, default=300_000, help="of the one that is timed"
    )
    parser.add_argument("--turns", type=int, default=4, help="how often each is timed")
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=15, help="of graphs, walks and moments")
    options = parser.parse_args(arguments)
    warmup()
    verdicts = []
    small = scale_free(options.nodes, 4, seed=options.seed).normalized("sym")
    if set(options.parts) & {"bits", "kills", "gone", "costs"}:
        with workers(2) as client:
            if "bits" in options.parts:
                verdicts += report_bits(client, small, options.seed)
            if "kills" in options.parts:
                verdicts += report_kills(client, small, options.kills, options.seed)
            if "gone" in options.parts:
                verdicts += report_gone(client, options.nodes)
            if "costs" in options.parts:
                report_costs(client, options.seed)
    if "speed" in options.parts:
        large = scale_free(options.walked_nodes, 4, seed=options.seed).normalized("sym")
        verdicts += report_speed(large, options.turns, options.seed)
    if "predict" in options.parts:
        report_predictions()
    if verdicts:
        print(f"\n{sum(verdicts)} of {len(verdicts)} met")


if __name__ == "__main__":
    main()
