"""Edges that are listed more than once become one, by the rule of `EdgeTable`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from grfpp.errors import InputError, shown
from grfpp.io.large.batches import Reported
from grfpp.io.large.database import Database, TableWriter, arrays_of
from grfpp.io.large.numbering import Numbered, name_of
from grfpp.io.tables.edge_table import MERGED, warn_of_mirrored
from grfpp.io.tables.options import Duplicates
from grfpp.io.text import naming
from grfpp.scaled_weights import one_for_all
from grfpp.typing import AnyInts, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class _Block:
    """Edges in the order of their ends, those of one edge in the order of the list.

    `swapped` tells those that were listed from the larger number to the smaller.
    """

    u: AnyInts
    v: AnyInts
    places: IntArray
    weights: FloatArray
    swapped: npt.NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.u)

    @property
    def _columns(self) -> list[npt.NDArray[Any]]:
        return [self.u, self.v, self.places, self.weights, self.swapped]

    def part(self, chosen: slice) -> _Block:
        """Some of them."""
        return _Block(*[each[chosen] for each in self._columns])

    def then(self, other: _Block) -> _Block:
        """These and those that come after."""
        pairs = zip(self._columns, other._columns, strict=True)
        return _Block(*[np.concatenate(pair) for pair in pairs])

    def is_new(self) -> npt.NDArray[np.bool_]:
        """Which of them are not the same edge as the one before."""
        new = np.ones(len(self), bool)
        new[1:] = (self.u[1:] != self.u[:-1]) | (self.v[1:] != self.v[:-1])
        return new


@dataclass
class Merged:
    """What is known of all edges once each is there once.

    Parameters
    ----------
    n_edges, n_loops
        How many there are, and how many join a node to itself.
    value
        The weight of all, if that is one power of two.
    least
        The smallest weight.
    """

    n_edges: int = 0
    n_loops: int = 0
    value: float | None = None
    least: float = np.inf
    _is_equal: bool = field(default=True, repr=False)

    def add(self, u: AnyInts, v: AnyInts, weights: FloatArray) -> None:
        """Count some more."""
        if not len(weights):
            return
        self.n_edges += len(weights)
        self.n_loops += int(np.count_nonzero(u == v))
        self.least = min(self.least, float(weights.min()))
        here = one_for_all(weights)
        self._is_equal = self._is_equal and here is not None and self.value in (None, here)
        self.value = here if self._is_equal else None

    @property
    def equal(self) -> float | None:
        """The weight of all edges, where none need be stored."""
        return 1.0 if not self.n_edges else self.value


def merge_edges(
    database: Database,
    numbered: Numbered,
    name: str,
    entry: str,
    *,
    directed: bool,
    duplicates: Duplicates | None,
    report: Reported,
    n_listed: int,
) -> Merged:
    """Write the table ``merged`` with columns ``u, v, w``, each edge once, in their order.

    If not `directed`, `u` is the smaller of both ends.
    """
    ends = (
        "u AS a, v AS b, 0::TINYINT AS swapped"
        if directed
        else "least(u, v) AS a, greatest(u, v) AS b, (u > v)::TINYINT AS swapped"
    )
    listed = f"SELECT {ends}, place, w FROM ({numbered.ends})"
    query = f"SELECT a, b, place, w, swapped FROM ({listed}) ORDER BY a, b, place"
    result, done = Merged(), 0
    mirrored = _Mirrored() if duplicates is None and not directed else None
    again: tuple[int, int, int, int] | None = None
    with database.writer("merged", {"u": "int32", "v": "int32", "w": "float64"}) as table:
        for block in _blocks(database, query):
            new = block.is_new()
            weights = block.weights
            if not new.all():
                if duplicates == "error":
                    found = _repeated(block, new)
                    again = found if again is None else min(again, found)
                rule = "sum" if duplicates in (None, "error") else duplicates
                weights = MERGED[rule](weights, np.flatnonzero(new))
            if mirrored is not None:
                mirrored.look(block)
            with naming(name):
                _write(table, result, block.u[new], block.v[new], weights)
            done += len(block)
            report("sorting", done, n_listed)
    if again is not None:
        place, before, *nodes = again
        first, second = (name_of(database, node) for node in nodes)
        raise InputError(
            f"{name}, {entry} {place}: the edge {first!r} - {second!r} is listed again, after "
            f"{entry} {before}",
            option=("duplicates", "sum", "max", "first"),
        )
    if mirrored is not None and mirrored.holds:
        warn_of_mirrored(name)
    return result


def _blocks(database: Database, query: str) -> Iterator[_Block]:
    """What is sorted, in blocks that end where an edge does."""
    rest: _Block | None = None
    for batch in database.batches(query):
        block = _Block(*arrays_of(batch))
        block = block if rest is None else rest.then(block)
        last = int(np.flatnonzero(block.is_new())[-1])
        if last:
            yield block.part(slice(0, last))
        rest = block.part(slice(last, None))
    if rest is not None:
        yield rest


def _write(table: TableWriter, result: Merged, u: AnyInts, v: AnyInts, weights: FloatArray) -> None:
    bad = ~np.isfinite(weights)
    if bad.any():  # sums alone can be
        at = int(np.argmax(bad))
        raise InputError(
            f"weights must be finite, found {shown(float(weights[at]))} at ({u[at]}, {v[at]})"
        )
    stays = weights != 0.0
    if not stays.all():
        u, v, weights = u[stays], v[stays], weights[stays]
    result.add(u, v, weights)
    table.append(u, v, weights)


def _repeated(block: _Block, new: npt.NDArray[np.bool_]) -> tuple[int, int, int, int]:
    """The first place at which an edge is listed again, that of the edge before, and its ends."""
    again = np.flatnonzero(~new)
    at = int(again[np.argmin(block.places[again])])
    before = int(np.flatnonzero(new[: at + 1])[-1])
    ends = int(block.u[at]), int(block.v[at])
    if block.swapped[at]:
        ends = ends[1], ends[0]
    return int(block.places[at]), int(block.places[before]), *ends


class _Mirrored:
    """Whether every edge is listed in either order as often, with the same weights."""

    def __init__(self) -> None:
        self._may_be, self._any = True, False

    @property
    def holds(self) -> bool:
        return self._may_be and self._any

    def look(self, block: _Block) -> None:
        if not self._may_be:
            return
        loops = block.u == block.v
        down = np.flatnonzero((block.swapped == 1) & ~loops)
        up = np.flatnonzero((block.swapped == 0) & ~loops)
        self._may_be = len(up) == len(down)
        if self._may_be and len(up):
            self._any = True
            parts = []
            for chosen in (up, down):
                keys = block.u[chosen].astype(np.int64) << 32 | block.v[chosen]
                order = np.lexsort((block.weights[chosen], keys))
                parts.append((keys[order], block.weights[chosen][order]))
            self._may_be = all(map(np.array_equal, *parts))
