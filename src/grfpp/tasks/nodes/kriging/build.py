"""From a graph and a kernel to the Gaussian process that kriging asks."""

from __future__ import annotations

import numpy as np

from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.kernels import Kernel
from grfpp.kernels.powers import inverse_power_form
from grfpp.operators import advice_by_parameters
from grfpp.planner import kernel_operator
from grfpp.tasks.nodes.covariance import require_covariance
from grfpp.tasks.nodes.kriging.planned import PlannedProcess
from grfpp.tasks.nodes.kriging.process import Process
from grfpp.tasks.nodes.kriging.smooth import SmoothProcess
from grfpp.typing import FloatArray

#: How right the planner's products are: conjugate gradients stop well above it.
_PRODUCT_TOL = 1e-8
#: Beyond this power a system has lost the digits that its solution would have.
_MOST_POWER = 8


def process_of(
    graph: Graph,
    kernel: Kernel,
    normalization: str | None = "rw",
    scale: float = 1.0,
    method: str | None = None,
    n_jobs: int = -1,
) -> Process:
    """The process with a kernel of a graph.

    Parameters
    ----------
    graph
        Undirected, with its own weights.
    kernel
        The kernel ``g``, nowhere negative between minus and plus the spectral radius.
    normalization
        ``"sym"`` for the covariance ``g(D^-1/2 A D^-1/2)``; ``"rw"`` for ``g(D^-1 A) D^-1``, which
        is symmetric too, and takes constants for the smoothest of all fields; ``None`` for
        ``g(A)``.
    scale
        A factor of the weights.
    method
        Of the planner. Without it whole inverse powers are solved for, without a kernel.
    n_jobs
        Threads.

    Examples
    --------
    >>> from grfpp import Diffusion, RegularizedLaplacian
    >>> graph = Graph([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> for kernel in (RegularizedLaplacian(2), Diffusion(2.0)):
    ...     print(type(process_of(graph, kernel)).__name__)
    SmoothProcess
    PlannedProcess
    """
    if graph.is_directed:
        raise InputError(
            "how='kriging' needs edges without direction, and this graph is directed: use "
            "how='mean', or make the weights symmetric"
        )
    roots = _roots(graph) if normalization == "rw" else np.ones(graph.n_nodes)
    W = graph.normalized(None if normalization is None else "sym", scale)
    with advice_by_parameters(normalization):
        kernel.check_converges(W)
        require_covariance(kernel, W)
        form = inverse_power_form(kernel)
        if method is None and form is not None and form.of == 1 and form.power <= _MOST_POWER:
            power = int(form.power)
            if power == form.power:
                return SmoothProcess(W, roots, form.c, power, n_jobs)
        by = method or "auto"
        K = kernel_operator(W, kernel, _PRODUCT_TOL, method=by, n_jobs=n_jobs, repeatable=True)
    return PlannedProcess(K, roots)


def _roots(graph: Graph) -> FloatArray:
    """Roots of the weighted degrees, in units of their mean; 1 for nodes without neighbours."""
    largest = float(graph.weights.max(initial=0.0)) or 1.0
    rows = np.repeat(np.arange(graph.n_nodes), graph.out_degree)
    strength = np.bincount(rows, graph.weights / largest, minlength=graph.n_nodes)
    has = strength > 0
    roots = np.ones(graph.n_nodes)
    if has.any():
        roots[has] = np.sqrt(strength[has] / strength[has].mean())
    return roots
