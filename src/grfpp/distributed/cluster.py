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

#: Blocks that are fetched at a time where they are put together.
_BLOCKS_PER_GATHER = 8
#: A value that is sent stays part of its task, so that the scheduler can send it again when a
#: worker dies. Dask warns of tasks that large, since most are so by mistake.
_NO_WARNING = {"distributed.admin.large-graph-warning-threshold": "1 PB"}

#: For schedulers that are started for this package: idle workers take no tasks, and with them
#: blocks, from others.
NO_STEALING = {"distributed.scheduler.work-stealing": False}


class Cluster:
    """Workers that are reached through a ``distributed.Client``.

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
        raise InputError(problem, advice="write it by K.save(path) or K.save_features(folder)")

    def check(self, graph: Graph) -> None:
        """Refuse a cluster without workers, and workers without this grfpp or this graph."""
        import grfpp

        with self._explained():
            address = self.client.scheduler.address
            # A function of Python's: grfpp may be missing there.
            versions = self.client.run(eval, "__import__('grfpp').__version__", on_error="return")
        if not versions:
            advice = f"start some (dask worker {address}); client.wait_for_workers(1) waits"
            raise InputError(f"the cluster at {address} has no workers", advice=advice)
        for worker, version in sorted(versions.items()):
            if version != grfpp.__version__:
                there = f"grfpp {version}" if isinstance(version, str) else "no grfpp"
                problem = f"all workers need grfpp {grfpp.__version__}: {worker} has {there}"
                advice = "install it there, with the extra 'distributed', and restart them"
                raise InputError(problem, advice=advice)
        if not graph.is_on_disk:
            return
        graph.require_unchanged()
        with self._explained():
            opened = self.client.run(pickle.loads, pickle.dumps(graph), on_error="return")
        problems = [f"{worker}: {e}" for worker, e in opened.items() if isinstance(e, Exception)]
        if problems:
            advice = "put its folder where all see it under one path, or pass Graph(W.adjacency)"
            raise InputError(f"not all workers can open the graph: {problems[0]}", advice=advice)

    @property
    def n_threads(self) -> int:
        """Tasks that can run at a time, now."""
        with self._explained():
            return max(1, int(sum(self.client.nthreads().values())))

    @property
    def memory(self) -> int | None:
        """Bytes that all workers together may take; ``None`` where one has no limit."""
        with self._explained():
            workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        limits = [each["memory_limit"] for each in workers]
        return sum(limits) if limits and all(limits) else None

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The future of a pure function's result; futures may stand among its arguments."""
        (future,) = self.map(function, *([argument] for argument in arguments))
        return future

    def map(
        self, function: Callable[..., Any], *arguments: Any, workers: Sequence[str] = ()
    ) -> list[Any]:
        """Futures of a pure function's results for the first, the second, … item of all lists.

        Arguments that are no lists are the same in every call.
        """
        n = max(len(values) for values in arguments if isinstance(values, list))
        lists = [values if isinstance(values, list) else [values] * n for values in arguments]
        key = f"grfpp-{function.__name__}-{secrets.token_hex(8)}"
        place = {"workers": list(workers), "allow_other_workers": True} if workers else {}
        with self._explained(), self._config.config.set(_NO_WARNING):
            futures: list[Any] = self.client.map(function, *lists, key=key, pure=False, **place)
        return futures

    def map_colocated(
        self, function: Callable[..., Any], blocks: list[Any], *arguments: Any
    ) -> list[Any]:
        """As `map`, with blocks for first arguments: a task runs where its block is.

        By default Dask copies blocks to workers that have less to do, and keeps both copies. It
        still decides about blocks that do not exist yet, and those of workers that die.
        """
        with self._explained():
            known = self.client.who_has(blocks)
        places: dict[tuple[str, ...], list[int]] = {}
        for number, block in enumerate(blocks):
            places.setdefault(tuple(known.get(block.key, ())), []).append(number)
        futures: list[Any] = [None] * len(blocks)
        for workers, numbers in places.items():
            some = [
                [values[i] for i in numbers] if isinstance(values, list) else values
                for values in (blocks, *arguments)
            ]
            for i, future in zip(numbers, self.map(function, *some, workers=workers), strict=True):
                futures[i] = future
        return futures

    def put(self, value: Any) -> Any:
        """Send a value to the cluster, once.

        Not scattered: scattered data are lost when their worker dies.
        """
        return self.submit(tasks.keep, value)

    def gather(self, futures: Sequence[Any]) -> list[Any]:
        """Results in the order of the futures; all are cancelled when one fails, or on Ctrl-C."""
        with self._explained(), self._cancelling(futures):
            results: list[Any] = self.client.gather(list(futures))
            return results

    def one_by_one(self, futures: Sequence[Any]) -> Iterator[Any]:
        """Results in order, fetched a few at a time."""
        for start in range(0, len(futures), _BLOCKS_PER_GATHER):
            yield from self.gather(futures[start : start + _BLOCKS_PER_GATHER])

    def wait(
        self, futures: Sequence[Any], sizes: Sequence[int] = (), progress: bool | Progress = False
    ) -> None:
        """Return when all are done; all are cancelled when one fails, or on Ctrl-C.

        Progress is reported in the sum of the sizes.
        """
        size = {future.key: n for future, n in zip(futures, sizes, strict=False)}
        done, as_completed = 0, partial(self._dask.as_completed, loop=self.client.loop)
        with self._explained(), self._cancelling(futures), reporting(progress, 1) as report:
            update = report(0)
            for future in as_completed(list(futures), raise_errors=False):
                if future.status != "finished":
                    future.result()  # raises the error of the task
                if update is not None:
                    done += size[future.key]
                    update(done, sum(sizes))

    def sees(self, path: str) -> bool:
        """Whether all workers find a file under this name."""
        with self._explained():
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
    def _explained(self) -> Iterator[None]:
        """Convert Dask's errors to ours, with advice."""
        dask = self._dask
        try:
            yield
        except dask.KilledWorker as error:
            problem = f"workers died repeatedly, mostly for want of memory, over task {error.task}"
            advice = "start more or larger workers, or take fewer walks"
            raise InputError(problem, advice=advice) from error
        except dask.client.FutureCancelledError as error:
            problem = f"a result is gone: it was cancelled, or the client was closed ({error})"
            raise InputError(problem, advice="sample again") from error
        except Exception as error:  # of several classes, down to RuntimeError
            if isinstance(error, InputError) or self.client.status == "running":
                raise
            problem = f"the connection to the cluster is gone ({error})"
            raise InputError(problem, advice="connect a new client and sample again") from error
