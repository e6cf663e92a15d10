"""Walk steps a second: one factor built, against raw walks of others and against the machine."""

from __future__ import annotations

import platform
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from grfpp.graph import Graph
from grfpp.options import WalkOptions
from grfpp.walks import WalkPlan, sample_factor
from grfpp.walks.planning import plan_walks
from grfpp.walks.truncation import modulation_table
from grfpp_lab.benchmark.limits import chases_per_second
from grfpp_lab.benchmark.plain import time_arrays, time_lists
from grfpp_lab.benchmark.rows import measured
from grfpp_lab.benchmark.settings import KERNEL, LAW, N_WALKS, P_HALT, SEED
from grfpp_lab.benchmark.timing import best_seconds

OURS = "grfpp, float64"
OURS_SINGLE = "grfpp, float32"
POOLED = "grfpp, pooled, float64"
LIMIT = "pointer chases"
LISTS = "plain Python, lists"
ARRAYS = "plain Python, numpy arrays"


def walk_plan(graph: Graph, degree: int = 1) -> WalkPlan:
    """The paper's walks on a graph."""
    return WalkPlan.of(graph, modulation_table(KERNEL, degree, LAW), LAW, N_WALKS, SEED)


def pooled_plan(graph: Graph, degree: int = 1) -> WalkPlan:
    """Pooled walks with as many steps."""
    options = WalkOptions.of(degree=degree, n_walks=N_WALKS, seed=SEED, walks="pooled")
    return plan_walks(graph, KERNEL, options).forward


def n_steps(plan: WalkPlan) -> float:
    """Steps of all walks of a factor, as expected; met to a per mille on graphs of this size.

    Of a pool it is the budget, of which exact steps may leave a part.
    """
    return plan.expected_steps * plan.graph.n_nodes


def stored_bytes(matrix: sp.csr_array) -> int:
    """Memory of a sparse matrix."""
    return int(matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes)


def sample_graph(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Time one factor in both precisions and a pooled one; plans are made before that."""
    graph = Graph.load(request["graph"])
    independent, n = walk_plan(graph), graph.n_nodes
    results = []
    for method, plan, dtype in (
        (OURS, independent, np.float64),
        (OURS_SINGLE, independent, np.float32),
        (POOLED, pooled_plan(graph), np.float64),
    ):
        work = partial(sample_factor, plan, n_jobs=request["threads"], dtype=dtype)
        size, note = stored_bytes(work()), "features built"
        if method == POOLED:
            note += "; steps are its budget, of which exact steps may leave some"
        seconds = best_seconds(work, budget=request["budget"])
        told = measured(method, note, **_speed(n, n_steps(plan), seconds))
        told["numbers"]["bytes_per_node"] = size / n
        results.append(told)
    return results


def _speed(n_nodes: int, steps: float, seconds: float) -> dict[str, float]:
    rate = steps / seconds
    return {"n_nodes": n_nodes, "steps": steps, "seconds": seconds, "steps_per_second": rate}


def machine_limit(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Time pointer chases over a table as large as the graph's neighbours and offsets."""
    n_bytes = request["n_bytes"]
    rate = chases_per_second(n_bytes, request["threads"], request["budget"] / 10)
    note = "independent random reads in a table of the graph's size"
    return [measured(LIMIT, note, steps_per_second=rate, table_bytes=n_bytes)]


def plain_python(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Time Algorithm 1 in plain Python, written in two ways."""
    graph = Graph.load(request["graph"])
    modulation = walk_plan(graph).modulation.tolist()
    results = []
    for method, run, note in (
        (LISTS, time_lists, "one thread; lists, and a dictionary for every node"),
        (ARRAYS, time_arrays, "one thread; numpy arrays, and a vector of N for every node"),
    ):
        steps, seconds = run(graph, N_WALKS, P_HALT, modulation, request["budget"])
        told = measured(method, note, **_speed(graph.n_nodes, steps, seconds))
        version = f"Python {platform.python_version()}"
        results.append({**told, "version": version, "threads": 1})
    return results
