"""Graphs whose nodes have labels, such as the atoms of a molecule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp.arguments import array_of
from grfpp.errors import InputError, shown
from grfpp.graph import Graph, as_graph
from grfpp.typing import FloatArray, IntArray
from grfpp.walks.batch import GraphBatch

if TYPE_CHECKING:
    from grfpp.datasets import TUDataset

LabelArray = npt.NDArray[Any]
#: Up to here every degree is a label of its own.
_SINGLE_DEGREES = 8


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


def labels_or_degrees(graphs: Any, batch: GraphBatch, purpose: str, *, degrees: bool) -> LabelArray:
    """The labels of all nodes, or where no graph has any: their degrees, or one label for all.

    Degrees count one by one up to eight; beyond, a label stands for all from the one before it:
    16, 32, 64, and so on. So hubs do not have a label each.
    """
    if any(isinstance(each, LabelledGraph) for each in graphs):
        return all_labels(graphs, purpose)
    if not degrees:
        return np.zeros(batch.graph.n_nodes, np.int64)
    degree = batch.graph.out_degree.astype(np.int64)
    doubled = 2 ** np.ceil(np.log2(np.maximum(degree, 1))).astype(np.int64)
    return np.where(degree <= _SINGLE_DEGREES, degree, doubled)


def label_numbers(labels: LabelArray, fitted: LabelArray) -> IntArray:
    """The place of every label among the fitted ones, sorted; of others, one beyond the last."""
    if (labels.dtype.kind == "U") != (fitted.dtype.kind == "U"):
        raise InputError(
            f"the fitted labels are {_kind(fitted)}, these are {_kind(labels)}; "
            "use one kind for all graphs"
        )
    n = len(fitted)
    place = np.minimum(np.searchsorted(fitted, labels), n - 1)
    return np.where(fitted[place] == labels, place, n)


def indicators(numbers: IntArray, n: int) -> FloatArray:
    """A row a node with a 1 in the column of its label, of `n`; those of others are zero."""
    return np.asarray(numbers[:, np.newaxis] == np.arange(n), dtype=np.float64)


def sums_by_label(values: FloatArray, numbers: IntArray, n: int, starts: IntArray) -> FloatArray:
    """Add up the rows of nodes of one graph and one label: shape (graphs, `n`, columns).

    `starts` has the first node of each graph, and the number of all; labels of number `n` are not
    counted.
    """
    n_graphs = len(starts) - 1
    graph_of = np.repeat(np.arange(n_graphs), np.diff(starts))
    # One more label for the nodes whose own is not known; nobody asks for its sums.
    place = graph_of * (n + 1) + numbers
    members = sp.csr_array(
        (np.ones(len(numbers)), (place, np.arange(len(numbers)))),
        shape=(n_graphs * (n + 1), len(numbers)),
    )
    return np.asarray((members @ values).reshape(n_graphs, n + 1, -1)[:, :n])


def _kind(labels: LabelArray) -> str:
    return "text" if labels.dtype.kind == "U" else "numbers"
