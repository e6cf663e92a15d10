"""Graphs in memory -> folders."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from grfpp.io.folder.header import SYMMETRIES, Header
from grfpp.io.folder.writer import FolderWriter, folder_writer
from grfpp.linalg.sparse import csr
from grfpp.scaled_weights import BLOCK_EDGES, LARGEST, LEAST, Kind, ScaledWeights, row_blocks
from grfpp.typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a matrix; without weights each entry is 1."""

    indptr: IntArray
    indices: npt.NDArray[np.int32]
    weights: FloatArray | None = None

    def transposed(self) -> Rows:
        """The columns as rows, made in memory."""
        n = len(self.indptr) - 1
        values: npt.NDArray[Any] = (
            np.ones(len(self.indices), np.int8) if self.weights is None else self.weights
        )
        turned = csr(values, self.indices, self.indptr, n).T.tocsr()
        turned.sort_indices()
        weights = None if self.weights is None else turned.data
        return Rows(turned.indptr.astype(np.int64), turned.indices.astype(np.int32), weights)

    def equals(self, other: Rows) -> bool:
        """Whether both are the same matrix."""
        return self.has_pattern_of(other) and (
            self.weights is None or other.weights is None or same(self.weights, other.weights)
        )

    def has_pattern_of(self, other: Rows) -> bool:
        """Whether both have entries at the same places."""
        return same(self.indptr, other.indptr) and same(self.indices, other.indices)

    def strengths(self) -> FloatArray:
        """Sums of rows, from left to right: as `Graph.normalized` rounds them."""
        if self.weights is None:
            return np.diff(self.indptr).astype(np.float64)
        sums = np.empty(len(self.indptr) - 1)
        for first, last in row_blocks(self.indptr, BLOCK_EDGES):
            edges = slice(int(self.indptr[first]), int(self.indptr[last]))
            rows = np.repeat(np.arange(last - first), np.diff(self.indptr[first : last + 1]))
            sums[first:last] = np.bincount(rows, self.weights[edges], minlength=last - first)
        return sums


def save_folder(
    path: str | Path,
    rows: Rows,
    *,
    kind: Kind = None,
    value: float = 1.0,
    names: npt.NDArray[Any] | None = None,
    spectral_radius: float | None = None,
    undirected: bool = False,
) -> None:
    """Write a graph whose rows are in memory, or mapped.

    Where it is known to be `undirected`, the transpose is not made to find that out.
    """
    with folder_writer(path) as writer:
        write_side(writer, rows)
        columns = rows if undirected else rows.transposed()
        directed = not (undirected or rows.equals(columns))
        strength = rows.strengths()
        into = columns.strengths() if directed else strength
        if rows.weights is not None or directed:
            writer.append("out_strength", strength)
        if directed:
            write_side(writer, columns, "in_")
            writer.append("in_strength", into)
        names_kind = None if names is None else write_names(writer, names)
        writer.finish(
            Header(
                n_nodes=len(rows.indptr) - 1,
                n_stored=len(rows.indices),
                n_loops=count_loops(rows),
                directed=directed,
                symmetric=symmetries(rows, columns if directed else None, strength, into),
                tame=is_tame(rows.weights, strength),
                kind=kind,
                value=value,
                names=names_kind,
                spectral_radius=spectral_radius,
            )
        )


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
        if (np.diff(names) < 0).any():
            writer.append("name_order", np.argsort(names, kind="stable"))
        return "whole"
    texts = [str(name).encode(errors="surrogatepass") for name in names]
    writer.append("name_text", np.frombuffer(b"".join(texts), np.uint8))
    writer.append("name_ends", np.cumsum([len(text) for text in texts]))
    writer.append("name_order", sorted(range(len(texts)), key=texts.__getitem__))
    return "text"


def count_loops(rows: Rows) -> int:
    """Edges from nodes to themselves."""
    n_loops = 0
    for first, last in row_blocks(rows.indptr, BLOCK_EDGES):
        nodes = np.arange(first, last, dtype=np.int32)
        sources = np.repeat(nodes, np.diff(rows.indptr[first : last + 1]))
        targets = rows.indices[int(rows.indptr[first]) : int(rows.indptr[last])]
        n_loops += int(np.count_nonzero(sources == targets))
    return n_loops


def symmetries(
    rows: Rows, columns: Rows | None, strength: FloatArray | None, into: FloatArray | None
) -> tuple[str, ...]:
    """The normalisations under which a matrix equals its transpose, to the last bit.

    `columns` is ``None`` where it does without any: then ``"sym"`` is one, and the others are where
    no edge joins nodes of different strength. Strengths as in `ScaledWeights`.
    """
    other = rows if columns is None else columns
    if columns is not None and not rows.has_pattern_of(other):
        return ()
    found = [] if columns is not None else ["sym"]
    for kind in SYMMETRIES[len(found) :]:
        rule = ScaledWeights(kind, 1.0, rows.weights, strength, into)
        turned = rule.reversed(other.weights)
        if all(
            np.array_equal(
                rule.of_rows(rows.indptr, rows.indices, *block),
                turned.of_rows(other.indptr, other.indices, *block),
            )
            for block in row_blocks(rows.indptr, BLOCK_EDGES)
        ):
            found.append(kind)
    return tuple(found)


def same(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> bool:
    """Whether two arrays are equal, found out piece by piece."""
    return len(one) == len(other) and all(
        np.array_equal(one[begin : begin + BLOCK_EDGES], other[begin : begin + BLOCK_EDGES])
        for begin in range(0, len(one), BLOCK_EDGES)
    )


def is_tame(weights: FloatArray | None, strength: FloatArray) -> bool:
    """Whether no product of strengths leaves the range of float64."""
    if weights is None or not len(weights):
        return True
    return bool(float(np.min(weights)) > LEAST and float(np.max(strength)) < LARGEST)
