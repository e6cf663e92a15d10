"""How large the powers of a graph's weights are."""

from __future__ import annotations

import math

import numpy as np

from grfpp.elementary import log
from grfpp.graph import Graph
from grfpp.typing import FloatArray

#: Highest power of a directed graph's weights whose size is computed.
_HIGHEST_POWER = 256


def log_growth(graph: Graph, n: int) -> FloatArray:
    """About ``log ‖W^k‖`` for ``k = 0 … n``.

    That is ``k log ρ`` where ``W`` is symmetric. Powers of a directed graph's ``W`` can exceed
    those of its spectral radius, which is zero where there is no cycle: for such graphs it is the
    largest row sum of ``W^k``, and beyond the 256th power as steep as at the last, or as ``ρ``.
    """
    log_radius = float(log(np.array(graph.spectral_radius())))
    with np.errstate(invalid="ignore"):
        if not graph.is_directed:
            return np.where(np.arange(n + 1) == 0, 0.0, np.arange(n + 1) * log_radius)
    logs = [0.0]
    vector = np.ones(graph.n_nodes)
    W = graph.adjacency
    while len(logs) <= min(n, _HIGHEST_POWER):
        vector = W @ vector
        largest = float(vector.max())
        if largest == 0.0:  # no walk is that long
            return np.array([*logs, *[-np.inf] * (n + 1 - len(logs))])
        vector /= largest
        logs.append(logs[-1] + math.log(largest))
    slope = max(log_radius, logs[-1] - logs[-2]) if len(logs) > 1 else log_radius
    further = np.arange(1, n + 2 - len(logs))
    return np.concatenate([logs, logs[-1] + slope * further])
