"""GML and GraphML files, parsed by networkx."""

from __future__ import annotations

import io
import re
import warnings
from typing import Any
from xml.parsers import expat

import scipy.sparse as sp

from grfpp.errors import InputError
from grfpp.io.graph_objects import from_networkx
from grfpp.io.text import at_line, decode, naming

_PLACE = re.compile(r" at \((\d+), \d+\)$")


def parse_gml(data: bytes, name: str) -> Any:
    """Parse a GML file into a networkx graph with all its attributes; nodes are named by ``id``."""
    import networkx as nx

    lines = decode(data, name).split("\n")
    try:
        return nx.parse_gml(lines, label=None)
    except Exception as error:  # its parser raises many kinds on junk, RecursionError among them
        raise _explained(error, name) from None


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


#: What parses each format.
PARSERS = {".gml": parse_gml, ".graphml": parse_graphml}


def matrix_of(graph: Any, name: str, suffix: str) -> tuple[sp.coo_array, list[Any]]:
    """Weight matrix and labels of a graph that was parsed from the file `name`.

    Weights are the edges' ``weight`` where any edge has one; else ``value``, the name of GML, where
    that is a number; else 1. Nodes are named by their ids, those of GML by ``label`` where that
    tells them apart.
    """
    attributes = [data for *_, data in graph.edges(data=True)]
    values = [data["value"] for data in attributes if "value" in data]
    named_value = all(isinstance(value, int | float) for value in values)
    weighted = any("weight" in data for data in attributes)
    with naming(name):
        matrix, ids = from_networkx(graph, "value" if named_value and not weighted else "weight")
    labels = [label for _, label in graph.nodes(data="label")]
    try:
        distinct = None not in labels and len(set(labels)) == len(labels)
    except TypeError:  # nested attributes cannot be compared
        distinct = False
    return matrix, labels if distinct and suffix == ".gml" else ids


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
