"""A Dask client: named tasks, results in order, clear errors, and checks of the workers."""

from __future__ import annotations

import os
import pickle
import secrets
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from grfpp._imports import require
from grfpp.distributed import tasks
from grfpp.errors import InputError, shown
from grfpp.graph import Graph


def worker_version() -> str | None:
    """The version of grfpp on a worker; pickled by value, since grfpp may be missing there."""
    import importlib

    try:
        version: str = importlib.import_module("grfpp").__version__
    except ImportError:
        return None
    return version


def check_workers(client: Any) -> None:
    """Refuse a cluster without workers, and workers with another grfpp or without."""
    import grfpp

    found = _versions(client)
    if not found:
        raise InputError(
            f"the cluster at {client.scheduler.address} has no workers; start some (dask worker "
            f"{client.scheduler.address}), and client.wait_for_workers(1) waits for them"
        )
    problems = [
        f"{worker} has " + ("no grfpp" if version is None else f"grfpp {version}")
        for worker, version in sorted(found.items())
        if version != grfpp.__version__
    ]
    if problems:
        others = f" and {len(problems) - 3} more" if len(problems) > 3 else ""
        raise InputError(
            f"all workers need grfpp {grfpp.__version__}, as here: {', '.join(problems[:3])}"
            f"{others}; install it there, with the extra 'distributed', and restart them"
        )


def check_graph(client: Any, graph: Graph) -> None:
    """Refuse a graph on disk that some workers cannot open, or find changed, under its path."""
    if not graph.is_on_disk:
        return
    graph.require_unchanged()
    problems = opening_problems(client, graph)
    if problems:
        raise InputError(
            "not all workers can open the graph; put its folder where all of them see it under the "
            f"same path, or pass Graph(W.adjacency), which is sent to them: {problems[0]}"
        )


def opening_problems(client: Any, graph: Graph) -> list[str]:
    """What keeps workers from opening a graph on disk."""
    found: dict[str, str | None] = client.run(opening_problem, pickle.dumps(graph))
    return [f"{worker}: {problem}" for worker, problem in sorted(found.items()) if problem]


def opening_problem(packed: bytes) -> str | None:
    """Why a graph on disk cannot be opened here, if so; on a worker."""
    try:
        pickle.loads(packed)
    except InputError as error:
        return str(error)
    return None


def _versions(client: Any) -> dict[str, str | None]:
    """The version of grfpp on each worker."""
    pickled, here = require("cloudpickle", "grfpp.distributed"), sys.modules[__name__]
    pickled.register_pickle_by_value(here)
    try:
        found: dict[str, str | None] = client.run(worker_version)
    finally:
        pickled.unregister_pickle_by_value(here)
    return found


#: Called with the number of each task that is done.
Done = Callable[[int], None]

#: Blocks that come here at a time where they are put together.
_BLOCKS_PER_GATHER = 8
#: What is sent stays in the task that keeps it, so that the scheduler can hand it out again when
#: a worker dies. Dask warns of tasks that large, since most are so by mistake.
_NO_WARNING = {"distributed.admin.large-graph-warning-threshold": "1 PB"}

#: For schedulers that are started for this package: idle workers take no tasks, and with them
#: blocks, from others.
NO_STEALING = {"distributed.scheduler.work-stealing": False}


class Cluster:
    """Workers that are reached through a ``distributed.Client``.

    All work is submitted as pure functions of futures; where they run, and again after a worker has
    died, is left to Dask.
    """

    def __init__(self, client: Any) -> None:
        self._dask, self._config = require("distributed", "grfpp.distributed"), require("dask")
        if not isinstance(client, self._dask.Client) or client.asynchronous:
            raise InputError(
                "must be a distributed.Client such as Client('tcp://host:8786'), not asynchronous, "
                f"found {shown(client)}",
                argument="client",
            )
        self.client = client

    def __reduce__(self) -> Any:
        raise InputError(
            "an estimate on a cluster cannot be pickled: its factors belong to this client; "
            "K.save(path) and K.save_features(folder) write files"
        )

    def check(self, graph: Graph) -> None:
        """Refuse a cluster without workers, and workers that cannot walk on this graph."""
        with self._explained():
            check_workers(self.client)
            check_graph(self.client, graph)

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
        (future,) = self.map(function, *([each] for each in arguments))
        return future

    def map(self, function: Callable[..., Any], *arguments: Sequence[Any]) -> list[Any]:
        """Futures of a pure function's results for the first, the second, … of all arguments."""
        return self._map(function, arguments)

    def map_colocated(
        self, function: Callable[..., Any], blocks: Sequence[Any], *arguments: Sequence[Any]
    ) -> list[Any]:
        """As `map`, with blocks for first arguments: a task runs where its block is.

        By itself Dask would fetch blocks for workers that have less to do, and keep both copies.
        Blocks that are not there yet, and those of workers that die, are left to it.
        """
        with self._explained():
            known = self.client.who_has(list(blocks))
        places: dict[tuple[str, ...], list[int]] = {}
        for number, block in enumerate(blocks):
            places.setdefault(tuple(known.get(block.key, ())), []).append(number)
        futures: list[Any] = [None] * len(blocks)
        for workers, numbers in places.items():
            some = [[each[number] for number in numbers] for each in (blocks, *arguments)]
            for number, future in zip(numbers, self._map(function, some, workers), strict=True):
                futures[number] = future
        return futures

    def _map(
        self,
        function: Callable[..., Any],
        arguments: Sequence[Sequence[Any]],
        workers: Sequence[str] = (),
    ) -> list[Any]:
        key = f"grfpp-{function.__name__}-{secrets.token_hex(8)}"
        place = {"workers": list(workers), "allow_other_workers": True} if workers else {}
        with self._explained(), self._config.config.set(_NO_WARNING):
            futures: list[Any] = self.client.map(function, *arguments, key=key, pure=False, **place)
        return futures

    def put(self, value: Any) -> Any:
        """Send a value to the cluster, once.

        Not scattered: Dask cannot make scattered data again when the worker dies that has it.
        """
        return self.submit(tasks.keep, value)

    def gather(self, futures: Sequence[Any], done: Done | None = None) -> list[Any]:
        """Results in the order of the futures; all are cancelled when one fails, or on Ctrl-C."""
        if done is not None:
            self.wait(futures, done)
        with self._explained(), self._cancelling(futures):
            results: list[Any] = self.client.gather(list(futures))
            return results

    def one_by_one(self, futures: Sequence[Any]) -> Iterator[Any]:
        """Results in order, of which a few are here at a time."""
        for start in range(0, len(futures), _BLOCKS_PER_GATHER):
            yield from self.gather(futures[start : start + _BLOCKS_PER_GATHER])

    def wait(self, futures: Sequence[Any], done: Done | None = None) -> None:
        """Return when all are done; all are cancelled when one fails, or on Ctrl-C."""
        number = {future.key: i for i, future in enumerate(futures)}
        with self._explained(), self._cancelling(futures):
            for future in self._dask.as_completed(
                list(futures), loop=self.client.loop, raise_errors=False
            ):
                if future.status != "finished":
                    future.result()  # raises what went wrong
                if done is not None:
                    done(number[future.key])

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
        """Say what users can do about errors that are Dask's."""
        dask = self._dask
        try:
            yield
        except dask.KilledWorker as error:
            raise InputError(
                f"workers died again and again over one task ({error.task}), which mostly means "
                "that their memory does not suffice; start more or larger workers, or take fewer "
                "walks"
            ) from error
        except dask.client.FutureCancelledError as error:
            raise InputError(
                f"a result is gone from the cluster ({error}): the client was closed or restarted, "
                "or somebody cancelled it; sample again"
            ) from error
        except InputError:
            raise
        except Exception as error:  # of several kinds, some as plain as RuntimeError
            if self.client.status == "running":
                raise
            raise InputError(
                f"the connection to the cluster is gone ({error}); connect a new client and sample "
                "again"
            ) from error
