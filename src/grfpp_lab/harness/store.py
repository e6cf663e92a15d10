"""Finished cells on disk: one small JSON file each, whole or not there."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import grfpp
from grfpp.io.storage.atomic import atomic_write
from grfpp_lab.harness.experiment import Cell, Experiment, Row

_FORMAT = "grfpp-cell-1"
#: Parts of the library that no number depends on, unless an experiment says so.
_NO_NUMBERS = {"cli", "plots", "tasks", "torch"}
#: Parts of the laboratory that numbers do depend on, beside each experiment's own `version`.
_NUMBERS = ("copies.py", "graphs.py", "measuring.py")


@dataclass(frozen=True)
class Finished:
    """The rows of a cell and the seconds that it took."""

    rows: Sequence[Row]
    seconds: float


class CellStore:
    """A folder of finished cells.

    Each has a name made from its parameters and from the version of the code, so that one run
    finds what another one left, and never what other code or other parameters gave.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, experiment: Experiment, cell: Cell) -> Path:
        """Where a cell is kept."""
        identity = {
            "experiment": experiment.name,
            "version": experiment.version,
            "code": code_fingerprint(tuple(experiment.parts)),
            "cell": dict(cell),
        }
        return self.folder / experiment.name / f"{digest(identity)}.json"

    def load(self, experiment: Experiment, cell: Cell) -> Finished | None:
        """Return a finished cell, or nothing when it is missing or damaged."""
        try:
            found = json.loads(self.path(experiment, cell).read_bytes())
            rows, seconds = found["rows"], float(found["seconds"])
            whole = (
                found["format"] == _FORMAT
                and found["cell"] == json.loads(_canonical(dict(cell)))
                and found["checksum"] == digest(rows)
                and all(isinstance(row, dict) for row in rows)
            )
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None
        return Finished(rows, seconds) if whole else None

    def save(self, experiment: Experiment, cell: Cell, finished: Finished) -> None:
        """Keep a finished cell."""
        path = self.path(experiment, cell)
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = [dict(row) for row in finished.rows]
        document = {
            "format": _FORMAT,
            "cell": dict(cell),
            "seconds": round(finished.seconds, 4),
            "checksum": digest(rows),
            "rows": rows,
        }
        with atomic_write(path) as stream:
            stream.write(json.dumps(document, allow_nan=False).encode())


def digest(value: Any) -> str:
    """A short name for a JSON value, the same on every machine.

    Examples
    --------
    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    True
    """
    return hashlib.sha256(_canonical(value).encode()).hexdigest()[:24]


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


@cache
def code_fingerprint(parts: tuple[str, ...] = ()) -> str:
    """A name for the code that numbers come from: the library, and what measures with it.

    Parameters
    ----------
    parts
        Folders of the library that count beside the rest of it.
    """
    root = files("grfpp")
    own = files("grfpp_lab") / "experiments"
    more = [(f"experiments/{name}", (own / name).read_bytes()) for name in _NUMBERS]
    for part in parts:
        more += [(f"{part}/{name}", text) for name, text in _sources(root / part)]
    total = hashlib.sha256(grfpp.__version__.encode())
    for name, text in sorted([*_sources(root), *more]):
        total.update(f"\0{name}\0".encode() + text)
    return total.hexdigest()[:16]


def _sources(folder: Any) -> list[tuple[str, bytes]]:
    """Names and contents of the Python files below a folder, but for parts without numbers."""
    found = []
    for entry in folder.iterdir():
        if entry.is_dir() and entry.name not in _NO_NUMBERS:
            found += [(f"{entry.name}/{name}", text) for name, text in _sources(entry)]
        elif entry.name.endswith(".py"):
            found.append((entry.name, entry.read_bytes()))
    return found
