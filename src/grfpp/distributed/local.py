"""Rows and nearest nodes of a kernel, by the workers of a cluster."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from grfpp.distributed.cluster import Cluster
from grfpp.estimate.batches import reporting
from grfpp.kernels import Kernel
from grfpp.linalg.csr import stack_rows
from grfpp.local import LocalKernel
from grfpp.typing import IntArray
from grfpp.walks.sampling import Progress

#: Edges that a task follows: some seconds of work; and tasks for each thread at least.
_TASK_EDGES, _TASKS_EACH = 50_000_000, 4


def top_k(
    client: Any,
    W: Any,
    kernel: Kernel,
    nodes: Any = None,
    k: int = 10,
    *,
    tol: float | None = None,
    budget: float | None = None,
    seed: int = 0,
    return_std: bool = False,
    include_self: bool = True,
    progress: bool | Progress = False,
) -> tuple[Any, ...]:
    """`LocalKernel.top_k` by the workers of a Dask cluster: the nearest nodes, and their values.

    Parameters
    ----------
    client
        A ``distributed.Client``.
    W, kernel, tol, budget, seed
        As for `grfpp.LocalKernel`. A graph on disk is opened by the workers, under the same path;
        others are sent to them, once.
    nodes
        Places or names of nodes; all by default.
    k, return_std, include_self
        As for `LocalKernel.top_k`.
    progress
        ``True`` for a progress bar on the terminal, or a function that is called with the nodes
        done and the nodes to do.

    Returns
    -------
    nodes, values
        The same to the last bit as on one machine; and, if asked for, the standard errors.
    """
    near = LocalKernel(W, kernel, tol=tol, budget=budget, seed=seed, n_jobs=1)
    return ask_top_k(client, near, nodes, (k, return_std, include_self), progress)


def ask_top_k(
    client: Any,
    near: LocalKernel,
    nodes: Any,
    asked: tuple[int, bool, bool],
    progress: bool | Progress = False,
) -> tuple[Any, ...]:
    """`top_k` of a `LocalKernel` that is there already; `asked` are its other arguments."""
    parts = _asked(Cluster(client), near, nodes, _top_k, asked, progress)
    found = tuple(np.concatenate(each) for each in zip(*parts, strict=True))
    is_single = nodes is not None and np.ndim(nodes) == 0
    return tuple(each[0] for each in found) if is_single else found


def rows(
    client: Any,
    W: Any,
    kernel: Kernel,
    nodes: Any,
    *,
    tol: float | None = None,
    budget: float | None = None,
    seed: int = 0,
    return_std: bool = False,
    progress: bool | Progress = False,
) -> Any:
    """`LocalKernel.rows` by the workers of a Dask cluster; arguments as for `top_k`.

    Returns
    -------
    csr_array of shape ``(len(nodes), n_nodes)``, or two
        The same to the last bit as on one machine.
    """
    near = LocalKernel(W, kernel, tol=tol, budget=budget, seed=seed, n_jobs=1)
    parts = _asked(Cluster(client), near, nodes, _rows, (return_std,), progress)
    found = tuple(stack_rows(each) for each in zip(*parts, strict=True))
    return found if return_std else found[0]


def _asked(
    cluster: Cluster,
    near: LocalKernel,
    nodes: Any,
    ask: Any,
    asked: tuple[Any, ...],
    progress: bool | Progress,
) -> list[Any]:
    """Answers for some nodes at a time."""
    n = near.graph.n_nodes
    chosen: range | IntArray = range(n) if nodes is None else near.graph.names.numbers(nodes)
    ask(near, chosen[:1], asked)  # whatever is wrong with the question is told here, and at once
    cluster.check(near.graph)
    shared = cluster.put(near)
    parts = _parts(chosen, near.budget, cluster.n_threads)
    futures = cluster.map(ask, [shared] * len(parts), parts, [asked] * len(parts))
    with reporting(progress, 1) as report:
        tell, done = report(0), 0

        def count(number: int) -> None:
            nonlocal done
            done += len(parts[number])
            if tell is not None:
                tell(done, len(chosen))

        return cluster.gather(futures, count)


def _parts(nodes: range | IntArray, budget: float, n_threads: int) -> list[range | IntArray]:
    wanted = max(_TASKS_EACH * n_threads, int(len(nodes) * budget / _TASK_EDGES))
    n_parts = max(1, min(wanted, len(nodes)))
    edges = [len(nodes) * part // n_parts for part in range(n_parts + 1)]
    return [nodes[start:stop] for start, stop in pairwise(edges)]


def _top_k(near: LocalKernel, nodes: range | IntArray, asked: tuple[Any, ...]) -> Any:
    """Some nodes' nearest; on a worker."""
    return near.top_k(np.asarray(nodes), *asked)


def _rows(near: LocalKernel, nodes: range | IntArray, asked: tuple[Any, ...]) -> Any:
    """Some rows; on a worker."""
    found = near.rows(np.asarray(nodes), *asked)
    return found if isinstance(found, tuple) else (found,)
