"""Which files are known to be sound, so that they are not read through at every opening.

Compiled loops trust the arrays that they are given: a folder whose arrays lead elsewhere would end
the process. So every folder is looked through once, checksums and structure, and then has a stamp:
number, size and times of each file as the system tells them. A file that is copied, edited or cut
has others, and is looked through again. Nobody can make up a stamp for files to come: the system
gives out the numbers, and the time of the last change is no user's to set.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from grfpp.errors import InputError
from grfpp.io.folder.header import HEADER
from grfpp.io.storage.atomic import atomic_write

STAMP = "verified.json"
_LONGEST = 1 << 16


def stats_of(files: Iterable[Path]) -> dict[str, list[int]]:
    """What the system says of files, by their names."""
    found = {}
    for file in files:
        try:
            known = file.stat()
        except OSError as error:
            raise InputError(f"{file} cannot be read ({error.strerror or error})") from None
        found[file.name] = [known.st_ino, known.st_size, known.st_mtime_ns, known.st_ctime_ns]
    return found


def write_stamp(folder: Path, files: Iterable[Path]) -> None:
    """Say that the header and these files are sound; not where the folder is read-only."""
    text = json.dumps(stats_of([folder / HEADER, *files]))
    with suppress(InputError), atomic_write(folder / STAMP) as stream:
        stream.write(text.encode())


def is_stamped(folder: Path, stats: dict[str, list[int]]) -> bool:
    """Whether files with these `stats_of` have been found sound."""
    try:
        with (folder / STAMP).open("rb") as stream:
            known: Any = json.loads(stream.read(_LONGEST))
    except (OSError, ValueError, RecursionError):
        return False
    return bool(known == stats)
