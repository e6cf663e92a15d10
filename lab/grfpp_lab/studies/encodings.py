"""Seconds of every kind of positional encoding on many small graphs, and on one large graph.

``python -m grfpp_lab.studies.encodings`` prints a table: `grf_pe` of every kind on 10,000 trees
with rings of 30 nodes and nine features, as PyG graphs, and PyG's own transforms on a part of them.
10,000 graphs should take less than 3 s. Processor seconds, of all threads together, are what counts
on a machine that is busy with other work. ``--large N`` does one scale-free graph of N nodes.
"""

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter, process_time
from typing import Any

import numpy as np

from grfpp._imports import require

N_GRAPHS, N_NODES, N_FEATURES = 10_000, 30, 9
KINDS = ("projected", "return", "smooth", "contrast", "profile", "landmark")
#: Graphs that PyG's transforms are timed on; the time of all is extrapolated.
_SOME = 500


def small_graphs(n_graphs: int, n_nodes: int = N_NODES, seed: int = 0) -> list[Any]:
    """Random trees with a few rings, as molecules are, with random features."""
    import torch

    make = require("torch_geometric").data.Data
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n_graphs):
        children = np.arange(1, n_nodes)
        parents = children - rng.integers(1, np.minimum(children, 3) + 1)
        rings = np.stack([np.arange(3), np.arange(3) + n_nodes // 2])
        ends = np.concatenate([np.stack([children, parents]), rings], axis=1)
        edges = torch.from_numpy(np.concatenate([ends, ends[::-1]], axis=1))
        x = torch.from_numpy(rng.normal(size=(n_nodes, N_FEATURES)).astype(np.float32))
        found.append(make(edge_index=edges, x=x, num_nodes=n_nodes))
    return found


def measure(n_graphs: int = N_GRAPHS, repeats: int = 3) -> list[dict[str, Any]]:
    """The shortest of some times for every kind, and what PyG's would take."""
    from grfpp.torch import grf_pe

    transforms = require("torch_geometric").transforms
    graphs = small_graphs(n_graphs)
    rows: list[dict[str, Any]] = []
    for kind in KINDS:
        grf_pe(graphs[:10], kind=kind)  # compiles
        rows.append(_row(kind, n_graphs, partial(grf_pe, graphs, kind=kind), repeats))
    others = {
        "PyG random walk": transforms.AddRandomWalkPE(8),
        "PyG Laplacian": transforms.AddLaplacianEigenvectorPE(8, is_undirected=True),
    }
    some = graphs[:_SOME]
    for name, transform in others.items():
        transform(some[0])
        work: Callable[[], Any] = partial(list, map(transform, some))
        rows.append(_row(name, n_graphs, work, times=n_graphs / len(some)))
    return rows


def measure_large(n_nodes: int = 100_000) -> list[dict[str, Any]]:
    """Every kind on one scale-free graph."""
    import torch

    from grfpp.torch import grf_pe
    from grfpp_lab.graphs import scale_free

    graph = scale_free(n_nodes)
    sources = np.repeat(np.arange(graph.n_nodes), graph.out_degree)
    ends = torch.from_numpy(np.stack([sources, graph.indices]).astype(np.int64))
    data = require("torch_geometric").data.Data(
        edge_index=ends, x=torch.ones(n_nodes, N_FEATURES), num_nodes=n_nodes
    )
    return [_row(kind, 1, partial(grf_pe, [data], kind=kind)) for kind in KINDS]


def _row(
    encoding: str, n_graphs: int, work: Callable[[], Any], repeats: int = 1, times: float = 1.0
) -> dict[str, Any]:
    """The shortest of some times, by the clock and of the processor."""
    took = []
    for _ in range(repeats):
        began, used = perf_counter(), process_time()
        work()
        took.append((perf_counter() - began, process_time() - used))
    clock, processor = (times * min(each) for each in zip(*took, strict=True))
    seconds = {"seconds": clock, "processor_seconds": processor}
    return {"encoding": encoding, "n_graphs": n_graphs, **seconds}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=N_GRAPHS)
    parser.add_argument("--large", type=int, default=0, metavar="NODES")
    options = parser.parse_args(arguments)
    rows = measure_large(options.large) if options.large else measure(options.graphs)
    print(f"{'encoding':<16} {'graphs':>8} {'seconds':>8} {'processor':>10}")
    for row in rows:
        print(
            f"{row['encoding']:<16} {row['n_graphs']:>8,} {row['seconds']:>8.2f} "
            f"{row['processor_seconds']:>10.2f}"
        )


if __name__ == "__main__":
    main()
