"""What commands say and write: facts for people, one JSON document for programs, CSV files.

Output files are checked before the work begins, and written whole or not at all.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from grfpp._memory import readable_bytes
from grfpp.cli.console import print_json, visible
from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.io.atomic import atomic_write, followed, target_problem
from grfpp.termination import Termination
from grfpp.typing import FloatArray

Facts = list[tuple[str, str]]

#: Entries of a kernel's row that are shown.
_N_SHOWN = 6
# What spreadsheets take for the beginning of a formula, in both widths.
_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]|[\t\r\n]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def show(facts: Facts, document: Any, as_json: bool, written: Sequence[Path | None] = ()) -> None:
    """Print the result of a command: names and values, or a JSON document.

    Parameters
    ----------
    facts
        Names and values for people.
    document
        The same for programs.
    as_json
        Which of them is printed.
    written
        Files that were written; each is one more fact.
    """
    if as_json:
        print_json(document)
        return
    for path in written:
        if path is not None:
            facts = [*facts, ("wrote", f"{path}, {readable_bytes(path.stat().st_size)}")]
    names = [visible(name) for name, _ in facts]
    width = max(map(len, names))
    for name, (_, value) in zip(names, facts, strict=True):
        print(f"{name:<{width}}  {visible(value)}")


def graph_fact(path: Path, graph: Graph) -> tuple[str, str]:
    """Which graph a command read."""
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


def file_document(path: Path) -> dict[str, Any]:
    """A file that was written, for programs."""
    return {"path": str(path), "n_bytes": path.stat().st_size}


def node_names(graph: Graph) -> Sequence[Any]:
    """The names of the nodes, or their indices where they have none."""
    return range(graph.n_nodes) if graph.node_ids is None else graph.node_ids


def json_name(name: Any) -> int | str:
    """A node name that JSON can hold."""
    return name if isinstance(name, int) else str(name)


def row_text(names: Sequence[Any], values: FloatArray, std: FloatArray | None = None) -> str:
    """The largest entries of a row, for people, with their standard errors if these are known."""
    order = np.argsort(-np.abs(values), kind="stable")[:_N_SHOWN].tolist()
    errors = [None if std is None else float(std[node]) for node in order]
    text = entries_text(
        (names[node], values[node], e) for node, e in zip(order, errors, strict=True)
    )
    return text + (f", ... ({len(values)} in all)" if len(values) > _N_SHOWN else "")


def entries_text(entries: Iterable[tuple[Any, float, float | None]]) -> str:
    """Nodes with their values and, if these are known, standard errors."""
    return ", ".join(
        f"{node}: {value:.4g}" + ("" if std is None else f" ± {std:.1g}")
        for node, value, std in entries
    )


def law_text(law: Termination) -> str:
    """A law of walk lengths as the command line writes it.

    Examples
    --------
    >>> from grfpp.termination import CustomLength, NegativeBinomial
    >>> law_text(NegativeBinomial(2, 0.25)), law_text(CustomLength([0.5, 0.5]))
    ('negative-binomial:2:0.25', 'custom:0.5:0.5')
    """
    name, *parameters = law.to_dict().values()
    numbers = np.concatenate([np.ravel(each) for each in parameters]).tolist()
    return ":".join([name, *(f"{number:.15g}" for number in numbers)])


def check_output(
    path: Path | None,
    *suffixes: str,
    option: str = "--output",
    others: Sequence[str | Path | None] = (),
) -> None:
    """Refuse a file that could not be written, or whose suffix does not say what to write.

    `others` are the files that are read, or written too: it must be none of them.
    """
    if path is None:
        return
    if path.suffix.lower() not in suffixes:
        raise InputError(
            f"{option} {path}: the suffix must be {' or '.join(suffixes)}, not "
            f"{path.suffix or 'none'}"
        )
    if problem := target_problem(path):
        raise InputError(f"{option} {path}: {problem}")
    folder = followed(path).parent
    if not os.access(folder, os.W_OK):
        raise InputError(f"{option} {path}: the folder {folder} cannot be written to")
    require_other(option, path, others)


def require_other(option: str, path: Path, others: Sequence[str | Path | None]) -> None:
    """Refuse to write to a file that is read, or written too."""
    for other in others:
        if other is not None and _is_same_file(path, Path(other)):
            raise InputError(
                f"{option} {path} is the same file as {other}, which would be lost; name another"
            )


def _is_same_file(path: Path, other: Path) -> bool:
    """Whether two paths name one file, also where it does not exist yet."""
    with suppress(OSError, RuntimeError):
        other = other.expanduser()
        return path.resolve() == other.resolve() or path.samefile(other)
    return False


def write_csv(path: Path, columns: Sequence[Any], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table as comma-separated values in UTF-8, in which no cell is a formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in (columns, *rows):
        writer.writerow([csv_cell(cell) for cell in row])
    with atomic_write(path) as stream:
        stream.write(text.getvalue().encode())


def csv_cell(value: Any) -> Any:
    """A cell; text that a spreadsheet would compute gets an apostrophe, numbers stay as they are.

    Examples
    --------
    >>> [csv_cell(value) for value in ("Anna", "=1+1", "-5", -5, "@me")]
    ['Anna', "'=1+1", '-5', -5, "'@me"]
    """
    if isinstance(value, bool | int | float) or value is None:
        return value
    text = str(value).encode(errors="backslashreplace").decode()
    if _FORMULA.match(text) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text
