"""The available memory, and refusals of requests that exceed it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from grfpp.errors import InputError

#: Available memory where the system reveals nothing.
_DEFAULT_BYTES = 4 * 2**30
#: Control groups of version 1 state limits above this where there is none.
_V1_UNLIMITED = 2**60
#: Files (limit and usage) and the entry of ``memory.stat`` (reclaimable) of control groups.
_V1_NAMES = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
_V2_NAMES = ("memory.current", "inactive_file")
#: Limits of one process (``ulimit -v`` and ``-d``), and the usage that each one limits.
_PROCESS_LIMITS = {"Max address space": "VmSize:", "Max data size": "VmData:"}

#: Share of the available memory that one request may take. The rest is for uncounted use:
#: allocators, threads, other programs.
GRANTED = 0.75

#: Requests up to this size are always granted: asking the system would take longer than they do.
MAX_UNCHECKED_BYTES = 2**20
#: The same for `fits`, which chooses between methods and refuses nothing.
_MAX_UNCHECKED_FIT = 2**26


def available_bytes(root: str | Path = "/") -> int:
    """Bytes that this process can still allocate without swapping or being killed.

    The minimum of Linux's ``MemAvailable``, the remainder of the limits of this process's control
    groups (containers, batch systems), and the remainder of its own limits (``ulimit -v``). Where
    none of these can be read, half of the machine's memory, or 4 GiB if that is unknown. `root` is
    the parent of ``/proc`` and ``/sys``.

    Examples
    --------
    >>> available_bytes() > 0
    True
    """
    root = Path(root)
    free = (1024 * n for n in _numbers(root / "proc/meminfo", "MemAvailable:"))
    bounds = [*free, *_control_groups(root), *_process_limits(root)]
    return max(0, min(bounds)) if bounds else _physical_fallback()


def require_bytes(n_bytes: int, what: str, advice: str | None = None) -> None:
    """Raise `InputError` when `what` needs more than three quarters of the available memory.

    Parameters
    ----------
    n_bytes
        Size of the whole request: everything that is in memory at one time.
    what
        Name of the request for the message, singular.
    advice
        Alternatives that take less memory.

    Examples
    --------
    >>> require_bytes(8, "one number")
    >>> require_bytes(10**18, "a dense kernel of 350,000,000 nodes")
    Traceback (most recent call last):
    grfpp.errors.InputError: a dense kernel of 350,000,000 nodes needs 1000000000000000000 bytes ...
    """
    if n_bytes <= MAX_UNCHECKED_BYTES:
        return
    available = available_bytes()
    granted = int(GRANTED * available)
    if n_bytes > granted:
        raise InputError(
            f"{what} needs {n_bytes} bytes ({readable_bytes(n_bytes)}) of memory, "
            f"but only {granted} ({readable_bytes(granted)}) may be taken, three quarters of "
            "what is available",
            advice=advice,
        )


def fits(n_bytes: float) -> bool:
    """Whether a request of this size would be granted; up to 64 MB without asking the system.

    Examples
    --------
    >>> fits(8), fits(1e18)
    (True, False)
    """
    return n_bytes <= _MAX_UNCHECKED_FIT or n_bytes <= GRANTED * available_bytes()


def readable_bytes(n_bytes: int) -> str:
    """A number of bytes as people read it.

    Examples
    --------
    >>> readable_bytes(12_345_678)
    '12.3 MB'
    """
    size = float(n_bytes)
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:,.1f} TB"


def _numbers(path: Path, key: str) -> Iterator[int]:
    """Yield the number after `key` in the lines that begin with it."""
    for words in map(str.split, _read(path).splitlines()):
        if words[:1] == [key]:
            yield int(words[1])


def _control_groups(root: Path) -> Iterator[int]:
    """Yield the remainder of each limit, from this process's groups up to the root group."""
    mounts = root / "sys/fs/cgroup"
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers == "":
            # Above memory.high processes are throttled, nearly to a standstill.
            base, limits = mounts, [(name, *_V2_NAMES) for name in ("memory.max", "memory.high")]
        elif "memory" in controllers.split(","):
            base, limits = mounts / "memory", [_V1_NAMES]
        else:
            continue
        group = Path(path.strip().lstrip("/"))
        for level in (group, *group.parents):
            for names in limits:
                yield from _group_remainder(base / level, *names)


def _process_limits(root: Path) -> Iterator[int]:
    """Yield the remainder of the limits of this process alone."""
    lines = _read(root / "proc/self/limits").splitlines()
    for name, usage in _PROCESS_LIMITS.items():
        for line in lines:
            limit = line.removeprefix(name).split()[:1]
            if line.startswith(name) and limit[0].isdigit():
                used_kilobytes = sum(_numbers(root / "proc/self/status", usage))
                yield int(limit[0]) - 1024 * used_kilobytes


def _group_remainder(group: Path, limit: str, usage: str, reclaimable: str) -> Iterator[int]:
    limit_text, used = _read(group / limit).strip(), _read(group / usage).strip()
    if not (limit_text.isdigit() and used.isdigit()) or int(limit_text) >= _V1_UNLIMITED:
        return
    # Cached pages of files count as used but are given back on demand.
    yield int(limit_text) - int(used) + sum(_numbers(group / "memory.stat", reclaimable))


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError):
        return ""


def _physical_fallback() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, OSError, ValueError):
        return _DEFAULT_BYTES
