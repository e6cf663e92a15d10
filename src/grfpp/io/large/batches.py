"""`EdgeBatch`: some edges of a list, and what the whole list says of itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from grfpp.errors import InputError
from grfpp.typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class EdgeBatch:
    """Edges as they are listed.

    Parameters
    ----------
    places
        Where each stands: the number of its line, or of its row. They ascend over all batches.
    source, target
        What its ends are called: Arrow arrays of text, or of 64-bit whole numbers.
    weights
        Finite and not negative.
    is_whole
        Whether these are numbers.
    """

    places: IntArray
    source: Any
    target: Any
    weights: FloatArray
    is_whole: bool


@dataclass
class Doubt:
    """A first line that may be an edge, or the names of the columns: all others have to tell.

    Parameters
    ----------
    names
        What it has in place of source and target.
    settle
        Called with whether all names in other lines are whole numbers, and whether one of `names`
        is among them. Tells whether the line is an edge, or raises.
    place
        Where it stands, if it may be an edge.
    """

    names: tuple[str, str]
    settle: Callable[[bool, bool], bool]
    place: int | None = None


class EdgeSource(Protocol):
    """A list of edges that is read batch by batch, once."""

    #: What it is called in messages.
    name: str
    #: What an entry is called in messages.
    entry: Literal["line", "row"]
    #: Whether names that are whole numbers written as text count as numbers.
    reads_numbers: bool

    @property
    def doubt(self) -> Doubt | None:
        """What is open about its first line; known once the first batch is."""

    def batches(self) -> Iterator[EdgeBatch]:
        """The edges."""

    def progress(self) -> tuple[int, int]:
        """How much has been read, of how much."""

    def nothing(self) -> InputError:
        """What to say where there are no edges."""


@dataclass
class Reported:
    """Progress of the steps of a conversion."""

    #: Called with what is going on, and how much of how much is done, where that is known.
    call: Callable[[str, int, int], None] | None = None
    _last: tuple[str, int] = field(default=("", -1))

    def __call__(self, step: str, done: int = 0, total: int = 0) -> None:
        """Tell, but not more often than every thousandth part."""
        share = 1000 * done // total if total else 0
        if self.call is not None and (step, share) != self._last:
            self._last = (step, share)
            self.call(step, done, total)
