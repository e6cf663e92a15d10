"""Edges that change: seconds of updates, queries after them, and processes that are killed.

``python -m grfpp_lab.studies.updates`` prints, for scale-free graphs with equal and unequal weights
and with arcs, the changed edges a second, and the time of a query with 1 % and 10 % of the edges
changed over that on a graph made anew from all edges; all in seconds of the processor, the least of
several. Half of the changes remove an edge, half add one. ``... kills`` ends ``grfpp.update`` and
``grfpp.compact`` at random moments by SIGKILL, and counts the folders that are the old or the new
graph.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter, process_time, sleep
from typing import Any

import numpy as np
import scipy.sparse as sp

import grfpp
from grfpp import Graph, LocalKernel
from grfpp_lab.graphs import scale_free

#: Kernel, its normalisation.
KERNELS: Any = (("diffusion:1", "sym"), ("personalized-pagerank:0.15", "rw"))
KINDS = ("equal", "weighted", "directed")
#: Shares of the edges that are changed.
SHARES = (0.01, 0.1)
_BUDGET = 4096
_N_TIMES = 7


def graph_of(kind: str, n_nodes: int) -> Graph:
    """A scale-free graph: undirected with equal or log-normal weights, or of arcs."""
    graph: Graph = scale_free(n_nodes)
    upper = sp.triu(graph.adjacency).tocsr()
    if kind == "directed":
        return Graph(upper)
    if kind == "weighted":
        upper.data = np.random.default_rng(0).lognormal(size=upper.nnz)
        return Graph((upper + upper.T).tocsr())
    return graph


def changes_of(graph: Graph, count: int, seed: int) -> dict[str, Any]:
    """Random edges to remove, and as many new ones: from any node to one drawn by degree."""
    random, n = np.random.default_rng(seed), graph.n_nodes
    matrix = graph.adjacency if graph.is_directed else sp.triu(graph.adjacency)
    u, v = (ends.astype(np.int64) for ends in matrix.tocoo().coords)
    gone = random.permutation(len(u))[: count // 2]
    one, other = random.integers(0, n, 2 * count), random.choice(v, 2 * count)
    first, last = (one, other) if graph.is_directed else np.sort([one, other], axis=0)
    keys = np.setdiff1d((first * n + last)[first != last], u * n + v)
    new = np.stack(np.divmod(random.permutation(keys)[: count - count // 2], n))
    equal = graph.scaled.base is None
    weights = np.ones(new.shape[1]) if equal else random.lognormal(size=new.shape[1])
    return {"add": (new, weights), "remove": np.stack([u[gone], v[gone]])}


def measure(kind: str, n_nodes: int, count: int, n_queries: int) -> None:
    """Print the rate of updates and the ratios of query times."""
    graph = graph_of(kind, n_nodes)
    known = graph.is_directed, graph.n_edges, graph.scaled  # of the graph, not of its updates
    changes = changes_of(graph, min(count, known[1] // 4), 1)
    n_changes = sum(len(edges[0]) for edges in (changes["add"][0], changes["remove"]))
    seconds = []
    for _ in range(3):
        start = process_time()
        later = graph.updated(**changes)
        assert later.normalized("sym").walked.more is not None
        seconds.append(process_time() - start)
    rate = n_changes / min(seconds[1:])
    print(
        f"{kind}, {graph.n_nodes:,} nodes, {graph.n_edges:,} edges: {n_changes:,} changes in "
        f"{min(seconds[1:]):.3f} s ({seconds[0]:.3f} s the first time), {rate:,.0f} a second"
    )
    nodes = np.random.default_rng(2).integers(0, graph.n_nodes, n_queries)
    for share in SHARES:
        later = graph.updated(**changes_of(graph, int(share * graph.n_edges), 3))
        anew = Graph(later.adjacency)
        for kernel, normalization in KERNELS:
            pair = [
                LocalKernel(one.normalized(normalization), kernel, budget=_BUDGET, n_jobs=1)
                for one in (later, anew)
            ]
            answers = [near.top_k(nodes) for near in pair]
            times = np.array([[_seconds(near, nodes) for near in pair] for _ in range(_N_TIMES)])
            best = times.min(axis=0) / len(nodes) * 1e3
            same = all(map(np.array_equal, *answers))
            print(
                f"  {share:.0%} changed, {kernel}: {best[0]:.4f} ms a query, anew {best[1]:.4f} ms,"
                f" ratio {best[0] / best[1]:.2f}, {'the same bits' if same else 'other bits'}"
            )


def _seconds(near: LocalKernel, nodes: Any) -> float:
    start = process_time()
    near.top_k(nodes)
    return process_time() - start


#: What is killed: it says when it begins and ends, and waits for its end.
_PROGRAM = """
import sys, grfpp, numpy as np
folder, changes, operation = sys.argv[1:]
print("ready", flush=True)
sys.stdin.readline()
if operation == "update":
    changed = np.load(changes)
    grfpp.update(folder, add=changed["add"], remove=changed["remove"])
else:
    grfpp.compact(folder)
print("done", flush=True)
"""


def kills(n_nodes: int, count: int, n_kills: int, seed: int = 0) -> list[tuple[str, int, int, int]]:
    """Kill updates and compactions at random moments.

    Returns for each operation its name, the number of folders that were the old or the new graph,
    that of new ones, and that of all.
    """
    random = np.random.default_rng(seed)
    results: list[tuple[str, int, int, int]] = []
    graph = graph_of("equal", n_nodes)
    changes = changes_of(graph, count, seed)
    edges = {"add": changes["add"][0], "remove": changes["remove"]}
    later = graph.updated(**edges).adjacency
    with tempfile.TemporaryDirectory() as name:
        folder, file = Path(name) / "graph.grf", Path(name) / "changes.npz"
        np.savez(file, **edges)
        for operation in ("update", "compact"):
            counts = [0, 0]
            duration = 0.0
            for number in range(n_kills + 1):
                graph.save(folder)
                if operation == "compact":
                    grfpp.update(folder, **edges)
                arguments = [sys.executable, "-c", _PROGRAM, str(folder), str(file), operation]
                pipe = subprocess.PIPE
                with subprocess.Popen(arguments, stdin=pipe, stdout=pipe, text=True) as process:
                    assert process.stdin is not None and process.stdout is not None
                    process.stdout.readline()
                    start = perf_counter()
                    process.stdin.write("\n")
                    process.stdin.flush()
                    if not number:  # to know how long it takes
                        process.stdout.readline()
                        duration = perf_counter() - start
                        continue
                    sleep(random.uniform(0.0, duration))
                    os.kill(process.pid, signal.SIGKILL)
                found = Graph.open(folder, verify=True)
                has_updates = bool(list(folder.glob("*.seg")))
                is_old = (found.adjacency != graph.adjacency).nnz == 0
                is_new = found.n_nodes == later.shape[0] and (found.adjacency != later).nnz == 0
                if operation == "compact":
                    counts[0] += is_new
                    counts[1] += is_new and not has_updates
                else:
                    counts[0] += is_old or is_new
                    counts[1] += is_new
            results.append((operation, counts[0], counts[1], n_kills))
    return results


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="updates", description=__doc__)
    parser.add_argument("what", nargs="?", choices=("times", "kills"), default="times")
    parser.add_argument("--nodes", type=float, default=1e6)
    parser.add_argument("--changes", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--kills", type=int, default=20)
    chosen = parser.parse_args(arguments)
    if chosen.what == "kills":
        rows = kills(int(chosen.nodes), chosen.changes, chosen.kills)
        for operation, n_sound, n_new, n in rows:
            print(f"{operation}: {n_sound} of {n} folders are the old or the new one, {n_new} new")
        return
    for kind in KINDS:
        measure(kind, int(chosen.nodes), chosen.changes, chosen.queries)


if __name__ == "__main__":
    main()
