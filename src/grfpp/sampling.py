"""`sample`: from a graph, a kernel and options about walks to a kernel estimate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Unpack

import numpy as np

from grfpp.deflation import deflation_of
from grfpp.degree import settle_degree
from grfpp.errors import InputError
from grfpp.estimate import KernelEstimate
from grfpp.factors import Factor, StoredFactor, WalkedFactor
from grfpp.graph import as_graph
from grfpp.kernels import Kernel
from grfpp.memory import require_bytes
from grfpp.options import Degree, MoreWalkKeywords, WalkOptions
from grfpp.parallel import thread_count
from grfpp.termination import Termination
from grfpp.walks import WalkPlan, sample_factor
from grfpp.walks.planning import Plans, plan_walks, require_kernel
from grfpp.walks.sampler import Progress
from grfpp.walks.sizes import (
    expected_entries,
    factor_bytes,
    most_walks,
    require_walkers,
    walker_bytes,
)


def sample(
    W: Any,
    kernel: Kernel,
    degree: Degree = 2,
    n_walks: int = 16,
    termination: Termination | str | None = None,
    seed: int | None = None,
    *,
    progress: bool | Progress = False,
    **options: Unpack[MoreWalkKeywords],
) -> KernelEstimate:
    """Estimate a graph kernel by stitched random walks (GRFs++).

    Parameters
    ----------
    W
        The weight matrix: a `Graph` (usually normalised), or anything that `Graph` takes.
    kernel
        The kernel ``g(W)``, such as ``Diffusion(1.0)``.
    degree
        Stitching degree ``l``: the estimate is a product of ``2 l`` independent factors. Degree 1
        is the method of regular graph random features. ``"auto"`` takes the degree of least
        predicted error at the steps that degree 2 would take in all.
    n_walks
        Walks from every node for every factor: how much may be walked.
    termination
        The law of the walk lengths, ``Matched(9)`` if none is given (``Geometric(0.1)`` for
        independent walks).
    seed
        A whole number; the result is the same to the last bit for any number of threads. ``None``
        draws one, to be found in ``estimate.meta["seed"]``.
    progress
        ``True`` for a progress bar on the terminal, or a function that is called with the rows
        done and the rows to do.
    **options
        `walks`, `symmetrize`, `deflate`, `reuse_walks`, `n_jobs`, `dtype`, `truncate`,
        `on_infinite_variance`, `storage`, `full_walks`: see `grfpp.WalkOptions`.

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
        For anything else that cannot be used.

    Examples
    --------
    >>> import grfpp, networkx as nx
    >>> W = grfpp.Graph(nx.karate_club_graph()).normalized("sym")
    >>> kernel = grfpp.Diffusion(1.0)
    >>> K = grfpp.sample(W, kernel, degree=2, n_walks=256, seed=0)
    >>> grfpp.relative_error(K, kernel, W) < 0.1
    True
    """
    chosen = WalkOptions.of(
        degree=degree, n_walks=n_walks, termination=termination, seed=seed, **options
    )
    return sample_estimate(W, kernel, chosen, progress)


def sample_estimate(
    W: Any, kernel: Kernel, options: WalkOptions, progress: bool | Progress = False
) -> KernelEstimate:
    """`sample` with its options as one value."""
    graph = as_graph(W)
    options.check_direction(directed=graph.is_directed)
    symmetrize = options.symmetrizes(directed=graph.is_directed)
    require_kernel(kernel)
    kernel.check_converges(graph)
    deflation = deflation_of(graph, kernel, options.deflate)
    options = settle_degree(graph, kernel, options, deflation)
    plans = plan_walks(graph, kernel, options)
    walks = _factor_plans(plans, options)
    factors: list[Factor]
    if options.storage == "recompute":
        factors = [WalkedFactor(each, options.dtype) for each in walks]
    else:
        _require_factors(walks, options)
        with _reporting(progress, len(walks)) as report:
            factors = [
                StoredFactor(
                    sample_factor(
                        each,
                        n_jobs=options.n_jobs,
                        dtype=options.dtype,
                        progress=report(number),
                    )
                )
                for number, each in enumerate(walks)
            ]
    pairs = (
        [(factors[0], factors[-1])] * options.stitching_degree
        if options.reuse_walks
        else list(zip(factors[::2], factors[1::2], strict=True))
    )
    meta = {
        "kernel": _description(kernel),
        "degree": options.degree,
        "n_walks": options.n_walks,
        "termination": options.termination.to_dict(),
        "seed": options.seed,
        "walks": options.walks,
        "reuse_walks": options.reuse_walks,
        "symmetrize": symmetrize,
        "deflate": 0 if deflation is None else deflation.n_vectors,
        "steps_per_node": plans.forward.expected_steps * len(walks),
    }
    return KernelEstimate(
        pairs,
        sign=kernel.sign,
        symmetrize=symmetrize,
        deflation=deflation,
        meta=meta,
        n_jobs=options.n_jobs,
        node_ids=graph.names,
    )


def _factor_plans(plans: Plans, options: WalkOptions) -> list[WalkPlan]:
    """One plan for every factor that is walked."""
    if not options.reuse_walks:
        return [plans.of_factor(number) for number in range(2 * options.stitching_degree)]
    n_distinct = 1 if plans.back is plans.forward else 2
    return [plans.of_factor(number) for number in range(n_distinct)]


def _require_factors(plans: Sequence[WalkPlan], options: WalkOptions) -> None:
    """Refuse factors that cannot all be kept, before the first is walked."""
    plan, n_factors, degree = plans[0], len(plans), options.stitching_degree
    n = plan.graph.n_nodes
    require_walkers(plan, options.n_jobs)
    each = factor_bytes(expected_entries(plan), n, options.dtype)
    working = thread_count(options.n_jobs) * walker_bytes(plan)
    per_entry = n * n_factors * (4 + options.dtype.itemsize)
    require_bytes(
        n_factors * each + working,
        f"{n_factors} factors of {n} nodes with {plan.n_walks} walks each",
        most_degree=lambda room: int((room - working) / each * degree / n_factors),
        most_walks=lambda room: most_walks(plan, (room - working) / per_entry),
        float32=options.dtype == np.float64,
        recompute=True,
    )


@contextmanager
def _reporting(progress: bool | Progress, n_factors: int) -> Iterator[Any]:
    """Give a function that makes the progress callback of each factor."""
    if progress is False or progress is None:
        yield lambda number: None
        return
    if callable(progress):
        yield lambda number: lambda done, n: progress(number * n + done, n_factors * n)
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    with Bar(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("walking", total=None)

        def report(number: int) -> Progress:
            return lambda done, n: bar.update(
                task, completed=number * n + done, total=n_factors * n
            )

        yield report


def _description(kernel: Kernel) -> Any:
    try:
        return kernel.to_dict()
    except InputError:  # coefficients given by a function
        return repr(kernel)
