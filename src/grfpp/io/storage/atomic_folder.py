"""Folders that are written whole or not at all, and that leave nothing behind."""

from __future__ import annotations

import ctypes
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from grfpp.errors import InputError
from grfpp.io.storage.atomic import followed, lock, stem, target_problem, writable_path

_SUFFIX = ".parts"
#: A file in a folder that is being written. It is locked as long as the writer lives.
LOCK = ".writing"
_AT_FDCWD, _EXCHANGE = -100, 2


@contextmanager
def atomic_folder(path: str | Path, mark: str) -> Iterator[Path]:
    """Give a new folder to write into, which takes its name only when the block ends well.

    Until then it lies beside that under a hidden name. A writer that is killed leaves it behind,
    and the next one to write the same folder removes it. A folder that is there already is
    replaced, in one step where the system can do that, if it holds a file called `mark`: others are
    nobody's to remove.
    """
    named = writable_path(path)
    if problem := _problem(named, mark):
        raise InputError(f"cannot write {named}: {problem}")
    target = followed(named)
    with explained_writing(named):
        _remove_leftovers(target, mark)
        handle, temporary = _locked_folder(target)
    try:
        with explained_writing(named):
            yield temporary
            _to_disk(temporary)
            _replace(target, temporary, mark)
            # Only now, so that nobody takes it for a leftover.
            (target / LOCK).unlink(missing_ok=True)
            _to_disk(target.parent)
    except BaseException:
        _remove(temporary, LOCK)
        raise
    finally:
        os.close(handle)


@contextmanager
def explained_writing(target: str | Path) -> Iterator[None]:
    """Say of errors in writing (a full disk, a folder that is read-only) what they hit."""
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot write {target}: {error.strerror or error}") from error


def _problem(named: Path, mark: str) -> str | None:
    if followed(named).is_dir():
        inside = os.listdir(followed(named))  # noqa: PTH208  (names, not paths)
        known = mark in inside or not inside
        return None if known else f"it is a folder without {mark}; remove it, or take another name"
    problem = target_problem(named, folder=True)
    if problem is None and followed(named).is_file():
        return "it is a file; remove it, or take another name"
    return problem


def _locked_folder(target: Path) -> tuple[int, Path]:
    """Make the folder to write to."""
    while True:
        temporary = target.with_name(f"{stem(target)}{token_hex(4)}{_SUFFIX}")
        with suppress(FileExistsError):
            temporary.mkdir()
        with suppress(FileExistsError, FileNotFoundError):  # somebody took it for a leftover
            handle = os.open(temporary / LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            if lock(handle) is not False and os.fstat(handle).st_nlink:
                return handle, temporary
            os.close(handle)  # somebody took it for a leftover before it was locked


def _remove_leftovers(target: Path, mark: str) -> None:
    """Remove what killed writers of this folder have left; those that live hold a lock.

    A folder without a lock is one that was replaced, and whose writer did not come to remove it; or
    it is empty, and its writer makes another.
    """
    length = len(stem(target)) + 8 + len(_SUFFIX)
    for entry in list(os.scandir(target.parent)):
        name = entry.name
        ours = len(name) == length and name.startswith(stem(target)) and name.endswith(_SUFFIX)
        if not ours or not entry.is_dir(follow_symlinks=False):
            continue
        leftover = Path(entry.path)
        try:
            handle = os.open(leftover / LOCK, os.O_RDWR)
        except OSError:
            if (leftover / mark).exists():
                _remove(leftover, mark)
            with suppress(OSError):
                leftover.rmdir()
            continue
        try:
            if lock(handle) is not False:
                _remove(leftover, LOCK)
        finally:
            os.close(handle)


def _remove(folder: Path, last: str) -> None:
    """Remove a folder, and the file that tells what it is after all others."""
    with suppress(OSError):
        for each in folder.iterdir():
            if each.is_dir() and not each.is_symlink():
                shutil.rmtree(each, ignore_errors=True)
            elif each.name != last:
                each.unlink(missing_ok=True)
    with suppress(OSError):
        (folder / last).unlink(missing_ok=True)
        folder.rmdir()


def _replace(target: Path, temporary: Path, mark: str) -> None:
    """Give the folder its name; the one that had it is removed."""
    try:
        temporary.rename(target)  # also onto an empty folder
        return
    except OSError:
        if not (target / mark).is_file():
            raise
    if not _exchange(target, temporary):
        # Two steps. Whoever is killed between them leaves both folders, the old one as a leftover.
        old = target.with_name(f"{stem(target)}{token_hex(4)}{_SUFFIX}")
        target.rename(old)
        temporary.rename(target)
        temporary = old
    _remove(temporary, mark)


def _exchange(one: Path, other: Path) -> bool:
    """Let two folders change their names in one step, where the system can (Linux)."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    names = os.fsencode(one), os.fsencode(other)
    return bool(rename(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _EXCHANGE) == 0)


def _to_disk(folder: Path) -> None:
    """Make sure that a folder's entries are stored."""
    with suppress(OSError):  # systems on which folders cannot be opened
        handle = os.open(folder, os.O_RDONLY)
        try:
            if stat.S_ISDIR(os.fstat(handle).st_mode):
                os.fsync(handle)
        finally:
            os.close(handle)
