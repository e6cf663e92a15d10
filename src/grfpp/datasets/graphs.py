"""Graphs whose nodes have classes: social and citation networks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from grfpp.datasets.fetch import fetch_file, find_file
from grfpp.datasets.registry import dataset_info
from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.io.markup import matrix_of, parse_gml
from grfpp.io.packed import reading_errors
from grfpp.io.text import errors_about
from grfpp.linalg.csr import readonly
from grfpp.typing import IntArray

#: Attribute of a node's class in GML files.
_CLASS_ATTRIBUTE = "gt"


def class_indices(names: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], IntArray]:
    """Sorted classes, and the index of each entry's class, read-only."""
    classes, labels = np.unique(names, return_inverse=True)
    return classes, readonly(labels.astype(np.int64))


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
