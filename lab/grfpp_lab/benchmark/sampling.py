"""Benchmarks of sampling: speed, growth, errors at equal seconds, the paper's table."""

import platform
from functools import partial
from typing import Any

import numpy as np
import scipy
import scipy.sparse as sp

from grfpp.estimate.sampling import sample
from grfpp.graph import Graph
from grfpp.options import WalkOptions
from grfpp.walks import WalkPlan, sample_factor
from grfpp.walks.convergence import modulation_table
from grfpp.walks.planning import plan_walks
from grfpp_lab.benchmark import timing
from grfpp_lab.benchmark.settings import KERNEL, LAW, N_WALKS, P_HALT, SEED, WALKS, measured
from grfpp_lab.experiments.measuring import relative_error
from grfpp_lab.graphs import grid

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
    """Expected steps of all walks of a factor; the sum is within 0.1 % of it at these sizes.

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
        seconds = timing.best_seconds(work, budget=request["budget"])
        result = measured(method, note, **_speed(n, n_steps(plan), seconds))
        result["numbers"]["bytes_per_node"] = size / n
        results.append(result)
    return results


def _speed(n_nodes: int, steps: float, seconds: float) -> dict[str, float]:
    rate = steps / seconds
    return {"n_nodes": n_nodes, "steps": steps, "seconds": seconds, "steps_per_second": rate}


def machine_limit(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Time pointer chases over a table as large as the graph's neighbours and offsets."""
    n_bytes = request["n_bytes"]
    rate = timing.chases_per_second(n_bytes, request["threads"], request["budget"] / 10)
    note = "independent random reads in a table of the graph's size"
    return [measured(LIMIT, note, steps_per_second=rate, table_bytes=n_bytes)]


def plain_python(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Time Algorithm 1 in plain Python, written in two ways."""
    graph = Graph.load(request["graph"])
    modulation = walk_plan(graph).modulation.tolist()
    results = []
    for method, run, note in (
        (LISTS, timing.time_lists, "one thread; lists, and a dictionary for every node"),
        (ARRAYS, timing.time_arrays, "one thread; numpy arrays, and a vector of N for every node"),
    ):
        steps, seconds = run(graph, N_WALKS, P_HALT, modulation, request["budget"])
        result = measured(method, note, **_speed(graph.n_nodes, steps, seconds))
        version = f"Python {platform.python_version()}"
        results.append({**result, "version": version, "threads": 1})
    return results


RECOMPUTE = "grfpp, recompute"
_N_COMPARED = 10_000


def sample_grid(request: dict[str, Any]) -> list[dict[str, Any]]:
    """One factor in float32 on a grid: seconds, peak memory, stored memory.

    Memory is that of the first run, time that of the others; with the plan, without the graph.
    """
    W = grid(request["n_nodes"]).normalized("sym")
    n, threads = W.n_nodes, request["threads"]

    def work() -> Any:
        return sample_factor(walk_plan(W), n_jobs=threads, dtype=np.float32)

    with timing.peak_memory() as peak:
        matrix, first = timing.timed(work)
        stored = stored_bytes(matrix)
    del matrix
    seconds = min(first, timing.best_seconds(work, budget=request["budget"], after=first))
    # The public call with all its checks: two factors.
    _, public = timing.timed(
        lambda: sample(
            *(W, KERNEL, 1, N_WALKS, LAW, SEED),
            walks=WALKS,
            n_jobs=threads,
            dtype=np.float32,
            check_error=False,
        )
    )
    return [
        measured(
            OURS_SINGLE,
            "plan and factor; in a process of its own",
            n_nodes=n,
            seconds=seconds,
            steps_per_second=n_steps(walk_plan(W)) / seconds,
            microseconds_per_node=1e6 * seconds / n,
            peak_bytes_per_node=peak.n_bytes / n,
            stored_bytes_per_node=stored / n,
            sample_seconds=public,
        )
    ]


def recompute_product(request: dict[str, Any]) -> list[dict[str, Any]]:
    """One product with recomputed factors, and whether stored factors give the same."""
    threads = request["threads"]

    def product(n_nodes: int, storage: Any) -> Any:
        W = grid(n_nodes).normalized("sym")
        v = np.random.default_rng(SEED).standard_normal(W.n_nodes)
        options: Any = {"walks": WALKS, "n_jobs": threads, "storage": storage}
        options["check_error"] = False
        with timing.peak_memory() as peak:
            values, seconds = timing.timed(
                lambda: sample(W, KERNEL, 2, N_WALKS, LAW, SEED, **options) @ v
            )
        return values, seconds, peak.n_bytes

    few = min(request["n_nodes"], _N_COMPARED)
    same = np.array_equal(product(few, "recompute")[0], product(few, "memory")[0])
    values, seconds, n_bytes = product(request["n_nodes"], "recompute")
    return [
        measured(
            RECOMPUTE,
            f"degree 2, one product, float64; compared with stored ones on {few:,} nodes",
            n_nodes=len(values),
            seconds=seconds,
            peak_bytes=n_bytes,
            peak_bytes_per_node=n_bytes / len(values),
            same_as_stored=float(same),
        )
    ]


TABLE_METHOD = "grfpp"
CHEBYSHEV = "Chebyshev"
AL_MOHY = "Al-Mohy–Higham"
DENSE = "dense brute force"
PAPER = "paper, GRFs++"
PAPER_DENSE = "paper, dense brute force"
METHODS = (TABLE_METHOD, CHEBYSHEV, AL_MOHY, DENSE, PAPER, PAPER_DENSE)

SCIPY = f"scipy {scipy.__version__}"
DEGREE = 2
N_COLUMNS = 3


def mesh_products(request: dict[str, Any]) -> list[dict[str, Any]]:
    """``K · F`` for three columns by all methods that need no dense matrix.

    Ours is end to end: checks, plan, four factors, product. Reading and normalising the mesh is
    left out for all.
    """
    W = Graph(request["mesh"]).normalized("sym")
    columns = np.random.default_rng(SEED).standard_normal((W.n_nodes, N_COLUMNS))
    exact = KERNEL.apply(W, columns, tol=1e-14)

    def ours() -> Any:
        options: Any = {"walks": WALKS, "n_jobs": request["threads"], "check_error": False}
        K = sample(W, KERNEL, DEGREE, N_WALKS, LAW, SEED, **options)
        return K @ columns

    results = []
    for method, work, note in (
        (TABLE_METHOD, ours, f"degree {DEGREE}, {N_WALKS} walks; 4 factors and the product"),
        (CHEBYSHEV, lambda: KERNEL.apply(W, columns), "`kernel.apply`, to 1e-10"),
        (
            AL_MOHY,
            lambda: KERNEL.apply(W, columns, method="expm_multiply"),
            "scipy's `expm_multiply`, to double precision",
        ),
    ):
        error = relative_error(work(), exact)
        seconds = timing.best_seconds(work, budget=request["budget"])
        results.append(measured(method, note, n_nodes=W.n_nodes, seconds=seconds, error=error))
    results[-1]["version"] = SCIPY
    return results


def dense_kernel(request: dict[str, Any]) -> list[dict[str, Any]]:
    """All eigenvalues and eigenvectors, the kernel from them, the product with it.

    With ``n_nodes`` in the request only for the mesh's first nodes, and the seconds for all are
    estimated as growing with the cube.
    """
    mesh = Graph(request["mesh"])
    n = min(request["n_nodes"] or mesh.n_nodes, mesh.n_nodes)
    W = Graph(mesh.adjacency[:n, :n]).normalized("sym")
    columns = np.random.default_rng(SEED).standard_normal((n, N_COLUMNS))
    _, seconds = timing.timed(lambda: KERNEL.exact(W) @ columns)
    scaled, note = seconds * (mesh.n_nodes / n) ** 3, "`kernel.exact`, from all eigenvectors"
    if n == mesh.n_nodes:
        return [measured(DENSE, note, n_nodes=n, seconds=scaled)]
    note += f"; not run, but scaled by the cube from the mesh's first {n:,} nodes"
    result = measured(DENSE, note, n_nodes=mesh.n_nodes, seconds=scaled, pilot_seconds=seconds)
    return [{**result, "status": "estimated"}]
