"""Graphs whose nodes have true classes: the paper's, for estimation and clustering."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from grfpp.datasets.arrays import numbered
from grfpp.datasets.fetch import fetch_file, find_file
from grfpp.datasets.registry import dataset_info
from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.io.markup import matrix_of, parse_gml
from grfpp.io.storage.packed import explained
from grfpp.io.text import naming
from grfpp.typing import IntArray

_CLASS = "gt"


@dataclass(frozen=True, eq=False, repr=False)
class GraphDataset:
    """A graph and the true class of each node.

    Attributes
    ----------
    name
        What the registry calls it.
    graph
        Its largest connected component, undirected.
    labels
        The class of each node, from 0, in the order of the graph's rows.
    classes
        What the classes are called.
    source
        The file that was read, or ``"networkx"``.
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

    The karate club needs no file: where that is not at hand, it comes from networkx. Those two are
    the same graph with the nodes in another order (`Graph.node_ids` tells), but not quite the same
    classes: in the file, node 8 is of the officer's party, which he supported; in networkx he is of
    Mr. Hi's, whose club he joined. `GraphDataset.source` says which was read.

    Parameters
    ----------
    name
        Of a data set in the family ``"graphs"``.
    download
        Whether to download what is not at hand.

    Raises
    ------
    MissingDataError
        When the file is not at hand and cannot be downloaded.
    """
    info = dataset_info(name, "graphs")
    (file,) = info.files
    if info.name == "karate" and find_file(file) is None:
        return _networkx_karate()
    return read_labelled_gml(fetch_file(info, file, download=download), info.name)


def read_labelled_gml(path: str | Path, name: str | None = None) -> GraphDataset:
    """Read a GML file whose nodes have their class in the attribute ``gt``."""
    file = Path(path)
    with explained(file, "GML"):
        data = file.read_bytes()
    parsed = parse_gml(data, str(file))
    matrix, node_ids = matrix_of(parsed, str(file), ".gml")
    classes = [value for _, value in parsed.nodes(data=_CLASS)]
    if None in classes:
        raise InputError(
            f"{file}: node {node_ids[classes.index(None)]!r} has no class; give each node its "
            f"class in the attribute {_CLASS!r}"
        )
    with naming(str(file)):
        graph = Graph(matrix)
    return _dataset(name or file.stem, graph, node_ids, classes, str(file))


def _networkx_karate() -> GraphDataset:
    import networkx as nx

    club = nx.karate_club_graph()
    # The file has no weights.
    matrix = nx.to_scipy_sparse_array(club, weight=None, dtype=np.float64)
    node_ids = [str(node) for node in club]  # as in the file
    classes = [value for _, value in club.nodes(data="club")]
    return _dataset("karate", Graph(matrix), node_ids, classes, "networkx")


def _dataset(
    name: str, graph: Graph, node_ids: list[Any], classes: list[Any], source: str
) -> GraphDataset:
    names, labels = numbered(np.array([str(value) for value in classes]))
    labelled = Graph._of(graph.adjacency, node_ids)
    return GraphDataset(name, labelled, labels, tuple(names.tolist()), source)
