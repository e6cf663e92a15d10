"""Write a graph's folder: arrays from their beginning to their end, then the header."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from grfpp.io.atomic import atomic_folder, atomic_write
from grfpp.io.folder import layout
from grfpp.io.folder.layout import ARRAYS, HEADER, SYMMETRIES, Header, array_file
from grfpp.normalization import BLOCK_EDGES, Rows, ScaledWeights, is_in_safe_range, row_blocks
from grfpp.typing import FloatArray

#: Bytes that are hashed and written at a time.
_CHUNK_BYTES = 1 << 24


class FolderWriter:
    """The arrays of one folder, which are appended to.

    Written without memory maps: there a full disk ends the process, here it raises an error.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files: dict[str, IO[bytes]] = {}
        self._sums: dict[str, Any] = {}
        self._lengths: dict[str, int] = {}

    def append(self, name: str, values: npt.ArrayLike) -> None:
        """Write more entries of an array."""
        array = np.ascontiguousarray(values, dtype=ARRAYS[name][0])
        if name not in self._files:
            self._files[name] = array_file(self.folder, name).open("wb")
            self._sums[name], self._lengths[name] = layout.new_checksum(), 0
        content = array.reshape(-1).view(np.uint8).data
        for start in range(0, len(content), _CHUNK_BYTES):
            part = content[start : start + _CHUNK_BYTES]
            self._sums[name].update(part)
            self._files[name].write(part)
        self._lengths[name] += array.size

    def has(self, name: str) -> bool:
        """Whether entries of an array have been written."""
        return name in self._files

    def discard(self, name: str) -> None:
        """Remove the file of an array."""
        self._files.pop(name).close()
        del self._sums[name], self._lengths[name]
        array_file(self.folder, name).unlink()

    def mapped(self, name: str) -> npt.NDArray[Any]:
        """The entries of an array that have been written, mapped into memory."""
        self._files[name].flush()
        return np.asarray(layout.mapped_array(self.folder, name))

    def mapped_rows(self, prefix: str = "") -> Rows:
        """The rows, or with the prefix ``in_`` the columns, that have been written."""
        weights = self.mapped(f"{prefix}weights") if self.has(f"{prefix}weights") else None
        return Rows(self.mapped(f"{prefix}indptr"), self.mapped(f"{prefix}indices"), weights)

    def finish(self, header: Header) -> None:
        """Write the header with the sizes and checksums of all arrays, and flush all files."""
        for stream in self._files.values():
            stream.flush()
            os.fsync(stream.fileno())
            stream.close()
        arrays = {
            name: layout.StoredArray(self._lengths[name], self._sums[name].hexdigest())
            for name in self._files
        }
        header = replace(header, arrays=arrays)
        header.check()
        with atomic_write(self.folder / HEADER) as file:
            file.write(header.to_json().encode())
        layout.write_stamp(self.folder, arrays)

    def close(self) -> None:
        """Close all files, also after an error."""
        for stream in self._files.values():
            stream.close()


@contextmanager
def folder_writer(path: str | Path) -> Iterator[FolderWriter]:
    """Write a folder that appears under its name only when the block ends well."""
    with atomic_folder(path, HEADER) as folder, closing(FolderWriter(folder)) as writer:
        yield writer


def save_folder(
    path: str | Path, rows: Rows, names: Any = None, *, undirected: bool = False, **known: Any
) -> None:
    """Write a graph whose rows are in memory, or mapped.

    Where it is known to be `undirected`, the transpose is not made to find that out. The header has
    what else is known: ``kind``, ``value`` and ``spectral_radius``.
    """
    with folder_writer(path) as writer:
        write_side(writer, rows)
        if not undirected:
            write_side(writer, rows.transposed(), "in_")
        title = None if names is None else write_names(writer, names)
        finish_graph(writer, names=title, **known)


def finish_graph(writer: FolderWriter, **known: Any) -> None:
    """Write strengths and the header of the rows, and columns if any, that have been written.

    Columns that are the same as the rows are removed: the graph is undirected then.
    """
    rows, columns = writer.mapped_rows(), None
    if writer.has("in_indptr"):
        columns = writer.mapped_rows("in_")
        if rows.equals(columns):
            columns = None
            for name in filter(writer.has, ("in_indptr", "in_indices", "in_weights")):
                writer.discard(name)
    strength = _write_strengths(writer, rows, "out_strength")
    into = None if columns is None else _write_strengths(writer, columns, "in_strength")
    header = Header(
        n_nodes=len(rows.indptr) - 1,
        n_stored=len(rows.indices),
        directed=columns is not None,
        **counted(rows, columns, strength, into),
        **known,
    )
    if columns is None and rows.weights is None:
        writer.discard("out_strength")  # they are the degrees
    writer.finish(header)


def counted(
    rows: Rows, columns: Rows | None, strength: FloatArray | None, into: FloatArray | None
) -> dict[str, Any]:
    """The fields of a header that take passes over the arrays."""
    return {
        "n_loops": sum(int((b.sources() + at == b.indices).sum()) for at, b in rows.blocks()),
        "symmetric": symmetries(rows, columns, strength, into),
        "tame": strength is None or is_in_safe_range(rows.weights, strength),
    }


def _write_strengths(writer: FolderWriter, rows: Rows, name: str) -> FloatArray:
    """Write the sums of rows, block by block."""
    for _, block in rows.blocks():
        writer.append(name, block.strengths())
    return writer.mapped(name)


def write_side(writer: FolderWriter, rows: Rows, prefix: str = "") -> None:
    """Write the rows, or with the prefix ``in_`` the columns."""
    writer.append(f"{prefix}indptr", rows.indptr)
    writer.append(f"{prefix}indices", rows.indices)
    if rows.weights is not None:
        writer.append(f"{prefix}weights", rows.weights)


def write_names(writer: FolderWriter, names: npt.NDArray[Any]) -> str:
    """Write names in the order of the nodes, and the order in which they are looked up."""
    if names.dtype.kind == "u" and len(names) and names.max() <= np.iinfo(np.int64).max:
        names = names.astype(np.int64)
    if names.dtype.kind == "i":
        writer.append("name_numbers", names)
        if (names[1:] < names[:-1]).any():  # differences may overflow
            writer.append("name_order", np.argsort(names, kind="stable"))
        return "whole"
    texts = [str(name).encode(errors="surrogatepass") for name in names]
    writer.append("name_text", np.frombuffer(b"".join(texts), np.uint8))
    writer.append("name_ends", np.cumsum([len(text) for text in texts]))
    writer.append("name_order", sorted(range(len(texts)), key=texts.__getitem__))
    return "text"


def symmetries(
    rows: Rows, columns: Rows | None, strength: FloatArray | None, into: FloatArray | None
) -> list[str]:
    """The normalisations under which a matrix equals its transpose, to the last bit.

    `columns` is ``None`` where it does without any: then ``"sym"`` is one, and the others are where
    no edge joins nodes of different strength. Strengths as in `ScaledWeights`.
    """
    other = rows if columns is None else columns
    if columns is not None and not rows.has_pattern_of(other):
        return []
    symmetric = [] if columns is not None else ["sym"]
    for kind in SYMMETRIES[len(symmetric) :]:
        rule = ScaledWeights(kind, 1.0, rows.weights, strength, into)
        transpose = rule.reversed(other.weights)
        if all(
            np.array_equal(
                rule.of_rows(rows.indptr, rows.indices, *block),
                transpose.of_rows(other.indptr, other.indices, *block),
            )
            for block in row_blocks(rows.indptr, BLOCK_EDGES)
        ):
            symmetric.append(kind)
    return symmetric
