"""Sums of known values, weighted by a kernel: one product."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from grfpp.errors import InputError
from grfpp.exact_kernel import ExactKernel
from grfpp.graph import Graph
from grfpp.memory import require_bytes
from grfpp.operators import KernelChoice, how_made
from grfpp.planner import KernelOperator
from grfpp.typing import FloatArray, IntArray

_EXACT_TOL = 1e-12
#: Below this share of the largest mass, rounding decides what an exact product gives.
_RESOLVED = 1e-10


class KernelSums(NamedTuple):
    """``Σ_j K(i, j) F_j`` over the known nodes ``j``, for all nodes ``i``."""

    sums: FloatArray
    #: ``Σ_j K(i, j)``.
    mass: FloatArray
    #: Whether the known nodes tell anything about a node.
    reached: npt.NDArray[np.bool_]
    #: How the product was made.
    method: str

    def means(self, elsewhere: FloatArray) -> FloatArray:
        """Sums over mass, and another value where nothing is told."""
        if (self.mass[self.reached] < 0).any():
            raise InputError(
                "output 'mean' divides by the kernel's mass, which is negative at some nodes; "
                "use a kernel without negative coefficients, such as 'diffusion', or "
                "output='sum'"
            )
        filled = np.broadcast_to(elsewhere, self.sums.shape).copy()
        np.divide(self.sums, self.mass[:, None], out=filled, where=self.reached[:, None])
        return filled


def kernel_sums(
    choice: KernelChoice, graph: Graph, known: IntArray, columns: FloatArray
) -> KernelSums:
    """Multiply the known values with the kernel.

    Examples
    --------
    >>> graph = Graph([[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    >>> found = kernel_sums(
    ...     KernelChoice.of(estimate="exact"), graph, np.array([0]), np.array([[3.0]])
    ... )
    >>> found.means(np.array([0.0])).ravel(), found.reached
    (array([3., 3., 0.]), array([ True,  True, False]))
    """
    # One column more: the field that is 1 wherever it is known, for the mass.
    require_bytes(16 * graph.n_nodes * (columns.shape[1] + 1), "the field")
    field = np.zeros((graph.n_nodes, columns.shape[1] + 1))
    field[known] = np.column_stack([columns, np.ones(len(known))])
    K = choice.operator(graph, tol=_EXACT_TOL)
    if isinstance(K, KernelOperator):
        product, noise = np.asarray(K @ field), _RESOLVED
    elif isinstance(K, ExactKernel):
        # Not through the dense kernel: between components it has rounding in place of zeros.
        product, noise = K.kernel.apply(K.W, field, tol=_EXACT_TOL), _RESOLVED
    else:
        product, noise = np.asarray(K @ field), 0.0
    mass = product[:, -1].copy()
    reached = np.abs(mass) > noise * np.abs(mass).max()
    return KernelSums(product[:, :-1].copy(), mass, reached, how_made(K))
