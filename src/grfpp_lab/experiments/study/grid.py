"""What most experiments share: errors over a grid of graphs, degrees, laws and walks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from grfpp_lab.experiments.experiment import Cell, Row, Settings
from grfpp_lab.experiments.measuring import error_row

#: Where the paper leaves it open: the setting of "General graph random features".
SIGMA2 = 1.0
P_HALT = 0.1
DIFFUSION = "diffusion:1"
N_WALKS = (2, 4, 8, 16, 32, 64)


@dataclass(frozen=True)
class Grid:
    """What is varied.

    Attributes
    ----------
    graphs, degrees, n_walks
        Every combination is measured.
    repeats
        Independent estimates of each.
    """

    graphs: tuple[str, ...]
    degrees: tuple[int, ...]
    n_walks: tuple[int, ...]
    repeats: int


def chosen(settings: Settings, sigma2: float = SIGMA2) -> tuple[float, float]:
    """``σ²`` and ``p_halt``: as asked for, else those of the experiment."""
    return (
        sigma2 if settings.sigma2 is None else settings.sigma2,
        P_HALT if settings.p_halt is None else settings.p_halt,
    )


def geometric(p_halt: float) -> str:
    """The Bernoulli scheme as the command line writes it."""
    return f"geometric:{p_halt!r}"


def error_cells(
    grid: Grid,
    graphs: Sequence[str],
    settings: Settings,
    sigma2: float,
    laws: Sequence[str],
    kernels: Sequence[str] = (DIFFUSION,),
    **more: Any,
) -> list[Cell]:
    """One cell for every combination; `more` is put into all of them."""
    return [
        {
            "graph": graph,
            "kernel": kernel,
            "sigma2": sigma2,
            "termination": law,
            "degree": degree,
            "n_walks": n_walks,
            "repeats": grid.repeats,
            "seed": settings.seed,
            **more,
        }
        for kernel, graph, degree, law, n_walks in product(
            kernels, graphs, grid.degrees, laws, grid.n_walks
        )
    ]


def run_errors(cell: Cell) -> list[Row]:
    """The mean error of one combination."""
    return [error_row(cell)]


def parameters(grid: Grid, sigma2: float, p_halt: float, kernel: str = "exp(W)") -> dict[str, str]:
    """The settings in words."""
    return {
        "kernel": kernel,
        "weights": f"W = σ² D^-1/2 A D^-1/2 with σ² = {sigma2:g}, edges counted once",
        "walk lengths": f"geometric, p_halt = {p_halt:g}",
        "degrees": listed(grid.degrees),
        "walks a node and factor": listed(grid.n_walks),
        "repeats": str(grid.repeats),
    }


def listed(values: Sequence[Any]) -> str:
    """Values with commas between them."""
    return ", ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in values)
