"""Graph classification: TUDataset's archives in their raw text format."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from grfpp._memory import require_bytes
from grfpp.datasets.fetch import fetch
from grfpp.datasets.graphs import class_indices
from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.io.matrices import unweighted
from grfpp.io.packed import opened_zip
from grfpp.io.text import input_errors
from grfpp.linalg.csr import readonly
from grfpp.typing import FloatArray, IntArray

#: Peak memory of parsing, relative to the text: numbers, transposes, sorting.
_BYTES_PER_BYTE = 6


@dataclass(frozen=True, eq=False, repr=False)
class TUDataset:
    """A collection of graphs, each with a class.

    Attributes
    ----------
    name
        Name of the data set.
    graphs
        The graphs, undirected, all weights 1, with the self-loops of the file.
    labels
        The class of each graph, from 0.
    classes
        The numbers of the classes in the file, such as -1 and 1.
    node_labels
        For each graph the integer labels of its nodes in the file (one row per node if there are
        several), or ``None`` if nodes have no labels.
    node_attributes
        For each graph one row of real numbers per node, or ``None``.

    Examples
    --------
    >>> from grfpp.datasets import at_hand, load_tudataset
    >>> if at_hand("MUTAG"):
    ...     molecules = load_tudataset("MUTAG")
    ...     assert len(molecules.graphs) == len(molecules.labels) == len(molecules)
    """

    name: str
    graphs: tuple[Graph, ...]
    labels: IntArray
    classes: tuple[int, ...]
    node_labels: tuple[IntArray, ...] | None
    node_attributes: tuple[FloatArray, ...] | None

    def __len__(self) -> int:
        return len(self.graphs)

    def __repr__(self) -> str:
        return f"TUDataset({self.name!r}, {len(self)} graphs, {len(self.classes)} classes)"


def load_tudataset(name: str, *, download: bool = True) -> TUDataset:
    """Load one of TUDataset's collections of graphs, such as ``"MUTAG"``.

    Parameters
    ----------
    name
        Name of a data set of the family ``"tudataset"``; `read_tudataset` reads any other.
    download
        Whether to download a missing file.

    Examples
    --------
    >>> from grfpp.datasets import at_hand, load_tudataset
    >>> if at_hand("MUTAG"):
    ...     molecules = load_tudataset("MUTAG")

    References
    ----------
    Morris et al., "TUDataset: a collection of benchmark datasets for learning with graphs", 2020.
    """
    return read_tudataset(fetch(name, "tudataset", download=download))


def read_tudataset(path: str | Path) -> TUDataset:
    r"""Read an archive in TUDataset's format.

    An edge is one edge, of weight 1, however often and in whichever directions it is listed. Labels
    and attributes of edges are left out.

    Parameters
    ----------
    path
        A zip file with ``DS_A.txt``, ``DS_graph_indicator.txt``, ``DS_graph_labels.txt`` and maybe
        ``DS_node_labels.txt``, ``DS_node_attributes.txt``, where ``DS`` is the data set's name.

    Examples
    --------
    >>> import tempfile, zipfile
    >>> from grfpp.datasets import read_tudataset
    >>> path = f"{tempfile.mkdtemp()}/TWO.zip"
    >>> with zipfile.ZipFile(path, "w") as archive:       # an edge, and a path of three nodes
    ...     archive.writestr("TWO/TWO_A.txt", "1, 2\n3, 4\n4, 5\n")
    ...     archive.writestr("TWO/TWO_graph_indicator.txt", "1\n1\n2\n2\n2\n")
    ...     archive.writestr("TWO/TWO_graph_labels.txt", "-1\n1\n")
    >>> two = read_tudataset(path)
    >>> two, two.graphs[1].n_edges, two.classes
    (TUDataset('TWO', 2 graphs, 2 classes), 2, (-1, 1))

    References
    ----------
    Morris et al., "TUDataset: a collection of benchmark datasets for learning with graphs", 2020.
    """
    file = Path(path)
    with opened_zip(file) as archive:
        tables = _Tables(archive, file)
        classes, labels = class_indices(tables.read("graph_labels", n_columns=1)[:, 0])
        graph_of = tables.indices("graph_indicator", len(labels), n_columns=1)[:, 0]
        sizes, n_nodes = np.bincount(graph_of, minlength=len(labels)), len(graph_of)
        if not sizes.all():
            problem = f"graph {int(np.argmin(sizes)) + 1} has a class, but no nodes"
            raise InputError(f"{tables.name('graph_indicator')}: {problem}")
        ends = tables.indices("A", n_nodes, n_columns=2)
        crossing = np.flatnonzero(graph_of[ends[:, 0]] != graph_of[ends[:, 1]])
        if len(crossing):
            line = f"{tables.name('A')}, line {crossing[0] + 1}"
            raise InputError(f"{line}: the edge joins nodes of two graphs")
        # Files list nodes graph by graph, but the format does not require it.
        order = np.argsort(graph_of, kind="stable")
        starts = np.concatenate([[0], np.cumsum(sizes)])
        parts: list[tuple[Any, ...] | None] = [None, None]
        for i, (table, dtype) in enumerate((("node_labels", int), ("node_attributes", float))):
            if table in tables:
                rows = tables.read(table, dtype, n_rows=n_nodes)[order]
                parts[i] = tuple(readonly(part.copy()) for part in np.split(rows, starts[1:-1]))
    node_labels, attributes = parts
    if node_labels is not None and node_labels[0].shape[1] == 1:
        node_labels = tuple(readonly(column[:, 0]) for column in node_labels)
    blocks = unweighted(np.argsort(order).astype(np.int32)[ends], n_nodes)
    graphs = tuple(Graph(blocks[i:j, i:j]) for i, j in pairwise(starts.tolist()))
    numbers = tuple(classes.tolist())
    return TUDataset(tables.dataset, graphs, labels, numbers, node_labels, attributes)


class _Tables:
    """The comma-separated tables of an archive, by the last part of their names."""

    def __init__(self, archive: zipfile.ZipFile, path: Path) -> None:
        self._archive, self._path = archive, path
        names = [name for name in archive.namelist() if name.endswith("_graph_indicator.txt")]
        if len(names) != 1:
            problem = f"found {len(names)} files DS_graph_indicator.txt instead of one"
            raise InputError(f"{path} is not in TUDataset's format: {problem}")
        self._prefix = names[0].removesuffix("graph_indicator.txt")
        self.dataset = Path(self._prefix).name.removesuffix("_")

    def __contains__(self, table: str) -> bool:
        return f"{self._prefix}{table}.txt" in self._archive.namelist()

    def name(self, table: str) -> str:
        """Archive and table, for errors."""
        return f"{self._path}: {self._prefix}{table}.txt"

    def read(
        self, table: str, dtype: type = np.int64, *, n_columns: int = 0, n_rows: int = 0
    ) -> npt.NDArray[Any]:
        """Read a table of finite numbers; 0 rows or columns for as many as there are."""
        if table not in self:
            raise InputError(f"there is no file {self.name(table)}")
        member = self._archive.getinfo(f"{self._prefix}{table}.txt")
        require_bytes(_BYTES_PER_BYTE * member.file_size, f"reading {self.name(table)}")
        data = self._archive.read(member).rstrip()
        values: npt.NDArray[Any] = np.empty((0, n_columns or 1), dtype)
        with input_errors(self.name(table), ValueError, OverflowError):  # numpy names the row
            if data:
                values = np.loadtxt(io.BytesIO(data), dtype, comments=None, delimiter=",", ndmin=2)
        # numpy skips empty lines, which would shift those that follow.
        shape = (n_rows or data.count(b"\n") + bool(data), n_columns or values.shape[1])
        if values.shape != shape or not np.isfinite(values).all():
            problem = f"expected {shape[0]} lines of {shape[1]} finite numbers"
            raise InputError(f"{self.name(table)}: {problem}, found {values.shape}")
        return values

    def indices(self, table: str, n: int, *, n_columns: int) -> IntArray:
        """Read a table of numbers from 1 to `n`, and subtract 1."""
        values = self.read(table, n_columns=n_columns)
        if len(values) and not 1 <= values.min() <= values.max() <= n:
            raise InputError(f"{self.name(table)}: expected whole numbers from 1 to {n:,}")
        return values - 1
