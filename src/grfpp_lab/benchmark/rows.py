"""A row of the benchmark's table: who did what on which machine, and what came out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

#: Estimated: scaled from a smaller run, as the note says. Quoted: from the paper.
Status = Literal["measured", "estimated", "quoted", "not run"]
Section = Literal["sampling", "equal", "growth", "paper", "uses"]


@dataclass(frozen=True)
class Row:
    """One method on one workload."""

    #: The part of the benchmark.
    section: Section
    #: What was done, by what, in which version.
    workload: str
    method: str
    version: str = ""
    #: Whether the numbers were measured in this run.
    status: Status = "measured"
    #: What else to know; why not, where nothing was run.
    note: str = ""
    #: What was measured, by name: ``seconds`` nearly always, and what the section is about.
    numbers: dict[str, float] = field(default_factory=dict)
    threads: int = 1
    hardware: str = ""

    def get(self, name: str) -> float | None:
        """One of the numbers, if it is there."""
        return self.numbers.get(name)

    def document(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def measured(method: str, note: str, **numbers: float) -> dict[str, Any]:
    """What a measurement tells of a row, from another process."""
    return {"method": method, "note": note, "numbers": numbers}


def of_section(rows: Iterable[Row], section: str) -> list[Row]:
    """The rows of one part of the benchmark."""
    return [row for row in rows if row.section == section]


def find(
    rows: Iterable[Row], section: str, workload: str, method: str, number: str
) -> float | None:
    """A number of the row with this workload and method; ``None`` where it was not measured."""
    for row in rows:
        if (row.section, row.workload, row.method) == (section, workload, method):
            return row.get(number)
    return None


def workloads(rows: Sequence[Row], section: str) -> list[str]:
    """The workloads of a section, in their order."""
    return list(dict.fromkeys(row.workload for row in of_section(rows, section)))
