"""Where an estimate comes from: what it estimates, and how to walk another of its kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from grfpp.graph import Graph
from grfpp.kernels import Kernel


class Origin(Protocol):
    """What an estimate needs to tell how good it is."""

    @property
    def graph(self) -> Graph:
        """The graph whose kernel it is."""

    @property
    def kernel(self) -> Kernel:
        """Which kernel."""

    def replicate(self, number: int) -> Any:
        """An independent estimate of the same kind; number 0, 1, … is always the same."""


@dataclass(frozen=True)
class Transposed:
    """The origin of a transposed estimate."""

    origin: Origin

    @property
    def graph(self) -> Graph:
        """The graph with its edges turned."""
        return self.origin.graph.reversed()

    @property
    def kernel(self) -> Kernel:
        """The same."""
        return self.origin.kernel

    def replicate(self, number: int) -> Any:
        """The transpose of another one."""
        return self.origin.replicate(number).T
