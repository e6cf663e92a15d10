"""PecanPy: node2vec's walks, compiled by numba; here without return and in-out biases."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numba
import numpy as np
from common import best_rate, read_graph
from numba_progress import ProgressBar
from pecanpy.pecanpy import FirstOrderUnweighted


def run(request: dict[str, Any]) -> dict[str, Any]:
    """Walk with the compiled core of `simulate_walks`.

    That function itself compiles anew at every call and turns all walks into lists of strings; the
    core alone is what is fast. Lengths cannot be random, so all walks have the mean length.
    """
    numba.set_num_threads(request["threads"])
    graph = read_graph(request["graph"])
    peer = FirstOrderUnweighted()
    peer.indptr = graph.indptr.astype(np.uint32)
    peer.indices = graph.indices.astype(np.uint32)
    has_neighbours, move_forward = peer.get_has_nbrs(), peer.get_move_forward()
    length = round((1 - request["p_halt"]) / request["p_halt"])

    def walk(n_starts: int) -> int:
        start = np.repeat(np.arange(n_starts, dtype=np.uint32), request["n_walks"])
        with ProgressBar(total=len(start), disable=True) as progress:
            peer._random_walks(
                len(start), length, None, start, has_neighbours, move_forward, progress
            )
        return len(start) * length

    steps, seconds = best_rate(walk, graph.n_nodes, request["budget"])
    return {
        "version": version("pecanpy"),
        "steps": steps,
        "seconds": seconds,
        "note": f"compiled core, raw walks of {length} steps each, no features",
    }
