"""``.npz`` files: those of `Graph.save` and those of `scipy.sparse.save_npz`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy.typing as npt
import scipy.sparse as sp

from grfpp.errors import InputError
from grfpp.io import structure
from grfpp.io.edges import check_node_count
from grfpp.io.storage.archive import opened_kind
from grfpp.io.storage.stored_arrays import StoredArrays, opened_arrays
from grfpp.io.text import naming

GRAPH_FORMAT = "grfpp-graph-1"
_SCIPY_KEYS = {"format", "shape", "data"}
#: What scipy stores of each format beside the values, in the order in which `structure` takes it.
_SCIPY_PARTS = {
    "csr": ("indices", "indptr"),
    "csc": ("indices", "indptr"),
    "bsr": ("indices", "indptr"),
    "coo": ("row", "col"),
    "dia": ("offsets",),
}
# The arrays are there as they are stored, in the types of a graph, and in its canonical form.
_TIMES_IN_MEMORY = 3.5


def read_npz(path: Path) -> tuple[Any, Sequence[Any] | None]:
    """Read a graph from an ``.npz`` file of either kind; nothing is ever unpickled."""
    with opened_arrays(path) as arrays:
        if arrays.keys() >= _SCIPY_KEYS:
            return _by_scipy(arrays, path), None
    return read_saved_graph(path)


def _by_scipy(arrays: StoredArrays, path: Path) -> Any:
    word: Any = arrays["format"].tolist()
    kind = word.decode("latin1") if isinstance(word, bytes) else str(word)
    if kind not in _SCIPY_PARTS:
        raise _damaged(path, "matrix", f"the format {kind[:20]!r} is not known")
    numbers = arrays["shape"]
    if numbers.shape != (2,) or numbers.dtype.kind not in "iu" or numbers.min() < 0:
        raise _damaged(path, "matrix", f"{numbers.tolist()} is not the shape of a matrix")
    shape = (int(numbers[0]), int(numbers[1]))
    check_node_count(max(shape), str(path))
    values, first, *second = _read(arrays, ("data", *_SCIPY_PARTS[kind]), path, "matrix")
    with naming(f"{path}: the stored matrix is damaged"):
        if kind == "dia":
            return structure.diagonals(values, first, shape)
        if kind == "coo":
            return structure.coordinates(values, first, second[0], shape)
        if (values.ndim == 3) is not (kind == "bsr"):
            raise InputError(f"values of shape {values.shape} in a matrix in {kind} form")
        return structure.compressed(values, first, second[0], shape, by_row=kind != "csc")


def read_saved_graph(path: str | Path) -> tuple[sp.csr_array, Sequence[Any] | None]:
    """Read what `Graph.save` wrote: the weight matrix and the labels of the nodes."""
    with opened_kind(path, GRAPH_FORMAT) as (arrays, _):
        labels = "node_ids" in arrays
        names = ("weights", "indices", "indptr", *(["node_ids"] if labels else []))
        weights, indices, indptr, *ids = _read(arrays, names, path, "graph")
    n_nodes = max(0, indptr.size - 1)
    check_node_count(n_nodes, str(path))
    with naming(f"{path}: the stored graph is damaged"):
        if weights.ndim != 1 or weights.dtype.kind not in "buif":
            raise InputError(f"weights of {weights.dtype} and shape {weights.shape}")
        matrix = structure.compressed(weights, indices, indptr, (n_nodes, n_nodes))
        if matrix.nnz != len(weights):
            raise InputError(f"its rows hold {matrix.nnz:,} of {len(weights):,} weights")
        return matrix, read_labels(ids[0], n_nodes) if labels else None


def read_labels(stored: npt.NDArray[Any], n_nodes: int) -> list[Any]:
    """Check the labels of nodes that were stored: whole numbers, or text."""
    if stored.shape != (n_nodes,):
        raise InputError(f"labels of shape {stored.shape} for {n_nodes} nodes")
    if stored.dtype.kind not in "iuU":
        raise InputError(f"labels must be text or whole numbers, found {stored.dtype}")
    labels: list[Any] = stored.tolist()
    return labels


def _read(arrays: StoredArrays, names: Sequence[str], path: str | Path, what: str) -> list[Any]:
    """Read the arrays that are needed, once it is known that there is room for what they become."""
    missing = [name for name in names if name not in arrays]
    if missing:
        raise _damaged(path, what, f"there is no array {missing[0]!r}")
    arrays.require_memory(names, _TIMES_IN_MEMORY, f"the {what} in")
    return [arrays[name] for name in names]


def _damaged(path: str | Path, what: str, problem: str) -> InputError:
    return InputError(f"{path}: the stored {what} is damaged ({problem})")
