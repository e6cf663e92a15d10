"""torch_cluster: raw walks of a fixed length in C++, no features."""

from __future__ import annotations

from typing import Any

import torch
import torch_cluster
from common import best_rate, read_graph


def run(request: dict[str, Any]) -> dict[str, Any]:
    """Walk with the operator behind `torch_cluster.random_walk`, which skips its preparations.

    Lengths cannot be random, so all walks have the mean length. The walks of a node stand together,
    which is the order that suits the caches best.
    """
    torch.set_num_threads(request["threads"])
    graph = read_graph(request["graph"])
    rowptr, col = (torch.from_numpy(a).to(torch.int64) for a in (graph.indptr, graph.indices))
    length = round((1 - request["p_halt"]) / request["p_halt"])

    def walk(n_starts: int) -> int:
        start = torch.arange(n_starts).repeat_interleave(request["n_walks"])
        torch.ops.torch_cluster.random_walk(rowptr, col, start, length, 1.0, 1.0)
        return len(start) * length

    steps, seconds = best_rate(walk, graph.n_nodes, request["budget"])
    return {
        "version": torch_cluster.__version__,
        "steps": steps,
        "seconds": seconds,
        "note": f"raw walks of {length} steps each, no features",
    }
