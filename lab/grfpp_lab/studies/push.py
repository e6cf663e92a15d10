"""Nearest nodes by `LocalKernel` and by push methods, at the same precision.

``python -m grfpp_lab.studies.push`` compares, in one process, `LocalKernel.top_k` with push methods
and power iteration. Each way gets the first step of its ladder (budgets, thresholds, numbers of
iterations) that has a precision@10 of at least 0.98 against exact rows. ``... --large FOLDER``
measures PageRank on a map of 10⁷ nodes, ``... --load`` many threads that share one `LocalKernel`.
Times are seconds of CPU, but for ``--load``.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from grfpp._compiled import compiled, inlined
from grfpp.graph import Graph
from grfpp.kernels import HeatKernel, Kernel, PersonalizedPageRank
from grfpp.local import LocalKernel
from grfpp.typing import FloatArray, IntArray
from grfpp.warmup import warmup
from grfpp_lab.graphs import rmat, scale_free
from grfpp_lab.studies.local_answers.asking import drawn, enron, mapped
from grfpp_lab.studies.local_answers.process import resident
from grfpp_lab.studies.local_answers.rivals import SAME, exact_rows, largest

#: Length of the lists, and the precision that each way has to reach.
K, PRECISION = 10, 0.98
KERNELS: tuple[Kernel, ...] = (
    PersonalizedPageRank(0.15),
    PersonalizedPageRank(0.05),
    HeatKernel(5.0),
)
BUDGETS = tuple(2.0**bits for bits in range(10, 23))
THRESHOLDS = tuple(2.0**-bits for bits in range(14, 31))
ITERATIONS = (5, 10, 20, 40, 80, 160)
#: Seconds of a query from which fewer queries are asked, how many, and where a ladder ends.
SLOW, N_SLOW, HOPELESS = 0.1, 10, 2.0

Seeds = Mapping[int, float]
#: The nearest nodes of a set of seeds, for a step of a ladder.
Ask = Callable[[Seeds, float], IntArray]


class Way(NamedTuple):
    """One way to the nearest nodes, and its ladder from fast to precise."""

    name: str
    ask: Ask
    ladder: Sequence[float]


# Push methods. Compiled functions take arrays of several types, which annotations cannot name.


@inlined
def _write_largest(touched, n_touched, values, nodes, best):  # type: ignore[no-untyped-def]
    """Write the nodes with the largest values, largest first."""
    best[:] = 0.0
    nodes[:] = -1
    for a in range(n_touched):
        node = touched[a]
        value = values[node]
        at = len(best) - 1
        if value > best[at]:
            while at > 0 and best[at - 1] < value:
                best[at], nodes[at] = best[at - 1], nodes[at - 1]
                at -= 1
            best[at], nodes[at] = value, node


@compiled(error_model="numpy")
def _push_queue(graph, rate, eps, seeds, weights, work, nodes):  # type: ignore[no-untyped-def]
    """Andersen, Chung and Lang: push residuals of at least `eps` times the degree, oldest first.

    Ranks by all that has arrived at a node, pushed or not, which is more exact than what was
    pushed. `work` has arrays with an element for each node, zero before and after.
    """
    indptr, indices = graph
    total, residual, _, queue, touched, _, state, best = work
    room, head, length = len(queue), 0, 0
    for a in range(len(seeds)):
        seed = seeds[a]
        residual[seed] = total[seed] = weights[a]
        state[seed] = 2
        queue[a] = touched[a] = seed
    length = n_touched = len(seeds)
    while length > 0:
        node = queue[head]
        head = head + 1 if head + 1 < room else 0
        length -= 1
        state[node] = 1
        first, end = indptr[node], indptr[node + 1]
        amount = rate * residual[node] / max(1, end - first)
        residual[node] = 0.0
        for slot in range(first, end):
            other = indices[slot]
            arrived = residual[other] + amount
            residual[other] = arrived
            total[other] += amount
            if state[other] == 0:
                touched[n_touched] = other
                n_touched += 1
                state[other] = 1
            if state[other] == 1 and arrived >= eps * (indptr[other + 1] - indptr[other]):
                state[other] = 2
                at = head + length
                queue[at if at < room else at - room] = other
                length += 1
    _write_largest(touched, n_touched, total, nodes, best)
    for a in range(n_touched):
        node = touched[a]
        total[node] = residual[node] = 0.0
        state[node] = 0


@compiled(error_model="numpy")
def _push_series(graph, c, eps, seeds, weights, work, nodes):  # type: ignore[no-untyped-def]
    """Sum a power series by sweeps, in which masses of at least `eps` times the degree move on."""
    indptr, indices = graph
    total, mass, arriving, frontier, touched, following, state, best = work
    n_frontier, n_touched = len(seeds), 0
    for a in range(n_frontier):
        mass[seeds[a]] = weights[a]
        frontier[a] = seeds[a]
    for k in range(len(c)):
        n_following = 0
        for a in range(n_frontier):
            node = frontier[a]
            amount = mass[node]
            mass[node] = 0.0
            total[node] += c[k] * amount
            if state[node] == 0:
                state[node] = 1
                touched[n_touched] = node
                n_touched += 1
            first, end = indptr[node], indptr[node + 1]
            if k + 1 == len(c) or c[k] * amount < eps * (end - first):
                continue
            amount /= max(1, end - first)
            for slot in range(first, end):
                other = indices[slot]
                if arriving[other] == 0.0:
                    following[n_following] = other
                    n_following += 1
                arriving[other] += amount
        frontier, following = following, frontier
        mass, arriving = arriving, mass
        n_frontier = n_following
    _write_largest(touched, n_touched, total, nodes, best)
    for a in range(n_touched):
        total[touched[a]] = 0.0
        state[touched[a]] = 0


def pushing(graph: Graph, kernel: Kernel) -> Way:
    """A tight push: from a queue for PageRank, by sweeps for other series."""
    n = graph.n_nodes
    floats, integers = [np.zeros(n) for _ in range(3)], [np.zeros(n, np.int32) for _ in range(3)]
    work = (*floats, *integers, np.zeros(n, np.uint8), np.zeros(K))
    arrays = (np.asarray(graph.indptr), np.asarray(graph.indices))
    coefficients = kernel.coefficients(64, scale=1.0)
    is_pagerank = isinstance(kernel, PersonalizedPageRank)
    law = coefficients[1] / coefficients[0] if is_pagerank else coefficients
    push = _push_queue if is_pagerank else _push_series

    def ask(seeds: Seeds, eps: float) -> IntArray:
        nodes = np.empty(K, np.int64)
        push(arrays, law, eps, *_arrays(seeds), work, nodes)
        return nodes

    return Way("push from a queue" if is_pagerank else "push in sweeps", ask, THRESHOLDS)


def _arrays(seeds: Seeds) -> tuple[IntArray, FloatArray]:
    return np.fromiter(seeds, np.int64), np.fromiter(seeds.values(), float)


# Other ways.


def ours(graph: Graph, kernel: Kernel) -> Way:
    """`LocalKernel.top_k`."""
    W = graph.normalized("rw")
    kernels: dict[float, LocalKernel] = {}

    def ask(seeds: Seeds, budget: float) -> IntArray:
        if budget not in kernels:
            kernels[budget] = LocalKernel(W, kernel, budget=budget, seed=1, n_jobs=1)
        near = kernels[budget]
        return np.asarray(near.top_k(seeds=seeds, k=K)[0])

    return Way("LocalKernel.top_k", ask, BUDGETS)


def pyg(graph: Graph, kernel: Kernel) -> Way | None:
    """The compiled push of PyG's `get_ppr`, without its sort of the edges at each call.

    It starts from single nodes; the rows of several are added.
    """
    if not isinstance(kernel, PersonalizedPageRank) or find_spec("torch_geometric") is None:
        return None
    numba = import_module("numba")
    compiled_push = numba.njit(import_module("torch_geometric.utils.ppr")._get_ppr)
    indptr, indices = np.asarray(graph.indptr), np.asarray(graph.indices).astype(np.int64)

    def ask(seeds: Seeds, eps: float) -> IntArray:
        targets, weights = _arrays(seeds)
        nodes, values = compiled_push(indptr, indices, kernel.alpha, eps, targets)
        owner = np.repeat(weights, [len(part) for part in nodes])
        if len(targets) == 1:
            merged, sums = np.concatenate(nodes), np.concatenate(values)
        else:
            merged, inverse = np.unique(np.concatenate(nodes), return_inverse=True)
            sums = np.bincount(inverse, owner * np.concatenate(values))
        return merged[largest(sums, K)]

    return Way("PyG get_ppr", ask, THRESHOLDS)


def scikit_network(graph: Graph, kernel: Kernel) -> Way | None:
    """`sknetwork.ranking.PageRank`, with more and more iterations."""
    if not isinstance(kernel, PersonalizedPageRank) or find_spec("sknetwork") is None:
        return None
    make, adjacency = import_module("sknetwork.ranking").PageRank, sp.csr_matrix(graph.adjacency)

    def ask(seeds: Seeds, n_iterations: float) -> IntArray:
        ranking = make(damping_factor=1 - kernel.alpha, n_iter=int(n_iterations), tol=0)
        return largest(ranking.fit_predict(adjacency, weights=dict(seeds)), K)

    return Way("scikit-network", ask, ITERATIONS)


# Measurements.


class Nearest(NamedTuple):
    """The right answers to a query: any `n_right` of `nodes`, whose last ones may be tied."""

    nodes: IntArray
    n_right: int

    @classmethod
    def of(cls, row: FloatArray) -> "Nearest":
        """Those of an exact row; fewer than ten where fewer entries are positive."""
        n_right = min(K, int(np.count_nonzero(row > 0)))
        least = np.partition(row, -n_right)[-n_right]
        return cls(np.flatnonzero(row >= least * (1 - SAME)), n_right)

    def precision(self, found: IntArray) -> float:
        """The share of the nearest nodes that were found."""
        return min(self.n_right, len(np.intersect1d(found, self.nodes))) / self.n_right


class Measured(NamedTuple):
    """A step of a ladder: seconds of CPU a query (median), precision, number of queries."""

    step: float
    seconds: float
    precision: float
    n_queries: int


def climb(way: Way, queries: Sequence[Seeds], right: Sequence[Nearest]) -> Measured:
    """The first step of a ladder that is precise enough; the last one where none is."""
    way.ask(queries[0], way.ladder[0])  # compiles
    for step in way.ladder:
        some = queries[:1]
        if query_seconds(way, some, step, 1) < HOPELESS:
            some = queries[: N_SLOW if query_seconds(way, queries[:3], step, 1) > SLOW else None]
        shares = [each.precision(way.ask(q, step)) for q, each in zip(some, right, strict=False)]
        seconds = query_seconds(way, some, step)
        found = Measured(step, seconds, float(np.mean(shares)), len(some))
        if found.precision >= PRECISION or seconds > HOPELESS:
            break
    return found


def query_seconds(way: Way, queries: Sequence[Seeds], step: float, n_passes: int = 3) -> float:
    """Seconds of CPU of a warm query: the median over queries of the best of several passes."""
    best = np.full(len(queries), np.inf)
    for _ in range(n_passes):
        for number, query in enumerate(queries):
            began = process_time()
            way.ask(query, step)
            best[number] = min(best[number], process_time() - began)
        if best.mean() > SLOW:
            break
    return float(np.median(best))


def cases(
    graph: Graph, kernels: Sequence[Kernel], sizes: Sequence[int], n_nodes: int
) -> Iterator[tuple[Kernel, list[Seeds], list[Nearest]]]:
    """Queries with their right answers: sets of seeds with weights 1, 2, …, scaled to sum 1."""
    nodes = drawn(graph.n_nodes, 4 * n_nodes)
    nodes = nodes[graph.out_degree[nodes] > 0][:n_nodes]
    weights = {size: np.arange(1.0, size + 1) / (size * (size + 1) / 2) for size in sizes}
    sums = {(kernel, size): np.empty(0) for kernel in kernels for size in sizes}
    right: dict[Any, list[Nearest]] = {key: [] for key in sums}
    for number, rows in enumerate(exact_rows(graph, kernels, nodes)):
        for (kernel, size), total in sums.items():
            row = weights[size][number % size] * rows[kernels.index(kernel)]
            sums[kernel, size] = total = row if number % size == 0 else total + row  # noqa: PLW2901  # both
            if number % size == size - 1:
                right[kernel, size].append(Nearest.of(total))
    for kernel, size in sums:
        groups = nodes[: len(nodes) // size * size].reshape(-1, size).tolist()
        scaled = weights[size].tolist()
        queries: list[Seeds] = [dict(zip(group, scaled, strict=True)) for group in groups]
        yield kernel, queries, right[kernel, size]


def compare(graph: Graph, sizes: Sequence[int], n_nodes: int) -> Iterator[str]:
    """A line for each kernel, number of seeds and way."""
    for kernel, queries, right in cases(graph, KERNELS, sizes, n_nodes):
        base = np.nan
        for make in (ours, pushing, pyg, scikit_network):
            way = make(graph, kernel)
            if way is None:
                continue
            found = climb(way, queries, right)
            base = found.seconds if make is ours else base
            reached = "" if found.precision >= PRECISION else "   does not reach it"
            yield (
                f"{kernel!r:<33} {len(queries[0])} seeds   {way.name:<18} {found.step:>10.3g} "
                f"{1e3 * found.seconds:>10.3f} ms   x {found.seconds / base:>7.1f}   "
                f"precision@10 {found.precision:.3f} of {found.n_queries}{reached}"
            )


def large(folder: Path, n_nodes: int, n_asked: int) -> Iterator[str]:
    """PageRank on a scale-free graph that is mapped from disk."""
    graph = mapped(folder, n_nodes)
    (case,) = cases(graph, KERNELS[:1], (1,), n_asked)
    kernel, queries, right = case
    timed: list[Seeds] = [{node: 1.0} for node in drawn(n_nodes, 200, seed=1).tolist()]
    way = ours(graph, kernel)
    for budget in (2.0**14, 2.0**15, 2.0**16):
        shares = [
            each.precision(way.ask(q, budget)) for q, each in zip(queries, right, strict=True)
        ]
        seconds = query_seconds(way, timed, budget)
        yield f"budget {budget:,.0f}   {1e3 * seconds:.3f} ms   precision@10 {np.mean(shares):.3f}"


def load(graph: Graph, n_threads: int, n_queries: int) -> Iterator[str]:
    """Rates, latencies and memory of threads that share one object, and whether answers agree."""
    near = LocalKernel(graph.normalized("rw"), KERNELS[0], budget=2.0**13, seed=1, n_jobs=1)
    nodes = np.random.default_rng(1).integers(0, graph.n_nodes, n_queries)
    expected = near.top_k(nodes[: min(n_queries, 10_000)], K)
    rates = []
    for count in (1, 2, n_threads):
        seconds, answers = np.empty(n_queries), np.empty((n_queries, K), np.int64)

        def work(
            first: int,
            count: int = count,
            seconds: FloatArray = seconds,
            answers: IntArray = answers,
        ) -> None:
            for number in range(first, n_queries, count):
                began = perf_counter()
                answers[number] = near.top_k(int(nodes[number]), K)[0]
                seconds[number] = perf_counter() - began

        before, began, cpu = resident()["anonymous"], perf_counter(), process_time()
        with ThreadPoolExecutor(count) as threads:
            list(threads.map(work, range(count)))
        rates.append(n_queries / (perf_counter() - began))
        cpu = process_time() - cpu
        growth = (resident()["anonymous"] - before) / 1e6
        median, late = np.quantile(seconds, [0.5, 0.999])
        same = np.array_equal(answers[: len(expected[0])], expected[0])
        yield (
            f"{count:>2} threads   {rates[-1]:>8,.0f} queries/s, x {rates[-1] / rates[0]:.2f}   "
            f"{1e6 * cpu / n_queries:.0f} us of CPU a query   median {1e3 * median:.3f} ms, "
            f"p99.9 {1e3 * late:.3f} ms, x {late / median:.1f}   memory {growth:+.1f} MB   "
            f"answers {'equal' if same else 'DIFFER'}"
        )


def graphs(names: Sequence[str], n_nodes: int, scale: int) -> Iterator[tuple[str, Graph]]:
    """The graphs of the comparison; the R-MAT graph has about ten edges a possible node."""
    for name in names:
        if name == "enron":
            yield enron()
        elif name == "scale-free":
            yield "scale-free", scale_free(n_nodes, 5, seed=3)
        else:
            yield "R-MAT", rmat(scale, 10_000_000 >> (20 - scale))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="push", description=__doc__)
    names = ("enron", "scale-free", "rmat")
    parser.add_argument("--graphs", nargs="+", choices=names, default=names)
    parser.add_argument("--seeds", type=int, nargs="+", default=(1,), help="seeds of a query")
    parser.add_argument("--queries", type=int, default=100, help="nodes with exact rows")
    parser.add_argument("--nodes", type=int, default=1_000_000, help="of the scale-free graph")
    parser.add_argument("--scale", type=int, default=20, help="bits of the R-MAT graph's nodes")
    parser.add_argument("--large", type=Path, help="folder with, or for, a graph of 10 --nodes")
    parser.add_argument("--load", type=int, help="queries from one, two and many threads")
    parser.add_argument("--threads", type=int, default=16)
    options = parser.parse_args(arguments)
    warmup()
    if options.large:
        for line in large(options.large, 10 * options.nodes, options.queries):
            print(line, flush=True)
        return
    for title, graph in graphs(options.graphs, options.nodes, options.scale):
        print(f"{title}: {graph.n_nodes:,} nodes, {graph.n_edges:,} edges", flush=True)
        lines = (
            load(graph, options.threads, options.load)
            if options.load
            else compare(graph, options.seeds, options.queries)
        )
        for line in lines:
            print(line, flush=True)


if __name__ == "__main__":
    main()
