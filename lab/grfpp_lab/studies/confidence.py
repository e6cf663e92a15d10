"""Weighted seeds and certain ranks: ``python -m grfpp_lab.studies.confidence``.

``--parts seeds`` times a query of five seeds beside one of a single seed, at the same budget.
``--parts ranks`` asks for the ten nearest nodes with a confidence of 0.99, and prints the share of
queries that say so, how many of those are right (ties counted for whichever node was found), and
the median seconds of processor time relative to those of the fixed budget. Graphs, nodes and walks
have seeds that no setting was chosen with.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from time import process_time
from typing import Any

import numpy as np

from grfpp.graph import Graph
from grfpp.kernels import Diffusion, HeatKernel, Kernel, PersonalizedPageRank
from grfpp.local import LocalKernel
from grfpp.typing import FloatArray
from grfpp.warmup import warmup
from grfpp_lab.graphs import block_model, scale_free
from grfpp_lab.studies.local_answers.asking import SEED, drawn, enron
from grfpp_lab.studies.local_answers.rivals import exact_rows, precision

PARTS = ("seeds", "ranks")
KERNELS: tuple[Kernel, ...] = (PersonalizedPageRank(0.15), Diffusion(1.0), HeatKernel(5.0))
K, CONFIDENCE, N_SEEDS = 10, 0.99, 5


def graphs(scale: int) -> Iterator[tuple[str, Graph]]:
    """The graphs that are judged on."""
    yield enron()
    yield f"scale-free, {50 * scale:,} nodes", scale_free(50 * scale, 5, seed=21)
    yield f"20 blocks, {20 * scale:,} nodes", block_model(20 * scale, 20, 12.0, 0.8, seed=22).graph


def seconds(ask: Callable[..., Any], queries: Sequence[Any], **options: Any) -> FloatArray:
    """Seconds of processor time of each query, after a first pass over some."""
    for query in queries[:20]:
        ask(**query, k=K, **options)
    times = []
    for query in queries:
        began = process_time()
        ask(**query, k=K, **options)
        times.append(process_time() - began)
    return np.array(times)


def seed_lines(graph: Graph, n_queries: int) -> Iterator[str]:
    """The cost of several seeds."""
    rng = np.random.default_rng(SEED)
    sets = [
        dict(zip(nodes.tolist(), rng.uniform(0.5, 2.0, N_SEEDS).tolist(), strict=True))
        for nodes in rng.integers(graph.n_nodes, size=(n_queries, N_SEEDS))
    ]
    for kernel in KERNELS:
        near = LocalKernel(graph.normalized(kernel.normalization), kernel, seed=SEED, n_jobs=1)
        node = seconds(near.top_k, [{"nodes": min(one)} for one in sets])
        single = seconds(near.top_k, [{"seeds": {min(one): 1.0}} for one in sets])
        several = seconds(near.top_k, [{"seeds": one} for one in sets])
        yield (
            f"{kernel}: a node {1e3 * np.mean(node):.3f} ms, one seed {1e3 * np.mean(single):.3f} "
            f"ms, {N_SEEDS} seeds {1e3 * np.mean(several):.3f} ms, "
            f"{np.mean(several) / np.mean(single):.2f} times one seed"
        )


def rank_lines(graph: Graph, n_queries: int) -> Iterator[str]:
    """Certain ranks beside those of the fixed budget."""
    nodes = drawn(graph.n_nodes, n_queries)
    fixed: dict[Any, list[Any]] = {}
    certain: dict[Any, list[Any]] = {}
    times = {}
    for kernel in KERNELS:
        near = LocalKernel(graph.normalized(kernel.normalization), kernel, seed=SEED, n_jobs=1)
        queries = [{"nodes": node} for node in nodes.tolist()]
        before = seconds(near.top_k, queries)
        after = seconds(near.top_k, queries, confidence=CONFIDENCE)
        times[kernel] = before, after
        fixed[kernel] = list(near.top_k(nodes, K)[0])
        found, _, is_certain = near.top_k(nodes, K, confidence=CONFIDENCE)
        certain[kernel] = list(zip(found, is_certain[:, -1], strict=True))
    right: dict[Any, list[tuple[bool, bool]]] = {kernel: [] for kernel in KERNELS}
    for place, rows in enumerate(exact_rows(graph, KERNELS, nodes)):
        for kernel, row in zip(KERNELS, rows, strict=True):
            lists = fixed[kernel][place], certain[kernel][place][0]
            right[kernel].append((precision(lists[0], row) == 1, precision(lists[1], row) == 1))
    for kernel in KERNELS:
        was_right, is_right = np.array(right[kernel]).T
        says_so = np.array([says for _, says in certain[kernel]])
        before, after = times[kernel]
        yield (
            f"{kernel}: fixed budget right {np.mean(was_right):.3f}; certain {says_so.mean():.3f}, "
            f"of these right {np.mean(is_right[says_so]):.4f} ({(says_so & ~is_right).sum()} wrong)"
            f"; cost {np.median(after) / np.median(before):.2f} times the median, "
            f"{np.mean(after) / np.mean(before):.2f} times the mean ({1e3 * np.median(before):.2f} "
            f"ms)"
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="confidence", description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--scale", type=int, default=1000, help="nodes of a block")
    options = parser.parse_args(arguments)
    warmup()
    for title, graph in graphs(options.scale):
        for part, lines in (("seeds", seed_lines), ("ranks", rank_lines)):
            if part in options.parts:
                for line in lines(graph, options.queries):
                    print(f"{title}, {line}", flush=True)


if __name__ == "__main__":
    main()
