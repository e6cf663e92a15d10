"""Compilation by numba, with a cache on disk that cannot make a call fail."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import event
from numba.core.caching import FunctionCache, IndexDataCacheFile

_LOGGER = logging.getLogger("grfpp")


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function at its first call, without the interpreter's lock, and cache it on disk.

    As ``numba.njit(nogil=True, cache=True, **options)``, but where no folder is writable or a
    cached file is damaged, which makes numba raise, the function is compiled again.

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
        if not numba.config.DISABLE_JIT:
            try:
                dispatcher._cache = _Cache(function)
            except (RuntimeError, OSError) as error:
                _warn_once(f"cannot cache compiled code ({error})")
        return dispatcher

    return decorate


#: Marks a small function that compiled ones call; LLVM inlines it. Numba's own inlining
#: (``inline="always"``) infers the types of every copy anew: half of the compile time.
inlined = numba.njit(
    forceinline=True,
    nogil=True,
    error_model="numpy",
    _nrt=False,
    no_cpython_wrapper=True,
    no_cfunc_wrapper=True,
)


class _Cache(FunctionCache):  # type: ignore[misc]  # untyped base
    """Numba's cache, without errors from files that cannot be read or written."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        stamps = [_stamp(file) for file in sorted(_sources(function))]
        stamp = (self._impl.locator.get_source_stamp(), *stamps)
        self._cache_file = IndexDataCacheFile(self.cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # anything that unpickling raises for damaged files
            with suppress(Exception):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except Exception as error:  # a full disk, a deleted folder
            _warn_once(f"cannot cache compiled code in {self.cache_path} ({error})")


def _sources(function: Any, known: set[Any] | None = None) -> set[str]:
    """The files of all compiled functions that a function calls, directly or indirectly.

    Their code is compiled into it, but numba invalidates its cache by its own file only.
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
        status = Path(file).stat()
    except OSError:  # in an archive, say, whose files are not changed one by one
        return file, 0.0, 0
    return Path(file).name, status.st_mtime, status.st_size


@cache
def _warn_once(problem: str) -> None:
    _LOGGER.warning("grfpp: %s; set NUMBA_CACHE_DIR to a folder that can be written to", problem)


class _Notice(event.Listener):  # type: ignore[misc]  # untyped base
    """Logs the first compilation of this process, so that it does not look like a hang."""

    def on_start(self, compilation: Any) -> None:
        if compilation.data["dispatcher"].py_func.__module__.startswith("grfpp."):
            _announce_once()

    def on_end(self, compilation: Any) -> None:
        """Nothing to log."""


@cache
def _announce_once() -> None:
    _LOGGER.warning(
        "grfpp: compiling the functions in use, which are then kept on disk (2 to 10 seconds of "
        "processor time; all of grfpp, by `grfpp warmup`, 30 seconds)"
    )


@cache
def announce_compilation() -> None:
    """Arrange for a log message before the first compilation of this process."""
    event.register("numba:compile", _Notice())
