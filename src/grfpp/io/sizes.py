"""Refuse a graph that cannot fit, before anything is allocated for it."""

from __future__ import annotations

import numpy as np

from grfpp.errors import InputError
from grfpp.memory import require_bytes

MAX_NODES = int(np.iinfo(np.int32).max)
# The row pointers of the graph, of its transpose and of what is made on the way, eight bytes each.
_BYTES_PER_NODE = 32


def check_node_count(n_nodes: int, origin: str) -> None:
    """Raise when `n_nodes` nodes cannot be numbered or held; `origin` says who asks for them."""
    if n_nodes > MAX_NODES:
        raise InputError(
            f"{origin} asks for {n_nodes:,} nodes, more than this version can number (2^31 - 1); "
            "nodes must be numbered from 0 without gaps"
        )
    require_bytes(n_nodes * _BYTES_PER_NODE, f"{origin} asks for {n_nodes:,} nodes, which")
