"""Many graphs as one: a block-diagonal graph that the engine lays out once and walks in one go.

Each graph has random streams of its own, made from the seed and from what the graph is. So its
estimate does not depend on the other graphs of the batch, on its place among them, or on how the
batch is cut into tasks; different graphs have independent noise.
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

from grfpp.errors import InputError
from grfpp.graph import Graph, as_graph
from grfpp.kernels import Kernel
from grfpp.linalg.growing import GrowingMatrix
from grfpp.linalg.sparse import csr
from grfpp.memory import require_bytes
from grfpp.options import WalkOptions
from grfpp.typing import IntArray
from grfpp.walks.plan import WalkPlan
from grfpp.walks.planning import plan_walks
from grfpp.walks.pools.planning import measured_for
from grfpp.walks.sizes import BATCH_STEPS, walker_of
from grfpp.walks.streams import MASK, NODE_STRIDE, mix64
from grfpp.walks.transition import ProportionalSteps
from grfpp.walks.walker import Output

#: Nodes of the graphs that one task takes: enough to hide Python, few enough to keep in memory.
TASK_NODES = 20_000


@dataclass(frozen=True, eq=False)
class GraphBatch:
    """Undirected graphs side by side in one block-diagonal graph.

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
    #: Number of the first node of each graph, and the number of all nodes.
    starts: IntArray

    @classmethod
    def of(cls, graphs: Any) -> GraphBatch:
        """Put graphs, or anything that `Graph` takes, side by side.

        Raises
        ------
        InputError
            When there is none, or when one of them cannot be read or is directed; the message
            tells which, counted from 0.
        """
        parts = _read_all(graphs)
        starts = np.concatenate([[0], np.cumsum([part.n_nodes for part in parts])])
        n_entries = np.cumsum([0, *(len(part.indices) for part in parts)])
        n = int(starts[-1])
        if n > np.iinfo(np.int32).max:
            raise InputError(f"{n} nodes in all are too many for one batch: take fewer graphs")
        indices = np.concatenate([part.indices for part in parts])
        indices += np.repeat(starts[:-1].astype(np.int32), np.diff(n_entries))
        indptr = np.concatenate(
            [
                [0],
                *(part.indptr[1:] + before for part, before in zip(parts, n_entries, strict=False)),
            ]
        )
        weights = np.concatenate([part.weights for part in parts])
        batch = cls(Graph(csr(weights, indices, indptr, n)), starts.astype(np.int64))
        if batch.graph.is_directed:
            raise InputError(
                f"graph {batch._first_directed()} is directed; eigenvalues of kernels are real for "
                "undirected graphs only: pass A + A.T"
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
        """64 bits for each graph, made from its nodes, edges and weights, not from its place."""
        graph = self.graph
        local = graph.indices - np.repeat(
            self.starts[:-1].astype(np.int32)[self.graph_of], graph.out_degree
        )
        edges = graph.indptr[self.starts]
        found = []
        for i, (start, stop) in enumerate(pairwise(self.starts.tolist())):
            own = slice(int(edges[i]), int(edges[i + 1]))
            text = hashlib.blake2b(graph.out_degree[start:stop].tobytes(), digest_size=8)
            text.update(local[own].tobytes())
            text.update(graph.weights[own].tobytes())
            found.append(int.from_bytes(text.digest(), "little"))
        return found

    def within(self, groups: npt.NDArray[Any]) -> GraphBatch:
        """The same nodes without edges between groups, of which every node has the number."""
        graph = self.graph
        rows = np.repeat(np.arange(graph.n_nodes), graph.out_degree)
        kept = groups[rows] == groups[graph.indices]
        indptr = np.concatenate([[0], np.cumsum(kept)])[graph.indptr]
        return GraphBatch(
            Graph(csr(graph.weights[kept], graph.indices[kept], indptr, graph.n_nodes)),
            self.starts,
        )

    def tasks(self, most_nodes: int = TASK_NODES) -> list[range]:
        """Cut the graphs into ranges of nearly so many nodes, or of one graph that has more."""
        found, first = [], 0
        while first < len(self):
            limit = self.starts[first] + most_nodes
            last = int(np.searchsorted(self.starts, limit, side="right")) - 1
            found.append(range(first, max(last, first + 1)))
            first = found[-1].stop
        return found

    def _first_directed(self) -> int:
        difference = (self.graph.adjacency - self.graph.adjacency.T).tocsr()
        return int(self.graph_of[np.flatnonzero(np.diff(difference.indptr))[0]])


@dataclass(frozen=True, eq=False)
class BatchWalks:
    """The walks of all graphs of a batch, planned and checked, to be walked part by part.

    What is walked from a graph is a function of the seed and the graph: it does not depend on the
    other graphs. (Loads grow by a rule that is found for the whole batch, and rules round
    differently; where the last bit counts too, see `alike`. Pools share their steps by the largest
    spectral radius of the batch, which is the scale where weights are normalised.)
    """

    #: The graphs, with the weights that they came with.
    batch: GraphBatch
    #: Walks on the batch's graph with its final weights.
    plan: WalkPlan
    #: What was asked for.
    options: WalkOptions

    @classmethod
    def of(cls, batch: GraphBatch, W: Graph, kernel: Kernel, options: WalkOptions) -> BatchWalks:
        """Check a request (see `grfpp.sample`) and plan its walks; `W` is the batch's graph."""
        plan = plan_walks(W, kernel, options).forward
        if isinstance(plan.steps, ProportionalSteps) and not plan.steps.telescopes:
            steps = _measured_by_graph(batch, plan.steps, kernel, options)
            plan = plan.with_steps(steps)
        return cls._ready(batch, plan, options)

    @classmethod
    def normalized(
        cls, batch: GraphBatch, kernel: Kernel, options: WalkOptions, scale: float
    ) -> BatchWalks:
        """Walks on ``scale · D^-1/2 A D^-1/2`` of graphs that are `alike`.

        What is walked from a graph depends on nothing but the seed and the graph, to the last bit.
        """
        W = batch.graph.normalized("sym", scale)
        plan = plan_walks(W, kernel, options).forward
        kind = type(plan.steps)
        if has_unit_weights(batch).all():
            return cls._ready(batch, plan.with_steps(kind.on_equal_weights(W, scale)), options)
        steps = kind.carrying(W)
        if isinstance(steps, ProportionalSteps):
            steps = _measured_by_graph(batch, steps, kernel, options)
        return cls._ready(batch, plan.with_steps(steps), options)

    @classmethod
    def _ready(cls, batch: GraphBatch, plan: WalkPlan, options: WalkOptions) -> BatchWalks:
        batch.words  # noqa: B018 - made here once, not by several threads
        return cls(batch, plan, options)

    def factors(self, graphs: range) -> list[sp.csr_array]:
        """The ``2 · degree`` factors of some consecutive graphs, each block-diagonal and square."""
        return [self.factor(graphs, number) for number in range(2 * self.options.stitching_degree)]

    def factor(self, graphs: range, number: int) -> sp.csr_array:
        """One factor of some consecutive graphs."""
        starts = self.batch.starts[graphs.start : graphs.stop + 1]
        first, n_rows = int(starts[0]), int(starts[-1] - starts[0])
        plan = self.plan.with_factor(number)
        sizes = np.diff(starts)
        entries = sizes * np.minimum(sizes, plan.expected_steps + 1)
        require_bytes(int(12 * entries.sum()), f"a factor of {n_rows} nodes")
        matrix = GrowingMatrix(n_rows, n_rows, int(entries.sum()) + 64, np.dtype(np.float64))
        output = Output(int(entries.max()) + 64, np.dtype(np.float64))
        most = int(sizes.max() * (plan.expected_steps + 8)) + 64
        walker = walker_of(plan, min(BATCH_STEPS, most))
        for graph, (start, stop) in zip(graphs, pairwise(starts.tolist()), strict=True):
            key = stream_key(plan.key, self.batch.words[graph], start)
            matrix.append(walker.walk(np.arange(start, stop, dtype=np.int64), output, key))
        found = matrix.finish()
        found.indices -= np.int32(first)
        return found


def _measured_by_graph(
    batch: GraphBatch, steps: ProportionalSteps, kernel: Kernel, options: WalkOptions
) -> ProportionalSteps:
    """Count the masses of every graph as they would be counted if it were alone.

    In the walk's measure where all weights are equal before they are normalised. Elsewhere in one
    of the weights' own: whether it is needed would depend on all graphs.
    """
    degree = options.stitching_degree
    if np.isfinite(kernel.modulation_radius(degree)):
        steps = measured_for(kernel, degree, steps)
    return measured_by_graph(batch, steps)


def measured_by_graph(batch: GraphBatch, steps: ProportionalSteps) -> ProportionalSteps:
    """Count masses in the walk's measure on the graphs whose weights are equal before the norm."""
    measure = steps.measure if len(steps.measure) else np.ones(batch.graph.n_nodes)
    root = np.sqrt(np.maximum(batch.graph.out_degree, 1))
    return replace(
        steps, measure=np.where(_has_equal_weights(batch)[batch.graph_of], root, measure)
    )


def stream_key(key: int, word: int, start: int) -> int:
    """What makes the streams of nodes ``start, start + 1, …`` those of nodes ``0, 1, …``.

    The engine adds a multiple of the node's number to the key; this takes `start` of it away. The
    key of the seed and the factor is mixed with the graph's own word first.
    """
    return (mix64(key ^ word) - start * NODE_STRIDE) & MASK


def alike(batch: GraphBatch) -> list[tuple[Any, GraphBatch]]:
    """Graphs without weights and graphs with weights apart, each with where its nodes stand.

    Loads grow by a rule that is found for a whole batch, and different rules round differently.
    """
    equal = has_unit_weights(batch)
    if equal.all() or not equal.any():
        return [(slice(None), batch)]
    found = []
    for chosen in (equal, ~equal):
        nodes = np.flatnonzero(chosen[batch.graph_of])
        starts = np.concatenate([[0], np.cumsum(batch.sizes[chosen])])
        matrix = batch.graph.adjacency[nodes][:, nodes]
        found.append((nodes, GraphBatch(Graph(matrix), starts)))
    return found


def has_unit_weights(batch: GraphBatch) -> npt.NDArray[np.bool_]:
    """For every graph whether all of its weights are one."""
    graph = batch.graph
    equal = np.ones(len(batch), dtype=bool)
    others = graph.weights != 1.0
    if others.any():
        equal[np.repeat(batch.graph_of, graph.out_degree)[others]] = False
    return equal


def _has_equal_weights(batch: GraphBatch) -> npt.NDArray[np.bool_]:
    """For every graph whether all of its weights are the same."""
    graph, of_edge = batch.graph, np.repeat(batch.graph_of, batch.graph.out_degree)
    largest, smallest = np.zeros(len(batch)), np.full(len(batch), np.inf)
    np.maximum.at(largest, of_edge, graph.weights)
    np.minimum.at(smallest, of_edge, graph.weights)
    return smallest >= largest


def _read_all(graphs: Any) -> list[Graph]:
    is_list = isinstance(graphs, Sequence) or (isinstance(graphs, np.ndarray) and graphs.ndim > 0)
    if not is_list or isinstance(graphs, Graph | str | bytes):
        raise InputError(
            f"a list of graphs is needed, found {type(graphs).__name__}; "
            "put a single graph into a list"
        )
    if len(graphs) == 0:
        raise InputError("the list of graphs is empty; at least one is needed")
    found = []
    for number, each in enumerate(graphs):
        try:
            found.append(as_graph(each))
        except InputError as error:
            raise InputError(f"graph {number}: {error}") from None
    return found
