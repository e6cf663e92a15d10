"""Many independent estimates in one call: a graph of many copies of a small one.

The copies are different nodes, so their walks are independent; all factors are block-diagonal.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from grfpp.chain import Chain
from grfpp.graph import Graph
from grfpp.typing import FloatArray


def copies(graph: Graph, n_copies: int) -> Graph:
    """So many copies of a graph side by side.

    Examples
    --------
    >>> copies(Graph([[0, 1], [1, 0]]), 3)
    Graph(n_nodes=6, n_edges=3, undirected)
    """
    return Graph(sp.block_diag([graph.adjacency] * n_copies, format="csr"))


def blocks(chain: Chain, n: int) -> FloatArray:
    """The diagonal blocks of a chain on copies of `n` nodes, of shape ``(copies, n, n)``."""
    # A block-diagonal matrix times identities, one below the other: its blocks, likewise.
    return (chain @ np.tile(np.eye(n), (chain.n_nodes // n, 1))).reshape(-1, n, n)
