"""Options about the reading of edge lists, of all commands that take a GRAPH."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter
from typing import Annotated, Any

from grfpp.cli.options import in_place_of, option, optional
from grfpp.io.options import Duplicates, EdgeListOptions

_SEPARATORS = {"tab": "\t", "\\t": "\t", "space": " "}

#: By the names in `EdgeListOptions`.
_READING: dict[str, Any] = {
    "duplicates": Annotated[
        Duplicates | None,
        optional(
            "Edges that are listed more than once, in either order: their sum (so it is if not "
            "given), the largest, the first, or an error.",
            "sum|max|first|error",
        ),
    ],
    "columns": Annotated[
        str | None,
        optional(
            "The columns of source, target and, if there is one, weight: names, or numbers from 0.",
            "U,V[,W]",
        ),
    ],
    "separator": Annotated[
        str | None,
        optional("What stands between fields; tab; space for any white space.", "TEXT"),
    ],
    "encoding": Annotated[str | None, optional("Of the text; utf-8 if not given.", "NAME")],
    "header": Annotated[
        bool | None,
        option(
            "Whether the first line of an edge list holds the names of the columns.",
            None,
            "--header/--no-header",
            show_default=False,
        ),
    ],
}


def with_reading(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options about edge lists, in place of its parameter `reading`."""
    chosen = {
        name: Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in _READING.items()
    }
    return in_place_of("reading", chosen, _options)(command)


def _options(values: dict[str, Any]) -> EdgeListOptions:
    if values["columns"] is not None:
        names = values["columns"].split(",")
        values["columns"] = [int(name) if name.isdecimal() else name for name in names]
    values["separator"] = _SEPARATORS.get(values["separator"], values["separator"])
    return EdgeListOptions(**values)
