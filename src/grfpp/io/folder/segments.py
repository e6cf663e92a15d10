"""Updates of a graph's folder: segments of changes beside its arrays, and their compaction.

A segment has the entries that differ from the segments before, and the names of new nodes. It is
one file, written whole or not at all: a line of JSON with the checksum of what follows and that of
the version before, then the arrays as plain numbers. Nothing else in the folder changes, so that
whoever has it open keeps the version that was there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from grfpp.errors import InputError
from grfpp.io.atomic import atomic_write
from grfpp.io.folder import layout
from grfpp.io.folder.layout import HEADER, Header
from grfpp.io.folder.reader import GraphFolder
from grfpp.io.folder.writer import FolderWriter, finish_graph, folder_writer, write_names
from grfpp.io.text import input_errors
from grfpp.nodes import MoreNames, NodeNames, Texts
from grfpp.updates import Difference, PatchedRows, UpdatedForm

_FORMAT, _VERSION = "grfpp-graph-update", 1
_PATTERN = "update-*.seg"
#: Attempts to open a folder that is replaced at the same time.
_ATTEMPTS = 5
#: Versions that a compaction remembers having replaced.
_MAX_REPLACED = 64


@dataclass(frozen=True)
class Segment:
    """Entries that differ from those before, and the nodes that are new."""

    difference: Difference
    n_nodes: int
    #: Names of new nodes; ``None`` where nodes have no names.
    names: Sequence[Any] | None
    #: Checksum of this version, which the next segment repeats.
    version: str

    @classmethod
    def read(cls, file: Path, after: str, header: Header, n_before: int) -> Segment:
        """Read and check the segment that follows the version `after`."""
        with input_errors(f"{file} cannot be read", OSError):
            line, _, content = file.read_bytes().partition(b"\n")
        with input_errors(f"{file} is not a whole update of a graph"):
            known = json.loads(line)
            if known["format"] != _FORMAT or known["version"] != _VERSION:
                raise InputError(f"{file} was not written by this version of grfpp")
            if known["after"] != after or _checksum(known, content) != known["checksum"]:
                raise InputError(
                    f"{file} is damaged, or belongs to another graph: its checksum differs"
                )
            n, n_nodes, n_new = known["n_entries"], known["n_nodes"], known["n_names"]
            arrays = [content[8 * n * i : 8 * n * (i + 1)] for i in range(2)]
            keys, weights = (
                np.frombuffer(part, dtype)
                for part, dtype in zip(arrays, ("<i8", "<f8"), strict=True)
            )
            difference, rest = Difference(keys, weights), content[16 * n :]
            numbers = np.frombuffer(rest[: 8 * n_new], "<i8")
            names: Any = None
            if header.names == "whole":
                names = numbers.tolist()
            elif header.names == "text":
                names = list(Texts(np.frombuffer(rest[8 * n_new :], np.uint8), numbers))
            sound = [
                names is None or len(names) == n_nodes - n_before,
                n_before <= n_nodes <= np.iinfo(np.int32).max,
                bool((np.diff(keys) > 0).all() and (weights >= 0).all()),
                bool(np.isfinite(weights).all()),
                not n or bool(keys[0] >= 0 and difference.rows[-1] < n_nodes),
                not n or int(difference.columns.max()) < n_nodes,
                header.directed or np.array_equal(difference.transposed().keys, keys),
            ]
            if not all(sound):
                raise ValueError("odd values")
        return cls(difference, n_nodes, names, known["checksum"])


def _checksum(known: dict[str, Any], content: bytes) -> str:
    fields = {name: value for name, value in known.items() if name != "checksum"}
    checksum: str = layout.new_checksum(json.dumps(fields).encode() + content).hexdigest()
    return checksum


def segment_files(folder: Path) -> list[Path]:
    """The files of updates, in their order."""
    files = sorted(folder.glob(_PATTERN))
    for number, file in enumerate(files, start=1):
        if file != _segment_file(folder, number):
            raise InputError(f"{_segment_file(folder, number)} is missing: an update is lost")
    return files


def _segment_file(folder: Path, number: int) -> Path:
    return folder / f"update-{number:06}.seg"


def open_folder(
    path: str | os.PathLike[str], *, verify: bool = False
) -> tuple[GraphFolder, list[Segment]]:
    """A folder and its segments, of one version also where it is compacted meanwhile."""
    for _ in range(_ATTEMPTS):
        before = _header_of(path)
        try:
            folder = GraphFolder.open(path, verify=verify)
            segments, version, n_nodes = [], folder.fingerprint, folder.header.n_nodes
            for file in segment_files(folder.path):
                segments.append(Segment.read(file, version, folder.header, n_nodes))
                version, n_nodes = segments[-1].version, segments[-1].n_nodes
            if folder.is_current():
                return folder, segments
        except InputError:
            if before == _header_of(path):
                raise
    raise InputError(f"{path} is being written", advice="open it again")


def _header_of(path: str | os.PathLike[str]) -> bytes:
    with suppress(OSError, RuntimeError, TypeError, ValueError):
        return (Path(path).expanduser() / HEADER).read_bytes()
    return b""


def updated_form(base: Any, segments: Sequence[Segment]) -> UpdatedForm:
    """The form of a graph with its segments."""
    form, names = UpdatedForm.of(base), base.names
    difference = form.difference
    for segment in segments:
        difference = difference.then(segment.difference)
        if segment.names is None:
            names = NodeNames(segment.n_nodes)
        elif len(segment.names):
            names = MoreNames.of(names, segment.names)
    return UpdatedForm(base, names, difference)


@contextmanager
def only_writer(path: str | os.PathLike[str]) -> Iterator[None]:
    """Wait until no other process updates or compacts a folder; the system ends a dead one's turn.

    Systems without ``flock`` do not wait: there one process at a time may write.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    folder, is_locked = Path(path).expanduser(), False
    while not is_locked:
        with input_errors(f"{path} cannot be opened", OSError):
            opened = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(opened, fcntl.LOCK_EX)
            # Not the one that a compaction has replaced while this waited.
            is_locked = folder.exists() and folder.stat().st_ino == os.fstat(opened).st_ino
            if is_locked:
                yield
        finally:
            os.close(opened)


def write_segment(before: UpdatedForm, now: UpdatedForm) -> None:
    """Append the entries and names by which two forms of a folder's graph differ."""
    folder, segments = open_folder(before.base._form.folder.path)
    at, known = before.difference.find(now.difference.keys)
    known[known] = before.difference.weights[at[known]] == now.difference.weights[known]
    keys, weights = now.difference.keys[~known], now.difference.weights[~known]
    new: list[Any] = list((now.names.ids or [])[before.n_nodes :])
    if not len(keys) and now.n_nodes == before.n_nodes:
        return
    numbers, text = np.array([] if folder.header.names == "text" else new, np.int64), b""
    if folder.header.names == "text":
        texts = [name.encode(errors="surrogatepass") for name in new]
        numbers, text = np.cumsum([len(name) for name in texts], dtype=np.int64), b"".join(texts)
    arrays = (keys.astype("<i8"), weights.astype("<f8"), numbers.astype("<i8"))
    content = b"".join([*(array.tobytes() for array in arrays), text])
    known_values: dict[str, Any] = {
        "format": _FORMAT,
        "version": _VERSION,
        "after": segments[-1].version if segments else folder.fingerprint,
        "n_entries": len(keys),
        "n_nodes": now.n_nodes,
        "n_names": len(new),
    }
    known_values["checksum"] = _checksum(known_values, content)
    with atomic_write(_segment_file(folder.path, len(segments) + 1)) as stream:
        stream.write(json.dumps(known_values).encode() + b"\n" + content)


def write_compacted(form: UpdatedForm) -> None:
    """Replace a folder by one without segments; rows are merged in blocks."""
    folder = form.base._form.folder
    if not segment_files(folder.path):
        return
    replaced = [*folder.header.replaces, folder.fingerprint][-_MAX_REPLACED:]
    with folder_writer(folder.path) as writer:
        sides = [("", form.rows)] + [("in_", form.columns)] * folder.header.directed
        for prefix, rows in sides:
            _write_rows(writer, rows, prefix)
        names = form.names.to_array()
        kind = None if names is None else write_names(writer, names)
        finish_graph(writer, names=kind, value=form.scaled.value, replaces=replaced)


def _write_rows(writer: FolderWriter, rows: PatchedRows, prefix: str) -> None:
    writer.append(f"{prefix}indptr", np.concatenate([[0], np.cumsum(rows.degrees)]))
    for name in ("indices", "weights"):
        if getattr(rows.base, name) is not None:
            writer.append(f"{prefix}{name}", [])
    for block in rows.blocks():
        writer.append(f"{prefix}indices", block.indices)
        if block.weights is not None:
            writer.append(f"{prefix}weights", block.weights)
