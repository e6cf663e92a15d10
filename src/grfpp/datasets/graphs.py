"""Graphs whose nodes have classes: social and citation networks, and the splits of Planetoid."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from grfpp._checks import node_numbers, one_of, whole
from grfpp.datasets.fetch import fetch, fetch_file, find_file
from grfpp.datasets.registry import dataset_info
from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.io.archive import opened_arrays
from grfpp.io.markup import matrix_of, parse_gml
from grfpp.io.matrices import unweighted
from grfpp.io.packed import reading_errors
from grfpp.io.text import errors_about
from grfpp.typing import IntArray

#: Attribute of a node's class in GML files.
_CLASS_ATTRIBUTE = "gt"
_PLANETOID_ARRAYS = ("edges", "labels", "n_nodes", "train", "validation", "test")
#: Peak memory of reading, relative to the stored arrays.
_PLANETOID_BYTES_PER_BYTE = 16

AnyArray = TypeVar("AnyArray", bound=npt.NDArray[Any])


def read_only(array: AnyArray) -> AnyArray:
    """Make an array read-only and return it."""
    array.flags.writeable = False
    return array


def class_indices(names: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], IntArray]:
    """Sorted classes, and the index of each entry's class, read-only."""
    classes, labels = np.unique(names, return_inverse=True)
    return classes, read_only(labels.astype(np.int64))


@dataclass(frozen=True, eq=False, repr=False)
class GraphDataset:
    """A graph and the true class of each node.

    Attributes
    ----------
    name
        Name of the data set.
    graph
        The graph, undirected.
    labels
        The class of each node, from 0, in the order of the graph's rows.
    classes
        Names of the classes.
    source
        The file that was read, or ``"networkx"``.

    Examples
    --------
    >>> from grfpp.datasets import load_graph
    >>> club = load_graph("karate")
    >>> club.graph.n_nodes, club.labels.shape, len(club.classes)
    (34, (34,), 2)
    """

    name: str
    graph: Graph
    labels: IntArray
    classes: tuple[str, ...]
    source: str

    def __repr__(self) -> str:
        return f"GraphDataset({self.name!r}, {self.graph!r}, {len(self.classes)} classes)"


def load_graph(name: str, *, download: bool = True) -> GraphDataset:
    """Load a graph by name: karate, dolphins, polbooks, football, databases, eurosis or cora.

    The karate club needs no file: without one, it comes from networkx. Both have the same edges,
    but another order of nodes (see `Graph.node_ids`), and another class of node 8: in the file that
    of the officer's party, which he supported; in networkx that of Mr. Hi, whose club he joined.
    `GraphDataset.source` says which one was read.

    Parameters
    ----------
    name
        Name of a data set of the family ``"graphs"``.
    download
        Whether to download a missing file.

    Raises
    ------
    MissingDataError
        If the file is missing and cannot be downloaded.

    Examples
    --------
    >>> from grfpp.datasets import load_graph
    >>> load_graph("karate")
    GraphDataset('karate', Graph(n_nodes=34, n_edges=78, undirected), 2 classes)
    """
    info = dataset_info(name, "graphs")
    (file,) = info.files
    if info.name == "karate" and find_file(file) is None:
        return _networkx_karate()
    return read_labelled_gml(fetch_file(info, file, download=download), info.name)


def read_labelled_gml(path: str | Path, name: str | None = None) -> GraphDataset:
    """Read a GML file whose nodes have their class in the attribute ``gt``.

    Parameters
    ----------
    path
        The file.
    name
        Name of the data set; that of the file if not given.

    Examples
    --------
    >>> import networkx as nx, tempfile
    >>> from grfpp.datasets import read_labelled_gml
    >>> graph = nx.path_graph(3)
    >>> nx.set_node_attributes(graph, {0: "left", 1: "left", 2: "right"}, "gt")
    >>> path = f"{tempfile.mkdtemp()}/path.gml"
    >>> nx.write_gml(graph, path)
    >>> read_labelled_gml(path).labels
    array([0, 0, 1])
    """
    file = Path(path)
    with reading_errors(file, "GML"):
        data = file.read_bytes()
    parsed = parse_gml(data, str(file))
    matrix, node_ids = matrix_of(parsed, str(file), ".gml")
    classes = [value for _, value in parsed.nodes(data=_CLASS_ATTRIBUTE)]
    if None in classes:
        node = node_ids[classes.index(None)]
        raise InputError(f"{file}: node {node!r} has no attribute {_CLASS_ATTRIBUTE!r}, its class")
    return _dataset(name or file.stem, matrix, node_ids, classes, str(file))


def _networkx_karate() -> GraphDataset:
    import networkx as nx

    club = nx.karate_club_graph()
    # The file has no weights.
    matrix = nx.to_scipy_sparse_array(club, weight=None, dtype=np.float64)
    node_ids = [str(node) for node in club]  # as in the file
    classes = [value for _, value in club.nodes(data="club")]
    return _dataset("karate", matrix, node_ids, classes, "networkx")


def _dataset(
    name: str, matrix: Any, node_ids: list[Any], classes: list[Any], source: str
) -> GraphDataset:
    names, labels = class_indices(np.array(classes, dtype=str))
    with errors_about(source):
        graph = Graph._of(Graph(matrix).adjacency, node_ids)
    return GraphDataset(name, graph, labels, tuple(names.tolist()), source)


@dataclass(frozen=True, eq=False, repr=False)
class SplitGraph:
    """A graph whose nodes have classes, split into training, validation and test nodes.

    Attributes
    ----------
    name
        Name of the data set.
    graph
        The graph, undirected, all edges of weight 1.
    labels
        The class of each node, from 0; -1 where it is unknown.
    train, validation, test
        Node indices. The three sets are disjoint, and all of their nodes have a class.
    source
        The file that was read.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from grfpp.datasets import read_planetoid
    >>> graph = {"n_nodes": 4, "edges": [[0, 1], [1, 2], [2, 3]], "labels": [0, 0, 1, 1]}
    >>> path = f"{tempfile.mkdtemp()}/path.npz"
    >>> np.savez(path, **graph, train=[0, 3], validation=[1], test=[2])
    >>> split = read_planetoid(path)
    >>> split.labels[split.train], split.test
    (array([0, 1]), array([2]))
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
    >>> from grfpp.datasets import at_hand, load_planetoid
    >>> if at_hand("planetoid-cora"):
    ...     cora = load_planetoid("cora")

    References
    ----------
    Yang, Cohen and Salakhutdinov, "Revisiting semi-supervised learning with graph embeddings",
    ICML 2016.
    """
    short = str(name).lower().removeprefix("planetoid-")
    one_of(short, "name", ("cora", "pubmed"))
    return read_planetoid(fetch(f"planetoid-{short}", "nodes", download=download), short)


def read_planetoid(path: str | Path, name: str | None = None) -> SplitGraph:
    """Read a graph and its split from an ``.npz`` file.

    Parameters
    ----------
    path
        A file with the arrays ``edges`` of shape ``(m, 2)``, ``labels`` (-1 where they are
        unknown), ``n_nodes``, and ``train``, ``validation`` and ``test``, which are node indices.
    name
        Name of the data set; that of the file if not given.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from grfpp.datasets import read_planetoid
    >>> graph = {"n_nodes": 4, "edges": [[0, 1], [1, 2], [2, 3]], "labels": [0, 0, 1, 1]}
    >>> path = f"{tempfile.mkdtemp()}/path.npz"
    >>> np.savez(path, **graph, train=[0, 3], validation=[1], test=[2])
    >>> read_planetoid(path)
    SplitGraph('path', Graph(n_nodes=4, n_edges=3, undirected), 2 classes, 2/1/1)
    """
    file = Path(path)
    with opened_arrays(file) as arrays, errors_about(str(file)):
        read = arrays.read(_PLANETOID_ARRAYS, _PLANETOID_BYTES_PER_BYTE, "the graph in")
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
    train, validation, test = map(read_only, parts)
    name = name or file.stem
    return SplitGraph(name, graph, read_only(labels), train, validation, test, str(file))
