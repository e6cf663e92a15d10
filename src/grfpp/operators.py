"""From a graph and what is chosen about its kernel to an operator that multiplies.

What tasks and torch modules share: they hold the graph as it came, a factor of its weights and a
normalisation, where `grfpp.sample` takes the weight matrix itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from grfpp.arguments import one_of, positive
from grfpp.errors import InputError, Wording, warn_user
from grfpp.estimate import KernelEstimate
from grfpp.exact_kernel import ExactKernel
from grfpp.graph import Graph, as_graph
from grfpp.kernels import Kernel, kernel_of
from grfpp.options import WalkOptions
from grfpp.sampling import sample_estimate

#: How remedies are written where weights are chosen by `scale` and `normalization`; there is no
#: parameter for what is left out.
_PARAMETERS: Wording = {
    "scale": lambda scale: f"use scale={scale:g}",
    "smaller weights": lambda _: "use a smaller scale",
    "law": lambda law: f"use {law!r} or longer walks",
    "degree": lambda degree: f"use degree={degree}",
    "other": str,
}


def kernel_operator(
    graph: Any,
    *,
    kernel: str | Kernel = "diffusion",
    estimate: str = "walks",
    scale: float = 1.0,
    normalization: str | None = "sym",
    options: WalkOptions,
) -> KernelEstimate | ExactKernel:
    """Make the kernel of a graph, estimated by walks or exact, ready to multiply.

    Parameters
    ----------
    graph
        A `Graph`, or anything that `Graph` takes; its own weights, not normalised ones.
    kernel
        A kernel, or how the command line writes it (`grfpp.kernels.kernel_of`).
    estimate
        ``"walks"``, or ``"exact"``: no walks, and their options are not used.
    scale, normalization
        The weights of the kernel: ``scale · D^-1/2 A D^-1/2`` for ``"sym"``, ``scale · D^-1 A`` for
        ``"rw"``, ``scale · A`` for ``None``.
    options
        About walks.

    Returns
    -------
    KernelEstimate or ExactKernel
        Both are scipy ``LinearOperator``: ``K @ V``, ``K.T``; both have ``n_nodes``, ``rows()``,
        ``diagonal()``, ``toarray()``, ``features()``, ``project()`` and ``meta``.

    Examples
    --------
    >>> import networkx as nx
    >>> kernel_operator(nx.karate_club_graph(), scale=0.64, options=WalkOptions(seed=0))
    KernelEstimate(n_nodes=34, degree=2)
    """
    function, is_exact = kernel_and_method(kernel, estimate)
    W = scaled_weights(graph, scale, normalization)
    with advice_by_parameters(normalization):
        if is_exact:
            return ExactKernel(W, function)
        return sample_estimate(W, function, options)


def scaled_weights(graph: Any, scale: float = 1.0, normalization: Any = "sym") -> Graph:
    """The weight matrix of a kernel, `scale` times the normalised adjacency."""
    one_of(normalization, "normalization", ("sym", "rw", None))
    return as_graph(graph).normalized(normalization, scale)


def kernel_and_method(kernel: str | Kernel, estimate: str = "walks") -> tuple[Kernel, bool]:
    """The kernel, and whether it is wanted exactly, not estimated by walks.

    ``kernel="exact"`` is how ``estimate="exact"`` with the default kernel was once written.

    Examples
    --------
    >>> kernel_and_method("diffusion:2", "exact")
    (Diffusion(lam=2.0), True)
    """
    one_of(estimate, "estimate", ("walks", "exact"))
    if isinstance(kernel, str) and kernel == "exact":
        warn_user("kernel='exact' is now estimate='exact'", DeprecationWarning)
        return kernel_of("diffusion"), True
    return kernel_of(kernel), estimate == "exact"


def scale_of(scale: float, sigma: float | None) -> float:
    """`scale`, or the square of `sigma`, which is what it was once given by.

    Examples
    --------
    >>> scale_of(0.81, None)
    0.81
    """
    if sigma is None:
        return positive(scale, "scale")
    width = positive(sigma, "sigma")
    if not 1e-150 < width < 1e150:
        raise InputError(f"sigma must have a square that is a number, found {width:g}")
    warn_user(f"sigma={width:g} is now scale={width * width:g}, its square", DeprecationWarning)
    return width * width


@contextmanager
def advice_by_parameters(normalization: str | None = "sym") -> Iterator[None]:
    """Let errors advise what can be done with `scale` and `normalization`."""
    wording = dict(_PARAMETERS)
    if normalization != "sym":
        wording["scale"] = lambda scale: f"use normalization='sym' with scale={scale:g}"
    try:
        yield
    except InputError as error:
        error.args = (error.worded(wording),)
        raise
