"""A Dask client: named tasks, results in order, clear errors, and checks of the workers."""

from __future__ import annotations

import os
import pickle
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from grfpp._imports import require
from grfpp.distributed import tasks
from grfpp.errors import InputError, shown
from grfpp.estimate.batches import reporting
from grfpp.graph import Graph
from grfpp.walks.sampling import Progress

#: Blocks that are fetched at a time and then appended, so that few are in memory twice.
_BLOCKS_PER_GATHER = 8
#: A value stays part of its task, so that the scheduler can send it again when a worker dies. Dask
#: warns of large tasks, since most are large by mistake.
_NO_WARNING = {"distributed.admin.large-graph-warning-threshold": "1 PB"}

#: For schedulers that are started for this package: idle workers do not take over tasks, and with
#: them blocks, of others.
NO_STEALING = {"distributed.scheduler.work-stealing": False}


class Cluster:
    """The workers of a ``distributed.Client``.

    All work is submitted as pure functions of futures; Dask decides where they run, and repeats
    them when a worker dies.
    """

    def __init__(self, client: Any) -> None:
        self._dask, self._config = require("distributed", "grfpp.distributed"), require("dask")
        if not isinstance(client, self._dask.Client) or client.asynchronous:
            problem = f"must be a distributed.Client, not asynchronous, found {shown(client)}"
            raise InputError(problem, argument="client")
        self.client = client

    def __reduce__(self) -> Any:
        problem = "an estimate on a cluster cannot be pickled: its factors belong to this client"
        raise InputError(problem, advice="use K.save(path) or K.save_features(folder)")

    def check(self, graph: Graph) -> None:
        """Refuse a cluster without workers, and workers without this grfpp or this graph."""
        import grfpp

        with self._dask_errors():
            address = self.client.scheduler.address
            # Python's own `eval`: grfpp may be missing there.
            versions = self.client.run(eval, "__import__('grfpp').__version__", on_error="return")
        if not versions:
            advice = f"start some (dask worker {address}); client.wait_for_workers(1) waits"
            raise InputError(f"the cluster at {address} has no workers", advice=advice)
        for worker, version in sorted(versions.items()):
            if version != grfpp.__version__:
                installed = f"grfpp {version}" if isinstance(version, str) else "no grfpp"
                problem = f"all workers need grfpp {grfpp.__version__}: {worker} has {installed}"
                advice = "install it there, with the extra 'distributed', and restart the workers"
                raise InputError(problem, advice=advice)
        if not graph.is_on_disk:
            return
        graph.require_unchanged()
        with self._dask_errors():
            opened = self.client.run(pickle.loads, pickle.dumps(graph), on_error="return")
        problems = [f"{worker}: {e}" for worker, e in opened.items() if isinstance(e, Exception)]
        if problems:
            advice = "use a path that all workers see, or pass Graph(W.adjacency)"
            raise InputError(f"not all workers can open the graph: {problems[0]}", advice=advice)

    @property
    def n_threads(self) -> int:
        """Number of tasks that can run at the same time, now."""
        with self._dask_errors():
            return max(1, int(sum(self.client.nthreads().values())))

    @property
    def memory(self) -> int | None:
        """Memory limit of all workers together, in bytes; ``None`` if one has no limit."""
        with self._dask_errors():
            workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        limits = [worker["memory_limit"] for worker in workers]
        return sum(limits) if limits and all(limits) else None

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The future of a pure function's result; arguments may be futures."""
        (future,) = self.map(function, *([argument] for argument in arguments))
        return future

    def map(
        self, function: Callable[..., Any], *arguments: Any, workers: Sequence[str] = ()
    ) -> list[Any]:
        """Futures of a pure function's results for the first, the second, … item of all lists.

        Arguments other than lists are the same in every call.
        """
        n = max(len(values) for values in arguments if isinstance(values, list))
        lists = [values if isinstance(values, list) else [values] * n for values in arguments]
        key = f"grfpp-{function.__name__}-{secrets.token_hex(8)}"
        options = {"workers": list(workers), "allow_other_workers": True} if workers else {}
        with self._dask_errors(), self._config.config.set(_NO_WARNING):
            futures: list[Any] = self.client.map(function, *lists, key=key, pure=False, **options)
        return futures

    def map_colocated(
        self, function: Callable[..., Any], blocks: list[Any], *arguments: Any
    ) -> list[Any]:
        """As `map`, with blocks for first arguments: a task runs on the worker of its block.

        By default Dask copies blocks to idle workers and retains both copies. It still places the
        tasks of blocks that do not exist yet, and of those whose worker dies.
        """
        with self._dask_errors():
            holders = self.client.who_has(blocks)
        by_workers: dict[tuple[str, ...], list[int]] = {}
        for i, block in enumerate(blocks):
            by_workers.setdefault(tuple(holders.get(block.key, ())), []).append(i)
        futures: list[Any] = [None] * len(blocks)
        for workers, indices in by_workers.items():
            selected = [
                [values[i] for i in indices] if isinstance(values, list) else values
                for values in (blocks, *arguments)
            ]
            submitted = self.map(function, *selected, workers=workers)
            for i, future in zip(indices, submitted, strict=True):
                futures[i] = future
        return futures

    def put(self, value: Any) -> Any:
        """Send a value to the cluster, once.

        It is not scattered, since scattered data are lost when their worker dies.
        """
        return self.submit(tasks.identity, value)

    def gather(self, futures: Sequence[Any]) -> list[Any]:
        """Results in the order of the futures; all are cancelled when one fails, or on Ctrl-C."""
        with self._dask_errors(), self._cancelling(futures):
            results: list[Any] = self.client.gather(list(futures))
            return results

    def one_by_one(self, futures: Sequence[Any]) -> Iterator[Any]:
        """Results in order, a few of which are fetched at a time."""
        for start in range(0, len(futures), _BLOCKS_PER_GATHER):
            yield from self.gather(futures[start : start + _BLOCKS_PER_GATHER])

    def wait(
        self, futures: Sequence[Any], sizes: Sequence[int] = (), progress: bool | Progress = False
    ) -> None:
        """Wait for all futures; all are cancelled when one fails, or on Ctrl-C.

        Progress is reported as the sum of the sizes of finished ones.
        """
        size = {future.key: n for future, n in zip(futures, sizes, strict=False)}
        done, as_completed = 0, partial(self._dask.as_completed, loop=self.client.loop)
        with self._dask_errors(), self._cancelling(futures), reporting(progress, 1) as report:
            update = report(0)
            for future in as_completed(list(futures), raise_errors=False):
                if future.status != "finished":
                    future.result()  # raises the error of the task
                if update is not None:
                    done += size[future.key]
                    update(done, sum(sizes))

    def sees(self, path: str) -> bool:
        """Whether all workers find a file under this name."""
        with self._dask_errors():
            return all(self.client.run(os.path.exists, path).values())

    @contextmanager
    def _cancelling(self, futures: Sequence[Any]) -> Iterator[None]:
        try:
            yield
        except BaseException:
            if self.client.status == "running":
                self.client.cancel(list(futures), reason="grfpp was interrupted, or a task failed")
            raise

    @contextmanager
    def _dask_errors(self) -> Iterator[None]:
        """Convert errors of Dask to `InputError` with advice."""
        dask = self._dask
        try:
            yield
        except dask.KilledWorker as error:
            problem = f"workers died repeatedly at task {error.task}, usually for lack of memory"
            advice = "start more or larger workers, or use fewer walks"
            raise InputError(problem, advice=advice) from error
        except dask.client.FutureCancelledError as error:
            problem = f"a result was lost: it was cancelled, or the client was closed ({error})"
            raise InputError(problem, advice="sample again") from error
        except Exception as error:  # of several classes, down to RuntimeError
            if isinstance(error, InputError) or self.client.status == "running":
                raise
            problem = f"the connection to the cluster was lost ({error})"
            raise InputError(problem, advice="connect a new client and sample again") from error
