"""What an experiment is: cells of work that give rows, and claims that are judged by them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from grfpp_lab.report.page import Table
from grfpp_lab.report.panels import Panel, Surface

#: A unit of work as plain values that JSON can hold; it says everything that its rows depend on.
Cell = Mapping[str, Any]
#: One line of a result: names and plain values.
Row = Mapping[str, Any]
Rows = Sequence[Row]


class Size(StrEnum):
    """How much of an experiment to run."""

    FULL = "full"
    QUICK = "quick"
    TINY = "tiny"


@dataclass(frozen=True)
class Settings:
    """What holds for all experiments of a run."""

    #: All of it, the short form, or the smallest that tests run.
    size: Size = Size.FULL
    #: Of the walks and of generated graphs.
    seed: int = 0
    #: In place of each experiment's own, where they are given.
    scale: float | None = None
    p_halt: float | None = None


@dataclass(frozen=True)
class Plan:
    """What an experiment will do under some settings."""

    #: The work, in the order of the rows.
    cells: Sequence[Cell]
    #: Names and values for the page.
    parameters: Mapping[str, str]
    #: Data that is not at hand: its name and why.
    skipped: Mapping[str, str] = field(default_factory=dict)


class Holds(StrEnum):
    """Whether a claim was found to hold."""

    YES = "holds"
    NOISE = "holds within noise"
    NO = "does not hold"
    FEW = "not enough data"
    OPEN = "not judged"


#: Fewest graphs, meshes or data sets (or seeds, where chance is in the training) to judge by.
FEWEST = 3


@dataclass(frozen=True)
class Verdict:
    """What the paper says, what was measured, and whether the two agree."""

    paper: str
    measured: str
    holds: Holds
    #: Of how many graphs, meshes or data sets the claim was judged, where it speaks of many.
    n_cases: int | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return f"paper says {self.paper} / measured: {self.measured}"


@dataclass(frozen=True)
class Claim:
    """One figure and the sentence of the paper that it stands for."""

    #: Of the files that hold the figure.
    name: str
    #: What to draw, from the rows.
    panels: Callable[[Rows], Sequence[Panel | Surface]]
    #: The verdict, from the rows.
    judge: Callable[[Rows], Verdict]
    #: The numbers behind the figure.
    tables: Sequence[Callable[[Rows], Table]] = ()
    #: Words above and below it.
    title: str = ""
    caption: str = ""

    def verdict(self, rows: Rows) -> Verdict:
        """What `judge` says, unless it saw too few cases for a verdict."""
        found = self.judge(rows)
        if found.n_cases is None or found.n_cases >= FEWEST:
            return found
        few = f"{found.measured}; judged of {found.n_cases}, a verdict needs {FEWEST}"
        return replace(found, measured=few, holds=Holds.FEW)


@dataclass(frozen=True)
class Experiment:
    """A figure or table of the paper, to be made again."""

    #: Its name on the command line.
    name: str
    #: The cells under given settings.
    plan: Callable[[Settings], Plan]
    #: The rows of a cell. A function of a module, so that a process of its own finds it.
    run: Callable[[Cell], list[Row]]
    #: Figures and verdicts.
    claims: Sequence[Claim]
    #: Columns that hold measured seconds. An experiment that has some runs alone.
    timings: Sequence[str] = ()
    #: Folders of the package, such as ``"tasks"``, whose code its rows depend on beside the
    #: library: what was stored by other code counts no more.
    parts: Sequence[str] = ()
    #: To be raised when `run` gives other rows for the same cell: stored ones then count no more.
    version: int = 1
    #: Of its part of the page; where in the paper it stands; what is measured, in paragraphs.
    title: str = ""
    source: str = ""
    about: Sequence[str] = ()

    def with_texts(self, texts: Mapping[str, Any]) -> Experiment:
        """The same with the words of the page, for itself and for its claims."""
        claims = [replace(claim, **texts["claims"][claim.name]) for claim in self.claims]
        return replace(self, **{**texts, "claims": claims})


def but(cell: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """A copy of a cell without some of its values."""
    return {name: value for name, value in cell.items() if name not in names}
