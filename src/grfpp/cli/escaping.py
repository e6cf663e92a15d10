"""Text of unknown origin, such as labels of nodes, made harmless where it is shown."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

# Controls (terminals obey some of them), marks that turn the direction of text round and other
# invisible ones, halves of characters, and ends of lines.
_ESCAPED = {"Cc", "Cf", "Cs", "Zl", "Zp"}
# Two invisible marks that scripts are written with: Persian, Hindi, families of emoji.
_JOINERS = "\u200c\u200d"
# What spreadsheets take for the beginning of a formula, in both widths.
_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]|[\t\r\n]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def visible(text: str) -> str:
    r"""Write what a terminal would obey, or not show, as Python does.

    Examples
    --------
    >>> print(visible("red: \x1b[31m, turned: \u202e, é"))
    red: \x1b[31m, turned: \u202e, é
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_python_escape(c) if _is_hidden(c) else c for c in text)


def visible_json(document: str) -> str:
    r"""The same in a JSON document, which stays what it is.

    Examples
    --------
    >>> print(visible_json('{"node": "\x9b31m"}'))
    {"node": "\u009b31m"}
    """
    return "".join(json.dumps(c)[1:-1] if c != "\n" and _is_hidden(c) else c for c in document)


def csv_cell(value: Any) -> Any:
    """Text that a spreadsheet would compute, made text by an apostrophe; numbers stay as they are.

    Examples
    --------
    >>> [csv_cell(each) for each in ("Anna", "=1+1", "-5", -5, "@me")]
    ['Anna', "'=1+1", '-5', -5, "'@me"]
    """
    if isinstance(value, bool | int | float) or value is None:
        return value
    text = str(value).encode(errors="backslashreplace").decode()
    if _FORMULA.match(text) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text


def _is_hidden(character: str) -> bool:
    return unicodedata.category(character) in _ESCAPED and character not in _JOINERS


def _python_escape(character: str) -> str:
    return character.encode("unicode_escape", errors="backslashreplace").decode()
