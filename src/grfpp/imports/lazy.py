"""Names of a package that are imported when they are first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The ``__getattr__`` and the ``__dir__`` of such a package, given its ``__name__``.

    `homes` are the modules that names live in, each with its names, parted by spaces.

    Examples
    --------
    >>> get, names = lazy_names("grfpp", {"kernels.powers": "PStep InversePower"})
    >>> get("PStep").__name__, "InversePower" in names()
    ('PStep', True)
    """
    home = {name: module for module, names in homes.items() for name in names.split()}

    def get(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{home[name]}"), name)

    return get, lambda: sorted({*vars(sys.modules[package]), *home})
