"""What the commands of the laboratory share: a folder to write to, and what they say about it."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from grfpp._imports import how_to_install
from grfpp.cli import console, options
from grfpp.errors import InputError


def out_option(default: str) -> options.Decorator:
    """The option ``--out``."""
    return options.path_option(
        "--out", help="Folder for the page; made if need be.", metavar="FOLDER", default=default
    )


def make_folder(folder: Path) -> None:
    """Make the folder that was asked for, or say why it cannot be made."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--out {folder}: cannot make this folder ({error.strerror})") from None


def say_no_page(missing: Sequence[str]) -> None:
    """Say what is to be installed, where something is missing that pages need."""
    if missing:
        console.note(f"no page was written, because {how_to_install(list(missing))}")


def print_written(paths: Iterable[Path]) -> None:
    """A line for each file that was written."""
    for path in paths:
        print(f"wrote {path}")
