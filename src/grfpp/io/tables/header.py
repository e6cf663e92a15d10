"""Which columns hold source, target and weight, and whether a first line holds their names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from grfpp.errors import InputError
from grfpp.io.tables.numerals import INTEGER, is_number
from grfpp.io.tables.options import Column
from grfpp.io.text import shown

_SHOWN = 12
_ENDS = (
    "source target", "src dst", "src tgt", "src dest", "source destination", "from to",
    "head tail", "fromnodeid tonodeid", "from_node to_node", "node1 node2", "node_1 node_2",
    "id1 id2", "id_1 id_2", "source_id target_id", "sourceid targetid", "from_id to_id",
    "src_id dst_id", "user1 user2", "user_1 user_2", "user_id friend_id", "follower followee",
    "sender receiver", "sender recipient", "citing cited",
)  # fmt: skip
_PAIRS = [tuple(pair.split()) for pair in _ENDS]
_WEIGHTS = ("weight", "weights", "w")
#: Numbers that often stand beside edges and are not their weights.
_NO_WEIGHTS = frozenset((
    "time", "timestamp", "ts", "date", "datetime", "year", "created", "created_at", "updated_at",
    "since", "id", "edge_id", "type", "label",
))  # fmt: skip
_MISSING = frozenset(("", "na", "n/a", "nan", "null", "none", "nil", "-", "?", ".", "<na>"))
_WORD = re.compile(r"[^\W\d]")


def is_missing(field: str) -> bool:
    """Whether a field says that there is no value."""
    return field.lower() in _MISSING


def is_header(fields: Sequence[str], *, table: bool) -> bool | None:
    """Tell column names from an edge, as far as the line alone does.

    Known names are names. A line with a whole number for a label or with a proper weight is an
    edge. In a `table`, where columns usually have names, a word in place of the weight tells too;
    more fields than an edge has are names if they are words. All else is ``None``.
    """
    if ends_among(fields) is not None:
        return True
    if len(fields) > 3:
        return True if all(map(_WORD.match, fields)) else None
    if any(map(INTEGER.fullmatch, fields[:2])):
        return False
    if len(fields) == 3:
        if is_number(fields[2]) or is_missing(fields[2]):
            return False
        return True if table and _WORD.match(fields[2]) else None
    return None


def ends_among(names: Sequence[str]) -> tuple[int, int] | None:
    """Where the columns of source and target are, if they are called so."""
    places = {_plain(name): place for place, name in reversed(list(enumerate(names)))}
    for source, target in _PAIRS:
        if source in places and target in places:
            return places[source], places[target]
    return None


def ends_of(names: Sequence[str]) -> tuple[int, int]:
    """The places of source and target: by name, or the first two of two or three."""
    ends = ends_among(names)
    if len(names) < 2:
        raise InputError(f"a list of edges needs two columns at least, found {_listed(names)}")
    plain = [_plain(name) for name in names]
    if ends is None and len(names) in (2, 3) and not set(plain[:2]) & {*_WEIGHTS, *_NO_WEIGHTS}:
        return 0, 1
    if ends is None:
        raise InputError(
            f"there are {len(names)} columns ({_listed(names)}), and none are called source and "
            "target: choose two or three",
            option=("columns", tuple(names[:3]), ...),
        )
    return ends


def columns_of(names: Sequence[str], asked: Sequence[Column] | None = None) -> tuple[int, ...]:
    """The places of source, target and, where there is one, weight among named columns.

    Examples
    --------
    >>> columns_of(["id", "weight", "src", "dst"])
    (2, 3, 1)
    >>> columns_of(["a", "b", "c", "d"], ["d", "a"])
    (3, 0)
    """
    if asked is not None:
        return tuple(_place(each, names) for each in asked)
    ends = ends_of(names)
    chosen: tuple[Column, Column] = (names[ends[0]], names[ends[1]])
    others = [place for place in range(len(names)) if place not in ends]
    weights = [place for place in others if _plain(names[place]) in _WEIGHTS]
    if len(weights) == 1:
        return (*ends, weights[0])
    if not others:
        return ends
    ambiguous = {*_NO_WEIGHTS, *(_plain(name) for name in chosen)}
    if len(others) == 1 and _plain(names[others[0]]) not in ambiguous:
        return (*ends, others[0])
    raise InputError(
        f"which of the columns is the weight, if any? There are {_listed(names)}",
        option=("columns", chosen, (*chosen, names[others[0]])),
    )


def _place(asked: Column, names: Sequence[str]) -> int:
    if isinstance(asked, int):
        if asked < len(names):
            return asked
        raise InputError(
            f"there is no column {asked}: there are {len(names)}, numbered from 0 ("
            f"{_listed(names)})"
        )
    for alike in (asked.__eq__, lambda name: _plain(name) == _plain(asked)):
        places = [place for place, name in enumerate(names) if alike(name)]
        if len(places) == 1:
            return places[0]
        if places:
            raise InputError(f"{len(places)} columns are called {asked!r}: give their numbers")
    raise InputError(f"there is no column {asked!r}; there are {_listed(names)}")


def _plain(name: object) -> str:
    return str(name).strip().lower()


def _listed(names: Sequence[str]) -> str:
    more = ", …" if len(names) > _SHOWN else ""
    return ", ".join(shown(str(name)) for name in names[:_SHOWN]) + more
