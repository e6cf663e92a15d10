"""GML files, parsed by networkx."""

from __future__ import annotations

import re
from typing import Any

import scipy.sparse as sp

from grfpp.errors import InputError
from grfpp.io.graph_objects import from_parsed
from grfpp.io.text import at_line, decode

_PLACE = re.compile(r" at \((\d+), \d+\)$")


def read_gml(data: bytes, name: str) -> tuple[sp.coo_array, list[Any]]:
    """Read a GML graph; nodes are named by ``label`` where that tells them apart, else by ``id``.

    Weights are the edges' ``weight``, else ``value``, else 1. ``directed 1`` makes each edge an
    arc.
    """
    return matrix_of(parse_gml(data, name), name)


def parse_gml(data: bytes, name: str) -> Any:
    """Parse a GML file into a networkx graph with all its attributes; nodes are named by ``id``."""
    import networkx as nx

    lines = decode(data, name).split("\n")
    try:
        return nx.parse_gml(lines, label=None)
    except Exception as error:  # its parser raises many kinds on junk, RecursionError among them
        raise _explained(error, name) from None


def matrix_of(graph: Any, name: str) -> tuple[sp.coo_array, list[Any]]:
    """Weight matrix and labels of a graph that `parse_gml` made of the file `name`."""
    matrix, ids = from_parsed(graph, name)
    labels = [label for _, label in graph.nodes(data="label")]
    try:
        distinct = None not in labels and len(set(labels)) == len(labels)
    except TypeError:  # nested attributes cannot be compared
        distinct = False
    return matrix, labels if distinct else ids


def _explained(error: Exception, name: str) -> InputError:
    message = str(error) or type(error).__name__
    if isinstance(error, RecursionError):
        message = "brackets are nested too deeply"
    if "is duplicated" in message and message.startswith("edge"):
        message += "; put 'multigraph 1' into the graph to have parallel edges summed"
    place = _PLACE.search(message)
    if place:
        return at_line(name, int(place[1]), f"not GML: {message[: place.start()]}")
    return InputError(f"{name} is not a GML graph: {message}")
