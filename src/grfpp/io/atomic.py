"""Atomic writes of files and folders.

Both are written under a hidden name in the folder of their target, and renamed when complete.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import IO

from grfpp.errors import InputError

_FILE, _FOLDER = ".part", ".parts"
#: Characters of the target's name in hidden names: these have at most 255 bytes, and a character
#: has up to four.
_LONGEST_STEM = 50
#: Seconds without writes after which hidden files count as those of killed writers, also of writers
#: on other machines.
_STALE_SECONDS = 24 * 3600
#: Of Linux: paths from the working directory, and the flag of ``renameat2`` to exchange two names.
_AT_CWD, _RENAME_EXCHANGE = -100, 2


@contextmanager
def atomic_write(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file for writing that appears under its name only when the block ends well.

    Of a symbolic link, the target is replaced. Of several writers the last one wins.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "result.txt"
    >>> with atomic_write(target) as stream:
    ...     _ = stream.write(b"done")
    >>> target.read_text()
    'done'
    """
    target = _writable(path)
    temporary = _hidden(target, _FILE)
    with writing_errors(path, target, temporary):
        _remove_stale(target, _FILE)
        try:
            with temporary.open("xb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            with suppress(FileNotFoundError):
                shutil.copymode(target, temporary)
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


@contextmanager
def atomic_folder(path: str | Path, mark: str) -> Iterator[Path]:
    """Create a temporary folder, which is renamed to `path` only when the block ends well.

    An existing folder is replaced if it is empty or holds a file called `mark`; otherwise an error
    is raised.
    """
    target = _writable(path, folder=True)
    if _is_foreign(target, mark):
        problem = f"cannot write {path}: it is a folder without {mark}"
        raise InputError(problem, advice="remove it, or use another name")
    with writing_errors(path):
        _remove_stale(target, _FOLDER)
        temporary = _hidden(target, _FOLDER)
        temporary.mkdir()
        try:
            yield temporary
            _replace_folder(temporary, target)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise


@contextmanager
def writing_errors(path: str | Path, *files: Path) -> Iterator[None]:
    """Raise errors of the system (a full disk, a read-only folder) as `InputError`.

    With `files`, only errors about one of them, or without a file name.
    """
    try:
        yield
    except OSError as error:
        if files and error.filename is not None and Path(str(error.filename)) not in files:
            raise
        raise InputError(f"cannot write {path}: {error.strerror or error}") from error


def target_problem(path: Path, *, folder: bool = False) -> str | None:
    """The reason why no file, or no folder, can be written to this path; ``None`` if one can."""
    try:
        target = link_target(path)
        if path.parent == Path("/dev") or path.parent.name == "fd":
            return "it is the input or output of a program, not a file"
        if target.is_symlink():
            return "it is a symbolic link to itself"
        if not target.parent.is_dir():
            return f"the folder {target.parent} does not exist"
        mode = target.stat().st_mode  # one call, since another writer may move it meanwhile
        if stat.S_ISDIR(mode):
            return None if folder else "it is a folder, not a file"
        if not stat.S_ISREG(mode):
            return "it is a pipe or a device, not a file"
        if folder:
            return "it is a file, not a folder"
    except FileNotFoundError:
        return None
    except OSError as error:  # a name that is too long
        return error.strerror or str(error)
    return None


def link_target(path: Path) -> Path:
    """The target of a symbolic link, whether or not it exists; other paths are unchanged."""
    try:
        return path.resolve() if path.is_symlink() else path
    except (OSError, RuntimeError):  # links in a circle
        return path


def _writable(path: str | Path, *, folder: bool = False) -> Path:
    """The file or folder to write; ``~`` is the user's folder."""
    try:
        target = Path(path).expanduser()
        problem = target_problem(target, folder=folder)
        if "\0" in str(path):
            problem = "file names have no zero bytes"
    except (RuntimeError, TypeError, ValueError) as error:  # an unknown user, a zero byte
        problem = str(error)
    if problem:
        raise InputError(f"cannot write {str(path)!r}: {problem}", advice="use another path")
    return link_target(target)


def _is_foreign(target: Path, mark: str) -> bool:
    """Whether there is a folder that holds files, but none called `mark`."""
    with suppress(FileNotFoundError, NotADirectoryError):
        before, names = target.stat().st_ino, [file.name for file in target.iterdir()]
        # Another writer may have moved it, and removed some of its files.
        return bool(names) and mark not in names and target.stat().st_ino == before
    return False


def _stem(target: Path) -> str:
    return f".{target.name[:_LONGEST_STEM]}."


def _hidden(target: Path, suffix: str) -> Path:
    return target.with_name(f"{_stem(target)}{token_hex(8)}{suffix}")


def _remove_stale(target: Path, suffix: str) -> None:
    """Remove the hidden files of killed writers of this target."""
    n_letters = len(_hidden(target, suffix).name)
    for entry in os.scandir(target.parent):
        name = entry.name
        if len(name) == n_letters and name.startswith(_stem(target)) and name.endswith(suffix):
            with suppress(OSError):
                is_folder = entry.is_dir(follow_symlinks=False)
                files = [entry, *(os.scandir(entry) if is_folder else ())]
                changed = max(file.stat(follow_symlinks=False).st_mtime for file in files)
                if time.time() - changed > _STALE_SECONDS:
                    shutil.rmtree(entry) if is_folder else Path(entry).unlink()


def _replace_folder(temporary: Path, target: Path) -> None:
    """Rename the folder to its target; an existing target is exchanged for it, then removed.

    Where the system cannot exchange folders, it is first moved: a process that is killed between
    these two steps leaves no folder of that name.
    """
    if _exchange(temporary, target):
        shutil.rmtree(temporary, ignore_errors=True)
        return
    while True:
        old = _hidden(target, _FOLDER)
        with suppress(FileNotFoundError):
            target.rename(old)
        try:
            temporary.rename(target)
            return
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):  # another writer was faster
                with suppress(FileNotFoundError):
                    old.rename(target)
                raise
        finally:
            shutil.rmtree(old, ignore_errors=True)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange the names of two folders in one step, where both exist and the system can."""
    try:
        call = ctypes.CDLL(None).renameat2
    except (AttributeError, OSError, TypeError):  # not on Linux
        return False
    names = os.fsencode(one.absolute()), os.fsencode(other.absolute())
    return bool(call(_AT_CWD, names[0], _AT_CWD, names[1], _RENAME_EXCHANGE) == 0)
