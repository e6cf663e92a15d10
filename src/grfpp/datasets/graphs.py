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

_CLASS_ATTRIBUTE = "gt"  # of a node in GML files
_PLANETOID_ARRAYS = ("edges", "labels", "n_nodes", "train", "validation", "test")
_PLANETOID_BYTES_PER_BYTE = 16  # peak memory of reading, relative to the stored arrays

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
        raise InputError(f"{file}: a node of the split has no label, or is in two of its parts")
    labels = np.full(n_nodes, -1)
    known = stored >= 0
    labels[known] = class_indices(stored[known])[1]
    graph = Graph(unweighted(edges, n_nodes))
    train, validation, test = map(read_only, parts)
    name = name or file.stem
    return SplitGraph(name, graph, read_only(labels), train, validation, test, str(file))
