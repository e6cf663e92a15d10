"""`EdgeListOptions`: what a user can choose about the reading of edge lists, as one value."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from io import BytesIO, TextIOWrapper
from typing import Any, Literal, Self, TypedDict, Unpack, cast, get_args

from grfpp.arguments import one_of, truth, whole
from grfpp.errors import InputError

Duplicates = Literal["sum", "max", "first", "error"]
#: A column by its name, or by its number from 0.
Column = str | int

#: What can stand in names or numbers, or ends a line.
_NO_SEPARATORS = frozenset('"\r\n\0.+-_')


class EdgeListKeywords(TypedDict, total=False):
    """The options as keywords; see `EdgeListOptions`."""

    duplicates: Duplicates | None
    columns: Sequence[Column] | None
    separator: str | None
    encoding: str | None
    header: bool | None


@dataclass(frozen=True, kw_only=True)
class EdgeListOptions:
    """How a list of edges is read; checked when it is made. ``None`` is found out.

    Parameters
    ----------
    duplicates
        What becomes of an edge that is listed more than once, in an undirected list in either
        order: the ``"sum"`` of the weights, their ``"max"``, the ``"first"``, or an ``"error"``.
        ``None`` is the sum, with a warning where all edges are listed in both orders.
    columns
        Those of source, target and weight, by name or by number from 0. With two of them every
        edge weighs 1. ``None``: the columns that are called so, or else the first two or three.
    separator
        What stands between fields; ``" "`` is any run of spaces and tabs. ``None``: semicolons,
        commas or white space, the first of these that the first line has; tabs in ``.tsv`` files.
    encoding
        Of text. ``None`` is UTF-8, or what the byte-order mark says.
    header
        Whether the first line holds the names of the columns.

    Examples
    --------
    >>> options = EdgeListOptions.of(columns=["src", "dst"], duplicates="max")
    >>> options.columns
    ('src', 'dst')
    >>> options.given
    {'duplicates': 'max', 'columns': ('src', 'dst')}
    >>> EdgeListOptions(duplicates="mean")
    Traceback (most recent call last):
    grfpp.errors.InputError: duplicates must be 'sum', 'max', 'first' or 'error', not 'mean'
    """

    duplicates: Duplicates | None = None
    columns: tuple[Column, ...] | None = None
    separator: str | None = None
    encoding: str | None = None
    header: bool | None = None

    def __post_init__(self) -> None:
        if self.duplicates is not None:
            one_of(self.duplicates, "duplicates", get_args(Duplicates))
        if self.columns is not None:
            object.__setattr__(self, "columns", _columns(self.columns))
        if self.separator is not None:
            _check_separator(self.separator)
        if self.encoding is not None:
            _check_encoding(self.encoding)
        if self.header is not None:
            object.__setattr__(self, "header", truth(self.header, "header"))
        if self.header is False and any(isinstance(each, str) for each in self.columns or ()):
            raise InputError(
                "must be numbers from 0 where header=False, there are no names then; found "
                + ", ".join(map(repr, self.columns or ())),
                argument="columns",
            )

    @classmethod
    def of(cls, **options: Unpack[EdgeListKeywords]) -> Self:
        """The options that these keywords ask for."""
        return cls(**cast(Any, options))

    @property
    def given(self) -> dict[str, Any]:
        """Those that were asked for, as keywords."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in values.items() if value is not None}

    def require_only(self, known: Collection[str], source: str) -> None:
        """Refuse what was asked for and means nothing for this kind of source."""
        for name in self.given:
            if name not in known:
                kinds = (
                    "text edge lists"
                    if name in ("separator", "encoding", "header")
                    else ("edge lists and frames")
                )
                raise InputError(f"is for {kinds}, not for {source}", argument=name)


def _columns(columns: Any) -> tuple[Column, ...]:
    if isinstance(columns, Sequence) and not isinstance(columns, str | bytes):
        chosen = tuple(
            each if isinstance(each, str) else whole(each, "each of columns", 0) for each in columns
        )
        if len(chosen) in (2, 3) and len(set(chosen)) == len(chosen):
            return chosen
    raise InputError(
        "must be two or three different columns (source, target, weight), each a name or a "
        f"number from 0, found {columns!r}",
        argument="columns",
    )


def _check_separator(separator: Any) -> None:
    if (
        not isinstance(separator, str)
        or not separator
        or any(mark.isalnum() or mark in _NO_SEPARATORS for mark in separator)
        or (separator.isspace() and separator not in (" ", "\t"))
    ):
        raise InputError(
            "must be what stands between two fields, such as ',' or '|', or ' ' for white space, "
            f"found {separator!r}",
            argument="separator",
        )


def _check_encoding(encoding: Any) -> None:
    try:
        TextIOWrapper(BytesIO(), encoding)  # refuses those that are not for text
    except (LookupError, TypeError, ValueError):
        raise InputError(
            f"must be one that Python knows, such as 'utf-8' or 'latin-1', found {encoding!r}",
            argument="encoding",
        ) from None
