"""From the parameters that all estimators of this package share to a kernel that multiplies.

Changing parameters is all it takes to compare methods: ``estimate="exact"`` for the kernel itself,
``degree=1`` for graph random features, ``degree=2`` and more for GRFs++.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal, cast

import numpy as np

from grfpp.arguments import positive, whole
from grfpp.errors import InputError
from grfpp.estimate import KernelEstimate
from grfpp.exact_kernel import ExactKernel
from grfpp.graph import Graph, as_graph
from grfpp.kernels import Kernel, kernel_from_spec
from grfpp.kernels import kernel_of as kernel_of
from grfpp.parallel import thread_count
from grfpp.sampling import sample
from grfpp.termination import Termination, termination_from_spec

#: What an estimator passes on, as attributes of the same names; see `kernel_operator`.
PARAMETERS = (
    "kernel",
    "estimate",
    "degree",
    "n_walks",
    "termination",
    "sigma",
    "normalization",
    "reuse_walks",
    "random_state",
    "n_jobs",
)


def kernel_operator(
    graph: Any,
    *,
    kernel: str | Kernel = "diffusion",
    estimate: str = "walks",
    degree: int = 2,
    n_walks: int = 16,
    termination: str | Termination = "geometric:0.1",
    sigma: float = 1.0,
    normalization: str | None = "sym",
    reuse_walks: bool = False,
    random_state: Any = None,
    n_jobs: int | None = -1,
    storage: Literal["memory", "recompute"] = "memory",
) -> KernelEstimate | ExactKernel:
    """Make the kernel of a graph, estimated by walks or exact, ready to multiply.

    Parameters
    ----------
    graph
        A `Graph`, or anything that `Graph` takes; its own weights, not normalised ones.
    kernel
        A kernel, or how the command line writes it: ``"diffusion"``, ``"diffusion:2"``,
        ``"squared-diffusion"``, … (`grfpp.kernels.kernel_from_spec`). ``"exact"`` is short for
        ``kernel="diffusion", estimate="exact"``.
    estimate
        ``"walks"``, or ``"exact"``: no walks, and the parameters about them are not used.
    degree
        Stitching degree. Degree 1 is the method of regular graph random features (GRFs).
    n_walks
        Walks from every node for every factor.
    termination
        The law of the walk lengths: a law, or how the command line writes it.
    sigma
        Width ``σ`` of the kernel. The weights are ``W = σ² D^-1/2 A D^-1/2``, so that
        ``"diffusion"`` is ``exp(σ² D^-1/2 A D^-1/2)``: diffusion for the time ``σ²``, up to a
        factor. This is the ``σ`` of the paper's ``{.5, .6, .8}``; `Graph.normalized` and
        `grfpp reproduce` take its square.
    normalization
        ``"sym"`` for the above, ``"rw"`` for ``σ² D^-1 A``, ``None`` for ``σ² A``.
    reuse_walks
        One set of walks for all factors: cheaper, biased.
    random_state
        A whole number is the seed of the walks. ``None`` draws one; a numpy ``RandomState`` or
        ``Generator`` is asked for one.
    n_jobs
        Threads, -1 for all cores, ``None`` for one; the result is the same for any number of them.
    storage
        As for `grfpp.sample`: ``"recompute"`` walks when a product is asked for, and not before.

    Returns
    -------
    KernelEstimate or ExactKernel
        Both are scipy ``LinearOperator``: ``K @ V``, ``K.T``; both have ``n_nodes``, ``rows()``,
        ``diagonal()``, ``toarray()``, ``features()``, ``project()`` and ``meta``.

    Examples
    --------
    >>> import networkx as nx
    >>> graph = nx.karate_club_graph()
    >>> kernel_operator(graph, sigma=0.8, random_state=0)
    KernelEstimate(n_nodes=34, degree=2)
    >>> kernel_operator(graph, kernel="exact", sigma=0.8)
    ExactKernel(n_nodes=34, kernel=Diffusion(lam=1.0))
    """
    function, how = kernel_and_method(kernel, estimate)
    W = weights_of(graph, sigma, normalization)
    n_threads = threads_of(n_jobs)
    with advice_for_tasks(normalization):
        if how == "exact":
            return ExactKernel(W, function)
        return sample(
            W,
            function,
            degree=degree,
            n_walks=n_walks,
            termination=law_of(termination),
            seed=seed_of(random_state),
            reuse_walks=bool(reuse_walks),
            n_jobs=n_threads,
            storage=storage,
        )


def operator_of(estimator: Any, graph: Any, **changes: Any) -> KernelEstimate | ExactKernel:
    """`kernel_operator` with the parameters that an estimator holds, but for some changes."""
    return kernel_operator(graph, **{**kernel_parameters(estimator), **changes})


def kernel_parameters(estimator: Any) -> dict[str, Any]:
    """What an estimator has to say about its kernel: names of `kernel_operator` and values."""
    return {name: getattr(estimator, name) for name in PARAMETERS}


@contextmanager
def advice_for_tasks(normalization: str | None = "sym") -> Iterator[None]:
    """Let errors advise what can be done with the parameters of this package."""
    try:
        yield
    except InputError as error:
        error.args = (advice_with_sigma(str(error), normalization),)
        raise


def advice_with_sigma(message: str, normalization: str | None = "sym") -> str:
    """What the library says about scales, in terms of the ``σ`` of this package.

    Examples
    --------
    >>> advice_with_sigma("use graph.normalized('sym', scale=0.81), or wait")
    'use sigma=0.9, or wait'
    >>> advice_with_sigma("Use Geometric(0.2), or pass truncate=True to cut it off")
    'Use Geometric(0.2)'
    """
    scale = r"graph\.normalized\('sym', scale=([0-9.e-]+)\)"
    if normalization == "sym":
        message = re.sub(scale, lambda found: f"sigma={float(found[1]) ** 0.5:.2g}", message)
    else:
        message = re.sub(
            scale,
            lambda found: f"normalization='sym' with sigma={float(found[1]) ** 0.5:.2g}",
            message,
        )
    message = re.sub(r", or multiply the weights by [0-9.e-]+", "", message)
    message = re.sub(r",? or pass truncate=True[^.;]*", "", message)
    return re.sub(r"graph\.normalized\('sym'(, scale)?\)", "a smaller sigma", message)


def kernel_and_method(kernel: str | Kernel, estimate: str = "walks") -> tuple[Kernel, str]:
    """The kernel, and ``"walks"`` or ``"exact"``.

    Examples
    --------
    >>> kernel_and_method("exact")
    (Diffusion(lam=1.0), 'exact')
    """
    if estimate not in ("walks", "exact"):
        raise InputError(f"estimate must be 'walks' or 'exact', not {estimate!r}")
    if kernel == "exact":
        return kernel_from_spec("diffusion"), "exact"
    return kernel_of(kernel), estimate


def law_of(termination: str | Termination) -> Termination:
    """The law of the walk lengths."""
    if isinstance(termination, Termination):
        return termination
    if not isinstance(termination, str):
        raise InputError(
            f"termination must be a law or text such as 'geometric:0.1', not {termination!r}"
        )
    return termination_from_spec(termination)


def weights_of(graph: Any, sigma: float = 1.0, normalization: str | None = "sym") -> Graph:
    """The weight matrix ``W`` of the kernel, ``σ²`` times the normalised adjacency."""
    if normalization not in ("sym", "rw", None):
        raise InputError(f"normalization must be 'sym', 'rw' or None, not {normalization!r}")
    kind = cast(Literal["sym", "rw"] | None, normalization)
    return as_graph(graph).normalized(kind, squared_width(sigma))


def squared_width(sigma: Any) -> float:
    """``σ²``, which the weights are multiplied by.

    Examples
    --------
    >>> squared_width(0.5)
    0.25
    """
    found = positive(sigma, "sigma")
    if not 1e-150 < found < 1e150:
        raise InputError(f"sigma must have a square that is a number, found {found:g}")
    return found * found


def threads_of(n_jobs: Any) -> int:
    """Number of threads; ``None`` is one, as in scikit-learn."""
    return thread_count(1 if n_jobs is None else n_jobs)


def seed_of(random_state: Any) -> int | None:
    """The seed of the walks: a whole number, or ``None`` for one that `sample` draws."""
    if random_state is None:
        return None
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63 - 1))
    return whole(random_state, "random_state", 0)


def settled_seed(random_state: Any) -> int:
    """As `seed_of`, and where that is ``None``, a seed that nobody has asked for."""
    seed = seed_of(random_state)
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0]) if seed is None else seed
