"""Factors of many small graphs: one walker for all, that changes its random streams on the way."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp.graph import Graph
from grfpp.kernels import Kernel
from grfpp.planning import plan_walks
from grfpp.sparse import csr
from grfpp.tasks.batch import GraphBatch, stream_key
from grfpp.termination import Termination
from grfpp.walks import WalkPlan
from grfpp.walks.layout import WalkLayout
from grfpp.walks.rule import LoadRule
from grfpp.walks.walker import Output, Walker

#: Steps that walkers advance in lock-step, at most: as in the engine.
_BATCH_STEPS = 16_000


@dataclass(frozen=True, eq=False)
class EncodingWalks:
    """The walks of the graphs of a batch that are alike in having weights or not.

    What is walked from a graph is a function of the seed and the graph, to the last bit: it does
    not depend on the other graphs.
    """

    batch: GraphBatch
    plan: WalkPlan

    @classmethod
    def of(
        cls,
        batch: GraphBatch,
        kernel: Kernel,
        degree: int,
        n_walks: int,
        termination: Termination,
        scale: float,
        seed: int,
    ) -> EncodingWalks:
        """Check a request (see `grfpp.sample`) and plan its walks."""
        W = batch.graph.normalized("sym", scale)
        plan = plan_walks(W, kernel, degree, n_walks, termination, seed).forward
        rule = _rule(W, bool(is_plain(batch).all()), scale)
        batch.words  # noqa: B018 - made here once, not by several threads
        return cls(batch, replace(plan, layout=WalkLayout.of(W, rule)))

    def factor(self, graphs: range, number: int) -> sp.csr_array:
        """One factor of some consecutive graphs, block-diagonal and square."""
        batch, plan = self.batch, self.plan.with_factor(number)
        starts = batch.starts[graphs.start : graphs.stop + 1]
        first, n_rows = int(starts[0]), int(starts[-1] - starts[0])
        most = int(np.diff(starts).max() * (plan.expected_steps + 8)) + 64
        walker = _KeyedWalker(plan, min(_BATCH_STEPS, most))
        output = Output(most, np.dtype(np.float64))
        key = plan.key
        ends, columns, values, n_entries = [np.zeros(1, np.int64)], [], [], 0
        for graph, (start, stop) in zip(graphs, pairwise(starts.tolist()), strict=True):
            walker.take_streams(stream_key(key, batch.words[graph], start))
            block = walker.walk(np.arange(start, stop, dtype=np.int64), output)
            ends.append(block.end + n_entries)
            columns.append(block.columns - np.int32(first))
            values.append(block.values.copy())
            n_entries += len(block.values)
        return csr(np.concatenate(values), np.concatenate(columns), np.concatenate(ends), n_rows)


class _KeyedWalker(Walker):
    """A walker that can be used for several graphs, each with streams of its own."""

    def take_streams(self, key: int) -> None:
        *others, _, n_walks = self._plan_arrays
        self._plan_arrays = (*others, np.uint64(key), n_walks)  # type: ignore[assignment]  # as long as before


def is_plain(batch: GraphBatch) -> npt.NDArray[np.bool_]:
    """For every graph whether all of its weights are one."""
    graph = batch.graph
    plain = np.ones(len(batch), dtype=bool)
    odd = graph.weights != 1.0
    if odd.any():
        plain[np.repeat(batch.graph_of, graph.out_degree)[odd]] = False
    return plain


def alike(batch: GraphBatch) -> list[tuple[Any, GraphBatch]]:
    """Graphs without weights and graphs with weights apart, each with where its nodes stand.

    Loads grow by a rule that is found for a whole batch, and different rules round differently.
    """
    plain = is_plain(batch)
    if plain.all() or not plain.any():
        return [(slice(None), batch)]
    found = []
    for chosen in (plain, ~plain):
        nodes = np.flatnonzero(chosen[batch.graph_of])
        starts = np.concatenate([[0], np.cumsum(batch.sizes[chosen])])
        matrix = batch.graph.adjacency[nodes][:, nodes]
        found.append((nodes, GraphBatch(Graph(matrix), starts)))
    return found


def _rule(W: Graph, plain: bool, scale: float) -> LoadRule:
    """How loads grow, by a rule that rounds alike in every batch."""
    degree = W.out_degree.astype(np.float64)
    nothing = np.empty(0)
    if plain:
        # W[i, j] · degree(i) is exactly this for D^-1/2 A D^-1/2 without weights.
        return LoadRule(scale, np.where(degree > 0, np.sqrt(degree), 1.0), nothing)
    return LoadRule(1.0, nothing, W.weights * np.repeat(degree, W.out_degree))
