"""Results of commands: lines for people, one JSON document for programs, and files.

A command adds every value once, to a `Result`. Output files are checked before the work begins, and
written whole or not at all.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from grfpp._memory import readable_bytes
from grfpp.cli.console import print_json, status, visible
from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.io.atomic import atomic_write, link_target, target_problem
from grfpp.operators.kernel_choice import KernelChoice
from grfpp.options import WalkOptions
from grfpp.termination import Termination
from grfpp.typing import FloatArray

#: Number of entries of a kernel's row that are shown, so that they fit on one line.
_N_SHOWN = 6
# Beginnings of formulas in spreadsheets, in ASCII and full-width characters.
_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]|[\t\r\n]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


class Result:
    """The result of a command, as labelled lines and as the values of a JSON document.

    Examples
    --------
    >>> result = Result()
    >>> result.add("nodes", "3 of 5 have a label", n_nodes=5, n_labelled=3)
    >>> result.add(seed=0)
    >>> result.show(as_json=False)
    nodes  3 of 5 have a label
    """

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []
        self.document: dict[str, Any] = {}
        self.seconds: dict[str, float] = {}

    def add(self, label: str | None = None, text: str = "", **values: Any) -> None:
        """Add a line for people, unless there is no label, and the values that programs get."""
        if label is not None:
            self.lines.append((label, text))
        self.document.update(values)

    @contextmanager
    def timed(self, name: str, text: str | None = None) -> Iterator[None]:
        """Record the wall time of a step, during which a terminal shows `text`."""
        start = perf_counter()
        with nullcontext() if text is None else status(text):
            yield
        self.seconds[name] = perf_counter() - start

    def add_time(self, **words: str) -> None:
        """Add the seconds of the steps, by name, with a description of each."""
        seconds = {word: self.seconds[name] for name, word in words.items()}
        text = ", ".join(f"{s:.{2 if s > 0.01 else 4}f} s {word}" for word, s in seconds.items())
        self.add("time", text, seconds=self.seconds)

    def add_graph(self, path: Path, graph: Graph, choice: KernelChoice | None = None) -> None:
        """Add the graph that a command read, and how its weights were normalised."""
        kind = "directed" if graph.is_directed else "undirected"
        text = f"{path}: {graph.n_nodes:,} nodes, {graph.n_edges:,} edges, {kind}"
        size = {"n_nodes": graph.n_nodes, "n_edges": graph.n_edges, "directed": graph.is_directed}
        self.add("graph", text, graph={"path": path, **size})
        if choice is not None:
            normalize = choice.normalization or "none"
            self.add("weights", f"normalize {normalize}, scale {choice.scale:g}")
            self.document["graph"] |= {"normalize": normalize, "scale": choice.scale}

    def add_cluster(self, client: Any) -> None:
        """Add the Dask cluster that a command used."""
        self.add(cluster=None)
        if client is not None:
            threads = client.nthreads()
            size = {"n_workers": len(threads), "n_threads": sum(threads.values())}
            text = "{n_workers} workers with {n_threads} threads in all".format(**size)
            self.add("cluster", text, cluster=size)

    def add_file(self, path: Path | None, n_bytes: int | None = None) -> dict[str, Any] | None:
        """Add a line for a file that was written, and return its path and size for programs."""
        if path is None:
            return None
        n_bytes = path.stat().st_size if n_bytes is None else n_bytes
        self.add("wrote", f"{path}, {readable_bytes(n_bytes)}")
        return {"path": path, "n_bytes": n_bytes}

    def show(self, as_json: bool) -> None:
        """Print the lines, or the JSON document."""
        if as_json and self.document:
            print_json(self.document)
            return
        width = max((len(visible(label)) for label, _ in self.lines), default=0)
        for label, text in self.lines:
            print(f"{visible(label):<{width}}  {visible(text)}")


def node_names(graph: Graph) -> Sequence[Any]:
    """The names of the nodes, or their indices where they have none."""
    return range(graph.n_nodes) if graph.node_ids is None else graph.node_ids


def json_name(name: Any) -> int | str:
    """A node name that JSON can hold."""
    return name if isinstance(name, int) else str(name)


def row_text(names: Sequence[Any], values: FloatArray, std: FloatArray | None = None) -> str:
    """The largest entries of a row, for people, with their standard errors if these are known."""
    order = np.argsort(-np.abs(values), kind="stable")[:_N_SHOWN].tolist()
    text = entries_text((names[i], values[i], None if std is None else std[i]) for i in order)
    return text + (f", ... ({len(values)} in all)" if len(values) > _N_SHOWN else "")


def entries_text(entries: Iterable[tuple[Any, float, float | None]]) -> str:
    """Nodes with their values and, if these are known, standard errors."""
    bars = ((f"{node}: {value:.4g}", std) for node, value, std in entries)
    return ", ".join(text if std is None else f"{text} ± {std:.1g}" for text, std in bars)


def walks_text(walks: WalkOptions) -> str:
    """The walks of an estimator of `grfpp.tasks`, for people."""
    reused = ", reused (biased)" if walks.reuse_walks else ""
    text = f"stitching degree {walks.degree}, {walks.n_walks} walks a node and factor{reused}, "
    return f"{text}lengths {law_text(walks.termination)}, seed {walks.seed}"


def law_text(law: Termination) -> str:
    """A law of walk lengths as the command line writes it.

    Examples
    --------
    >>> from grfpp.termination import CustomLength, NegativeBinomial
    >>> law_text(NegativeBinomial(2, 0.25)), law_text(CustomLength([0.5, 0.5]))
    ('negative-binomial:2:0.25', 'custom:0.5:0.5')
    """
    name, *parameters = law.to_dict().values()
    numbers = np.concatenate([np.ravel(values) for values in parameters]).tolist()
    return ":".join([name, *(f"{number:.15g}" for number in numbers)])


def check_output(path: Path, suffixes: Sequence[str], option: str = "--output") -> None:
    """Refuse a file that could not be written, or whose suffix does not say what to write."""
    if path.suffix.lower() not in suffixes:
        expected = " or ".join(suffixes)
        raise InputError(f"must have the suffix {expected}, found {path}", argument=option)
    folder = link_target(path).parent
    problem = target_problem(path, folder=path.suffix.lower() == ".grf")
    if problem is None and not os.access(folder, os.W_OK):
        problem = f"the folder {folder} cannot be written to"
    if problem:
        raise InputError(f"{path}: {problem}", argument=option)


def require_other(option: str, path: Path, others: Iterable[str | Path]) -> None:
    """Refuse to write to a file that is read, or written too."""
    for other in others:
        with suppress(OSError, RuntimeError):  # of files that do not exist yet
            file = Path(other).expanduser()
            if path.resolve() == file.resolve() or path.samefile(file):
                problem = f"{path} is the same file as {other}, which would be lost"
                raise InputError(problem, argument=option, advice="write to another file")


def write_csv(path: Path | None, columns: Sequence[Any], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table as comma-separated values in UTF-8, in which no cell is a formula.

    Without a path nothing is written.
    """
    if path is None:
        return
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows(map(csv_cell, row) for row in (columns, *rows))
    with atomic_write(path) as stream:
        stream.write(text.getvalue().encode())


def csv_cell(value: Any) -> Any:
    """A cell; text that a spreadsheet would read as a formula gets an apostrophe in front.

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
