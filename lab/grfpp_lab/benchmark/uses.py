"""Benchmarks of what estimates are used for, and of peers in an environment of their own."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from grfpp.estimate import KernelEstimate, accuracy
from grfpp.estimate.factor import StoredFactor
from grfpp.estimate.sampling import sample
from grfpp.graph import Graph
from grfpp.linalg import chebyshev
from grfpp.local import sample_submatrix
from grfpp.typing import FloatArray, IntArray
from grfpp.walks import sample_factor
from grfpp_lab.benchmark.sampling import AL_MOHY, CHEBYSHEV, DEGREE, SCIPY, walk_plan
from grfpp_lab.benchmark.sampling import TABLE_METHOD as OURS
from grfpp_lab.benchmark.settings import KERNEL, LAW, N_WALKS, P_HALT, SEED, WALKS, measured
from grfpp_lab.benchmark.timing import best_seconds, timed
from grfpp_lab.experiments.measuring import relative_error
from grfpp_lab.graphs import dense, grid, grid_patch, random_nodes
from grfpp_lab.harness.processes import TaskError, run_command


@dataclass(frozen=True)
class Peer:
    """Another package that samples walks."""

    #: Its name for the command that runs peers.
    name: str
    #: What it makes.
    about: str
    #: Whether it only gets small graphs.
    is_slow: bool = False


TORCH_CLUSTER = Peer("torch_cluster", "raw walks in C++")
PECANPY = Peer("PecanPy", "raw walks in numba")
FAST_GRAPH_GP = Peer("fast-graph-gp", "graph random features", is_slow=True)
PEERS = (TORCH_CLUSTER, PECANPY, FAST_GRAPH_GP)


def ask_peer(
    command: list[str] | None,
    peer: Peer,
    graph: str,
    *,
    threads: int,
    budget: float,
    timeout: float,
) -> dict[str, Any]:
    """Have a peer walk on a graph file; what goes wrong becomes a row that says so.

    Parameters
    ----------
    command
        What to start, such as ``[".venv-bench/bin/python", "benchmarks/peers"]``.
    peer, graph
        The peer, and the graph as a file of `Graph.save`.
    threads, budget
        How many threads, and for how many seconds of repeated runs.
    timeout
        Seconds after which the peer is stopped.
    """
    if command is None:
        return _not_run(peer, "no peers' environment: `make bench` makes one and passes it")
    request = {
        "peer": peer.name,
        "graph": graph,
        "n_walks": N_WALKS,
        "p_halt": P_HALT,
        "threads": threads,
        "budget": budget,
    }
    try:
        answer = run_command(command, request, timeout=timeout, threads=threads)
        steps, seconds = float(answer["steps"]), float(answer["seconds"])
        return {
            "method": peer.name,
            "version": str(answer["version"]),
            "note": str(answer.get("note", peer.about)),
            "numbers": {"steps": steps, "seconds": seconds, "steps_per_second": steps / seconds},
        }
    except TaskError as failure:
        return _not_run(peer, str(failure))
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        return _not_run(peer, f"its answer makes no sense ({error!r})")


def _not_run(peer: Peer, why: str) -> dict[str, Any]:
    return {"method": peer.name, "version": "", "status": "not run", "note": why}


OURS_PREPARED = "grfpp, plan made before"
SPARSE_CHEBYSHEV = "Chebyshev, sparse vectors"

#: Columns of a block that are measured where all of them would take too long.
_SOME_COLUMNS = 16
_N_PROBES = 8


def local_block(request: dict[str, Any]) -> list[dict[str, Any]]:
    """``K[S, S]`` for a few nodes of a large grid: a patch of it, or scattered nodes."""
    W = grid(request["n_nodes"]).normalized("sym")
    n_rows = request["n_rows"]
    nodes = grid_patch(W, n_rows) if request["patch"] else random_nodes(W, n_rows, SEED)
    threads, budget = request["threads"], request["budget"]

    def ours() -> FloatArray:
        return sample_submatrix(
            W, KERNEL, nodes, None, DEGREE, N_WALKS, LAW, SEED, walks=WALKS, n_jobs=threads
        )

    exact = _sparse_block(W, nodes, 1e-12)
    error = relative_error(ours(), exact)
    seconds = best_seconds(ours, budget=budget)
    results = [measured(OURS, "`sample_submatrix`", seconds=seconds, error=error)]

    some = nodes[:_SOME_COLUMNS]
    units = np.zeros((W.n_nodes, len(some)))
    units[some, np.arange(len(some))] = 1.0
    columns = exact[:, : len(some)]
    _, numbers = _matched(
        lambda tol: KERNEL.apply(W, units, tol=tol)[nodes], columns, error, budget
    )
    numbers["seconds"] *= len(nodes) / len(some)
    note = f"`kernel.apply` on unit columns; {len(some)} of {len(nodes):,} measured and scaled"
    status = "estimated" if len(some) < len(nodes) else "measured"
    results.append({**measured(CHEBYSHEV, note, **numbers), "status": status})
    note = "the same polynomial on sparse unit vectors: cheap while neighbourhoods grow slowly"
    _, numbers = _matched(lambda tol: _sparse_block(W, nodes, tol), exact, error, budget)
    return [*results, measured(SPARSE_CHEBYSHEV, note, **numbers)]


def dense_products(request: dict[str, Any]) -> list[dict[str, Any]]:
    """``K @ V`` on a dense graph, for few and for many columns."""
    W = dense(request["n_nodes"], request["degree"]).normalized("sym")
    return _products(W, request, prepared=True)


def sparse_product(request: dict[str, Any]) -> list[dict[str, Any]]:
    """``K @ V`` for a few columns on a large sparse grid."""
    W = grid(request["n_nodes"]).normalized("sym")
    return _products(W, request, prepared=False)


def _products(W: Graph, request: dict[str, Any], prepared: bool) -> list[dict[str, Any]]:
    """Results for each number of columns; Al-Mohy and Higham's only for the first."""
    threads, budget = request["threads"], request["budget"]

    def estimate() -> KernelEstimate:
        options: Any = {"walks": WALKS, "n_jobs": threads, "check_error": False}
        return sample(W, KERNEL, DEGREE, N_WALKS, LAW, SEED, **options)

    probed = accuracy.relative_error(estimate(), KERNEL, W, method="probe", n_probes=_N_PROBES)
    error = float(probed)
    results: list[dict[str, Any]] = []
    for name, n_columns in request["columns"].items():
        V = np.random.default_rng(SEED).standard_normal((W.n_nodes, n_columns))
        seconds = best_seconds(partial(lambda V: estimate() @ V, V), budget=budget)
        note = f"degree {DEGREE}, {N_WALKS} walks: sample, product"
        own = [measured(OURS, note, seconds=seconds, error=error)]
        if prepared:
            own.append(_prepared_product(W, V, error, threads, budget))
        own += _deterministic_products(W, V, error, budget, al_mohy=not results)
        results += [{**result, "workload": name} for result in own]
    return results


def _prepared_product(
    W: Graph, V: FloatArray, error: float, threads: int, budget: float
) -> dict[str, Any]:
    """Walks and product alone."""
    plan = walk_plan(W, DEGREE)

    def work() -> Any:
        factors = [
            StoredFactor(sample_factor(plan.with_factor(number), n_jobs=threads))
            for number in range(2 * DEGREE)
        ]
        pairs = list(zip(factors[::2], factors[1::2], strict=True))
        return KernelEstimate(pairs, n_jobs=threads) @ V

    note = "the same walks and product; checks and plan, which read all edges, not counted"
    return measured(OURS_PREPARED, note, seconds=best_seconds(work, budget=budget), error=error)


def _deterministic_products(
    W: Graph, V: FloatArray, error: float, budget: float, al_mohy: bool
) -> list[dict[str, Any]]:
    exact = KERNEL.apply(W, V, tol=1e-14)
    tol, numbers = _matched(lambda tol: KERNEL.apply(W, V, tol=tol), exact, error, budget)
    results = [measured(CHEBYSHEV, f"`kernel.apply(…, tol={tol:g})`", **numbers)]
    if al_mohy:
        product, seconds = timed(lambda: KERNEL.apply(W, V, method="expm_multiply"))
        note = "scipy's `expm_multiply`, which knows double precision only"
        own = relative_error(product, exact)
        results.append({**measured(AL_MOHY, note, seconds=seconds, error=own), "version": SCIPY})
    return results


def _matched(
    work: Callable[[float], FloatArray], exact: FloatArray, error: float, budget: float
) -> tuple[float, dict[str, float]]:
    """The largest tolerance of 1/2, 1/4, … whose error is no larger; seconds and error there."""
    tol = 0.5
    while tol > 1e-13 and relative_error(work(tol), exact) > error:
        tol /= 2
    seconds = best_seconds(lambda: work(tol), budget=budget)
    return tol, {"seconds": seconds, "error": relative_error(work(tol), exact)}


def _sparse_block(W: Graph, nodes: IntArray, tol: float) -> FloatArray:
    """``K[nodes, nodes]`` by Chebyshev polynomials on sparse vectors."""
    coefficients = chebyshev.coefficients_of(KERNEL.value, W.spectral_radius(), tol)
    terms = sparse_terms(W, nodes)
    parts = (c * rows[:, nodes].toarray() for c, rows in zip(coefficients, terms, strict=False))
    return np.asarray(sum(parts))


def sparse_terms(W: Graph, nodes: IntArray) -> Iterator[sp.csr_array]:
    """``T_0[nodes, :]``, ``T_1[nodes, :]``, … of the weights over their spectral radius, sparse."""

    def product(
        rows: sp.csr_array, *, scale: float, base: sp.csr_array | None = None, **_: Any
    ) -> sp.csr_array:
        image = scale * (rows @ W.adjacency)
        return image if base is None else image - base

    n = len(nodes)
    start = sp.csr_array((np.ones(n), nodes, np.arange(n + 1)), shape=(n, W.n_nodes))
    return chebyshev.recurrence(product, W.spectral_radius(), start)
