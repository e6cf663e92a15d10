"""From what a user asks for to plans that can be walked, checked at the door."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from grfpp.checks import (
    OnInfiniteVariance,
    check_truncation,
    check_variance,
    modulation_table,
)
from grfpp.errors import InputError
from grfpp.graph import as_graph
from grfpp.kernels import Kernel
from grfpp.termination import Geometric, Termination
from grfpp.walks import WalkPlan
from grfpp.walks.lengths import resolvable_length

DEFAULT_LAW = Geometric(0.1)


class Plans(NamedTuple):
    """Walks along the edges and, for directed graphs, against them (else the same plan)."""

    forward: WalkPlan
    back: WalkPlan
    degree: int


def plan_walks(
    W: Any,
    kernel: Kernel,
    degree: int,
    n_walks: int,
    termination: Termination,
    seed: int | None,
    *,
    truncate: bool = False,
    on_infinite_variance: OnInfiniteVariance = "raise",
    full_walks: bool = False,
) -> Plans:
    """Check a request (see `grfpp.sample`) and plan its walks."""
    graph = as_graph(W)
    if not isinstance(kernel, Kernel):
        raise InputError(f"kernel must be a Kernel such as Diffusion(1.0), not {kernel!r}")
    if not isinstance(termination, Termination):
        raise InputError(f"termination must be a law such as Geometric(0.1), not {termination!r}")
    degree = _whole(degree, "degree")
    n_walks = _whole(n_walks, "n_walks")
    seed = _seed(seed)

    kernel.check_converges(graph)
    kernel.check_converges(graph, degree)
    modulation = modulation_table(kernel, degree, termination)
    forward = WalkPlan.of(graph, modulation, termination, n_walks, seed)
    back = forward
    if graph.is_directed:
        back = WalkPlan.of(graph.reversed(), modulation, termination, n_walks, seed)
    for plan in (forward,) if back is forward else (forward, back):
        check_variance(kernel, degree, plan, termination, on_infinite_variance)
    check_truncation(kernel, degree, forward, truncate)
    if full_walks:
        longest = resolvable_length(termination)
        forward = forward.with_lengths(termination, longest)
        back = forward if not graph.is_directed else back.with_lengths(termination, longest)
    return Plans(forward, back, degree)


def _whole(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InputError(f"{name} must be a whole number >= 1, not {value!r}")
    return int(value)


def _seed(seed: Any) -> int:
    if seed is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed must be a whole number >= 0 or None, not {seed!r}")
    return int(seed)
