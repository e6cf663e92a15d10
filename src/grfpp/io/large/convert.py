"""Edge lists of any size -> graphs in folders."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from grfpp.io.edge_list import SUFFIXES as TEXT
from grfpp.io.folder.header import Header
from grfpp.io.folder.save import Rows, symmetries
from grfpp.io.folder.writer import FolderWriter, folder_writer
from grfpp.io.large.arrow_edges import opened_table
from grfpp.io.large.batches import EdgeSource, Reported
from grfpp.io.large.database import Database, arrays_of, default_threads
from grfpp.io.large.merging import Merged, merge_edges
from grfpp.io.large.numbering import Numbered, number_nodes
from grfpp.io.large.rows import RowWriter
from grfpp.io.large.staging import stage_edges
from grfpp.io.large.text_edges import TextEdges
from grfpp.io.large.text_stream import opened_text
from grfpp.io.tables.frames import SUFFIXES as TABLES
from grfpp.io.tables.options import EdgeListOptions
from grfpp.scaled_weights import LARGEST, LEAST

#: Suffixes of what can be converted so, packed or not.
SUFFIXES = (*TEXT, *TABLES)


def convert_edges(
    file: Path,
    suffix: str,
    name: str,
    target: str | Path,
    *,
    directed: bool,
    n_nodes: int | None,
    options: EdgeListOptions,
    memory: int,
    report: Reported,
) -> None:
    """Write the graph that a list of edges is to a folder.

    The list is read once and put into tables; DuckDB sorts and joins these, beside the target,
    where they do not fit into `memory`. What is held otherwise does not depend on the list.
    """
    with folder_writer(target) as writer:
        # Where a killed conversion leaves it, the next one removes it.
        folder = writer.folder / "unsorted"
        database = Database(folder, str(target), memory, default_threads())
        try:
            with _opened(file, suffix, name, options) as source:
                staged = stage_edges(source, database, report)
                entry = source.entry
            n_listed = staged.count()
            report("naming")
            numbered = number_nodes(database, staged, writer, n_nodes)
            report("sorting", 0, n_listed)
            merged = merge_edges(
                database,
                numbered,
                name,
                entry,
                directed=directed,
                duplicates=options.duplicates,
                report=report,
                n_listed=n_listed,
            )
            database.drop("numbered", "names")
            staged.drop()
            header = _write_rows(database, writer, numbered, merged, directed, report)
        finally:
            database.close()
            shutil.rmtree(folder, ignore_errors=True)
        writer.finish(header)


@contextmanager
def _opened(file: Path, suffix: str, name: str, options: EdgeListOptions) -> Iterator[EdgeSource]:
    if suffix in TABLES:
        with opened_table(file, suffix, name, options) as table:
            yield table
        return
    with opened_text(file, suffix, name) as stream:
        yield TextEdges(stream, suffix, options)


def _write_rows(
    database: Database,
    writer: FolderWriter,
    numbered: Numbered,
    merged: Merged,
    directed: bool,
    report: Reported,
) -> Header:
    weighted, n = merged.equal is None, numbered.n_nodes
    columns = "u, v, w" if weighted else "u, v, 1.0::DOUBLE AS w"
    turned = columns.replace("u, v", "v AS u, u AS v")
    scan = database.scan("merged")

    def write(batches: Any, prefix: str, strengths: str | None, total: int) -> RowWriter:
        rows = RowWriter(writer, n, prefix, weighted=weighted, strengths=strengths)
        done = 0
        report("writing", done, total)
        for batch in batches:
            rows.append(*arrays_of(batch))
            done += batch.num_rows
            report("writing", done, total)
        rows.close()
        return rows

    if directed:
        stored = (each for each in database.read("merged", ["u", "v", "w"]) if each.num_rows)
        rows = write(stored, "", "out_strength", merged.n_edges)
        back = database.batches(f"SELECT {turned} FROM {scan} ORDER BY u, v")
        write(back, "in_", "in_strength", merged.n_edges)
    else:
        n_stored = 2 * merged.n_edges - merged.n_loops
        both = f"SELECT {columns} FROM {scan} UNION ALL SELECT {turned} FROM {scan} WHERE u <> v"
        strengths = "out_strength" if weighted else None
        rows = write(database.batches(f"{both} ORDER BY u, v"), "", strengths, n_stored)
    return _header(writer, numbered, merged, rows.largest, directed)


def _header(
    writer: FolderWriter, numbered: Numbered, merged: Merged, largest: float, directed: bool
) -> Header:
    def side(prefix: str) -> Rows:
        weights = writer.mapped(f"{prefix}weights") if merged.equal is None else None
        return Rows(writer.mapped(f"{prefix}indptr"), writer.mapped(f"{prefix}indices"), weights)

    rows, columns = side(""), side("in_") if directed else None
    if columns is not None and rows.equals(columns):  # each arc has its like
        for name in ("in_indptr", "in_indices", "in_strength"):
            writer.discard(name)
        for name in ("in_weights",) if merged.equal is None else ("out_strength",):
            writer.discard(name)
        columns = None
    strength = writer.mapped("out_strength") if writer.length("out_strength") else None
    into = writer.mapped("in_strength") if columns is not None else None
    return Header(
        n_nodes=numbered.n_nodes,
        n_stored=len(rows.indices),
        n_loops=merged.n_loops,
        directed=columns is not None,
        symmetric=symmetries(rows, columns, strength, into),
        tame=merged.equal is not None or bool(merged.least > LEAST and largest < LARGEST),
        value=1.0 if merged.equal is None else merged.equal,
        names=numbered.names,
    )
