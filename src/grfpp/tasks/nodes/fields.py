"""Fields on nodes at the door: where they are known, what they are there."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.tasks.nodes.inputs import read_nodes
from grfpp.typing import FloatArray, IntArray


def known_field(X: Any, y: npt.ArrayLike, graph: Graph) -> tuple[IntArray, FloatArray]:
    """Nodes, each once, and real, finite values there, of shape ``(n,)`` or ``(n, c)``.

    Examples
    --------
    >>> known_field([2, 0], [1, 5], Graph([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    (array([2, 0]), array([1., 5.]))
    """
    known = read_nodes(X, graph.names)
    n, values = len(known), np.asarray(y)
    if values.ndim not in (1, 2) or values.shape[0] != n or values.dtype.kind not in "buif":
        raise InputError(
            f"y must hold real numbers of shape ({n},) or ({n}, c), a row a known node, found "
            f"shape {values.shape} and dtype {values.dtype}"
        )
    if not np.isfinite(values).all():
        raise InputError("y must be finite; leave out the nodes where the field is not known")
    if values.ndim == 2 and values.shape[1] == 0:
        raise InputError("y has no columns")
    if len(np.unique(known)) < n:
        counts = np.bincount(known)
        raise InputError(
            f"each known node must appear once, found node {counts.argmax()} {counts.max()} times"
        )
    return known, values.astype(np.float64)


def reached_nodes(graph: Graph, known: IntArray) -> npt.NDArray[np.bool_]:
    """Which nodes lie in a component with a known one.

    Examples
    --------
    >>> reached_nodes(Graph([[0, 1, 0], [1, 0, 0], [0, 0, 0]]), np.array([1]))
    array([ True,  True, False])
    """
    from scipy.sparse.csgraph import connected_components

    n_parts, part = connected_components(graph.adjacency, directed=False)
    has_known = np.zeros(n_parts, bool)
    has_known[part[known]] = True
    return np.asarray(has_known[part])
