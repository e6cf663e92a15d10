"""Lines ``u v {'weight': 2.0}``, as networkx writes edges unless told otherwise -> ``u v 2.0``."""

from __future__ import annotations

import ast
import re
import warnings

from grfpp.errors import InputError
from grfpp.io.text import at_line, shown

_FIRST = re.compile(rb"^[ \t]*[^#%\s][^\n]*", re.MULTILINE)
_LINE = re.compile(rb"([^\s,;{}]+)([ \t,;])([^\s,;{}]+)\2(\{.*\})\s*")
#: The two that need no parser.
_PLAIN = re.compile(rb"\{(?:'weight': ([0-9.eE+-]+))?\}")
_LONGEST = 100_000
_COMMENT_OR_EMPTY = re.compile(rb"\s*(?:[#%].*)?")


def without_attributes(text: bytes, name: str) -> bytes:
    """Put the weight in place of the dictionary of attributes, if the first line ends in one.

    Edges without a weight among their attributes get none. Lines keep their numbers.

    Examples
    --------
    >>> without_attributes(b"a b {'weight': 3, 'colour': 'red'}", "it")
    b'a b 3'
    >>> without_attributes(b"a b {}", "it")
    b'a b'
    """
    return drop_attributes(text, name) if has_attributes(text) else text


def has_attributes(text: bytes) -> bool:
    """Whether the first line ends in a dictionary."""
    first = _FIRST.search(text)
    return first is not None and _LINE.fullmatch(first.group()) is not None


def drop_attributes(text: bytes, name: str, number: int = 1) -> bytes:
    """Put weights in place of dictionaries in lines that all have one, from line `number` on."""
    lines = text.split(b"\n")
    for place, line in enumerate(lines):
        if _COMMENT_OR_EMPTY.fullmatch(line):
            continue
        try:
            lines[place] = _with_weight(line)
        except InputError as error:
            raise at_line(name, place + number, error.problem) from None
    return b"\n".join(lines)


def _with_weight(line: bytes) -> bytes:
    found = _LINE.fullmatch(line)
    if found is None:
        raise InputError(
            "expected source, target and a dictionary of attributes, as in the first line, found "
            f"{shown(line.decode().strip())}"
        )
    source, mark, target, attributes = found.groups()
    plain = _PLAIN.fullmatch(attributes)
    weight = _weight(attributes.decode()) if plain is None else plain[1]
    return mark.join([source, target] if weight is None else [source, target, weight])


def _weight(attributes: str) -> bytes | None:
    if len(attributes) > _LONGEST:
        raise InputError(f"a dictionary of {len(attributes):,} characters is too long")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about backslashes
            values = ast.literal_eval(attributes)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        values = None
    if not isinstance(values, dict):
        raise InputError(f"{shown(attributes)} is not a dictionary of plain values")
    weight = values.get("weight", ...)
    if weight is ...:
        return None
    if isinstance(weight, bool) or not isinstance(weight, int | float):
        raise InputError(f"the weight in {shown(attributes)} is not a number")
    return repr(weight).encode()
