"""A description of the machine that numbers were measured on."""

import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

from grfpp._parallel import thread_count

_PACKAGES = ("numpy", "scipy", "numba")


def describe_machine() -> dict[str, Any]:
    """Processor, cores, memory, system, and versions of the numerical libraries."""
    return {
        "processor": _field("/proc/cpuinfo", "model name") or platform.processor() or "unknown",
        "cores": thread_count(-1),
        "memory_bytes": _memory(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{name: version(name) for name in _PACKAGES},
    }


def load() -> float | None:
    """Processes that wanted a core in the last minute, on average; nothing where none is told."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def hardware(machine: dict[str, Any]) -> str:
    """The same in a few words.

    Examples
    --------
    >>> hardware({"processor": "Abacus 5", "cores": 2, "memory_bytes": 8 * 2**30})
    'Abacus 5, 2 cores, 8 GiB'
    """
    cores = f"{machine['cores']} core" + ("s" if machine["cores"] != 1 else "")
    memory = machine["memory_bytes"] / 2**30
    return f"{machine['processor']}, {cores}, {memory:.0f} GiB"


def versions(machine: dict[str, Any]) -> str:
    """Versions of Python and of the numerical libraries."""
    return ", ".join(f"{name} {machine[name]}" for name in ("python", *_PACKAGES))


def _memory() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 0


def _field(path: str, name: str) -> str:
    """The first value of a field in a file of Linux's ``/proc``."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    values = (line.partition(":")[2].strip() for line in lines if line.startswith(name))
    return next(values, "")
