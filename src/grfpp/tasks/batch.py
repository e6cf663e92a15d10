"""Many graphs as one: a block-diagonal graph that the engine lays out once and walks in one go.

Each graph has random streams of its own, made from the seed and from what the graph is. So its
estimate does not depend on the other graphs of the batch, on its place among them, or on how the
batch is cut into tasks; different graphs have independent noise.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp.errors import InputError
from grfpp.graph import Graph, as_graph
from grfpp.kernels import Kernel
from grfpp.memory import require_bytes
from grfpp.planning import plan_walks
from grfpp.sparse import csr
from grfpp.termination import Termination
from grfpp.walks import WalkPlan
from grfpp.walks.growing import GrowingMatrix
from grfpp.walks.streams import MASK, NODE_STRIDE, factor_key, mix64
from grfpp.walks.walker import Output, Walker

IntArray = npt.NDArray[np.int64]

#: Nodes of the graphs that one task takes: enough to hide Python, few enough to keep in memory.
TASK_NODES = 20_000
#: Steps that the walkers of one graph advance in lock-step, at most.
_BATCH_STEPS = 16_000


@dataclass(frozen=True, eq=False)
class GraphBatch:
    """Undirected graphs side by side in one block-diagonal graph.

    Attributes
    ----------
    graph
        All of them: nodes ``starts[i] … starts[i+1] - 1`` are those of graph ``i``.
    starts
        Number of the first node of each graph, and the number of all nodes.

    Examples
    --------
    >>> batch = GraphBatch.of([[[0, 1], [1, 0]], [[0]], [[0, 1, 1], [1, 0, 1], [1, 1, 0]]])
    >>> batch.graph
    Graph(n_nodes=6, n_edges=4, undirected)
    >>> batch.starts
    array([0, 2, 3, 6])
    """

    graph: Graph
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
        """The same nodes without the edges between nodes of different groups.

        Parameters
        ----------
        groups
            A number for every node of the batch.
        """
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

    Attributes
    ----------
    batch
        The graphs, with the weights that they came with.
    plan
        Walks on the batch's graph with its final weights.
    degree
        The stitching degree.
    """

    batch: GraphBatch
    plan: WalkPlan
    degree: int

    @classmethod
    def of(
        cls,
        batch: GraphBatch,
        W: Graph,
        kernel: Kernel,
        degree: int,
        n_walks: int,
        termination: Termination,
        seed: int | None,
    ) -> BatchWalks:
        """Check a request (see `grfpp.sample`) and plan its walks; `W` is the batch's graph."""
        plans = plan_walks(W, kernel, degree, n_walks, termination, seed)
        batch.words  # noqa: B018 - made here once, not by several threads
        return cls(batch, plans.forward, plans.degree)

    def factors(self, graphs: range) -> list[sp.csr_array]:
        """The ``2 · degree`` factors of some consecutive graphs, each block-diagonal and square."""
        return [self._factor(graphs, number) for number in range(2 * self.degree)]

    def _factor(self, graphs: range, number: int) -> sp.csr_array:
        starts = self.batch.starts[graphs.start : graphs.stop + 1]
        first, n_rows = int(starts[0]), int(starts[-1] - starts[0])
        plan = _StreamPlan.on(self.plan, number)
        key = factor_key(plan.seed, number)
        sizes = np.diff(starts)
        entries = sizes * np.minimum(sizes, plan.expected_steps + 1)
        require_bytes(int(12 * entries.sum()), f"a factor of {n_rows} nodes")
        matrix = GrowingMatrix(n_rows, n_rows, int(entries.sum()) + 64, np.dtype(np.float64))
        output = Output(int(entries.max()) + 64, np.dtype(np.float64))
        for graph, (start, stop) in zip(graphs, pairwise(starts.tolist()), strict=True):
            own = plan.with_key(stream_key(key, self.batch.words[graph], start))
            steps = min(_BATCH_STEPS, int((stop - start) * (plan.expected_steps + 8)) + 64)
            matrix.append(Walker(own, steps).walk(np.arange(start, stop, dtype=np.int64), output))
        found = matrix.finish()
        found.indices -= np.int32(first)
        return found


def stream_key(key: int, word: int, start: int) -> int:
    """What makes the streams of nodes ``start, start + 1, …`` those of nodes ``0, 1, …``.

    The engine adds a multiple of the node's number to the key; this takes `start` of it away. The
    key of the seed and the factor is mixed with the graph's own word first.
    """
    return (mix64(key ^ word) - start * NODE_STRIDE) & MASK


@dataclass(frozen=True, eq=False)
class _StreamPlan(WalkPlan):
    """A plan whose streams start from a given key."""

    stream: int = 0

    @classmethod
    def on(cls, plan: WalkPlan, factor: int) -> _StreamPlan:
        values = {field.name: getattr(plan, field.name) for field in fields(WalkPlan)}
        return cls(**{**values, "factor": factor})

    @property
    def key(self) -> int:
        return self.stream

    def with_key(self, key: int) -> _StreamPlan:
        return _StreamPlan(
            *(self.graph, self.modulation, self.lengths, self.n_walks),
            *(self.seed, self.factor, self.layout, key),
        )


def _read_all(graphs: Any) -> list[Graph]:
    if isinstance(graphs, Graph | str | bytes) or not isinstance(graphs, Sequence | np.ndarray):
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
