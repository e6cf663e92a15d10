"""Harmonic and biharmonic functions on a graph: textbook ways to fill in a field."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp.arguments import one_of
from grfpp.errors import InputError
from grfpp.graph import Graph, as_graph
from grfpp.linalg.products import matmat
from grfpp.linalg.solvers.preconditioned import solve_columns
from grfpp.memory import require_bytes
from grfpp.tasks.nodes.fields import known_field, reached_nodes
from grfpp.typing import FloatArray

_TOL, _MOST_STEPS = 1e-9, 50_000
LAPLACIANS = ("combinatorial", "random-walk")


def harmonic(graph: Any, nodes: npt.ArrayLike, values: npt.ArrayLike) -> FloatArray:
    """The field that is the mean of its neighbours wherever it is not known.

    It has the smallest ``Σ w_ij (f_i − f_j)²`` of all fields with the known values, and none of
    its values leaves their range.

    Parameters
    ----------
    graph
        An undirected `grfpp.Graph`, or anything that it takes.
    nodes
        Numbers or names of the nodes where the field is known, each once.
    values
        The field there, of shape ``(n,)`` or ``(n, c)``.

    Returns
    -------
    numpy.ndarray
        The field at all nodes. In components without a known node it is the mean of the known
        values.

    Examples
    --------
    >>> import networkx as nx
    >>> harmonic(nx.path_graph(5), [0, 4], [0.0, 8.0])
    array([0., 2., 4., 6., 8.])
    """
    return _filled(graph, nodes, values, lambda L, degrees: [L])


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
        the smallest ``‖D^-1/2 L f‖²``, where nodes of many neighbours count no more than others.

    Returns
    -------
    numpy.ndarray
        As that of `harmonic`.

    Examples
    --------
    >>> import networkx as nx
    >>> ring = nx.cycle_graph(8)
    >>> biharmonic(ring, [0, 2, 4], [0.0, 1.0, 0.0]).round(3)
    array([ 0.   ,  0.625,  1.   ,  0.625,  0.   , -0.375, -0.5  , -0.375])
    """
    if one_of(laplacian, "laplacian", LAPLACIANS) == "combinatorial":
        return _filled(graph, nodes, values, lambda L, degrees: [L, L])
    return _filled(graph, nodes, values, lambda L, degrees: [L, sp.diags_array(1 / degrees), L])


def _filled(source: Any, nodes: Any, values: Any, factors: Any) -> FloatArray:
    """Minimise ``fᵀ Q f`` at hidden nodes, ``Q`` the product of the factors."""
    graph = as_graph(source)
    known, given = known_field(nodes, values, graph)
    columns = given.reshape(len(known), -1)
    unit = float(np.abs(columns).max()) or 1.0
    Q = _energy(graph, factors)
    n, width = graph.n_nodes, columns.shape[1]
    require_bytes(8 * 8 * n * width, "the field")
    hidden = np.ones((n, 1))
    hidden[known] = 0.0
    field = np.zeros((n, width))
    field[known] = columns / unit
    diagonal = Q.diagonal()
    # Nodes without neighbours have zeros; there is nothing to solve for them.
    diagonal[diagonal <= 0] = 1.0
    found = solve_columns(
        lambda block: hidden * matmat(Q, hidden * block),
        diagonal[:, None],
        -hidden * matmat(Q, field),
        _TOL,
        _MOST_STEPS,
    )
    if not found.converged:
        raise InputError(
            f"conjugate gradients have not converged after {found.n_steps} steps: the weights are "
            "too far apart, or too few nodes are known"
        )
    field += hidden * found.solution
    field *= unit
    field[known] = columns
    field[~reached_nodes(graph, known)] = columns.mean(axis=0)
    return field.reshape(n, *given.shape[1:])


def _energy(graph: Graph, factors: Any) -> sp.csr_array:
    if graph.is_directed:
        raise InputError("the graph is directed: a Laplacian needs edges without direction")
    A = graph.adjacency
    # In units of the mean degree no square overflows, and the solution is the same.
    degrees = A.sum(axis=1)
    unit = float(degrees.mean()) or 1.0
    safe = np.where(degrees > 0, degrees / unit, 1.0)
    L = sp.csr_array(sp.diags_array(degrees / unit) - A / unit)
    first, *others = factors(L, safe)
    for other in others:
        first = first @ other
    return sp.csr_array(first)
