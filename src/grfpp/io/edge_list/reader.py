"""The bytes of a text edge list -> a weight matrix and the labels of its nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import scipy.sparse as sp

from grfpp.errors import InputError
from grfpp.io.edge_list.attributes import without_attributes
from grfpp.io.edge_list.first_line import FirstLine
from grfpp.io.edge_list.numbering import number_nodes
from grfpp.io.edge_list.parse import parse_edges
from grfpp.io.encodings import as_utf8
from grfpp.io.tables.edge_table import EdgeTable
from grfpp.io.tables.options import EdgeListOptions

SUFFIXES = (".txt", ".tsv", ".csv", ".edges", ".edgelist")


def read_edge_list(
    data: bytes,
    name: str,
    suffix: str,
    *,
    directed: bool | None = None,
    n_nodes: int | None = None,
    options: EdgeListOptions | None = None,
) -> tuple[sp.coo_array, Sequence[Any] | None]:
    """Read a text edge list.

    `options` say how; what they leave open is found out. Labels that are whole numbers are sorted,
    others keep the order in which they appear; with `n_nodes` the nodes are 0 to ``n_nodes - 1``,
    whether or not they have an edge. If `directed`, each line is one arc.
    """
    options = options or EdgeListOptions()
    text = without_attributes(as_utf8(data, name, options.encoding), name)
    first = FirstLine.of(text, name, suffix, options)
    edges = parse_edges(text, first.begin, first.first, first.layout, name)
    if not len(edges.lines) and first.named is None:
        raise first.no_weight(name)
    if not len(edges.lines):
        raise InputError(f"{name} holds no edges, only the column names in line {first.number}")
    edges, ends, n, labels = number_nodes(edges, first, name, n_nodes)
    lines = edges.lines
    table = EdgeTable(ends.T, edges.weights, n, labels, name, lambda i: f"line {lines[i]}")
    del edges  # the text is not needed any more
    return table.matrix(directed=bool(directed), duplicates=options.duplicates), labels
