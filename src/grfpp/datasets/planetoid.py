"""Citation graphs with the public split of Planetoid: which labels are known, which are judged."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from grfpp.arguments import node_numbers, one_of
from grfpp.datasets.arrays import numbered, read_only
from grfpp.datasets.fetch import fetch
from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.io.storage.stored_arrays import StoredArrays, opened_arrays
from grfpp.io.text import naming
from grfpp.typing import IntArray

_ARRAYS = ("edges", "labels", "n_nodes", "train", "validation", "test")
#: What all arrays become together is less than this many times what they are.
_TIMES_IN_MEMORY = 16


@dataclass(frozen=True, eq=False, repr=False)
class SplitGraph:
    """A graph whose nodes have classes, and the nodes to learn from, to choose by, to be judged on.

    Attributes
    ----------
    name
        What it is called.
    graph
        Undirected, all edges of weight 1.
    labels
        The class of each node, from 0; -1 where it is not known.
    train, validation, test
        Numbers of nodes. No node is in two of them, and all have a class.
    source
        The file that was read.
    """

    name: str
    graph: Graph
    labels: IntArray
    train: IntArray
    validation: IntArray
    test: IntArray
    source: str

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.labels.max()) + 1

    def __repr__(self) -> str:
        sizes = "/".join(str(len(part)) for part in (self.train, self.validation, self.test))
        return f"SplitGraph({self.name!r}, {self.graph!r}, {self.n_classes} classes, {sizes})"


def load_planetoid(name: str, *, download: bool = True) -> SplitGraph:
    """Load a citation graph with the split of Planetoid (Yang et al. 2016): cora or pubmed.

    The whole graph, all components, without the words of the papers. 20 papers of each class are to
    learn from, 500 others to choose by, 1,000 to be judged on. The authors publish pickles, which
    are never read: the file must be at hand as ``.npz`` (`read_planetoid`).

    Parameters
    ----------
    name
        ``"cora"`` or ``"pubmed"``.
    download
        Whether to download what is not at hand.

    Raises
    ------
    MissingDataError
        When the file is not at hand.
    """
    short = str(name).lower().removeprefix("planetoid-")
    one_of(short, "name", ("cora", "pubmed"))
    return read_planetoid(fetch(f"planetoid-{short}", "nodes", download=download), short)


def read_planetoid(path: str | Path, name: str | None = None) -> SplitGraph:
    """Read a graph and its split from an ``.npz`` file.

    Parameters
    ----------
    path
        It holds ``edges`` of shape ``(m, 2)``, ``labels`` (-1 where they are not known),
        ``n_nodes``, and ``train``, ``validation`` and ``test``, numbers of nodes.
    name
        What to call it; else as the file.
    """
    file = Path(path)
    with opened_arrays(file) as arrays:
        missing = [each for each in _ARRAYS if each not in arrays]
        if missing:
            raise InputError(f"{file}: there is no array {missing[0]!r}")
        arrays.require_memory(_ARRAYS, _TIMES_IN_MEMORY, "the graph in")
        with naming(str(file)):
            graph = _graph(arrays)
            labels = _labels(arrays, graph.n_nodes)
            parts = [_part(arrays, each, labels) for each in _ARRAYS[3:]]
            together = np.concatenate(parts)
            if len(np.unique(together)) < len(together):
                raise InputError("a node is twice in train, validation and test")
    train, validation, test = parts
    return SplitGraph(name or file.stem, graph, labels, train, validation, test, str(file))


def _graph(arrays: StoredArrays) -> Graph:
    edges, n_nodes = arrays["edges"], arrays["n_nodes"]
    if n_nodes.shape != () or n_nodes.dtype.kind not in "iu" or n_nodes < 1:
        raise InputError(f"n_nodes must be a whole number >= 1, found {n_nodes.tolist()!r:.40}")
    if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu":
        raise InputError(f"edges must be pairs of nodes, found {edges.dtype} of {edges.shape}")
    node_numbers(edges.reshape(-1), int(n_nodes), "edges")
    # Once each, in whichever direction.
    pairs = np.unique(np.sort(edges.astype(np.int64), axis=1), axis=0)
    return Graph((pairs.T, None), n_nodes=int(n_nodes), symmetrize="max")


def _labels(arrays: StoredArrays, n_nodes: int) -> IntArray:
    stored = arrays["labels"]
    if stored.shape != (n_nodes,) or stored.dtype.kind not in "iu":
        raise InputError(
            f"labels must be a whole number for each of {n_nodes} nodes, found {stored.dtype} of "
            f"shape {stored.shape}"
        )
    labels = stored.astype(np.int64)
    known = labels >= 0
    if not known.any():
        raise InputError("no node has a label")
    labels[known], labels[~known] = numbered(labels[known])[1], -1
    return read_only(labels)


def _part(arrays: StoredArrays, name: str, labels: IntArray) -> IntArray:
    nodes = node_numbers(arrays[name], len(labels), name)
    if (labels[nodes] < 0).any():
        raise InputError(f"a node of {name} has no label")
    return read_only(nodes)
