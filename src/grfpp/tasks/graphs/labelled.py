"""Graphs whose nodes have labels, such as the atoms of a molecule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from grfpp.arguments import array_of
from grfpp.errors import InputError, shown
from grfpp.graph import Graph, as_graph

if TYPE_CHECKING:
    from grfpp.datasets import TUDataset

LabelArray = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class LabelledGraph:
    """A graph and a label for each of its nodes.

    Parameters
    ----------
    graph
        A `Graph`, or anything that `Graph` takes.
    labels
        Whole numbers, truth values or texts, one a node.

    Examples
    --------
    >>> water = LabelledGraph([[0, 1, 1], [1, 0, 0], [1, 0, 0]], ["O", "H", "H"])
    >>> water.graph, water.labels
    (Graph(n_nodes=3, n_edges=2, undirected), array(['O', 'H', 'H'], dtype='<U1'))
    """

    graph: Graph
    labels: LabelArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "graph", as_graph(self.graph))
        labels = array_of(self.labels, "labels")
        if labels.shape != (self.graph.n_nodes,):
            raise InputError(
                f"a graph of {self.graph.n_nodes} nodes needs as many labels, one a node, "
                f"found shape {labels.shape}"
            )
        if labels.dtype.kind not in "iubU":
            raise InputError(
                f"labels must be whole numbers, truth values or texts, found dtype {labels.dtype}"
            )
        labels.flags.writeable = False
        object.__setattr__(self, "labels", labels)


def labelled_graphs(dataset: TUDataset) -> list[LabelledGraph]:
    """The graphs of a data set with the labels of their nodes.

    Where nodes have several labels, each combination of them counts as one; where they have none,
    the data set is refused.
    """
    if not (hasattr(dataset, "node_labels") and hasattr(dataset, "graphs")):
        raise InputError(f"dataset must be what load_tudataset gives, found {shown(dataset)}")
    if dataset.node_labels is None:
        raise InputError(f"the nodes of {dataset.name} have no labels")
    labels: Sequence[LabelArray] = dataset.node_labels
    if labels[0].ndim > 1:
        _, numbers = np.unique(np.concatenate(labels), axis=0, return_inverse=True)
        ends = np.cumsum([graph.n_nodes for graph in dataset.graphs])
        labels = np.split(numbers.reshape(-1), ends[:-1])
    return [LabelledGraph(*pair) for pair in zip(dataset.graphs, labels, strict=True)]


def plain_graphs(graphs: Any) -> Any:
    """The same list without labels; what is no list is handed on as it is."""
    if not isinstance(graphs, Sequence | np.ndarray) or isinstance(graphs, str | bytes):
        return graphs
    if isinstance(graphs, np.ndarray) and graphs.ndim == 0:
        return graphs
    return [each.graph if isinstance(each, LabelledGraph) else each for each in graphs]


def all_labels(graphs: Sequence[Any], purpose: str) -> LabelArray:
    """The labels of all nodes of all graphs, one after the other; all of one kind."""
    for number, each in enumerate(graphs):
        if not isinstance(each, LabelledGraph):
            raise InputError(
                f"{purpose} needs labels, but graph {number} has none: "
                "pass LabelledGraph(graph, labels)"
            )
    kinds = {each.labels.dtype.kind == "U" for each in graphs}
    if len(kinds) > 1:
        raise InputError(f"{purpose}: labels must be all texts or all numbers, found both")
    return np.concatenate([each.labels for each in graphs])
