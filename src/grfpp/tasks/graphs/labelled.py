"""Graphs whose nodes have labels, and the base of transformers of lists of graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin

from grfpp._checks import array_of, instance_of, one_of
from grfpp._parallel import Result, in_order, thread_count
from grfpp.errors import InputError
from grfpp.graph import Graph, as_graph
from grfpp.tasks.base import KernelParameters, class_numbers
from grfpp.typing import FloatArray, IntArray
from grfpp.walks.batch import BatchWalks, GraphBatch

if TYPE_CHECKING:
    from grfpp.datasets import TUDataset

LabelArray = npt.NDArray[Any]
#: Largest degree that is a separate label where degrees replace labels; larger ones, which fewer
#: nodes have, share ranges.
_MAX_SINGLE_DEGREE = 8


@dataclass(frozen=True, eq=False)
class LabelledGraph:
    """A graph and a label for each of its nodes, such as the atoms of a molecule.

    Parameters
    ----------
    graph
        A `Graph`, or anything that `Graph` takes.
    labels
        Integers, booleans or texts, one a node.

    Examples
    --------
    >>> water = LabelledGraph([[0, 1, 1], [1, 0, 0], [1, 0, 0]], ["O", "H", "H"])
    >>> water.graph, water.labels
    (Graph(n_nodes=3, n_edges=2, undirected), array(['O', 'H', 'H'], dtype='<U1'))
    """

    graph: Graph
    labels: LabelArray

    def __post_init__(self) -> None:
        graph, labels = as_graph(self.graph), array_of(self.labels, "labels")
        if labels.shape != (graph.n_nodes,) or labels.dtype.kind not in "iubU":
            problem = f"must be {graph.n_nodes} integers, booleans or texts, one a node, found "
            problem += f"shape {labels.shape} of {labels.dtype}"
            raise InputError(problem, argument="labels")
        labels.flags.writeable = False
        object.__setattr__(self, "graph", graph)
        object.__setattr__(self, "labels", labels)


def labelled_graphs(dataset: TUDataset) -> list[LabelledGraph]:
    """The graphs of a data set with the labels of their nodes.

    Where nodes have several labels, every combination is one label; a data set without labels is
    refused.

    Examples
    --------
    >>> from grfpp.datasets import TUDataset  # in practice from load_tudataset("MUTAG")
    >>> graphs, atoms = (Graph([[0, 1], [1, 0]]),), (np.array([6, 8]),)
    >>> dataset = TUDataset("one-bond", graphs, np.array([0]), (1,), atoms, None)
    >>> [molecule.labels for molecule in labelled_graphs(dataset)]
    [array([6, 8])]
    """
    from grfpp.datasets import TUDataset

    instance_of(dataset, "dataset", TUDataset)
    if dataset.node_labels is None:
        raise InputError(f"has no labels of nodes: {dataset.name}", argument="dataset")
    labels: Sequence[LabelArray] = dataset.node_labels
    if labels[0].ndim > 1:
        ends = np.cumsum([graph.n_nodes for graph in dataset.graphs])
        labels = np.split(class_numbers(np.concatenate(labels)), ends[:-1])
    return [LabelledGraph(*pair) for pair in zip(dataset.graphs, labels, strict=True)]


def graph_batch(graphs: Any) -> GraphBatch:
    """A batch of a list of graphs, labelled or not; `GraphBatch` refuses anything else."""
    if isinstance(graphs, list | tuple | np.ndarray) and getattr(graphs, "ndim", 1) > 0:
        graphs = [item.graph if isinstance(item, LabelledGraph) else item for item in graphs]
    return GraphBatch.of(graphs)


def all_labels(graphs: Sequence[Any], purpose: str) -> LabelArray:
    """The labels of all nodes of all graphs, concatenated."""
    labels = [graph.labels for graph in graphs if isinstance(graph, LabelledGraph)]
    if len(labels) < len(graphs) or len({array.dtype.kind == "U" for array in labels}) > 1:
        problem = f"must all have labels for {purpose}, all text or all numbers"
        raise InputError(problem, argument="X", advice="pass LabelledGraph(graph, labels)")
    return np.concatenate(labels)


def labels_or_degrees(graphs: Any, batch: GraphBatch, purpose: str, *, degrees: bool) -> LabelArray:
    """The labels of all nodes, or where no graph has any: their degrees, or one label for all.

    Degrees above 8 share the label 16, 32, 64, …, the next power of two.
    """
    if any(isinstance(graph, LabelledGraph) for graph in graphs):
        return all_labels(graphs, purpose)
    if not degrees:
        return np.zeros(batch.graph.n_nodes, np.int64)
    degree = batch.graph.out_degree.astype(np.int64)
    rounded = 2 ** np.ceil(np.log2(np.maximum(degree, 1))).astype(np.int64)
    return np.where(degree <= _MAX_SINGLE_DEGREE, degree, rounded)


def label_numbers(labels: LabelArray, fitted: LabelArray) -> IntArray:
    """Positions of labels among the sorted fitted ones; the number of these for unseen labels."""
    if (labels.dtype.kind == "U") != (fitted.dtype.kind == "U"):
        raise InputError("must have labels of the type of the fitted ones", argument="X")
    n = len(fitted)
    position = np.minimum(np.searchsorted(fitted, labels), n - 1)
    return np.where(fitted[position] == labels, position, n)


def indicators(numbers: IntArray, n: int) -> FloatArray:
    """One-hot labels, one row per node; zeros for labels from `n` on."""
    return np.asarray(numbers[:, np.newaxis] == np.arange(n), dtype=np.float64)


def sums_by_label(values: FloatArray, numbers: IntArray, n: int, starts: IntArray) -> FloatArray:
    """Sums of rows over the nodes of one graph and one label: shape (graphs, `n`, columns).

    `starts` has the first node of each graph, and the number of all; labels from `n` on are left
    out.
    """
    n_graphs, n_nodes = len(starts) - 1, len(numbers)
    row = np.repeat(np.arange(n_graphs), np.diff(starts)) * (n + 1) + numbers
    entries = (np.ones(n_nodes), (row, np.arange(n_nodes)))
    members = sp.csr_array(entries, shape=(n_graphs * (n + 1), n_nodes))
    return np.asarray((members @ values).reshape(n_graphs, n + 1, -1)[:, :n])


def upper_triangle(matrices: FloatArray) -> FloatArray:
    """Entries on and above the diagonal of the symmetric parts of matrices, one row per matrix."""
    first, second = np.triu_indices(matrices.shape[1])
    return np.asarray(0.5 * (matrices[:, first, second] + matrices[:, second, first]))


def pair_names(labels: LabelArray) -> list[str]:
    """Names of the columns of `upper_triangle`, such as ``C-O``."""
    first, second = np.triu_indices(len(labels))
    return [f"{a}-{b}" for a, b in zip(labels[first], labels[second], strict=True)]


def over_parts(
    batch: GraphBatch,
    W: Graph,
    walks: Callable[[range], Any] | None,
    work: Callable[[Any, slice, IntArray], Result],
    n_jobs: int,
) -> list[Result]:
    """Results of `work` for ranges of consecutive graphs of a batch, on `n_jobs` threads.

    `work` takes the result of `walks` for these graphs (their block-diagonal weights if there are
    no walks), the slice of their nodes, and the first node of each graph and the end of the last
    one, relative to that slice.
    """

    def of_part(graphs: range) -> Result:
        starts = batch.starts[graphs.start : graphs.stop + 1]
        nodes = slice(int(starts[0]), int(starts[-1]))
        matrices = W.adjacency[nodes, nodes] if walks is None else walks(graphs)
        return work(matrices, nodes, starts - starts[0])

    return list(in_order(of_part, batch.tasks(), thread_count(n_jobs)))


class GraphListEstimator(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # untyped base
    """Base of transformers whose samples are graphs."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags


@dataclass(eq=False, repr=False)
class GraphListTransformer(KernelParameters, GraphListEstimator):
    """Base of transformers of graphs by their kernels."""

    restrict: Literal["same-label"] | None = field(default=None, kw_only=True)

    def _batch(self, graphs: Any) -> GraphBatch:
        """The batch of the graphs, without the edges that `restrict` removes."""
        one_of(self.restrict, "restrict", ("same-label", None))
        batch = graph_batch(graphs)
        if self.restrict is None:
            return batch
        return batch.within(all_labels(graphs, "restrict='same-label'"))

    def _by_parts(
        self, batch: GraphBatch, features: Callable[[Any, slice, IntArray], FloatArray]
    ) -> FloatArray:
        """Features of graphs, one row per graph.

        `features` is the `work` of `over_parts`: its first argument are the factors of the
        estimated kernels, or the weights where kernels are exact.
        """
        choice = self._choice
        W, walks = choice.weights(batch.graph), None
        if choice.is_exact:
            choice.kernel.check_converges(W)
        else:
            kind: Any = choice.normalization
            walks = BatchWalks.of(batch, choice.kernel, choice.options, kind, choice.scale).factors
        return np.concatenate(over_parts(batch, W, walks, features, choice.options.n_jobs))
