"""Jobs whose workers are killed, and clients that are."""

from __future__ import annotations

import subprocess
import sys
import threading
from time import monotonic, perf_counter, sleep
from typing import Any

import numpy as np

from grfpp import distributed
from grfpp.graph import Graph
from grfpp.local import LocalKernel
from grfpp.memory import readable_bytes
from grfpp.sampling import sample
from grfpp_lab.studies.distributed.bits import KERNEL, columns
from grfpp_lab.studies.distributed.clusters import kill_worker, line, same_bits

#: Seconds until a cluster has noticed that somebody is gone.
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


def tell(client: Any, W: Graph, n_kills: int, seed: int) -> list[bool]:
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
from grfpp_lab.families import scale_free
client = distributed.Client(sys.argv[1])
W = scale_free(int(sys.argv[2]), 4).normalized("sym")
K = grfpp.distributed.sample(client, W, grfpp.Diffusion(1.0), seed=0, check_error=False)
print("sampled", flush=True)
time.sleep(1000)
"""


def tell_gone(client: Any, n_nodes: int) -> list[bool]:
    """Kill a client that has an estimate."""
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
    """Bytes that workers hold for anybody, and in how many results."""
    found = client.run_on_scheduler(_held)
    return int(found[0]), int(found[1])


def _held(dask_scheduler: Any) -> tuple[int, int]:
    states = dask_scheduler.workers.values()
    return sum(each.nbytes for each in states), sum(len(each.has_what) for each in states)
