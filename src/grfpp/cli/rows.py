"""Rows of a kernel that a user asks for by number or by label."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.io.encodings import as_utf8
from grfpp.io.files import read_bytes
from grfpp.io.storage.paths import existing_file
from grfpp.typing import FloatArray

_SHOWN = 6


def split_rows(text: str) -> list[str]:
    """Take ``0,5,9`` apart; a label with a comma stands in double quotes.

    Examples
    --------
    >>> split_rows('0, 5,"Smith, J."')
    ['0', '5', 'Smith, J.']
    """
    names: list[str] = []
    with suppress(csv.Error, ValueError):
        (names,) = csv.reader([text], skipinitialspace=True, strict=True)
    names = [name.strip() for name in names]
    if not names or not all(names):
        raise InputError(f"--rows {text!r} is not a list such as 0,5,9")
    return names


def read_names(path: Path, option: str) -> list[str]:
    """The names in a text file, a line each; empty lines are none."""
    data = read_bytes(existing_file(path), ".txt", str(path))
    lines = as_utf8(data, str(path)).decode().split("\n")
    names = [name for line in lines if (name := line.strip())]
    if not names:
        raise InputError(f"{option} {path}: there is no name in it")
    return names


def find_rows(graph: Graph, names: Sequence[str]) -> list[int]:
    """Places of the named rows: names as they are written where the graph has some, else numbers.

    Unlike in Python, where ``7`` is a place and ``"7"`` a name, both are text here.
    """
    return [graph.names.written(name, "rows") for name in names]


def labels_of(graph: Graph) -> Sequence[Any]:
    """What the nodes are called: their labels, or their numbers."""
    return range(graph.n_nodes) if graph.node_ids is None else graph.node_ids


def summary(labels: Sequence[Any], values: FloatArray, std: FloatArray | None = None) -> str:
    """The largest entries of a row, for people, with their standard errors if these are known."""
    order = np.argsort(-np.abs(values), kind="stable")[:_SHOWN]
    shown = ", ".join(
        f"{labels[node]}: {values[node]:.4g}" + ("" if std is None else f" ± {std[node]:.1g}")
        for node in order.tolist()
    )
    return shown + (f", ... ({len(values)} in all)" if len(values) > _SHOWN else "")
