"""GraphML files, parsed by networkx."""

from __future__ import annotations

import io
import warnings
from typing import Any
from xml.parsers import expat

import scipy.sparse as sp

from grfpp.errors import InputError
from grfpp.io.graph_objects import from_parsed
from grfpp.io.text import at_line


def read_graphml(data: bytes, name: str) -> tuple[sp.coo_array, list[Any]]:
    """Read the first graph of a GraphML file; nodes are named by their ids.

    Weights are the edges' ``weight``, else ``value``, else 1.
    """
    return from_parsed(parse_graphml(data, name), name)


def parse_graphml(data: bytes, name: str) -> Any:
    """Parse a GraphML file into a networkx graph with all its attributes."""
    import networkx as nx

    _check_elements(data, name)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about ports and drawing, which a graph does not have
            return nx.read_graphml(io.BytesIO(data))
    except Exception as error:  # whatever networkx raises on a file it does not understand
        raise InputError(
            f"{name} is not a GraphML graph: {error or type(error).__name__}"
        ) from None


def _check_elements(data: bytes, name: str) -> None:
    """Check the elements, where the line is known still; networkx would invent missing nodes."""
    nodes: set[str] = set()
    ends: list[tuple[str, int]] = []
    seen: set[str] = set()

    def start(tag: str, attributes: dict[str, str]) -> None:
        kind, line = tag.rpartition(":")[2], parser.CurrentLineNumber
        if not seen and kind != "graphml":
            raise at_line(name, line, f"not GraphML: the outermost element is <{tag}>")
        seen.add(kind)
        wanted = {"node": ("id",), "edge": ("source", "target")}.get(kind, ())
        for attribute in wanted:
            if attribute not in attributes:
                raise at_line(name, line, f"<{kind}> has no {attribute!r}")
        if kind == "node":
            nodes.add(attributes["id"])
        elif kind == "edge":
            ends.extend((attributes[end], line) for end in wanted)

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        what = expat.ErrorString(error.code)
        raise at_line(name, error.lineno, f"not well-formed XML: {what}") from None
    except (ValueError, LookupError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{name} is not XML text: {error}") from None
    if "graph" not in seen:
        raise InputError(f"{name} holds no <graph>")
    for node, line in ends:
        if node not in nodes:
            raise at_line(name, line, f"an edge ends at node {node!r}, which is not in the file")
