"""Options about the reading of graphs, of all commands that take a GRAPH."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any

from grfpp.cli.options import in_place_of, option, optional
from grfpp.graph import Graph
from grfpp.io.meshes.weights import MeshWeights
from grfpp.io.tables.options import Duplicates, EdgeListOptions
from grfpp.linalg.symmetrize import Symmetrize

_SEPARATORS = {"tab": "\t", "\\t": "\t", "space": " "}

MeshWeighting = Annotated[
    MeshWeights | None,
    optional(
        "The edges of a mesh weigh 1 (unit; so it is if not given), the inverse of their length, "
        "or half the cotangents of the angles that face them.",
        "unit|length|cotangent",
    ),
]

#: By the names in `Reading` and in `EdgeListOptions`.
_READING: dict[str, Any] = {
    "undirected": Annotated[
        Symmetrize | None,
        optional(
            "Make a directed graph undirected: edges get the larger weight of both directions, "
            "the mean, the sum, or the smaller (mutual: none where one direction is missing).",
            "max|mean|sum|mutual",
        ),
    ],
    "mesh_weights": MeshWeighting,
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


@dataclass(frozen=True)
class Reading:
    """How the file with a graph is read.

    Parameters
    ----------
    undirected, mesh_weights
        `symmetrize` and `mesh_weights` of `Graph`. An estimate can be symmetrised too, and
        ``--symmetrize`` does that.
    edges
        How edge lists are read.
    """

    undirected: Symmetrize | None = None
    mesh_weights: MeshWeights | None = None
    edges: EdgeListOptions = field(default_factory=EdgeListOptions)

    def graph(self, path: Path, *, directed: bool) -> Graph:
        """Read a graph."""
        return Graph(
            path,
            directed=True if directed else None,
            symmetrize=self.undirected,
            mesh_weights=self.mesh_weights,
            **self.edges.given,
        )


def with_reading(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options about the reading of graphs, in place of `reading`."""
    chosen = {
        name: Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in _READING.items()
    }
    return in_place_of("reading", chosen, _reading)(command)


def _reading(values: dict[str, Any]) -> Reading:
    undirected, mesh_weights = values.pop("undirected"), values.pop("mesh_weights")
    if values["columns"] is not None:
        names = values["columns"].split(",")
        values["columns"] = [
            int(each) if each.isdecimal() and len(each) < 19 else each for each in names
        ]
    values["separator"] = _SEPARATORS.get(values["separator"], values["separator"])
    return Reading(undirected, mesh_weights, EdgeListOptions(**values))
