"""Nearest neighbours of all nodes under a kernel: in memory, or written to a folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp._memory import require_bytes
from grfpp.estimate.batches import reporting
from grfpp.graph import Graph
from grfpp.io.folder.writer import FolderWriter, finish_graph, folder_writer, write_names
from grfpp.linalg.csr import csr
from grfpp.local.plan import LocalPlan
from grfpp.local.queries import in_parts, local_top_k
from grfpp.normalization import Rows, row_blocks
from grfpp.typing import FloatArray, IntArray
from grfpp.walks.sampling import Progress

#: Entries that are transposed at a time: 600 MB.
_BLOCK_ENTRIES = 1 << 24
#: Bytes of an entry while it is transposed: column, index, row, value and order.
_ENTRY_BYTES = 4 + 8 + 8 + 8 + 8

#: Consecutive rows of the graph: number of entries of each, sorted columns, values.
Part = tuple[IntArray, npt.NDArray[np.int32], FloatArray]


def neighbour_parts(
    plan: LocalPlan, k: int, include_self: bool, n_threads: int, progress: bool | Progress
) -> Iterator[Part]:
    """The `k` nearest nodes of every node, in consecutive parts."""
    n = plan.graph.n_nodes
    nodes = np.arange(n)
    done = 0
    with reporting(progress, 1) as report:
        progress_of_rows = report(0)
        for columns, values in in_parts(
            lambda part: local_top_k(plan, part, k, include_self), plan, nodes, n_threads
        ):
            done += len(columns)
            yield _by_column(columns, values)
            if progress_of_rows is not None:
                progress_of_rows(done, n)


def _by_column(nodes: IntArray, values: FloatArray) -> Part:
    order = np.argsort(nodes, axis=1)
    columns = np.take_along_axis(nodes, order, axis=1)
    is_entry = columns >= 0
    ordered = np.take_along_axis(values, order, axis=1)
    return is_entry.sum(axis=1), columns[is_entry].astype(np.int32), ordered[is_entry]


def neighbour_matrix(
    plan: LocalPlan, k: int, include_self: bool, n_threads: int, progress: bool | Progress
) -> sp.csr_array:
    """The graph of the `k` nearest nodes of every node, in memory."""
    n = plan.graph.n_nodes
    require_bytes((12 * k + 8) * n * 2, f"{k} neighbours of {n} nodes", advice="use output='….grf'")
    parts = list(neighbour_parts(plan, k, include_self, n_threads, progress))
    counts, columns, values = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    matrix = csr(values, columns, np.concatenate([[0], np.cumsum(counts)]), n)
    matrix.has_canonical_format = True
    return matrix


def padded_rows(matrix: sp.csr_array, k: int) -> tuple[IntArray, FloatArray]:
    """Columns and values of rows with up to `k` entries as arrays, padded with -1 and 0.

    Examples
    --------
    >>> columns, values = padded_rows(sp.csr_array([[0.0, 2.0], [3.0, 4.0]]), 2)
    >>> columns.tolist(), values.tolist()
    ([[1, -1], [0, 1]], [[2.0, 0.0], [3.0, 4.0]])
    """
    is_entry = np.arange(k) < np.diff(matrix.indptr)[:, np.newaxis]
    columns, values = np.full(is_entry.shape, -1), np.zeros(is_entry.shape)
    columns[is_entry], values[is_entry] = matrix.indices, matrix.data
    return columns, values


def neighbour_folder(
    path: str | Path,
    plan: LocalPlan,
    k: int,
    include_self: bool,
    n_threads: int,
    progress: bool | Progress,
) -> Graph:
    """The same as a graph on disk, written in blocks of rows.

    Memory holds one number for every node and one block of rows. The folder appears when complete.
    """
    n = plan.graph.n_nodes
    require_bytes(8 * 8 * n, f"sizes of the rows of {n} nodes")
    with folder_writer(path) as writer:
        ends = [np.zeros(1, np.int64)]
        for counts, columns, values in neighbour_parts(plan, k, include_self, n_threads, progress):
            writer.append("indices", columns)
            writer.append("weights", values)
            ends.append(ends[-1][-1] + np.cumsum(counts))
        writer.append("indptr", np.concatenate(ends))
        _write_columns(writer, writer.mapped_rows())
        names = plan.graph.names.to_array()
        finish_graph(writer, names=None if names is None else write_names(writer, names))
    return Graph.open(path)


def _write_columns(writer: FolderWriter, rows: Rows) -> None:
    """Write the transpose of the rows, a block of columns at a time."""
    assert rows.weights is not None
    n, n_entries = len(rows.indptr) - 1, len(rows.indices)
    starts = range(0, max(n_entries, 1), _BLOCK_ENTRIES)
    counts = np.zeros(n, np.int64)
    for start in starts:
        counts += np.bincount(rows.indices[start : start + _BLOCK_ENTRIES], minlength=n)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    require_bytes(_ENTRY_BYTES * min(_BLOCK_ENTRIES, n_entries) * 2, "transposing the graph")
    writer.append("in_indptr", indptr)
    for begin, stop in row_blocks(indptr, _BLOCK_ENTRIES):
        parts = []
        for start in starts:
            columns = rows.indices[start : start + _BLOCK_ENTRIES]
            at = np.flatnonzero((columns >= begin) & (columns < stop))
            sources = np.searchsorted(rows.indptr, at + start, side="right") - 1
            parts.append((columns[at], sources, rows.weights[at + start]))
        columns, sources, weights = (np.concatenate(part) for part in zip(*parts, strict=True))
        order = np.argsort(columns, kind="stable")  # keeps the order of the sources
        writer.append("in_indices", sources[order])
        writer.append("in_weights", weights[order])
