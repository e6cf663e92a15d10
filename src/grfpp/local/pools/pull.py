"""An entry of a row from the node's neighbours, in compiled form. It takes plain arrays.

In ``row[j] = α_0 [i = j] + Σ_v (Σ_k α_{k+1} x_k[v]) W[v, j]`` all but the first term comes over an
edge into ``j``. A pool that has spread from ``i`` estimates the inner sums; summing over the edges
takes the last step exactly, where the pool itself would have picked a few of them. For that the
edges into a node must be those out of it: undirected graphs.
"""

from __future__ import annotations

from typing import Any

from numba import int64, njit, uint64

from grfpp.local.pools.table import divisor, find, home
from grfpp.walks.steps import prefetch

_AHEAD = 12


@njit(inline="always")
def pulled(
    first: Any, degree: Any, graph: Any, kind: Any, unit: Any, ratio: Any, shift: Any, buffers: Any
) -> Any:
    """What arrives at a node over its edges, from what the pool has left."""
    indices, base = graph[1], graph[2]
    table, reached = buffers[0], buffers[1]
    keys = table[0]
    _, at_degree, _, at_total, at_next, _ = reached
    weighted = len(base) > 0
    total = 0.0
    last = first + degree - 1
    for slot in range(first, last + 1):
        prefetch(keys, int64(home(indices[uint64(min(slot + _AHEAD, last))], shift)))
        node = indices[uint64(slot)]
        found = find(node, shift, keys)
        if found >= 0:
            number = uint64(found)
            left = ratio * at_total[number] if ratio > 0.0 else at_next[number]
            if left != 0.0:
                carries = left / divisor(node, at_degree[number], graph, kind, unit)
                total += carries * base[uint64(slot)] if weighted else carries
    return total
