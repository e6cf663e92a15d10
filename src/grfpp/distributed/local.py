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

#: Edge traversals of a task: some seconds, far above the milliseconds of Dask's overhead.
_EDGES_PER_TASK = 50_000_000
#: Smallest number of tasks for each thread, so that threads finish at about the same time.
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
        As for `grfpp.LocalKernel`: `tol`, `budget`, `seed`. The workers open a graph on disk
        under the same path; other graphs are sent to them, once.
    nodes
        Indices or names of nodes; all by default.
    k, return_std, include_self
        As for `LocalKernel.top_k`.
    progress
        ``True`` for a progress bar on the terminal, or a function that is called with the number of
        finished nodes and that of all.

    Returns
    -------
    nodes, values
        The same to the last bit as on one machine; and, with `return_std`, the standard errors.

    Examples
    --------
    >>> import grfpp, networkx as nx
    >>> from distributed import Client
    >>> W = grfpp.Graph(nx.karate_club_graph()).normalized("sym")
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     nodes, values = grfpp.distributed.top_k(client, W, grfpp.Diffusion(1.0), [0, 33], k=3)
    >>> nodes.tolist()
    [[0, 11, 4], [33, 32, 15]]
    """
    local_kernel = LocalKernel(W, kernel, n_jobs=1, **options)
    return query_top_k(client, local_kernel, nodes, (k, return_std, include_self), progress)


def query_top_k(
    client: Any,
    local_kernel: LocalKernel,
    nodes: Any,
    arguments: tuple[int, bool, bool],
    progress: bool | Progress = False,
) -> tuple[Any, ...]:
    """`top_k` of a given `LocalKernel`; `arguments` are those that follow `nodes`."""
    parts = _query(Cluster(client), local_kernel, "top_k", nodes, arguments, progress)
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
        The same to the last bit as on one machine; with `return_std`, also the standard errors.

    Examples
    --------
    >>> import grfpp, networkx as nx
    >>> from distributed import Client
    >>> W = grfpp.Graph(nx.karate_club_graph()).normalized("sym")
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     grfpp.distributed.rows(client, W, grfpp.Diffusion(1.0), [0, 33]).shape
    (2, 34)
    """
    local_kernel = LocalKernel(W, kernel, n_jobs=1, **options)
    parts = _query(Cluster(client), local_kernel, "rows", nodes, (return_std,), progress)
    matrices = tuple(map(stack_rows, parts))
    return matrices if return_std else matrices[0]


def _query(
    cluster: Cluster,
    local_kernel: LocalKernel,
    method: str,
    nodes: Any,
    arguments: tuple[Any, ...],
    progress: bool | Progress,
) -> list[tuple[Any, ...]]:
    """The arrays that a method of `LocalKernel` returns, each as a tuple of parts of the nodes."""
    graph = local_kernel.graph
    chosen: range | IntArray = range(graph.n_nodes) if nodes is None else graph.names.numbers(nodes)
    _call(local_kernel, method, chosen[:1], arguments)  # wrong arguments raise here
    cluster.check(graph)
    n_tasks = int(len(chosen) * local_kernel.budget / _EDGES_PER_TASK)
    n_parts = max(1, min(max(n_tasks, _TASKS_PER_THREAD * cluster.n_threads), len(chosen)))
    edges = [len(chosen) * part // n_parts for part in range(n_parts + 1)]
    parts = [chosen[start:stop] for start, stop in pairwise(edges)]
    futures = cluster.map(_call, cluster.put(local_kernel), method, parts, arguments)
    cluster.wait(futures, list(map(len, parts)), progress)
    return list(zip(*cluster.gather(futures), strict=True))


def _call(
    local_kernel: LocalKernel, method: str, nodes: range | IntArray, arguments: tuple[Any, ...]
) -> tuple[Any, ...]:
    """The arrays of some nodes, computed by a worker."""
    result = getattr(local_kernel, method)(np.asarray(nodes), *arguments)
    return result if isinstance(result, tuple) else (result,)
