"""Many independent estimates in one call: a graph of many copies of a small one.

The copies are different nodes, so their walks are independent; all factors are block-diagonal.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from grfpp.estimate import KernelEstimate
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


def blocks(matrix: Any, n: int) -> FloatArray:
    """The diagonal blocks of a sparse matrix as an array of shape ``(copies, n, n)``."""
    coo = matrix.tocoo()
    rows, columns = coo.coords
    dense = np.zeros((matrix.shape[0] // n, n, n))
    dense[rows // n, rows % n, columns % n] = coo.data
    return dense


def pair_products(estimate: KernelEstimate, n: int) -> list[FloatArray]:
    """For every pair of factors the products ``K1 K2ᵀ`` of all copies."""
    return [
        blocks(left, n) @ blocks(right, n).transpose(0, 2, 1) for left, right in estimate.factors
    ]
