"""Compiled functions that are kept on disk wherever that can be, and work wherever it cannot."""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile

_LOGGER = logging.getLogger("grfpp")
_DIGEST = hashlib.sha256().digest_size


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function when it is called first, without the interpreter's lock, and keep it.

    As ``numba.njit(nogil=True, cache=True, **options)``, which fails where neither the package's
    folder nor the user's can be written to, and where what is kept there has been damaged. Here it
    is kept in a temporary folder then, or not at all, and what is damaged is compiled again.

    Examples
    --------
    >>> @compiled()
    ... def half(x):
    ...     return 0.5 * x
    >>> half(3.0)
    1.5
    """

    def decorate(function: Callable[..., Any]) -> Any:
        dispatcher = numba.njit(nogil=True, **options)(function)
        cache = _cache_of(function)
        if cache is not None and not numba.config.DISABLE_JIT:
            dispatcher._cache = cache
        return dispatcher

    return decorate


class _CheckedFile(IndexDataCacheFile):  # type: ignore[misc]  # untyped base
    """Files with a checksum: damaged machine code would be run as it is."""

    def _load_data(self, name: str) -> Any:
        content = Path(self._data_path(name)).read_bytes()
        if hashlib.sha256(content[_DIGEST:]).digest() != content[:_DIGEST]:
            raise ValueError(f"{name} is damaged")
        return pickle.loads(content[_DIGEST:])

    def _save_data(self, name: str, data: Any) -> None:
        content = self._dump(data)
        with self._open_for_write(self._data_path(name)) as stream:
            stream.write(hashlib.sha256(content).digest() + content)


class _ForgivingCache(FunctionCache):  # type: ignore[misc]  # untyped base
    """A cache that cannot make a call fail."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        stamps = [_stamp(file) for file in sorted(_sources(function))]
        stamp = (self._impl.locator.get_source_stamp(), *stamps)
        self._cache_file = _CheckedFile(self.cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # whatever unpickling makes of damaged files
            with suppress(Exception):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except Exception as error:  # a full disk, a folder that is gone
            _say_once(f"cannot keep its compiled loops in {self.cache_path} ({error}){_ADVICE}")


def _sources(function: Any, known: set[Any] | None = None) -> set[str]:
    """The files of all compiled functions that a function calls, and those call in turn.

    Their code becomes part of its own, and numba looks at its file alone.
    """
    known = set() if known is None else known
    files = set()
    for name in function.__code__.co_names:
        called = getattr(function.__globals__.get(name), "py_func", None)
        if called is not None and called not in known:
            known.add(called)
            files |= {called.__code__.co_filename} | _sources(called, known)
    return files


def _stamp(file: str) -> tuple[str, float, int]:
    try:
        found = Path(file).stat()
    except OSError:  # in an archive, say, which is not changed piece by piece
        return file, 0.0, 0
    return Path(file).name, found.st_mtime, found.st_size


def _cache_of(function: Any) -> _ForgivingCache | None:
    """Where a function is kept: as numba chooses, else in a temporary folder, else nowhere."""
    try:
        return _ForgivingCache(function)
    except (RuntimeError, OSError):  # no folder that can be written to
        folder = _temporary_folder()
    if folder is not None:
        before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(folder)
        try:
            cache = _ForgivingCache(function)
            _say_once(f"{_READ_ONLY} It keeps them in {folder}{_ADVICE}")
            return cache
        except (RuntimeError, OSError):
            pass
        finally:
            numba.config.CACHE_DIR = before
    _say_once(f"{_READ_ONLY} Every process compiles them anew{_ADVICE}")
    return None


def _temporary_folder() -> Path | None:
    """A folder that nobody else can write to: what lies there is run."""
    user = os.getuid() if hasattr(os, "getuid") else "user"
    try:
        folder = Path(tempfile.gettempdir(), f"grfpp-compiled-{user}")
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return None
    if hasattr(os, "getuid") and (
        not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077
    ):
        return None
    return folder


_READ_ONLY = (
    "cannot keep its compiled loops: neither the package's folder nor the user's can be written to."
)
_ADVICE = "; set NUMBA_CACHE_DIR to a folder that lasts to save the time of compiling"


def _say_once(what: str) -> None:
    if not _said:
        _said.append(what)
        _LOGGER.warning("grfpp: %s", what)


_said: list[str] = []
