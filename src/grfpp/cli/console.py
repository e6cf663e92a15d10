"""The terminal: progress and notes on stderr, tables on stdout, control characters escaped."""

from __future__ import annotations

import json
import logging
import os
import sys
import unicodedata
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

# Unicode categories that terminals interpret or do not show: controls, formats (such as those that
# reverse the direction of text), surrogates, line and paragraph separators.
_ESCAPED_CATEGORIES = {"Cc", "Cf", "Cs", "Zl", "Zp"}
# Zero-width (non-)joiners, which Persian, Hindi and families of emoji are written with.
_JOINERS = "\u200c\u200d"


def shows_progress() -> bool:
    """Whether stderr is a terminal, not a pipe or a file."""
    return sys.stderr.isatty()


@contextmanager
def status(text: str) -> Iterator[None]:
    """Show the text on a terminal while the block runs."""
    if not shows_progress():
        yield
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(visible(text))):
        yield


@contextmanager
def progress_bar(text: str, *columns: Any, **options: Any) -> Iterator[Callable[..., None]]:
    """A function that updates a progress bar, which is shown on a terminal only."""
    if not shows_progress():
        yield lambda **_: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(*columns, console=Console(stderr=True), transient=True, **options) as bar:
        yield partial(bar.update, bar.add_task(text, total=None))


def note(text: str) -> None:
    """Print one line on stderr, whatever the text holds."""
    print("grfpp:", visible(" ".join(text.split())), file=sys.stderr)


@contextmanager
def log_notes() -> Iterator[None]:
    """Show the library's log on a terminal while the block runs, such as that it compiles."""
    logger = logging.getLogger("grfpp")
    handler = logging.StreamHandler() if shows_progress() else logging.NullHandler()
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


def print_json(document: Any) -> None:
    """Print one JSON document, strictly: no NaN, no infinity. Paths become text."""
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False, default=os.fspath)
    print("".join(json.dumps(c)[1:-1] if c != "\n" and _is_hidden(c) else c for c in text))


def new_table(columns: Sequence[str], words: Collection[str], title: str | None = None) -> Any:
    """A rich table: columns of words are left-aligned, columns of numbers right-aligned."""
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for column in columns:
        table.add_column(column, justify="left" if column in words else "right")
    return table


def print_table(table: Any) -> None:
    """Print a rich table, at 120 columns where stdout is no terminal."""
    from rich.console import Console

    console = Console(width=None if sys.stdout.isatty() else 120)
    with console.capture() as captured:
        console.print(table)
    # Not printed by rich, which exits by itself when the reader of a pipe has closed it.
    print("\n".join(line.rstrip() for line in captured.get().splitlines()))


def visible(text: str) -> str:
    r"""Text with Python's escapes for characters that a terminal would interpret or not show.

    Examples
    --------
    >>> print(visible("red: \x1b[31m, reversed: \u202e, é"))
    red: \x1b[31m, reversed: \u202e, é
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(repr(c)[1:-1] if _is_hidden(c) else c for c in text)


def _is_hidden(character: str) -> bool:
    return unicodedata.category(character) in _ESCAPED_CATEGORIES and character not in _JOINERS
