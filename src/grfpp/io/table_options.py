"""`EdgeListOptions`, and which columns of an edge list hold source, target and weight."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypedDict, get_args

import numpy as np

from grfpp._checks import one_of, truth, whole
from grfpp.errors import InputError, require_options, shown
from grfpp.io.matrices import check_node_count

Duplicates = Literal["sum", "max", "first", "error"]
#: A column by its name, or by its number from 0.
Column = str | int

#: Whole numbers as computers write them; not ``007`` or ``+5``, which are names.
INTEGER = re.compile(r"0|-?[1-9][0-9]*")
#: Characters of names and numbers, quotes, and ends of lines.
_NO_SEPARATORS = frozenset('"\r\n\0.+-_')
#: Columns that a message lists, so that it stays readable.
_SHOWN_COLUMNS = 12
#: Usual names of the columns of source and target.
_ENDS = (
    "source target", "src dst", "src tgt", "src dest", "source destination", "from to",
    "head tail", "fromnodeid tonodeid", "from_node to_node", "node1 node2", "node_1 node_2",
    "id1 id2", "id_1 id_2", "source_id target_id", "sourceid targetid", "from_id to_id",
    "src_id dst_id", "user1 user2", "user_1 user_2", "user_id friend_id", "follower followee",
    "sender receiver", "sender recipient", "citing cited",
)  # fmt: skip
_PAIRS = [tuple(pair.split()) for pair in _ENDS]
_WEIGHTS = frozenset(("weight", "weights", "w"))
#: Names of columns with numbers that are usually not weights.
_NO_WEIGHTS = frozenset((
    "time", "timestamp", "ts", "date", "datetime", "year", "created", "created_at", "updated_at",
    "since", "id", "edge_id", "type", "label",
))  # fmt: skip
#: What programs write for missing values.
_MISSING = frozenset(("", "na", "n/a", "nan", "null", "none", "nil", "-", "?", ".", "<na>"))
_WORD = re.compile(r"[^\W\d]")


class EdgeListKeywords(TypedDict, total=False):
    """The options as keywords; see `EdgeListOptions`."""

    duplicates: Duplicates | None
    columns: Sequence[Column] | None
    separator: str | None
    encoding: str | None
    header: bool | None


@dataclass(frozen=True, kw_only=True)
class EdgeListOptions:
    """Options of edge lists; ``None`` infers an option from the list.

    Parameters
    ----------
    duplicates
        Weight of an edge that is listed more than once, in an undirected list in either order: the
        ``"sum"`` of the weights, their ``"max"``, the ``"first"``, or an ``"error"``. ``None`` is
        the sum, with a warning if all edges are listed in both orders.
    columns
        The columns of source, target and weight, by name or by index from 0. With two columns all
        weights are 1. ``None``: the columns with usual names, else the first two or three.
    separator
        The separator of fields; ``" "`` is any run of spaces and tabs. ``None``: semicolons, commas
        or white space, the first of these in the first line; tabs in ``.tsv`` files.
    encoding
        The encoding of text. ``None`` is UTF-8, or that of the byte-order mark.
    header
        Whether the first line holds the names of the columns.

    Examples
    --------
    >>> options = EdgeListOptions(columns=["src", "dst"], duplicates="max")
    >>> options.columns
    ('src', 'dst')
    >>> options.given
    {'duplicates': 'max', 'columns': ('src', 'dst')}
    >>> EdgeListOptions(duplicates="mean")
    Traceback (most recent call last):
    grfpp.errors.InputError: duplicates must be 'sum', 'max', 'first' or 'error', not 'mean'
    """

    duplicates: Duplicates | None = None
    columns: Sequence[Column] | None = None
    separator: str | None = None
    encoding: str | None = None
    header: bool | None = None

    def __post_init__(self) -> None:
        if self.duplicates is not None:
            one_of(self.duplicates, "duplicates", get_args(Duplicates))
        if self.columns is not None:
            object.__setattr__(self, "columns", _checked_columns(self.columns))
        if self.separator is not None:
            _check_separator(self.separator)
        if self.encoding is not None:
            _check_encoding(self.encoding)
        if self.header is not None:
            object.__setattr__(self, "header", truth(self.header, "header"))
        if self.header is False and self.by_name:
            problem = f"must be indices from 0 if header is False, found {self.columns}"
            raise InputError(problem, argument="columns")

    @classmethod
    def of(cls, keywords: EdgeListKeywords) -> EdgeListOptions:
        """The options from keywords of `Graph`; unknown ones are refused."""
        others = ("directed", "n_nodes", "symmetrize", "mesh_weights")
        require_options(keywords, (*EdgeListKeywords.__annotations__, *others))
        return cls(**keywords)

    @property
    def given(self) -> dict[str, Any]:
        """The options that are not ``None``, as keywords."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None}

    @property
    def by_name(self) -> bool:
        """Whether a column is chosen by its name."""
        return any(isinstance(column, str) for column in self.columns or ())

    def require_only(self, known: Collection[str], source: str) -> None:
        """Check that only these options are given, for this kind of source."""
        for name in self.given:
            if name not in known:
                raise InputError(f"is for edge lists, found {source}", argument=name)


class ListRequest(NamedTuple):
    """How a list of edges is read, by the parameters of `Graph`."""

    directed: bool = False
    n_nodes: int | None = None
    options: EdgeListOptions = EdgeListOptions()

    @classmethod
    def of(cls, directed: Any, n_nodes: Any, options: EdgeListOptions) -> ListRequest:
        """Check the parameters; ``directed=None`` reads lists as undirected."""
        if not (directed is None or isinstance(directed, bool | np.bool_)):
            raise InputError(f"must be True, False or None, not {directed!r}", argument="directed")
        if n_nodes is not None:
            n_nodes = whole(n_nodes, "n_nodes", 1)
            check_node_count(n_nodes, "n_nodes")
        return cls(bool(directed), n_nodes, options)


class ListFile(NamedTuple):
    """A file with a list of edges: the suffix of its content, and what messages call it."""

    path: Path
    suffix: str
    name: str


def _checked_columns(columns: Any) -> tuple[Column, ...]:
    if isinstance(columns, Sequence) and not isinstance(columns, str | bytes):
        chosen = tuple(c if isinstance(c, str) else whole(c, "columns", 0) for c in columns)
        if len(chosen) in (2, 3) and len(set(chosen)) == len(chosen):
            return chosen
    form = "two or three different columns (source, target, weight), by name or index from 0"
    raise InputError(f"must be {form}, found {shown(columns)}", argument="columns")


def _check_separator(separator: Any) -> None:
    if (
        not isinstance(separator, str)
        or not separator
        or any(mark.isalnum() or mark in _NO_SEPARATORS for mark in separator)
        or (separator.isspace() and separator not in (" ", "\t"))
    ):
        form = "a separator of fields, such as ',' or '|', or ' ' for white space"
        raise InputError(f"must be {form}, found {shown(separator)}", argument="separator")


def _check_encoding(encoding: Any) -> None:
    try:
        TextIOWrapper(BytesIO(), encoding)  # raises for codecs other than of text
    except (LookupError, TypeError, ValueError):
        problem = f"must be an encoding of Python, such as 'latin-1', found {shown(encoding)}"
        raise InputError(problem, argument="encoding") from None


def is_number(text: str) -> bool:
    """Whether the text is a number for DuckDB, NumPy and Python alike.

    Examples
    --------
    >>> is_number("1e-3"), is_number("1_000"), is_number("٣")
    (True, False, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text and text.isascii()


def is_header(fields: Sequence[str]) -> bool | None:
    """Whether a first line holds column names; ``None`` if that depends on the lines below.

    `grfpp.io.table_text` then looks at these, and refuses the list when in doubt.

    Usual column names make a header, an integer as a node makes an edge, and so does anything but a
    word as the weight. More than three fields are a header if all are words.

    Examples
    --------
    >>> is_header(["src", "dst"]), is_header(["ann", "7"]), is_header(["ann", "bob", "n"])
    (True, False, True)
    >>> is_header(["ann", "bob"]) is None
    True
    """
    if _usual_ends(fields) is not None:
        return True
    if len(fields) > 3:
        return all(map(_WORD.match, fields))
    if any(map(INTEGER.fullmatch, fields[:2])):
        return False
    if len(fields) < 3:
        return None
    weight = fields[2]
    return bool(_WORD.match(weight)) and not is_number(weight) and weight.lower() not in _MISSING


def columns_of(names: Sequence[str], columns: Sequence[Column] | None = None) -> tuple[int, ...]:
    """The positions of source, target and, if there is one, weight among named columns.

    Examples
    --------
    >>> columns_of(["id", "weight", "src", "dst"])
    (2, 3, 1)
    >>> columns_of(["a", "b", "c", "d"], ["d", "a"])
    (3, 0)
    """
    if columns is not None:
        return tuple(_position(column, names) for column in columns)
    ends = ends_of(names)
    others = [i for i in range(len(names)) if i not in ends]
    weights = [i for i in others if _plain(names[i]) in _WEIGHTS]
    if len(weights) == 1:
        return (*ends, weights[0])
    if not others:
        return ends
    ambiguous = {*_NO_WEIGHTS, *(_plain(names[i]) for i in ends)}
    if len(others) == 1 and _plain(names[others[0]]) not in ambiguous:
        return (*ends, others[0])
    advice = f"pass columns, such as {','.join(str(names[i]) for i in ends)} without weights"
    raise InputError(f"which column is the weight? There are {_listed(names)}", advice=advice)


def ends_of(names: Sequence[str]) -> tuple[int, int]:
    """The positions of source and target: by name, or the first two of two or three."""
    if len(names) < 2:
        raise InputError(f"an edge list needs at least two columns, found {_listed(names)}")
    ends = _usual_ends(names)
    if ends is not None:
        return ends
    plain = {_plain(name) for name in names[:2]}
    if len(names) in (2, 3) and not plain & (_WEIGHTS | _NO_WEIGHTS):
        return 0, 1
    problem = f"none of the columns are called source and target: {_listed(names)}"
    raise InputError(problem, advice="pass columns: source, target and, if there is one, weight")


def _usual_ends(names: Sequence[str]) -> tuple[int, int] | None:
    """The positions of source and target, if they have usual names."""
    positions = {_plain(name): i for i, name in reversed(list(enumerate(names)))}
    for source, target in _PAIRS:
        if source in positions and target in positions:
            return positions[source], positions[target]
    return None


def _position(column: Column, names: Sequence[str]) -> int:
    if isinstance(column, int):
        if column < len(names):
            return column
        raise InputError(f"there is no column {column}, from 0, in {_listed(names)}")
    for is_same in (column.__eq__, lambda name: _plain(name) == _plain(column)):
        positions = [i for i, name in enumerate(names) if is_same(name)]
        if len(positions) == 1:
            return positions[0]
        if positions:
            problem = f"{len(positions)} columns are called {column!r}"
            raise InputError(problem, advice="pass their indices")
    raise InputError(f"there is no column {column!r}, found {_listed(names)}")


def _plain(name: object) -> str:
    return str(name).strip().lower()


def _listed(names: Sequence[str]) -> str:
    more = ", …" if len(names) > _SHOWN_COLUMNS else ""
    return ", ".join(shown(str(name)) for name in names[:_SHOWN_COLUMNS]) + more
