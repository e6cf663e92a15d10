"""Graph classification: TUDataset's archives in their raw text format."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from grfpp.datasets.arrays import numbered, read_only
from grfpp.datasets.fetch import fetch
from grfpp.datasets.text_tables import integers, natural_numbers, numbers
from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.io.edges import unweighted
from grfpp.io.storage.packed import opened_zip
from grfpp.io.text import at_line
from grfpp.memory import require_bytes
from grfpp.typing import FloatArray, IntArray

#: The graph of REDDIT-BINARY that the paper estimates at long range: the only connected one with
#: 436 nodes and diameter 19.
LONG_REDDIT_GRAPH = 663


@dataclass(frozen=True, eq=False, repr=False)
class TUDataset:
    """Graphs with a class each.

    Attributes
    ----------
    name
        The data set.
    graphs
        Undirected, all weights 1, self-loops as they are in the file.
    labels
        The class of each graph, from 0.
    classes
        The numbers that the file gives the classes, such as -1 and 1.
    node_labels
        For each graph the whole numbers that its nodes have, as they are in the file (a row a node
        where there are several), or ``None`` where nodes have none.
    node_attributes
        For each graph a row of real numbers a node, or ``None``.
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
        Of a data set in the family ``"tudataset"``. Others can be read by `read_tudataset`.
    download
        Whether to download what is not at hand.
    """
    return read_tudataset(fetch(name, "tudataset", download=download))


def read_tudataset(path: str | Path) -> TUDataset:
    """Read an archive in TUDataset's format.

    An edge is one edge, of weight 1, however often and in whichever directions it is listed. Labels
    and attributes of edges are left out.

    Parameters
    ----------
    path
        A zip file with ``DS_A.txt``, ``DS_graph_indicator.txt``, ``DS_graph_labels.txt`` and maybe
        ``DS_node_labels.txt``, ``DS_node_attributes.txt``, where ``DS`` is the data set's name.
    """
    file = Path(path)
    with opened_zip(file) as archive:
        raw = _Archive(archive, str(file))
        of_graphs = integers(*raw.table("graph_labels"))
        if of_graphs.ndim != 1:
            raise at_line(raw.name_of("graph_labels"), 1, "expected one class a line")
        classes, labels = numbered(of_graphs)
        n_graphs = len(labels)
        graph_of = natural_numbers(*raw.table("graph_indicator"), 1, n_graphs)[:, 0] - 1
        n_nodes = len(graph_of)
        sizes = np.bincount(graph_of, minlength=n_graphs)
        if not sizes.all():
            raise InputError(
                f"{raw.name_of('graph_indicator')}: graph {int(np.argmin(sizes)) + 1} has no "
                f"nodes, but {raw.name_of('graph_labels')} has a class for it"
            )
        ends = natural_numbers(*raw.table("A"), 2, n_nodes) - 1
        crossing = np.flatnonzero(graph_of[ends[:, 0]] != graph_of[ends[:, 1]])
        if len(crossing):
            raise at_line(
                raw.name_of("A"), int(crossing[0]) + 1, "the edge joins nodes of two graphs"
            )
        # Nodes graph by graph, as they are in all files but need not be.
        order = np.argsort(graph_of, kind="stable")
        starts = np.concatenate([[0], np.cumsum(sizes)])
        node_labels, attributes = (
            _split(read(*raw.table(name), n_nodes)[order], starts) if raw.has(name) else None
            for read, name in ((integers, "node_labels"), (numbers, "node_attributes"))
        )
    blocks = unweighted(np.argsort(order).astype(np.int32)[ends], n_nodes)
    return TUDataset(
        name=raw.dataset,
        graphs=tuple(Graph(blocks[i:j, i:j]) for i, j in pairwise(starts.tolist())),
        labels=labels,
        classes=tuple(classes.tolist()),
        node_labels=node_labels,
        node_attributes=attributes,
    )


def _split(rows: npt.NDArray[Any], starts: IntArray) -> tuple[Any, ...]:
    return tuple(read_only(part.copy()) for part in np.split(rows, starts[1:-1]))


# Parsing takes a few times what the text does: two numbers a line, their transposes, sorting.
_MEMORY_PER_BYTE = 6


class _Archive:
    """The tables of an archive by their names."""

    def __init__(self, archive: zipfile.ZipFile, path: str) -> None:
        self._archive = archive
        self._path = path
        tables = [name for name in archive.namelist() if name.endswith("_graph_indicator.txt")]
        if len(tables) != 1:
            raise InputError(
                f"{path} is not in TUDataset's format: it must hold one file "
                f"DS_graph_indicator.txt, where DS is the data set's name, found {len(tables)}"
            )
        self._prefix = tables[0].removesuffix("graph_indicator.txt")
        self.dataset = Path(self._prefix).name.removesuffix("_")

    def has(self, table: str) -> bool:
        return f"{self._prefix}{table}.txt" in self._archive.namelist()

    def name_of(self, table: str) -> str:
        return f"{self._path}: {self._prefix}{table}.txt"

    def table(self, name: str) -> tuple[bytes, str]:
        """The bytes of a table, and what errors call it."""
        if not self.has(name):
            raise InputError(f"{self._path} holds no file {self._prefix}{name}.txt")
        member = self._archive.getinfo(f"{self._prefix}{name}.txt")
        require_bytes(_MEMORY_PER_BYTE * member.file_size, f"reading {self.name_of(name)}")
        return self._archive.read(member), self.name_of(name)
