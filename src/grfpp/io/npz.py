"""``.npz`` files: those of `Graph.save` and those of `scipy.sparse.save_npz`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import scipy.sparse as sp

from grfpp.errors import InputError
from grfpp.io.archive import load_arrays, opened_arrays

GRAPH_FORMAT = "grfpp-graph-1"
_SCIPY_KEYS = {"format", "shape", "data"}


def read_npz(path: Path) -> tuple[Any, Sequence[Any] | None]:
    """Read a graph from an ``.npz`` file of either kind; nothing is ever unpickled."""
    with opened_arrays(path) as archive:
        by_scipy = set(archive.files) >= _SCIPY_KEYS
    if not by_scipy:
        return read_saved_graph(path)
    try:
        with path.open("rb") as stream:
            matrix = sp.load_npz(stream)
    except Exception as error:  # any constructor of scipy may refuse, each in its own way
        raise InputError(f"{path}: the stored matrix is damaged ({error})") from None
    return matrix, None


def read_saved_graph(path: str | Path) -> tuple[sp.csr_array, Sequence[Any] | None]:
    """Read what `Graph.save` wrote: the weight matrix and the labels of the nodes."""
    arrays, _ = load_arrays(path, GRAPH_FORMAT)
    labels = arrays.get("node_ids")
    try:
        indptr, indices, weights = (arrays[key] for key in ("indptr", "indices", "weights"))
        n_nodes = len(indptr) - 1
        matrix = sp.csr_array((weights, indices, indptr), shape=(n_nodes, n_nodes))
        matrix.check_format(full_check=True)
        if labels is not None and labels.shape != (n_nodes,):
            raise ValueError(f"labels of shape {labels.shape} for {n_nodes} nodes")
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise InputError(f"{path}: the stored graph is damaged ({error})") from None
    return matrix, None if labels is None else labels.tolist()
