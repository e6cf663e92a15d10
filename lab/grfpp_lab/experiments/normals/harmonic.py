"""Harmonic and biharmonic functions on a graph: interpolation of a field."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp.errors import InputError
from grfpp.graph import as_graph
from grfpp.linalg.cg import solve
from grfpp.linalg.csr import connected_to, times
from grfpp.tasks.interpolation import known_field
from grfpp.typing import FloatArray

_TOL, _MAX_STEPS = 1e-9, 50_000


def harmonic(graph: Any, nodes: npt.ArrayLike, values: npt.ArrayLike) -> FloatArray:
    """The field that is the mean of its neighbours wherever it is not known.

    It has the smallest ``Σ w_ij (f_i − f_j)²`` of all fields with the known values.

    Parameters
    ----------
    graph
        An undirected `grfpp.Graph`, or anything that it takes.
    nodes
        Indices or names of the nodes where the field is known, each once.
    values
        The field there, of shape ``(n,)`` or ``(n, c)``.

    Returns
    -------
    numpy.ndarray
        The field at all nodes; the mean of the known values in components without a known node.

    Examples
    --------
    >>> import networkx as nx
    >>> harmonic(nx.path_graph(5), [0, 4], [0.0, 8.0])
    array([0., 2., 4., 6., 8.])
    """
    return _smoothest(graph, nodes, values, lambda L, degrees: L)


def biharmonic(
    graph: Any, nodes: npt.ArrayLike, values: npt.ArrayLike, laplacian: str = "combinatorial"
) -> FloatArray:
    """The field whose Laplacian has the smallest squares of all fields with the known values.

    Parameters
    ----------
    graph, nodes, values
        As for `harmonic`.
    laplacian
        ``"combinatorial"`` for ``L = D − A`` and the smallest ``‖L f‖²``; ``"random-walk"`` for
        the smallest ``‖D^-1/2 L f‖²``, where hubs count no more than other nodes.

    Examples
    --------
    >>> import networkx as nx
    >>> biharmonic(nx.cycle_graph(8), [0, 2, 4], [0.0, 1.0, 0.0]).round(3)
    array([ 0.   ,  0.625,  1.   ,  0.625,  0.   , -0.375, -0.5  , -0.375])
    """
    if laplacian == "combinatorial":
        return _smoothest(graph, nodes, values, lambda L, degrees: L @ L)
    return _smoothest(graph, nodes, values, lambda L, degrees: L @ sp.diags_array(1 / degrees) @ L)


def _smoothest(source: Any, nodes: Any, values: Any, energy: Any) -> FloatArray:
    """Minimise ``fᵀ Q f`` at hidden nodes, ``Q = energy(L, degrees)``."""
    graph = as_graph(source)
    if graph.is_directed:
        raise InputError("the graph is directed: a Laplacian needs edges without direction")
    known, given = known_field(nodes, values, graph)
    columns = given.reshape(len(known), -1)
    # In units of the mean degree and of the largest value no square overflows.
    degrees = graph.adjacency.sum(axis=1)
    mean, unit = float(degrees.mean()) or 1.0, float(np.abs(columns).max()) or 1.0
    L = sp.csr_array(sp.diags_array(degrees / mean) - graph.adjacency / mean)
    Q = sp.csr_array(energy(L, np.where(degrees > 0, degrees / mean, 1.0)))
    hidden, field = np.ones((graph.n_nodes, 1)), np.zeros((graph.n_nodes, columns.shape[1]))
    hidden[known], field[known] = 0.0, columns / unit
    diagonal = Q.diagonal()
    diagonal[diagonal <= 0] = 1.0  # isolated nodes, where there is nothing to solve
    found = solve(
        lambda block: hidden * times(Q, hidden * block),
        -hidden * times(Q, field),
        tol=_TOL,
        max_steps=_MAX_STEPS,
        diagonal=diagonal[:, None],
    )
    if not found.converged:
        raise InputError(f"conjugate gradients have not converged in {found.n_steps} steps")
    field = unit * (field + hidden * found.solution)
    field[known] = columns
    field[~connected_to(graph.adjacency, known)] = columns.mean(axis=0)
    return np.asarray(field.reshape(graph.n_nodes, *given.shape[1:]))
