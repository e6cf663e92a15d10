"""Files that are written whole or not at all, and that leave nothing behind."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import IO

from grfpp.errors import InputError

try:
    import fcntl
except ImportError:  # Windows, where nobody can remove a file that is open
    fcntl = None  # type: ignore[assignment]  # a module elsewhere

_SUFFIX = ".part"
# Names of files have 255 bytes at most, and a character up to four.
_LONGEST_STEM = 50
# More than any system follows.
_MOST_LINKS = 64


@contextmanager
def atomic_write(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file for writing that appears under its name only when the block ends well.

    What is written lies beside it under a hidden name until then. A writer that is killed leaves
    that behind, and the next one to write the same file removes it. A symbolic link stays: the
    file that it names is written.
    """
    named = writable_path(path)
    if problem := target_problem(named):
        raise InputError(f"cannot write {named}: {problem}")
    target = followed(named)
    with _explained(named):
        _remove_leftovers(target)
        handle, temporary = _locked_file(target)
    try:
        with _explained(named):
            with os.fdopen(handle, "wb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
                # Before the lock goes with the stream, so that nobody takes it for a leftover.
                temporary.chmod(_mode(target))
                if fcntl is not None:
                    temporary.replace(target)
            if fcntl is None:
                temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def writable_path(path: str | Path) -> Path:
    """The path of what is to be written; ``~`` is the user's folder."""
    if "\0" in str(path):
        raise InputError(f"cannot write {str(path)!r}: names of files have no zero bytes")
    try:
        return Path(path).expanduser()
    except (RuntimeError, TypeError) as error:  # the folder of a user who does not exist
        raise InputError(f"cannot write {path!r}: {error}") from None


def followed(path: Path) -> Path:
    """The file that a symbolic link names, whether or not it exists; other paths as they are."""
    try:
        return path.resolve() if path.is_symlink() else path
    except (OSError, RuntimeError):  # links in a circle
        return path


def _is_stream(path: Path) -> bool:
    """Whether a link leads to something that a program has open, as ``/dev/stdout`` does."""
    for _ in range(_MOST_LINKS):
        if not path.is_symlink():
            return False
        if path.parts[:2] == ("/", "proc"):
            return True
        path = path.parent / path.readlink()
    return False


def target_problem(target: Path, *, folder: bool = False) -> str | None:
    """Say why no file, or no folder, can be written under this name, if so."""
    try:
        return _problem(target, folder)
    except OSError as error:  # a name that is too long
        return error.strerror or str(error)


def _problem(target: Path, folder: bool) -> str | None:
    if _is_stream(target):
        return "it is the input or output of a program; name a file"
    target = followed(target)
    if target.is_symlink():
        return "it is a symbolic link that leads to itself; name a file"
    if not target.parent.is_dir():
        return f"the folder {target.parent} does not exist"
    if target.is_dir():  # another writer may have made it just now
        return None if folder else "it is a folder; name a file"
    if target.exists() and not target.is_file():
        return "it is a pipe or a device; name a file"
    return None


@contextmanager
def _explained(target: Path) -> Iterator[None]:
    """Say of errors in writing (a full disk, a folder that is read-only) which file they hit."""
    try:
        yield
    except OSError as error:
        if error.filename is not None and not Path(str(error.filename)).name.endswith(_SUFFIX):
            raise  # about another file
        raise InputError(f"cannot write {target}: {error.strerror or error}") from error


def _locked_file(target: Path) -> tuple[int, Path]:
    """Make the file to write to. It is locked as long as its writer lives."""
    while True:
        temporary = target.with_name(f"{stem(target)}{token_hex(4)}{_SUFFIX}")
        with suppress(FileExistsError):
            handle = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | _O_BINARY, 0o600)
            if lock(handle) is not False and os.fstat(handle).st_nlink:
                return handle, temporary
            os.close(handle)  # somebody took it for a leftover before it was locked


def _remove_leftovers(target: Path) -> None:
    """Remove what killed writers of this file have left; those that live hold a lock."""
    with os.scandir(target.parent) as entries:
        names = [entry.name for entry in entries if entry.name.endswith(_SUFFIX)]
    for name in names:
        # A name that only begins like ours belongs to a writer of another file.
        if len(name) != len(stem(target)) + 8 + len(_SUFFIX) or not name.startswith(stem(target)):
            continue
        leftover = target.with_name(name)
        with suppress(OSError):
            if not stat.S_ISREG(leftover.lstat().st_mode):
                continue
            handle = os.open(leftover, os.O_RDWR | _O_BINARY)
            try:
                if lock(handle):
                    leftover.unlink()
            finally:
                os.close(handle)
            if fcntl is None:
                leftover.unlink()


def lock(handle: int) -> bool | None:
    """Lock an open file: whether that worked, or ``None`` where there are no locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return None
    return True


def stem(target: Path) -> str:
    """What the hidden names of everything that is being written for `target` begin with."""
    return f".{target.name[:_LONGEST_STEM]}."


_O_BINARY: int = getattr(os, "O_BINARY", 0)


def _mode(target: Path) -> int:
    """Who may read and write a file: as before, where there is one already."""
    with suppress(OSError):
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
