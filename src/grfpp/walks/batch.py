"""Many graphs as one block-diagonal graph, which is laid out once and sampled in one go.

Random streams are made from the seed and from each graph's content. So its estimate does not depend
on the other graphs of the batch, on their order, or on how the batch is cut into tasks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp._memory import require_bytes
from grfpp.errors import InputError
from grfpp.graph import Graph, as_graph
from grfpp.kernels import Kernel
from grfpp.linalg.csr import GrowingMatrix, csr
from grfpp.options import WalkOptions
from grfpp.typing import IntArray
from grfpp.walks.plan import WalkPlan
from grfpp.walks.planning import measured_for, plan_walks
from grfpp.walks.sampling import BATCH_STEPS, walker_of
from grfpp.walks.streams import MASK, NODE_STRIDE, mix64
from grfpp.walks.transition import ProportionalSteps
from grfpp.walks.walker import Output

#: Nodes of the graphs that one task takes: enough to hide Python, few enough to keep in memory.
TASK_NODES = 20_000


@dataclass(frozen=True, eq=False)
class GraphBatch:
    """Undirected graphs in one block-diagonal graph.

    Examples
    --------
    >>> batch = GraphBatch.of([[[0, 1], [1, 0]], [[0]], [[0, 1, 1], [1, 0, 1], [1, 1, 0]]])
    >>> batch.graph
    Graph(n_nodes=6, n_edges=4, undirected)
    >>> batch.starts
    array([0, 2, 3, 6])
    """

    #: All of them: nodes ``starts[i] … starts[i+1] - 1`` are those of graph ``i``.
    graph: Graph
    #: Index of the first node of each graph, and the number of all nodes.
    starts: IntArray

    @classmethod
    def of(cls, graphs: Any) -> GraphBatch:
        """Join graphs, or anything that `Graph` takes.

        Raises
        ------
        InputError
            When there is none, or when one of them cannot be read or is directed; the message
            says which, counted from 0.
        """
        parts = _read_all(graphs)
        starts = np.cumsum([0, *(part.n_nodes for part in parts)])
        n_entries = np.cumsum([0, *(len(part.indices) for part in parts)])
        n = int(starts[-1])
        if n > np.iinfo(np.int32).max:
            raise InputError(f"{n} nodes in all are too many for one batch: take fewer graphs")
        indices = np.concatenate([part.indices for part in parts])
        indices += np.repeat(starts[:-1].astype(np.int32), np.diff(n_entries))
        ends = [part.indptr[1:] + n_entries[i] for i, part in enumerate(parts)]
        weights = np.concatenate([part.weights for part in parts])
        matrix = csr(weights, indices, np.concatenate([[0], *ends]), n)
        batch = cls(Graph(matrix), starts.astype(np.int64))
        if batch.graph.is_directed:
            difference = (batch.graph.adjacency - batch.graph.adjacency.T).tocsr()
            number = batch.graph_of[np.flatnonzero(np.diff(difference.indptr))[0]]
            raise InputError(
                f"graph {number} is directed; eigenvalues of kernels are real for undirected "
                "graphs only: pass A + A.T"
            )
        return batch

    def __len__(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def sizes(self) -> IntArray:
        """Number of nodes of each graph."""
        return np.diff(self.starts)

    @cached_property
    def graph_of(self) -> npt.NDArray[np.int32]:
        """The graph that each node belongs to."""
        return np.repeat(np.arange(len(self), dtype=np.int32), self.sizes)

    @cached_property
    def words(self) -> list[int]:
        """64 bits for each graph: a hash of its nodes, edges and weights."""
        graph = self.graph
        first_nodes = self.starts[:-1].astype(np.int32)[self.graph_of]
        columns = graph.indices - np.repeat(first_nodes, graph.out_degree)
        words = []
        for start, stop in pairwise(self.starts.tolist()):
            edges = slice(int(graph.indptr[start]), int(graph.indptr[stop]))
            content = hashlib.blake2b(graph.out_degree[start:stop].tobytes(), digest_size=8)
            content.update(columns[edges].tobytes())
            content.update(graph.weights[edges].tobytes())
            words.append(int.from_bytes(content.digest(), "little"))
        return words

    def within(self, groups: npt.NDArray[Any]) -> GraphBatch:
        """The same nodes without edges between groups; `groups` has a group for every node."""
        graph = self.graph
        rows = np.repeat(np.arange(graph.n_nodes), graph.out_degree)
        kept = groups[rows] == groups[graph.indices]
        indptr = np.concatenate([[0], np.cumsum(kept)])[graph.indptr]
        matrix = csr(graph.weights[kept], graph.indices[kept], indptr, graph.n_nodes)
        return GraphBatch(Graph(matrix), self.starts)

    def tasks(self, most_nodes: int = TASK_NODES) -> list[range]:
        """Cut the graphs into ranges of nearly so many nodes, or of one graph that has more."""
        tasks: list[range] = []
        first = 0
        while first < len(self):
            limit = self.starts[first] + most_nodes
            last = int(np.searchsorted(self.starts, limit, side="right")) - 1
            tasks.append(range(first, max(last, first + 1)))
            first = tasks[-1].stop
        return tasks

    @property
    def has_unit_weights(self) -> npt.NDArray[np.bool_]:
        """For every graph whether all of its weights are one."""
        units = np.ones(len(self), dtype=bool)
        units[self._edge_graph[self.graph.weights != 1.0]] = False
        return units

    @property
    def has_equal_weights(self) -> npt.NDArray[np.bool_]:
        """For every graph whether all of its weights are the same."""
        largest, smallest = np.zeros(len(self)), np.full(len(self), np.inf)
        np.maximum.at(largest, self._edge_graph, self.graph.weights)
        np.minimum.at(smallest, self._edge_graph, self.graph.weights)
        return smallest >= largest

    @property
    def _edge_graph(self) -> npt.NDArray[np.int32]:
        return np.repeat(self.graph_of, self.graph.out_degree)


@dataclass(frozen=True, eq=False)
class BatchWalks:
    """The walks of all graphs of a batch, planned and checked, to be sampled part by part.

    What is sampled for a graph is a function of the seed and the graph, up to rounding: how loads
    grow is found for the whole batch. (For the same bits see `split_by_weights`. Pools share their
    steps by the largest spectral radius of the batch, which is the scale of normalised weights.)
    """

    #: The graphs, with the weights that they came with.
    batch: GraphBatch
    #: Walks on the batch's graph with its final weights.
    plan: WalkPlan
    options: WalkOptions

    def __post_init__(self) -> None:
        self.batch.words  # noqa: B018 - computed here once, not by several threads

    @classmethod
    def of(cls, batch: GraphBatch, W: Graph, kernel: Kernel, options: WalkOptions) -> BatchWalks:
        """Check a request (see `grfpp.sample`) and plan its walks; `W` is the batch's graph."""
        plan = plan_walks(W, kernel, options).forward
        if isinstance(plan.steps, ProportionalSteps) and not plan.steps.telescopes:
            plan = plan.with_steps(_measured_by_graph(batch, plan.steps, kernel, options))
        return cls(batch, plan, options)

    @classmethod
    def normalized(
        cls, batch: GraphBatch, kernel: Kernel, options: WalkOptions, scale: float
    ) -> BatchWalks:
        """Walks on ``scale · D^-1/2 A D^-1/2``, for batches of `split_by_weights`.

        What is sampled for a graph depends on the seed and the graph alone, to the last bit.
        """
        W = batch.graph.normalized("sym", scale)
        plan = plan_walks(W, kernel, options).forward
        if batch.has_unit_weights.all():
            steps = type(plan.steps).on_equal_weights(W, scale)
        else:
            steps = type(plan.steps).carrying(W)
            if isinstance(steps, ProportionalSteps):
                steps = _measured_by_graph(batch, steps, kernel, options)
        return cls(batch, plan.with_steps(steps), options)

    def factors(self, graphs: range) -> list[sp.csr_array]:
        """The ``2 · degree`` factors of some consecutive graphs, each block-diagonal and square."""
        return [self.factor(graphs, number) for number in range(2 * self.options.stitching_degree)]

    def factor(self, graphs: range, number: int) -> sp.csr_array:
        """One factor of some consecutive graphs."""
        starts = self.batch.starts[graphs.start : graphs.stop + 1]
        n_rows = int(starts[-1] - starts[0])
        plan = self.plan.with_factor(number)
        sizes = np.diff(starts)
        entries = sizes * np.minimum(sizes, plan.expected_steps + 1)
        require_bytes(int(12 * entries.sum()), f"a factor of {n_rows} nodes")
        matrix = GrowingMatrix(n_rows, n_rows, int(entries.sum()) + 64, np.dtype(np.float64))
        output = Output(int(entries.max()) + 64, np.dtype(np.float64))
        largest = int(sizes.max() * (plan.expected_steps + 8)) + 64
        walker = walker_of(plan, min(BATCH_STEPS, largest))
        for graph, (start, stop) in zip(graphs, pairwise(starts.tolist()), strict=True):
            key = stream_key(plan.key, self.batch.words[graph], start)
            matrix.append(walker.walk(np.arange(start, stop, dtype=np.int64), output, key))
        factor = matrix.finish()
        factor.indices -= np.int32(starts[0])
        return factor


def _measured_by_graph(
    batch: GraphBatch, steps: ProportionalSteps, kernel: Kernel, options: WalkOptions
) -> ProportionalSteps:
    """Count the masses of every graph in the measure that it would have alone."""
    degree = options.stitching_degree
    if np.isfinite(kernel.modulation_radius(degree)):
        steps = measured_for(kernel, degree, steps)
    return measured_by_graph(batch, steps)


def measured_by_graph(batch: GraphBatch, steps: ProportionalSteps) -> ProportionalSteps:
    """Count masses in the walk's measure on graphs whose weights are equal before normalising."""
    measure = steps.measure if len(steps.measure) else np.ones(batch.graph.n_nodes)
    root = np.sqrt(np.maximum(batch.graph.out_degree, 1))
    equal = batch.has_equal_weights[batch.graph_of]
    return replace(steps, measure=np.where(equal, root, measure))


def stream_key(key: int, word: int, start: int) -> int:
    """The key with which nodes ``start, start + 1, …`` have the streams of nodes ``0, 1, …``.

    A node's stream adds a multiple of its index to the key; that of `start` is subtracted. The key
    of the seed and the factor is mixed with the graph's word first.
    """
    return (mix64(key ^ word) - start * NODE_STRIDE) & MASK


def split_by_weights(batch: GraphBatch) -> list[tuple[Any, GraphBatch]]:
    """Graphs without weights and graphs with weights, each batch with the indices of its nodes.

    How loads grow is found for a whole batch, and both ways round differently.
    """
    units = batch.has_unit_weights
    if units.all() or not units.any():
        return [(slice(None), batch)]
    parts = []
    for chosen in (units, ~units):
        nodes = np.flatnonzero(chosen[batch.graph_of])
        starts = np.cumsum([0, *batch.sizes[chosen].tolist()])
        parts.append((nodes, GraphBatch(Graph(batch.graph.adjacency[nodes][:, nodes]), starts)))
    return parts


def _read_all(graphs: Any) -> list[Graph]:
    is_list = isinstance(graphs, Sequence) or (isinstance(graphs, np.ndarray) and graphs.ndim > 0)
    if not is_list or isinstance(graphs, Graph | str | bytes):
        raise InputError(
            f"a list of graphs is needed, found {type(graphs).__name__}",
            advice="put a single graph into a list",
        )
    if len(graphs) == 0:
        raise InputError("the list of graphs is empty; at least one is needed")
    parts = []
    for number, graph in enumerate(graphs):
        try:
            parts.append(as_graph(graph))
        except InputError as error:
            raise InputError(f"graph {number}: {error}") from None
    return parts
