"""Rows and largest entries as pure functions of a plan, wherever they run."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from grfpp.linalg.growing import Block
from grfpp.linalg.sparse import csr
from grfpp.local.plan import LocalPlan
from grfpp.local.walker import walker
from grfpp.typing import FloatArray, IntArray


def local_rows(plan: LocalPlan, nodes: IntArray) -> sp.csr_array:
    """Rows of the kernel, one for each of `nodes`, which are places.

    A row depends on the plan and on its node alone.
    """
    return as_matrix([pool_rows(plan, nodes)], plan.graph.n_nodes)


def pool_rows(plan: LocalPlan, nodes: IntArray) -> Block:
    """The same as a block of arrays, columns in the order in which they were reached."""
    return walker().rows(plan, np.ascontiguousarray(nodes, np.int64))


def local_top_k(
    plan: LocalPlan, nodes: IntArray, k: int, include_self: bool = True
) -> tuple[IntArray, FloatArray]:
    """The `k` largest entries of rows: nodes, and values, of shape ``(len(nodes), k)``.

    Of equal entries the lower node comes first. Where fewer nodes are reached, nodes are -1 and
    values 0.
    """
    return walker().largest(plan, np.ascontiguousarray(nodes, np.int64), k, include_self)


def local_values(plan: LocalPlan, nodes: IntArray, columns: IntArray) -> FloatArray:
    """Entries of each row at columns of its own, found as `local_top_k` finds its values."""
    return walker().values(
        plan, np.ascontiguousarray(nodes, np.int64), np.ascontiguousarray(columns, np.int64)
    )


def as_matrix(blocks: list[Block], n_columns: int) -> sp.csr_array:
    """Blocks of rows, one below the other, with columns in their order."""
    sizes = [len(block.columns) for block in blocks]
    starts = np.cumsum([0, *sizes[:-1]])
    ends = [block.end + start for block, start in zip(blocks, starts, strict=True)]
    matrix = csr(
        np.concatenate([block.values for block in blocks]),
        np.concatenate([block.columns for block in blocks]),
        np.concatenate([np.zeros(1, np.int64), *ends]),
        n_columns,
    )
    matrix.sort_indices()
    return matrix
