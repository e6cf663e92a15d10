"""What the paper's tables of graph classification say, in per cent.

The columns Diffusion, GRF and GRF++ are the paper's own; it quotes all others from Nikolentzos,
Siglidis, Vazirgiannis, "Graph kernels: a survey" (2021).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from grfpp_lab.experiments.quoted import quoted_cells


@dataclass(frozen=True)
class Quoted:
    """A cell of a table: mean and standard deviation, or why there is none."""

    mean: float | None
    deviation: float | None = None
    why_not: str = ""

    def __str__(self) -> str:
        return self.why_not if self.mean is None else f"{self.mean:.1f} ± {self.deviation:.1f}"


#: Tab. kernel_results, the kernel exp(W²), by data set and method. Its column of the exact kernel
#: is, to the digit, that of the diffusion kernel in the other tables.
SQUARED = {
    place: float(cell) for place, cell in quoted_cells("classification", "squared.txt").items()
}

#: Rows of the tables that are no graph kernels of others.
OWN, NETWORKS = ("Diffusion", "GRF", "GRF++"), ("DGCNN", "GraphSAGE", "DiffPool", "GIN")


@cache
def quoted() -> dict[tuple[str, str], Quoted]:
    """All cells of Tabs. results_labeled and results_unlabeled, by method and data set.

    Examples
    --------
    >>> str(quoted()["Diffusion", "MUTAG"]), str(quoted()["SM", "DD"])
    ('86.2 ± 4.2', 'out of memory')
    """
    tables = (quoted_cells("classification", f"{n}.txt") for n in ("labelled", "unlabelled"))
    return {place: _cell(cell) for table in tables for place, cell in table.items()}


def _cell(text: str) -> Quoted:
    if text in ("time", "memory"):
        return Quoted(None, None, f"out of {text}")
    mean, deviation = text.split("±")
    return Quoted(float(mean), float(deviation))
