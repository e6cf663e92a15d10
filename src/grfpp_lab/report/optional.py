"""The packages that reports need and the core does not."""

from __future__ import annotations

from importlib.util import find_spec

PACKAGES = ("matplotlib", "jinja2")


def missing_packages() -> list[str]:
    """Name the packages of the extra ``plot`` that are not installed."""
    return [name for name in PACKAGES if find_spec(name) is None]


def how_to_install(missing: list[str]) -> str:
    """One line that says what to do about missing packages."""
    verb = "is" if len(missing) == 1 else "are"
    return f"{' and '.join(missing)} {verb} not installed: pip install 'grfpp[plot]'"
