"""The kernel that all estimators of this package share, from the same parameters.

Changing parameters is all it takes to compare methods: ``estimate="exact"`` for the kernel itself,
``degree=1`` for graph random features, ``degree=2`` and more for GRFs++.
"""

from __future__ import annotations

from typing import Any

from grfpp import operators
from grfpp.estimate import KernelEstimate
from grfpp.exact_kernel import ExactKernel
from grfpp.kernels import Kernel
from grfpp.tasks.parameters import walk_options


def kernel_operator(
    graph: Any,
    *,
    kernel: str | Kernel = "diffusion",
    estimate: str = "walks",
    scale: float = 1.0,
    normalization: str | None = "sym",
    random_state: Any = None,
    sigma: float | None = None,
    **walks: Any,
) -> KernelEstimate | ExactKernel:
    """Make the kernel of a graph, estimated by walks or exact, ready to multiply.

    Parameters
    ----------
    graph
        A `Graph`, or anything that `Graph` takes; its own weights, not normalised ones.
    kernel
        A kernel, or how the command line writes it: ``"diffusion"``, ``"diffusion:2"``,
        ``"squared-diffusion"``, … (`grfpp.kernels.kernel_from_spec`).
    estimate
        ``"walks"``, or ``"exact"``: no walks, and the parameters about them are not used.
    scale
        Factor of the weights ``W = scale · D^-1/2 A D^-1/2``, as in `Graph.normalized`, so that
        ``"diffusion"`` is ``exp(scale · D^-1/2 A D^-1/2)``: diffusion for the time `scale`, up to a
        factor. It is the square of the paper's ``σ``, which is one of ``{.5, .6, .8}``.
    normalization
        ``"sym"`` for the above, ``"rw"`` for ``scale · D^-1 A``, ``None`` for ``scale · A``.
    random_state
        A whole number is the seed of the walks. ``None`` draws one; a numpy ``RandomState`` or
        ``Generator`` is asked for one.
    sigma
        Deprecated: the root of `scale`.
    **walks
        `degree`, `n_walks`, `termination`, `reuse_walks`, `n_jobs` and other options about walks:
        see `grfpp.WalkOptions`. Degree 1 is the method of regular graph random features (GRFs).
        ``n_jobs=None`` is one thread.

    Returns
    -------
    KernelEstimate or ExactKernel
        Both are scipy ``LinearOperator``: ``K @ V``, ``K.T``; both have ``n_nodes``, ``rows()``,
        ``diagonal()``, ``toarray()``, ``features()``, ``project()`` and ``meta``.

    Examples
    --------
    >>> import networkx as nx
    >>> graph = nx.karate_club_graph()
    >>> kernel_operator(graph, scale=0.64, random_state=0)
    KernelEstimate(n_nodes=34, degree=2)
    >>> kernel_operator(graph, estimate="exact", scale=0.64)
    ExactKernel(n_nodes=34, kernel=Diffusion(lam=1.0))
    """
    return operators.kernel_operator(
        graph,
        kernel=kernel,
        estimate=estimate,
        scale=operators.scale_of(scale, sigma),
        normalization=normalization,
        options=walk_options(random_state, **walks),
    )
