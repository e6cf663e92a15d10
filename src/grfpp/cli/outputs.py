"""What commands say about graphs and files, and the files that they write.

Files are checked before the work begins, and written whole or not at all.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from grfpp.cli.escaping import csv_cell
from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.io.storage.atomic import atomic_write, followed, target_problem
from grfpp.memory import readable_bytes


def graph_fact(path: Path, graph: Graph) -> tuple[str, str]:
    """What graph it was about."""
    kind = "directed" if graph.is_directed else "undirected"
    return "graph", f"{path}: {graph.n_nodes:,} nodes, {graph.n_edges:,} edges, {kind}"


def graph_document(path: Path, graph: Graph) -> dict[str, Any]:
    """The same for programs."""
    return {
        "path": str(path),
        "n_nodes": graph.n_nodes,
        "n_edges": graph.n_edges,
        "directed": graph.is_directed,
    }


def plain(label: Any) -> int | str:
    """A node label that JSON can hold."""
    return label if isinstance(label, int) else str(label)


def check_output(
    path: Path | None,
    *suffixes: str,
    option: str = "--output",
    others: Sequence[str | Path | None] = (),
) -> None:
    """Refuse a file that could not be written, or whose suffix does not say what to write.

    `others` are the files that are read, or written too: it must be none of them, nor a link to
    one.
    """
    if path is None:
        return
    if path.suffix.lower() not in suffixes:
        found = path.suffix or "none"
        raise InputError(
            f"{option} {path}: the suffix must be {' or '.join(suffixes)}, not {found}"
        )
    if problem := target_problem(path):
        raise InputError(f"{option} {path}: {problem}")
    folder = followed(path).parent
    if not os.access(folder, os.W_OK):
        raise InputError(f"{option} {path}: the folder {folder} cannot be written to")
    require_other(option, path, others)


def require_other(option: str, path: Path, others: Sequence[str | Path | None]) -> None:
    """Refuse to write to what is read, or written too."""
    for other in others:
        if other is not None and _same_file(path, Path(other)):
            raise InputError(
                f"{option} {path} is the same file as {other}, which would be lost; name another"
            )


def _same_file(path: Path, other: Path) -> bool:
    """Whether two names are of one file, also where it does not exist yet."""
    with suppress(OSError, RuntimeError):
        other = other.expanduser()
        return path.resolve() == other.resolve() or path.samefile(other)
    return False


def wrote(*paths: Path | None) -> list[tuple[str, str]]:
    """A line for each file that was written, with its size."""
    return [
        ("wrote", f"{path}, {readable_bytes(path.stat().st_size)}")
        for path in paths
        if path is not None
    ]


def file_document(path: Path) -> dict[str, Any]:
    """The same for programs."""
    return {"path": str(path), "n_bytes": path.stat().st_size}


def write_csv(path: Path, header: Sequence[Any], lines: Sequence[Sequence[Any]]) -> None:
    """Write a table as comma-separated values in UTF-8, in which no cell is a formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for line in (header, *lines):
        writer.writerow([csv_cell(cell) for cell in line])
    with atomic_write(path) as stream:
        stream.write(text.getvalue().encode())
