"""Powers of the weights of many graphs, walked for: one matrix a length, block-diagonal.

One side is enough: ``W^k`` is linear in the walks, so the matrices are unbiased without stitching.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.memory import require_bytes
from grfpp.options import WalkOptions
from grfpp.typing import FloatArray, IntArray
from grfpp.walks.batch import GraphBatch, measured_by_graph, stream_key
from grfpp.walks.by_length.deposits import length_walker
from grfpp.walks.by_length.planning import plan_by_length
from grfpp.walks.plan import WalkPlan
from grfpp.walks.transition import ProportionalSteps

#: Bytes of a deposit in the parts and in the matrices.
_DEPOSIT_BYTES = 48


@dataclass(frozen=True, eq=False)
class BatchLengths:
    """Walks of all graphs of a batch whose lengths are kept apart, to be walked part by part.

    What is walked from a graph is a function of the seed and the graph, but for rounding, as in
    `grfpp.walks.batch.BatchWalks`.

    Examples
    --------
    >>> batch = GraphBatch.of([[[0, 1], [1, 0]], [[0, 1, 1], [1, 0, 1], [1, 1, 0]]])
    >>> W = batch.graph.normalized("sym")
    >>> walks = BatchLengths.of(batch, W, 2, WalkOptions(seed=0))
    >>> [power.toarray().tolist() for power in walks.powers(range(1))]
    [[[0.0, 1.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]]
    """

    batch: GraphBatch
    plan: WalkPlan

    @classmethod
    def of(cls, batch: GraphBatch, W: Graph, n_lengths: int, options: WalkOptions) -> BatchLengths:
        """Plan walks of up to `n_lengths` steps; `W` is the batch's graph with its final weights.

        Raises
        ------
        InputError
            When the law of the lengths does not reach so far.
        """
        plan = plan_by_length(W, n_lengths + 1, options)
        reached = plan.lengths.max_length
        if reached < n_lengths:
            raise InputError(
                f"walks of the law {options.termination} have at most {reached} steps, but "
                f"n_lengths is {n_lengths}; use longer walks or n_lengths={reached}"
            )
        if isinstance(plan.steps, ProportionalSteps) and not plan.steps.telescopes:
            plan = plan.with_steps(measured_by_graph(batch, plan.steps))
        batch.words  # noqa: B018 - made here once, not by several threads
        return cls(batch, plan)

    def powers(self, graphs: range) -> list[sp.csr_array]:
        """Estimates of ``W^1 … W^n_lengths`` of some consecutive graphs, block-diagonal."""
        starts = self.batch.starts[graphs.start : graphs.stop + 1]
        first, n_rows = int(starts[0]), int(starts[-1] - starts[0])
        each = n_rows * (1 + int(self.plan.expected_steps))
        require_bytes(_DEPOSIT_BYTES * each, f"walks by length of {n_rows} nodes")
        walker = length_walker(self.plan)
        parts = []
        for graph, (start, stop) in zip(graphs, pairwise(starts.tolist()), strict=True):
            key = stream_key(self.plan.key, self.batch.words[graph], start)
            found = walker.walk(range(start, stop), key)
            per_entry = np.diff(found.entry_end, prepend=0)
            rows = np.repeat(np.arange(start, stop), np.diff(found.row_end, prepend=0))
            parts.append(
                (
                    np.repeat(rows, per_entry),
                    np.repeat(found.columns, per_entry),
                    found.lengths,
                    found.amounts,
                )
            )
        rows, columns, lengths, amounts = (
            np.concatenate(each) for each in zip(*parts, strict=True)
        )
        return [
            _matrix(rows[own] - first, columns[own] - first, amounts[own], n_rows)
            for own in (lengths == k for k in range(1, self.plan.lengths.max_length + 1))
        ]


def _matrix(rows: IntArray, columns: IntArray, values: FloatArray, n: int) -> sp.csr_array:
    return sp.csr_array((values, (rows, columns)), shape=(n, n))
