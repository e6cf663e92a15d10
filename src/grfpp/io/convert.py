"""Edge lists of any size -> graphs in folders, through bounded memory."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from grfpp._memory import available_bytes
from grfpp.io.folder.writer import FolderWriter, finish_graph, folder_writer
from grfpp.io.table_options import ListFile, ListRequest
from grfpp.io.table_sql import Database, Nodes, merge_edges, number_nodes
from grfpp.io.tables import open_list
from grfpp.normalization import common_weight

#: Called with the name of a step, the finished amount and the total (0 and 0 if unknown).
Progress = Callable[[str, int, int], None]

#: Smallest default of DuckDB's memory, in bytes.
_MIN_MEMORY = 64 * 10**6
#: Largest default of DuckDB's memory, in bytes, which leaves room for other programs.
_MAX_MEMORY = 1500 * 10**6
#: Nodes whose row pointers are computed at a time, 32 MB.
_NODES_PER_BATCH = 1 << 22


def convert_edges(
    file: ListFile, request: ListRequest, target: str | Path, memory: int | None, progress: Progress
) -> None:
    """Write the graph of an edge list to a folder.

    DuckDB uses at most `memory`, by default 1.5 GB or a third of the free memory if that is less,
    and stores the rest in temporary files in the target's folder.
    """
    memory = memory or max(_MIN_MEMORY, min(_MAX_MEMORY, available_bytes() // 3))
    purpose = f"cannot write {file.name} to {target}"
    with (
        folder_writer(target) as writer,
        # Within the target: the next conversion removes the files of a killed one.
        tempfile.TemporaryDirectory(dir=writer.folder, ignore_cleanup_errors=True) as folder,
        Database(Path(folder), memory=memory, purpose=purpose) as database,
    ):
        report = partial(progress, "reading")
        origin, load = open_list(file, request.options, Path(folder), report=report)
        is_whole = load(database)
        progress("naming", 0, 0)
        nodes = number_nodes(database, origin, request, is_whole=is_whole)
        progress("sorting", 0, 0)
        merge_edges(database, origin, request, nodes)
        _write_graph(writer, nodes, request.directed, progress)


def _write_graph(writer: FolderWriter, nodes: Nodes, directed: bool, progress: Progress) -> None:
    _write_names(writer, nodes)
    extremes = nodes.database.first("SELECT min(w), max(w) FROM merged")
    equal = common_weight(np.array([weight for weight in extremes if weight is not None]))
    out, into = "SELECT a, b, w FROM merged", "SELECT b AS a, a AS b, w FROM merged"
    query = out if directed else f"{out} UNION ALL {into} WHERE a <> b"
    _write_rows(writer, nodes, query, "", equal is None, progress)
    if directed:
        _write_rows(writer, nodes, into, "in_", equal is None, progress)
    finish_graph(writer, value=1.0 if equal is None else equal, names=nodes.kind)


def _write_names(writer: FolderWriter, nodes: Nodes) -> None:
    database = nodes.database
    if nodes.kind == "whole":
        for (numbers,) in database.batches("names", "name"):
            writer.append("name_numbers", numbers)
    elif nodes.kind == "text":
        for name in ("name_text", "name_ends"):
            writer.append(name, [])
        for text, ends in nodes.text():
            writer.append("name_text", text)
            writer.append("name_ends", ends)
        database.run("CREATE TABLE ordered AS SELECT rowid AS node FROM names ORDER BY name")
        for (order,) in database.batches("ordered", "node"):
            writer.append("name_order", order)
    database.run("DROP TABLE IF EXISTS names")


def _write_rows(
    writer: FolderWriter, nodes: Nodes, query: str, prefix: str, weighted: bool, report: Progress
) -> None:
    """Write the rows of the matrix with the entries ``a, b, w`` of a query."""
    database = nodes.database
    parts = {"indices": "b", "weights": "w"} if weighted else {"indices": "b"}
    report("sorting", 0, 0)
    database.run(f"CREATE TABLE entries AS SELECT * FROM ({query}) ORDER BY a, b")
    n_entries, n_written = database.one("SELECT count(*) FROM entries"), 0
    for part in parts:
        writer.append(prefix + part, [])
    for arrays in database.batches("entries", ", ".join(parts.values())):
        for part, values in zip(parts, arrays, strict=True):
            writer.append(prefix + part, values)
        n_written += len(arrays[0])
        report("writing", n_written, n_entries)
    writer.append(f"{prefix}indptr", [0])
    n_before = 0
    for first in range(0, nodes.n_nodes, _NODES_PER_BATCH):
        last = min(nodes.n_nodes, first + _NODES_PER_BATCH)
        batch = f"a >= {first} AND a < {last}"
        rows, sizes = database.arrays(f"SELECT a, count(*) FROM entries WHERE {batch} GROUP BY a")
        ends = np.zeros(last - first, np.int64)
        ends[rows - first] = sizes
        np.cumsum(ends, out=ends)
        writer.append(f"{prefix}indptr", n_before + ends)
        n_before += int(ends[-1])
    database.run("DROP TABLE entries")
