"""Nearest neighbours of all nodes under a kernel: in memory, or straight into a folder."""

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
from grfpp.normalization import Rows
from grfpp.typing import FloatArray, IntArray
from grfpp.walks.sampling import Progress

#: Entries that are turned round at a time.
_TURNED = 1 << 24
#: Bytes of an entry on the way: place, row, value, and the order.
_ENTRY_BYTES = 4 + 8 + 8 + 8 + 8

#: Rows of the graph: how many entries each has, their columns in order, values.
Part = tuple[IntArray, npt.NDArray[np.int32], FloatArray]


def neighbour_parts(
    plan: LocalPlan, k: int, include_self: bool, n_threads: int, progress: bool | Progress
) -> Iterator[Part]:
    """The `k` nearest of all nodes, the rows in their order."""
    n = plan.graph.n_nodes
    nodes = np.arange(n)
    done = 0
    with reporting(progress, 1) as report:
        tell = report(0)
        for found, values in in_parts(
            lambda part: local_top_k(plan, part, k, include_self), plan, nodes, n_threads
        ):
            done += len(found)
            yield _by_column(found, values)
            if tell is not None:
                tell(done, n)


def _by_column(found: IntArray, values: FloatArray) -> Part:
    order = np.argsort(found, axis=1)
    columns = np.take_along_axis(found, order, axis=1)
    kept = columns >= 0
    ordered = np.take_along_axis(values, order, axis=1)
    return kept.sum(axis=1), columns[kept].astype(np.int32), ordered[kept]


def neighbour_matrix(
    plan: LocalPlan, k: int, include_self: bool, n_threads: int, progress: bool | Progress
) -> sp.csr_array:
    """All of it in memory."""
    n = plan.graph.n_nodes
    require_bytes(
        (12 * k + 8) * n * 2, f"{k} neighbours of {n} nodes", advice="give output='….grf'"
    )
    parts = list(neighbour_parts(plan, k, include_self, n_threads, progress))
    counts, columns, values = (np.concatenate(each) for each in zip(*parts, strict=True))
    matrix = csr(values, columns, np.concatenate([[0], np.cumsum(counts)]), n)
    matrix.has_canonical_format = True
    return matrix


def padded_rows(matrix: sp.csr_array, k: int) -> tuple[IntArray, FloatArray]:
    """Columns and values of rows with up to `k` entries as arrays, with -1 and 0 beyond these.

    Examples
    --------
    >>> columns, values = padded_rows(sp.csr_array([[0.0, 2.0], [3.0, 4.0]]), 2)
    >>> columns.tolist(), values.tolist()
    ([[1, -1], [0, 1]], [[2.0, 0.0], [3.0, 4.0]])
    """
    kept = np.arange(k) < np.diff(matrix.indptr)[:, np.newaxis]
    columns, values = np.full(kept.shape, -1), np.zeros(kept.shape)
    columns[kept], values[kept] = matrix.indices, matrix.data
    return columns, values


def neighbour_folder(
    path: str | Path,
    plan: LocalPlan,
    k: int,
    include_self: bool,
    n_threads: int,
    progress: bool | Progress,
) -> Graph:
    """The same as a graph on disk, written row by row; entries that are not positive are left out.

    Little is held in memory beside one number a node. The folder appears when all is done.
    """
    n = plan.graph.n_nodes
    require_bytes(8 * 8 * n, f"sizes of the rows of {n} nodes")
    with folder_writer(path) as writer:
        ends = [np.zeros(1, np.int64)]
        for counts, columns, values in neighbour_parts(plan, k, include_self, n_threads, progress):
            positive = values > 0
            rows = np.repeat(np.arange(len(counts)), counts)[positive]
            writer.append("indices", columns[positive])
            writer.append("weights", values[positive])
            kept = np.bincount(rows, minlength=len(counts))
            ends.append(ends[-1][-1] + np.cumsum(kept))
        writer.append("indptr", np.concatenate(ends))
        _finish(writer, plan.graph)
    return Graph.open(path)


def _finish(writer: FolderWriter, graph: Graph) -> None:
    """Write what a directed graph has beside its rows."""
    _write_columns(writer, writer.mapped_rows())
    labels = graph.names.to_array()
    finish_graph(writer, names=None if labels is None else write_names(writer, labels))


def _write_columns(writer: FolderWriter, rows: Rows) -> None:
    """Turn the arcs round, some columns at a time."""
    n = len(rows.indptr) - 1
    counts = np.zeros(n, np.int64)
    for first in range(0, len(rows.indices), _TURNED):
        counts += np.bincount(rows.indices[first : first + _TURNED], minlength=n)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    require_bytes(_ENTRY_BYTES * min(_TURNED, len(rows.indices)) * 2, "turning arcs round")
    writer.append("in_indptr", indptr)
    begin = 0
    while begin < n:
        stop = int(np.searchsorted(indptr, indptr[begin] + _TURNED, side="right")) - 1
        stop = min(max(stop, begin + 1), n)
        _write_some_columns(writer, rows, begin, stop)
        begin = stop


def _write_some_columns(writer: FolderWriter, rows: Rows, begin: int, stop: int) -> None:
    """Columns `begin` to ``stop - 1`` of the rows, as rows."""
    assert rows.weights is not None
    found: list[tuple[npt.NDArray[np.int32], IntArray, FloatArray]] = []
    for first in range(0, len(rows.indices), _TURNED):
        columns = rows.indices[first : first + _TURNED]
        at = np.flatnonzero((columns >= begin) & (columns < stop))
        sources = np.searchsorted(rows.indptr, at + first, side="right") - 1
        found.append((columns[at], sources, rows.weights[first : first + _TURNED][at]))
    columns, sources, weights = (
        (np.concatenate(each) for each in zip(*found, strict=True))
        if found
        else (np.empty(0, np.int32), np.empty(0, np.int64), np.empty(0))
    )
    order = np.argsort(columns, kind="stable")  # sources are in their order
    writer.append("in_indices", sources[order])
    writer.append("in_weights", weights[order])
