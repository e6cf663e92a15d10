"""Lists of tuples ``(u, v)`` and ``(u, v, w)`` -> weight matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from grfpp.errors import InputError
from grfpp.io.arrays import real_numbers
from grfpp.io.tables.edge_table import EdgeTable
from grfpp.io.tables.labels import number_labels, number_whole
from grfpp.io.tables.options import EdgeListOptions


def is_edge_tuples(source: Any) -> bool:
    """Whether somebody has listed edges: a list of tuples is never a matrix."""
    return isinstance(source, list) and any(isinstance(each, tuple) for each in source)


def read_edge_tuples(
    edges: Sequence[Any], *, directed: bool | None, n_nodes: int | None, options: EdgeListOptions
) -> tuple[sp.coo_array, Sequence[Any] | None]:
    """Read a list of edges, as one reads a file of them."""
    options.require_only(("duplicates",), "lists of edges")
    for edge in edges:
        if not isinstance(edge, tuple) or len(edge) not in (2, 3):
            raise InputError(
                "a list of tuples is a list of edges, each (u, v) or (u, v, weight), found "
                f"{edge!r}; pass a weight matrix as a list of lists or as an array"
            )
    odd = next((edge for edge in edges if len(edge) != len(edges[0])), None)
    if odd is not None:
        raise InputError(
            "either all edges of a list have a weight or none has, found "
            f"{edges[0]!r} and {odd!r}; write the weights that are missing"
        )
    weights = real_numbers(
        [edge[2] if len(edge) == 3 else 1.0 for edge in edges],
        lambda i: f"the edge {edges[i][:2]!r}",
    )
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(bad):
        raise InputError(f"weights must be finite and not negative, found {edges[bad[0]]!r}")
    ends, n, labels = _numbered([end for edge in edges for end in edge[:2]], n_nodes)
    origin = "the list of edges"
    table = EdgeTable(ends.reshape(-1, 2).T, weights, n, labels, origin, lambda i: f"number {i}")
    return table.matrix(directed=bool(directed), duplicates=options.duplicates), labels


def _numbered(ends: list[Any], n_nodes: int | None) -> tuple[Any, int, Sequence[Any] | None]:
    if all(isinstance(end, str) for end in ends):
        numbers, labels = number_labels(ends)
        return numbers, len(labels), labels
    for end in ends:
        if isinstance(end, bool | np.bool_) or not isinstance(end, int | np.integer):
            raise InputError(
                "the nodes of a list of edges must be all text or all whole numbers, found "
                f"{end!r} among them"
            )
    try:
        return number_whole(np.array(ends, dtype=np.int64), "the list of edges", n_nodes)
    except OverflowError:  # more than 64 bits
        raise InputError(
            "whole numbers of more than 64 bits must be given as text in a list of edges"
        ) from None
