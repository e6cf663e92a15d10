"""Citation graphs with the training, validation and test nodes of Planetoid."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from grfpp._checks import node_numbers, whole
from grfpp.datasets.fetch import fetch
from grfpp.datasets.graphs import class_indices
from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.io.archive import opened_arrays
from grfpp.io.matrices import unweighted
from grfpp.io.text import errors_about
from grfpp.linalg.csr import readonly
from grfpp.typing import IntArray

_ARRAYS = ("edges", "labels", "n_nodes", "train", "validation", "test")
#: Peak memory of reading, relative to the stored arrays.
_BYTES_PER_BYTE = 16


class SplitGraph(NamedTuple):
    """A graph whose nodes have classes, split into training, validation and test nodes.

    Attributes
    ----------
    graph
        The graph, undirected, all edges of weight 1.
    labels
        The class of each node, from 0; -1 where it is unknown.
    train, validation, test
        Node indices. The three sets are disjoint, and all of their nodes have a class.
    """

    graph: Graph
    labels: IntArray
    train: IntArray
    validation: IntArray
    test: IntArray


def load_planetoid(name: str, *, download: bool = True) -> SplitGraph:
    """Load a citation graph with the split of Planetoid: cora or pubmed.

    The whole graph, all components, without the words of the papers. 20 papers of each class are
    training nodes, 500 others validation nodes, 1,000 test nodes. The authors publish pickles,
    which are never read: the file must exist as ``.npz`` (`read_planetoid`).

    Parameters
    ----------
    name
        ``"cora"`` or ``"pubmed"``.
    download
        Whether to download a missing file.

    Raises
    ------
    MissingDataError
        If the file is missing.

    Examples
    --------
    >>> from grfpp.datasets import at_hand
    >>> from grfpp_lab.datasets.planetoid import load_planetoid
    >>> if at_hand("planetoid-cora"):
    ...     cora = load_planetoid("cora")

    References
    ----------
    Yang, Cohen and Salakhutdinov, "Revisiting semi-supervised learning with graph embeddings",
    ICML 2016.
    """
    short = str(name).lower().removeprefix("planetoid-")
    return read_planetoid(fetch(f"planetoid-{short}", "nodes", download=download))


def read_planetoid(path: str | Path) -> SplitGraph:
    """Read a graph and its split from an ``.npz`` file.

    Parameters
    ----------
    path
        A file with the arrays ``edges`` of shape ``(m, 2)``, ``labels`` (-1 where they are
        unknown), ``n_nodes``, and ``train``, ``validation`` and ``test``, which are node indices.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from grfpp_lab.datasets.planetoid import read_planetoid
    >>> graph = {"n_nodes": 4, "edges": [[0, 1], [1, 2], [2, 3]], "labels": [0, 0, 1, 1]}
    >>> path = f"{tempfile.mkdtemp()}/path.npz"
    >>> np.savez(path, **graph, train=[0, 3], validation=[1], test=[2])
    >>> read_planetoid(path).graph
    Graph(n_nodes=4, n_edges=3, undirected)
    """
    file = Path(path)
    with opened_arrays(file) as arrays, errors_about(str(file)):
        read = arrays.read(_ARRAYS, _BYTES_PER_BYTE, "the graph in")
        ends, stored, size, *split_parts = read
        n_nodes = whole(size.tolist(), "n_nodes", 1)
        edges = node_numbers(ends.reshape(-1), n_nodes, "edges").reshape(-1, 2)
        parts = [node_numbers(part, n_nodes, "the split") for part in split_parts]
    split = np.concatenate(parts)
    if stored.shape != (n_nodes,) or stored.dtype.kind not in "iu":
        raise InputError(f"{file}: labels must be an integer for each of {n_nodes} nodes")
    if len(np.unique(split)) < len(split) or (stored[split] < 0).any():
        raise InputError(f"{file}: a node of the split has no label, or is in two parts of it")
    labels = np.full(n_nodes, -1)
    known = stored >= 0
    labels[known] = class_indices(stored[known])[1]
    graph = Graph(unweighted(edges, n_nodes))
    return SplitGraph(graph, readonly(labels), *map(readonly, parts))
