"""How far apart in memory the neighbours of successive rows lie."""

from __future__ import annotations

import numpy as np

from grfpp.graph import Graph

#: Rows of a block of 16 columns in a page of memory.
_ROWS_A_PAGE = 32
#: Rows that are looked at together, and how many times.
_ROWS, _WINDOWS = 128, 16


def scattering(graph: Graph) -> float:
    """The share of entries for which a product goes to another page of memory.

    Near 0 on grids and meshes, whose rows follow each other as their neighbours do, near 1 where
    neighbours are drawn at random: there a product waits for memory.

    Examples
    --------
    >>> import networkx as nx
    >>> scattering(Graph(nx.path_graph(100_000))) < 0.1
    True
    """
    n = graph.n_nodes
    touched = entries = 0
    for start in np.linspace(0, max(0, n - _ROWS), _WINDOWS).astype(np.int64):
        first, last = graph.indptr[[start, min(start + _ROWS, n)]]
        # Rows of hubs have many entries; a share of them tells as much.
        columns = graph.indices[first : min(last, first + 64 * _ROWS)]
        touched += len(np.unique(columns // _ROWS_A_PAGE))
        entries += len(columns)
    return touched / max(entries, 1)
