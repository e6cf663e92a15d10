"""What most experiments share: errors over a grid of graphs, degrees, laws and walks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from grfpp.termination import Geometric
from grfpp_lab.experiments.graphs import FAR, at_hand
from grfpp_lab.experiments.measuring import error_row
from grfpp_lab.experiments.views import POOLED
from grfpp_lab.harness import experiment as lab

#: Where the paper leaves it open: the setting of "General graph random features".
SCALE = 1.0
P_HALT = 0.1
DIFFUSION = "diffusion:1"
N_WALKS = (2, 4, 8, 16, 32, 64)


@dataclass(frozen=True)
class Grid:
    """What is varied."""

    #: Every combination is measured.
    graphs: tuple[str, ...]
    degrees: tuple[int, ...]
    n_walks: tuple[int, ...]
    #: Independent estimates of each.
    repeats: int


def grids(
    graphs: tuple[str, ...],
    tiny: tuple[str, ...],
    full: tuple[int, ...],
    quick: tuple[int, ...],
    tiny_degrees: tuple[int, ...] | None = None,
) -> dict[lab.Size, Grid]:
    """The grids of an experiment: its graphs and degrees by size."""
    return {
        lab.Size.FULL: Grid(graphs, full, N_WALKS, 10),
        lab.Size.QUICK: Grid(graphs, quick, (4, 16, 64), 4),
        lab.Size.TINY: Grid(tiny, tiny_degrees or quick, (2, 8), 2),
    }


def chosen(settings: lab.Settings, scale: float = SCALE) -> tuple[float, float]:
    """``scale`` and ``p_halt``: as asked for, else those of the experiment."""
    return (
        scale if settings.scale is None else settings.scale,
        P_HALT if settings.p_halt is None else settings.p_halt,
    )


def geometric(p_halt: float) -> str:
    """The Bernoulli scheme as the command line writes it."""
    return f"geometric:{p_halt!r}"


def matched(p_halt: float) -> str:
    """A budget for pooled walks: as many steps as the Bernoulli scheme takes on average."""
    return f"matched:{Geometric(p_halt).mean:.12g}"


def error_plan(
    sizes: Mapping[lab.Size, Grid],
    laws: Callable[[float], Sequence[str]] = lambda p_halt: [geometric(p_halt)],
    *,
    kernels: Mapping[str, str] | None = None,
    scale: float = SCALE,
    far: bool = False,
    pooled: int | None = None,
    words: Callable[[float], Mapping[str, str]] = lambda p_halt: {},
) -> Callable[[lab.Settings], lab.Plan]:
    """One cell for every kernel, graph, degree, law and number of walks.

    Parameters
    ----------
    sizes
        The grids.
    laws
        Of the lengths of walks, from ``p_halt``.
    kernels
        With what people call them; exp(W) by default.
    scale
        Of the weights, unless something else is asked for.
    far
        Whether only pairs count that are as far apart as the paper's table says.
    pooled
        The stitching degree at which pooled walks stand beside the paper's.
    words
        What the page is told in place of the usual, from ``p_halt``.
    """
    names = kernels or {DIFFUSION: "exp(W)"}

    def plan(settings: lab.Settings) -> lab.Plan:
        grid, (factor, p_halt) = sizes[settings.size], chosen(settings, scale)
        graphs, skipped = at_hand(grid.graphs)
        methods: list[tuple[int, str, dict[str, str]]] = [
            (degree, law, {}) for degree, law in product(grid.degrees, laws(p_halt))
        ]
        if pooled is not None:
            methods.append((pooled, matched(p_halt), {"walks": POOLED}))
        cells: list[lab.Cell] = [
            {
                "graph": graph,
                "kernel": kernel,
                "scale": factor,
                "termination": law,
                "degree": degree,
                "n_walks": n_walks,
                "repeats": grid.repeats,
                "seed": settings.seed,
                **({"distance": FAR[graph].distance} if far else {}),
                **walks,
            }
            for kernel, graph, (degree, law, walks), n_walks in product(
                names, graphs, methods, grid.n_walks
            )
        ]
        described = {
            "kernel": ", ".join(names.values()),
            "weights": weights_in_words(factor),
            "walk lengths": f"geometric, p_halt = {p_halt:g}",
            "degrees": listed(grid.degrees),
            "walks a node and factor": listed(grid.n_walks),
            "repeats": str(grid.repeats),
        }
        return lab.Plan(cells, {**described, **words(p_halt)}, skipped)

    return plan


def run_errors(cell: lab.Cell) -> list[lab.Row]:
    """The mean error of one combination."""
    return [error_row(cell)]


def weights_in_words(scale: float, more: str = ", edges counted once") -> str:
    """The weights as the page has them."""
    return f"W = σ² D^-1/2 A D^-1/2 with σ² = {scale:g}{more}"


def listed(values: Sequence[Any]) -> str:
    """Values with commas between them."""
    return ", ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in values)
