"""Rows and nearest nodes of a kernel, by the workers of a cluster."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from grfpp.distributed.cluster import Cluster
from grfpp.kernels import Kernel
from grfpp.linalg.csr import stack_rows
from grfpp.local import LocalKernel
from grfpp.typing import IntArray
from grfpp.walks.sampling import Progress

#: Edges that a task follows: some seconds of work.
_EDGES_PER_TASK = 50_000_000
#: Tasks for each thread, at least.
_TASKS_PER_THREAD = 4


def top_k(
    client: Any,
    W: Any,
    kernel: Kernel,
    nodes: Any = None,
    k: int = 10,
    *,
    return_std: bool = False,
    include_self: bool = True,
    progress: bool | Progress = False,
    **options: Any,
) -> tuple[Any, ...]:
    """`LocalKernel.top_k` by the workers of a Dask cluster: the nearest nodes, and their values.

    Parameters
    ----------
    client
        A ``distributed.Client``.
    W, kernel, options
        As for `grfpp.LocalKernel`: `tol`, `budget`, `seed`. A graph on disk is opened by the
        workers, under the same path; others are sent to them, once.
    nodes
        Indices or names of nodes; all by default.
    k, return_std, include_self
        As for `LocalKernel.top_k`.
    progress
        ``True`` for a progress bar on the terminal, or a function that is called with the nodes
        done and the nodes to do.

    Returns
    -------
    nodes, values
        The same to the last bit as on one machine; and, with `return_std`, the standard errors.
    """
    near = LocalKernel(W, kernel, n_jobs=1, **options)
    return ask_top_k(client, near, nodes, (k, return_std, include_self), progress)


def ask_top_k(
    client: Any,
    near: LocalKernel,
    nodes: Any,
    arguments: tuple[int, bool, bool],
    progress: bool | Progress = False,
) -> tuple[Any, ...]:
    """`top_k` of a given `LocalKernel`; `arguments` are those after `nodes`."""
    parts = _query(Cluster(client), near, "top_k", nodes, arguments, progress)
    arrays = tuple(map(np.concatenate, parts))
    is_single = nodes is not None and np.ndim(nodes) == 0
    return tuple(array[0] for array in arrays) if is_single else arrays


def rows(
    client: Any,
    W: Any,
    kernel: Kernel,
    nodes: Any,
    *,
    return_std: bool = False,
    progress: bool | Progress = False,
    **options: Any,
) -> Any:
    """`LocalKernel.rows` by the workers of a Dask cluster; arguments as for `top_k`.

    Returns
    -------
    csr_array of shape ``(len(nodes), n_nodes)``, or two
        The same to the last bit as on one machine.
    """
    near = LocalKernel(W, kernel, n_jobs=1, **options)
    parts = _query(Cluster(client), near, "rows", nodes, (return_std,), progress)
    matrices = tuple(map(stack_rows, parts))
    return matrices if return_std else matrices[0]


def _query(
    cluster: Cluster,
    near: LocalKernel,
    method: str,
    nodes: Any,
    arguments: tuple[Any, ...],
    progress: bool | Progress,
) -> list[tuple[Any, ...]]:
    """Each array that a method of `LocalKernel` returns, in parts of the nodes."""
    n = near.graph.n_nodes
    chosen: range | IntArray = range(n) if nodes is None else near.graph.names.numbers(nodes)
    _call(near, method, chosen[:1], arguments)  # raises here, and at once, for wrong arguments
    cluster.check(near.graph)
    n_tasks = int(len(chosen) * near.budget / _EDGES_PER_TASK)
    n_parts = max(1, min(max(n_tasks, _TASKS_PER_THREAD * cluster.n_threads), len(chosen)))
    edges = [len(chosen) * part // n_parts for part in range(n_parts + 1)]
    parts = [chosen[start:stop] for start, stop in pairwise(edges)]
    futures = cluster.map(_call, cluster.put(near), method, parts, arguments)
    cluster.wait(futures, list(map(len, parts)), progress)
    return list(zip(*cluster.gather(futures), strict=True))


def _call(
    near: LocalKernel, method: str, nodes: range | IntArray, arguments: tuple[Any, ...]
) -> tuple[Any, ...]:
    """The arrays of some nodes; on a worker."""
    result = getattr(near, method)(np.asarray(nodes), *arguments)
    return result if isinstance(result, tuple) else (result,)
