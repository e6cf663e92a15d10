"""Paths that a file can be read from."""

from __future__ import annotations

import os
from pathlib import Path

from grfpp.errors import InputError


def existing_file(path: str | os.PathLike[str]) -> Path:
    """Give the path of a file that can be read; ``~`` is the user's folder.

    Pipes and devices are refused: opening one may wait for ever, and reading may never end.
    """
    if "\0" in str(path):
        raise InputError(f"cannot read {str(path)!r}: names of files have no zero bytes")
    try:
        file = Path(path).expanduser()
        if file.is_dir():
            raise InputError(f"{str(path)!r} is a folder; pass the path of a file")
        if not file.exists():
            raise InputError(f"there is no file {path}")
        if not file.is_file():
            raise InputError(f"{path} is a pipe or a device; save what it gives, and pass that")
    except (OSError, RuntimeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"cannot read {str(path)!r}: {error}") from None
    return file
