"""What commands print: facts, tables and JSON on stdout, progress on stderr."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from time import perf_counter
from typing import Any

from grfpp.cli.escaping import visible, visible_json


def shows_progress() -> bool:
    """Whether somebody is watching: stderr is a terminal, not a pipe or a file."""
    return sys.stderr.isatty()


@contextmanager
def status(text: str) -> Iterator[None]:
    """Show on a terminal what is going on while the block runs."""
    if not shows_progress():
        yield
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(visible(text))):
        yield


@contextmanager
def progress_bar(text: str, *columns: Any, **options: Any) -> Iterator[Callable[..., None]]:
    """Give what moves a progress bar, which is shown on a terminal and nowhere else."""
    if not shows_progress():
        yield lambda **_: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(*columns, console=Console(stderr=True), transient=True, **options) as bar:
        yield partial(bar.update, bar.add_task(text, total=None))


@contextmanager
def timed(seconds: dict[str, float], name: str, text: str | None = None) -> Iterator[None]:
    """Enter how long the block runs, and show on a terminal what it does."""
    began = perf_counter()
    with nullcontext() if text is None else status(text):
        yield
    seconds[name] = perf_counter() - began


def note(text: str) -> None:
    """Print one line on stderr, whatever the text holds."""
    print("grfpp:", visible(" ".join(text.split())), file=sys.stderr)


class Notices(logging.Handler):
    """What the library has to say on the way, such as that it compiles: a kind of progress."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print it where somebody is watching."""
        if shows_progress():
            note(record.getMessage().removeprefix("grfpp: "))


@contextmanager
def notices() -> Iterator[None]:
    """Take over what the library logs while the block runs."""
    logger, handler = logging.getLogger("grfpp"), Notices()
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


def print_json(document: Any) -> None:
    """Print one JSON document, strictly: no NaN, no infinity."""
    print(visible_json(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)))


def tell(facts: Sequence[tuple[str, str]], document: Any, as_json: bool) -> None:
    """Say what a command did: names and values for people, or a document for programs."""
    if as_json:
        print_json(document)
        return
    facts = [(visible(name), value) for name, value in facts]
    width = max(len(name) for name, _ in facts)
    for name, value in facts:
        print(f"{name:<{width}}  {visible(value)}")


def new_table(columns: Sequence[str], words: Collection[str], title: str | None = None) -> Any:
    """A rich table: columns of words to the left, columns of numbers to the right."""
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for column in columns:
        table.add_column(column, justify="left" if column in words else "right")
    return table


def print_table(table: Any) -> None:
    """Print a rich table, whole also where the terminal's width is not known."""
    from rich.console import Console

    console = Console(width=None if sys.stdout.isatty() else 120)
    with console.capture() as captured:
        console.print(table)
    # Not through rich: it ends the program by itself when a reader has left.
    print("\n".join(line.rstrip() for line in captured.get().splitlines()))
