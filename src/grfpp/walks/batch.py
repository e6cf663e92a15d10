"""Many graphs as one block-diagonal graph, which is laid out and sampled once.

Random streams depend on the seed and on the content of each graph. So its estimate does not depend
on the other graphs of the batch, on their order, or on the split of the batch into tasks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp._memory import require_bytes
from grfpp.errors import InputError
from grfpp.graph import Graph, as_graph
from grfpp.kernels import Kernel
from grfpp.linalg.csr import GrowingMatrix, csr
from grfpp.normalization import Normalization
from grfpp.options import WalkOptions
from grfpp.typing import IntArray
from grfpp.walks.plan import WalkPlan
from grfpp.walks.planning import measured_for, plan_walks
from grfpp.walks.sampling import BATCH_STEPS, Output, walker_of
from grfpp.walks.streams import MASK, NODE_STRIDE, mix64
from grfpp.walks.transition import ProportionalSteps

#: Nodes of the graphs of one task: enough to hide the overhead of Python, few enough for memory.
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

    #: The block-diagonal graph: nodes ``starts[i] … starts[i+1] - 1`` are those of graph ``i``.
    graph: Graph
    #: Index of the first node of each graph, and the number of all nodes.
    starts: IntArray

    @classmethod
    def of(cls, graphs: Any) -> GraphBatch:
        """Join graphs, or anything that `Graph` takes.

        Raises
        ------
        InputError
            When the list is empty, or when a graph cannot be read or is directed; the message has
            its index.
        """
        parts = _read_all(graphs)
        starts = np.cumsum([0, *(part.n_nodes for part in parts)])
        n_entries = np.cumsum([0, *(len(part.indices) for part in parts)])
        n = int(starts[-1])
        if n > np.iinfo(np.int32).max:
            raise InputError(f"{n} nodes are too many for one batch", advice="use fewer graphs")
        indices = np.concatenate([part.indices for part in parts])
        indices += np.repeat(starts[:-1].astype(np.int32), np.diff(n_entries))
        ends = [part.indptr[1:] + n_entries[i] for i, part in enumerate(parts)]
        weights = np.concatenate([part.weights for part in parts])
        matrix = csr(weights, indices, np.concatenate([[0], *ends]), n)
        batch = cls(Graph(matrix), starts.astype(np.int64))
        if batch.graph.is_directed:
            difference = (batch.graph.adjacency - batch.graph.adjacency.T).tocsr()
            number = batch.graph_of[np.flatnonzero(np.diff(difference.indptr))[0]]
            problem = f"graph {number} is directed, and its kernels may have complex eigenvalues"
            raise InputError(problem, advice="pass A + A.T")
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
        within = groups[rows] == groups[graph.indices]
        indptr = np.concatenate([[0], np.cumsum(within)])[graph.indptr]
        matrix = csr(graph.weights[within], graph.indices[within], indptr, graph.n_nodes)
        return GraphBatch(Graph(matrix), self.starts)

    def tasks(self, max_nodes: int = TASK_NODES) -> list[range]:
        """Split the graphs into ranges of up to `max_nodes` nodes, or of one larger graph."""
        tasks: list[range] = []
        first = 0
        while first < len(self):
            limit = self.starts[first] + max_nodes
            last = int(np.searchsorted(self.starts, limit, side="right")) - 1
            tasks.append(range(first, max(last, first + 1)))
            first = tasks[-1].stop
        return tasks

    @property
    def has_equal_weights(self) -> npt.NDArray[np.bool_]:
        """Whether all weights are equal, for every graph."""
        edge_graph = np.repeat(self.graph_of, self.graph.out_degree)
        largest, smallest = np.zeros(len(self)), np.full(len(self), np.inf)
        np.maximum.at(largest, edge_graph, self.graph.weights)
        np.minimum.at(smallest, edge_graph, self.graph.weights)
        return smallest >= largest


class BatchPlans(NamedTuple):
    """The plans of the graphs of a batch: one for equal weights, one for all others.

    Loads telescope on graphs whose weights are equal before a normalisation, and are multiplied
    step by step on all others. Both forms draw different edges and round differently, so the choice
    is made for every graph by itself.
    """

    equal: WalkPlan
    unequal: WalkPlan
    #: Whether loads telescope, for every graph.
    telescopes: npt.NDArray[np.bool_]

    @classmethod
    def of(
        cls, batch: GraphBatch, plan: WalkPlan, normalization: Normalization, scale: float
    ) -> BatchPlans:
        """Derive both plans from a plan on the batch's graph with normalised weights."""
        W, steps = plan.graph, type(plan.steps)
        telescopes = batch.has_equal_weights & (normalization is not None)
        equal = unequal = plan
        if telescopes.any():
            by_degree = normalization == "sym"
            equal = plan.with_steps(steps.on_equal_weights(W, scale, by_degree=by_degree))
        if not telescopes.all() and plan.steps.telescopes:
            unequal = plan.with_steps(steps.carrying(W))
        return cls(equal, unequal, telescopes)

    def of_graph(self, graph: int) -> WalkPlan:
        """The plan of one graph."""
        return self.equal if self.telescopes[graph] else self.unequal

    def with_factor(self, factor: int) -> BatchPlans:
        """The same plans with the random streams of another factor."""
        equal, unequal = (plan.with_factor(factor) for plan in self[:2])
        return self._replace(equal=equal, unequal=unequal)


@dataclass(frozen=True, eq=False)
class BatchWalks:
    """Checked plans of the walks on all graphs of a batch.

    The factors of a graph are a function of the seed and the graph, to the last bit for normalised
    weights. (Pools split their budget by the largest spectral radius of the batch, which is the
    scale of normalised weights.)
    """

    #: The graphs, with their original weights.
    batch: GraphBatch
    #: Walks on the batch's graph with its final weights.
    plans: BatchPlans
    options: WalkOptions

    def __post_init__(self) -> None:
        self.batch.words  # noqa: B018 - computed here once, not by several threads

    @classmethod
    def of(
        cls,
        batch: GraphBatch,
        kernel: Kernel,
        options: WalkOptions,
        normalization: Normalization = "sym",
        scale: float = 1.0,
    ) -> BatchWalks:
        """Check a request (see `grfpp.sample`) and plan its walks on normalised weights."""
        plan = plan_walks(batch.graph.normalized(normalization, scale), kernel, options).forward
        plans = BatchPlans.of(batch, plan, normalization, scale)
        steps, degree = plans.unequal.steps, options.stitching_degree
        has_radius = np.isfinite(kernel.modulation_radius(degree))
        if isinstance(steps, ProportionalSteps) and not steps.telescopes and has_radius:
            steps = measured_for(kernel, degree, steps)
            plans = plans._replace(unequal=plans.unequal.with_steps(steps))
        return cls(batch, plans, options)

    def factors(self, graphs: range) -> list[sp.csr_array]:
        """The ``2 · degree`` factors of some consecutive graphs, each block-diagonal and square."""
        return [self.factor(graphs, number) for number in range(2 * self.options.stitching_degree)]

    def factor(self, graphs: range, number: int) -> sp.csr_array:
        """One factor of some consecutive graphs."""
        starts = self.batch.starts[graphs.start : graphs.stop + 1]
        n_rows = int(starts[-1] - starts[0])
        plans = self.plans.with_factor(number)
        sizes, steps = np.diff(starts), plans.equal.expected_steps
        entries = sizes * np.minimum(sizes, steps + 1)
        require_bytes(int(12 * entries.sum()), f"a factor of {n_rows} nodes")
        matrix = GrowingMatrix(n_rows, n_rows, int(entries.sum()) + 64, np.dtype(np.float64))
        output = Output(int(entries.max()) + 64, np.dtype(np.float64))
        largest = int(sizes.max() * (steps + 8)) + 64
        walkers = [walker_of(plan, min(BATCH_STEPS, largest)) for plan in plans[:2]]
        for graph, (start, stop) in zip(graphs, pairwise(starts.tolist()), strict=True):
            key = stream_key(plans.equal.key, self.batch.words[graph], start)
            walker = walkers[0 if plans.telescopes[graph] else 1]
            matrix.append(walker.walk(np.arange(start, stop, dtype=np.int64), output, key))
        factor = matrix.finish()
        factor.indices -= np.int32(starts[0])
        return factor


def stream_key(key: int, word: int, start: int) -> int:
    """The key that gives nodes ``start, start + 1, …`` the streams of nodes ``0, 1, …``.

    The stream of a node adds a multiple of its index to the key; the multiple of `start` is
    subtracted here. The key of the seed and the factor is first mixed with the graph's word.
    """
    return (mix64(key ^ word) - start * NODE_STRIDE) & MASK


def _read_all(graphs: Any) -> list[Graph]:
    is_list = isinstance(graphs, Sequence) or (isinstance(graphs, np.ndarray) and graphs.ndim > 0)
    if not is_list or isinstance(graphs, Graph | str | bytes):
        raise InputError(
            f"a list of graphs is needed, found {type(graphs).__name__}",
            advice="put a single graph into a list",
        )
    if len(graphs) == 0:
        raise InputError("the list of graphs is empty", advice="pass at least one graph")
    parts = []
    for number, graph in enumerate(graphs):
        try:
            parts.append(as_graph(graph))
        except InputError as error:
            raise InputError(f"graph {number}: {error}") from None
    return parts
