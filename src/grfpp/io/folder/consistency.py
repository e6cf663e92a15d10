"""Check that the arrays of a graph's folder do not contradict each other or the header.

`grfpp.io.folder.layout` checks each array by itself. Compiled loops also rely on what holds between
arrays: the columns are the transpose of the rows, and names are sorted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from grfpp._memory import require_bytes
from grfpp.io.folder.layout import HEADER, Header, damaged, mapped_array, rows_of
from grfpp.io.folder.writer import counted
from grfpp.nodes import Texts
from grfpp.normalization import Rows

#: Names that are compared at a time.
_NAMES_PER_BLOCK = 1 << 18


def verify_consistency(folder: Path, header: Header) -> None:
    """Raise an `InputError` that names the file where arrays, which are valid each, contradict.

    Besides a block of edges, it takes 8 bytes a node.
    """
    require_bytes(8 * header.n_nodes, f"verifying a graph of {header.n_nodes:,} nodes")
    arrays = {name: mapped_array(folder, name) for name in header.arrays}
    rows, columns = rows_of(arrays), rows_of(arrays, "in_") if header.directed else None
    if not _is_transpose(rows, rows if columns is None else columns):
        if columns is None:
            problem = "the graph is undirected by its header, but not symmetric"
            raise damaged(folder, "indices", problem)
        raise damaged(folder, "in_indices", "the columns are not those of the rows")
    order = arrays.get("name_order")
    if header.names and not all(map(_is_sorted, _blocks_of_names(arrays, order))):
        name = "name_numbers" if order is None else "name_order"
        raise damaged(folder, name, "the names are not in the order of lookups")
    found = counted(rows, columns, arrays.get("out_strength"), arrays.get("in_strength"))
    if wrong := [name for name in found if found[name] != getattr(header, name)]:
        raise damaged(folder, HEADER, f"{wrong[0]} is not that of the arrays")


def _is_transpose(rows: Rows, columns: Rows) -> bool:
    """Whether `columns` are the columns of the matrix with these rows.

    Rows are read in their order, so that the entries of a column come in its order too. For each
    column, `filled` counts those that have come.
    """
    starts, n_in = columns.indptr[:-1], np.diff(columns.indptr)
    if len(rows.indices) != len(columns.indices):
        return False
    filled = np.zeros(len(starts), np.int64)
    for first, block in rows.blocks():
        order = np.argsort(block.indices, kind="stable")
        targets, counts = np.unique(block.indices[order], return_counts=True)
        if (filled[targets] + counts > n_in[targets]).any():
            return False
        # Rank of an entry among those of its column in this block.
        ranks = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
        places = np.repeat(starts[targets] + filled[targets], counts) + ranks
        pairs: list[Any] = [(columns.indices, first + block.sources())]
        if columns.weights is not None:
            pairs.append((columns.weights, block.weights))
        if not all(np.array_equal(there[places], here[order]) for there, here in pairs):
            return False
        filled[targets] += counts
    return True


def _blocks_of_names(
    arrays: Mapping[str, npt.NDArray[Any]], order: npt.NDArray[Any] | None
) -> Iterator[Any]:
    """The names in the order of lookups, in blocks that overlap by one."""
    numbers = arrays.get("name_numbers")
    texts = None if numbers is not None else Texts(arrays["name_text"], arrays["name_ends"])
    n = len(arrays["indptr"]) - 1
    for start in range(0, n, _NAMES_PER_BLOCK):
        block: Any = slice(max(start - 1, 0), start + _NAMES_PER_BLOCK)
        block = block if order is None else order[block]
        if numbers is not None:
            yield numbers[block]
        else:
            assert texts is not None
            yield list(map(texts.raw, block.tolist()))


def _is_sorted(names: Any) -> bool:
    if isinstance(names, list):
        return all(a <= b for a, b in pairwise(names))
    return bool((names[1:] >= names[:-1]).all())
