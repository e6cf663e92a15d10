"""One line when something is compiled, so that the first call does not look like a hang."""

from __future__ import annotations

import logging
from typing import Any

from numba.core import event

_LOGGER = logging.getLogger("grfpp")


class _Notice(event.Listener):  # type: ignore[misc]  # untyped base
    """Hears of every compilation that no cached result could replace."""

    def __init__(self) -> None:
        self._said = False

    def on_start(self, happening: Any) -> None:
        function = happening.data["dispatcher"].py_func
        if not self._said and function.__module__.startswith("grfpp."):
            self._said = True
            _LOGGER.warning(
                "grfpp: compiling its inner loops, once on this machine (10 seconds; all of them, "
                "as by `grfpp warmup`, a minute or two)"
            )

    def on_end(self, happening: Any) -> None:
        """Nothing to say."""


def announce_compilation() -> None:
    """Log a warning before the first compilation of this process, if there is one."""
    if not _installed:
        _installed.append(_Notice())
        event.register("numba:compile", _installed[0])


_installed: list[_Notice] = []
