"""`sample`: from a graph, a kernel and a law of walk lengths to a kernel estimate."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from grfpp.checks import OnInfiniteVariance
from grfpp.errors import InputError
from grfpp.estimate import KernelEstimate
from grfpp.factors import Factor, StoredFactor, WalkedFactor
from grfpp.kernels import Kernel
from grfpp.parallel import thread_count
from grfpp.planning import DEFAULT_LAW, plan_walks
from grfpp.termination import Termination
from grfpp.walks import WalkPlan, sample_factor
from grfpp.walks.sampler import Progress


def sample(
    W: Any,
    kernel: Kernel,
    degree: int = 2,
    n_walks: int = 16,
    termination: Termination = DEFAULT_LAW,
    seed: int | None = None,
    *,
    reuse_walks: bool = False,
    n_jobs: int = -1,
    progress: bool | Progress = False,
    dtype: npt.DTypeLike = np.float64,
    truncate: bool = False,
    on_infinite_variance: OnInfiniteVariance = "raise",
    storage: Literal["memory", "recompute"] = "memory",
    full_walks: bool = False,
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
        is the method of regular graph random features.
    n_walks
        Walks from every node for every factor.
    termination
        The law of the walk lengths.
    seed
        A whole number; the result is the same to the last bit for any number of threads. ``None``
        draws one, to be found in ``estimate.meta["seed"]``.
    reuse_walks
        Use one set of walks for all factors. This saves walking and is biased (most of all on the
        diagonal, at degree 1), because the factors are no longer independent.
    n_jobs
        Threads; -1 for all cores.
    progress
        ``True`` for a progress bar on the terminal, or a function that is called with the rows
        done and the rows to do.
    dtype
        Of the stored factors, float64 or float32; sums are made in float64.
    truncate
        Accept a law with bounded lengths although it cuts off a part of the kernel's series.
    on_infinite_variance
        What to do about a law that makes the variance infinite: ``"raise"``, ``"warn"``,
        ``"ignore"``.
    storage
        ``"memory"`` keeps the factors. ``"recompute"`` walks them again for every product, with the
        same numbers: for graphs whose factors do not fit.
    full_walks
        Walk on where all later ``f(k)`` are zero in float64. This changes no number; it is for
        studies of how long walks take.

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
    value_type = _value_type(dtype)
    thread_count(n_jobs)  # refuses what is no number of threads before the work begins
    if storage not in ("memory", "recompute"):
        raise InputError(f"storage must be 'memory' or 'recompute', not {storage!r}")
    forward, back, degree = plan_walks(
        *(W, kernel, degree, n_walks, termination, seed),
        truncate=truncate,
        on_infinite_variance=on_infinite_variance,
        full_walks=full_walks,
    )
    plans = _factor_plans(forward, back, degree, reuse_walks)
    factors: list[Factor]
    if storage == "recompute":
        factors = [WalkedFactor(each, value_type) for each in plans]
    else:
        with _reporting(progress, len(plans)) as report:
            factors = [
                StoredFactor(
                    sample_factor(each, n_jobs=n_jobs, dtype=value_type, progress=report(number))
                )
                for number, each in enumerate(plans)
            ]
    pairs = (
        [(factors[0], factors[-1])] * degree
        if reuse_walks
        else list(zip(factors[::2], factors[1::2], strict=True))
    )
    meta = {
        "kernel": _description(kernel),
        "degree": degree,
        "n_walks": forward.n_walks,
        "termination": termination.to_dict(),
        "seed": forward.seed,
        "reuse_walks": bool(reuse_walks),
        "steps_per_node": forward.expected_steps * len(plans),
    }
    return KernelEstimate(pairs, sign=kernel.sign, meta=meta, n_jobs=n_jobs)


def _factor_plans(plan: WalkPlan, back: WalkPlan, degree: int, reuse_walks: bool) -> list[WalkPlan]:
    """One plan for every factor that is walked; right factors walk the reversed graph."""
    if reuse_walks:
        return [plan] if back is plan else [plan, back.with_factor(1)]
    return [(plan if factor % 2 == 0 else back).with_factor(factor) for factor in range(2 * degree)]


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


def _value_type(dtype: npt.DTypeLike) -> np.dtype[Any]:
    try:
        found = np.dtype(dtype)
    except TypeError:
        raise InputError(f"dtype must be float64 or float32, not {dtype!r}") from None
    if found not in (np.float64, np.float32):
        raise InputError(f"dtype must be float64 or float32, not {found}")
    return found
