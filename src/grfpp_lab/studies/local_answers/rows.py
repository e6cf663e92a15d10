"""What the study prints: what was measured, what was asked for, whether that is met."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np


class Measured(NamedTuple):
    """One way to an answer: seconds of a query, and the share of nearest nodes that is right."""

    what: str
    seconds: float
    precision: float | None = None
    note: str = ""

    def __str__(self) -> str:
        right = "" if self.precision is None else f"   precision@10 {self.precision:.3f}"
        note = f"   {self.note}" if self.note else ""
        return f"  {self.what:<46} {1e3 * self.seconds:>10.3f} ms{right}{note}"


class Verdict(NamedTuple):
    """What was asked for, what came out, and whether it is enough."""

    bar: str
    found: str
    met: bool

    def __str__(self) -> str:
        return f"  -> {self.bar}: {self.found}   {'met' if self.met else 'NOT MET'}"


#: The lines of one part of the study.
Lines = Sequence[Measured | Verdict | str]


def query_seconds(ask: Callable[[int], Any], nodes: Sequence[int], n_passes: int = 3) -> float:
    """Seconds of a warm query: the median over nodes of the best of several passes over all nodes.

    Between two questions about a node all others are asked about: what is warm is the machine and
    the map, not the node's own neighbourhood.
    """
    best = np.full(len(nodes), np.inf)
    for _ in range(n_passes):
        for place, node in enumerate(nodes):
            began = perf_counter()
            ask(node)
            best[place] = min(best[place], perf_counter() - began)
    return float(np.median(best))


def tell(title: str, lines: Lines) -> list[Verdict]:
    """Print one part; gives its verdicts."""
    print(f"\n{title}", flush=True)
    for line in lines:
        print(line if not isinstance(line, str) else f"  {line}", flush=True)
    return [line for line in lines if isinstance(line, Verdict)]
