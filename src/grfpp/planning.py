"""From what a user asks for to plans that can be walked, checked at the door."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from grfpp.arguments import whole
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
#: No use of stitching is known beyond single digits; this keeps absurd requests out.
MAX_DEGREE = 1024


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
    degree, n_walks = whole(degree, "degree", 1), whole(n_walks, "n_walks", 1)
    if degree > MAX_DEGREE:
        raise InputError(f"degree must be at most {MAX_DEGREE}, found {degree}")
    seed = drawn_seed() if seed is None else whole(seed, "seed", 0)

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


def drawn_seed() -> int:
    """A seed that nobody has asked for."""
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
