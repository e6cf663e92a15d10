"""`sample`: from a graph, a kernel and options about walks to a kernel estimate."""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any

import numpy as np

from grfpp._checks import truth
from grfpp.errors import InputWarning, warn_user
from grfpp.estimate.batches import LOCAL_BACKEND, Backend, Batch, WalkedOrigin
from grfpp.estimate.deflation import deflation_of
from grfpp.estimate.degree import with_fixed_degree
from grfpp.estimate.error_bars import HARMLESS, LARGE, error_bound, seems_large
from grfpp.estimate.estimate import KernelEstimate
from grfpp.estimate.tolerance import walk_to_tolerance
from grfpp.graph import Graph, as_graph
from grfpp.kernels import Kernel, kernel_of
from grfpp.options import Degree, WalkOptions
from grfpp.termination import Termination
from grfpp.walks.sampling import Progress


def sample(
    W: Any,
    kernel: Kernel | str,
    degree: Degree = 2,
    n_walks: int = 16,
    termination: Termination | str | None = None,
    seed: int | None = None,
    *,
    progress: bool | Progress = False,
    executor: Executor | None = None,
    **options: Any,
) -> KernelEstimate:
    """Estimate a graph kernel by stitched random walks (GRFs++).

    Parameters
    ----------
    W
        The weight matrix: a `Graph` (usually normalised), or anything that `Graph` takes.
    kernel
        The kernel ``g(W)``, such as ``Diffusion(1.0)`` or ``"diffusion:1"``.
    degree
        Stitching degree ``l``: the estimate is a product of ``2 l`` independent factors. Degree 1
        is the method of regular graph random features. ``"auto"`` takes the degree of least
        predicted error at the steps that degree 2 would take in all.
    n_walks
        Walks from every node for every factor: the budget.
    termination
        The law of the walk lengths, ``Matched(9)`` if none is given (``Geometric(0.1)`` for
        independent walks).
    seed
        A whole number; the result is the same to the last bit for any number of threads. ``None``
        draws one, which ``estimate.meta["seed"]`` holds.
    progress
        ``True`` for a progress bar on the terminal, and lines on stderr in notebooks and pipes; or
        a function that is called with the rows done and the rows to do.
    executor
        Any of `concurrent.futures`, such as a ``ProcessPoolExecutor``, to walk on instead of
        threads of this process; the result is the same to the last bit. For clusters see
        `grfpp.distributed.sample`.
    **options
        `walks`, `symmetrize`, `deflate`, `tol` and what goes with it, `n_groups`, `check_error`,
        `reuse_walks`, `n_jobs`, `dtype`, `truncate`, `on_infinite_variance`, `storage`,
        `full_walks`: see `grfpp.WalkOptions`.

    Returns
    -------
    KernelEstimate
        With mean ``g(W)``.

    Raises
    ------
    DivergentSeriesError
        When the kernel or its modulation diverges on this graph.
    InfiniteVarianceError, TruncationError
        When the walk lengths do not suit the kernel.
    InputError
        For other invalid arguments.

    Examples
    --------
    >>> import grfpp, networkx as nx
    >>> W = grfpp.Graph(nx.karate_club_graph()).normalized("sym")
    >>> kernel = grfpp.Diffusion(1.0)
    >>> K = grfpp.sample(W, kernel, degree=2, n_walks=256, seed=0)
    >>> grfpp.relative_error(K, kernel, W) < 0.1
    True

    References
    ----------
    Computationally-efficient Graph Modeling with Refined Graph Random Features, ICML 2026:
    walk-stitching, and general laws of the walk lengths.
    K. Choromanski, Taming graph kernels with random features, ICML 2023: degree 1.
    I. Reid, K. Choromanski, E. Berger and A. Weller, General graph random features, ICLR 2024: the
    modulation.
    """
    chosen = WalkOptions.of(
        degree=degree, n_walks=n_walks, termination=termination, seed=seed, **options
    )
    return sample_estimate(W, kernel, chosen, progress, Backend(executor))


def sample_estimate(
    W: Any,
    kernel: Kernel | str,
    options: WalkOptions,
    progress: bool | Progress = False,
    backend: Backend = LOCAL_BACKEND,
) -> KernelEstimate:
    """`sample` with its options as one value."""
    if not (progress is None or callable(progress)):
        progress = truth(progress, "progress")
    graph = as_graph(W)
    options.check_direction(directed=graph.is_directed)
    kernel = kernel_of(kernel)
    kernel.check_converges(graph)
    deflation = deflation_of(graph, kernel, options.deflate)
    if options.tol is not None:
        return walk_to_tolerance(graph, kernel, options, deflation, progress, backend)
    options = with_fixed_degree(graph, kernel, options, deflation)
    batch = Batch.of(graph, kernel, options)
    origin = WalkedOrigin(graph, kernel, deflation, backend, (batch,))
    K = origin.estimate(backend.factors(batch.walks(), options, progress))
    if options.measures_error:
        _warn_if_large(K, graph, kernel, options)
    return origin.with_replicates(K)


def _warn_if_large(K: KernelEstimate, graph: Graph, kernel: Kernel, options: WalkOptions) -> None:
    """Warn where the relative error of an estimate is above one half."""
    radius = graph.spectral_radius()
    with np.errstate(over="ignore", invalid="ignore"):
        values = kernel.value(np.array([-radius, radius]))
    if not np.isfinite(values).all():
        problem = "the kernel's values exceed the range of float64 at the spectral radius"
        details: dict[str, Any] = {"kernel": kernel, "spectral_radius": radius}
        advice = "use a smaller scale, or a kernel that grows less"
    elif _is_bounded(options, graph) and error_bound(K.chain, kernel, graph) < HARMLESS:
        return
    elif seems_large(K.unsymmetrized_times, kernel, graph) and K.measure_error().relative > LARGE:
        problem = "the relative error of this estimate is above one half"
        details = {"kernel": kernel, "relative_error": K.meta["relative_error"]}
        higher = "" if graph.is_directed else "a higher degree ('auto'), deflate='auto', "
        advice = f"use {higher}more walks (n_walks), or kernel_operator"
    else:
        return
    warn_user(InputWarning(problem, advice=advice, **details))


def _is_bounded(options: WalkOptions, graph: Graph) -> bool:
    """Whether few rows show the error: factors are independent, of one mean, and light-tailed."""
    return options.walks == "pooled" and not (options.reuse_walks or graph.is_directed)
