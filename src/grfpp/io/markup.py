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

# What graphs are made of, and nothing within them.
_NESTED = {"graph", "node", "edge"}
_PLACE = re.compile(r" at \((\d+), \d+\)$")


def parse_gml(data: bytes, name: str) -> Any:
    """Parse a GML file into a networkx graph with all its attributes; nodes are named by ``id``."""
    import networkx as nx

    lines = decode(data, name).split("\n")
    try:
        graph = nx.parse_gml(lines, label=None)
    except Exception as error:  # its parser raises many kinds on junk, RecursionError among them
        raise _explained(error, name) from None
    places = [graph.graph, *(data for _, data in graph.nodes(data=True))]
    places += [data for *_, data in graph.edges(data=True)]
    for place in places:
        if _NESTED & place.keys():
            raise InputError(
                f"{name} has a graph within a graph, which cannot be read: take it apart"
            )
    return graph


def parse_graphml(data: bytes, name: str) -> Any:
    """Parse a GraphML file into a networkx graph with all its attributes."""
    import networkx as nx

    elements = _Elements(name)
    elements.read(data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about ports and drawing, which a graph does not have
            graph = nx.read_graphml(io.BytesIO(data))
    except Exception as error:  # whatever networkx raises on a file it does not understand
        raise InputError(
            f"{name} is not a GraphML graph: {error or type(error).__name__}"
        ) from None
    listed = (len(elements.nodes), len(elements.ends) // 2)
    if (graph.number_of_nodes(), graph.number_of_edges()) != listed:
        raise InputError(
            f"{name} lists {listed[0]:,} nodes and {listed[1]:,} edges, of which {graph} can be "
            "read: are ids of edges repeated, or elements in another namespace?"
        )
    return graph


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


class _Elements:
    """What a GraphML file lists, checked where the line is known still.

    networkx would invent missing nodes, and leave out nodes and edges that lie elsewhere than
    directly in the first graph.
    """

    def __init__(self, name: str) -> None:
        self.nodes: set[str] = set()
        self.ends: list[tuple[str, int]] = []
        self.n_graphs = 0
        self._name = name
        self._open: list[str] = []
        self._is_group = False
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = lambda _: self._open.pop()

    def read(self, data: bytes) -> None:
        try:
            self._parser.Parse(data, True)
        except expat.ExpatError as error:
            what = expat.ErrorString(error.code)
            raise at_line(self._name, error.lineno, f"not well-formed XML: {what}") from None
        except (ValueError, LookupError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"{self._name} is not XML text: {error}") from None
        if not self.n_graphs:
            raise InputError(f"{self._name} holds no <graph>")
        for node, line in self.ends:
            if node not in self.nodes:
                raise at_line(
                    self._name, line, f"an edge ends at node {node!r}, which is not in the file"
                )

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        kind, parent = tag.rpartition(" ")[2], self._open[-1] if self._open else ""
        inside_data = "data" in self._open
        self._open.append(kind)
        if not parent and kind != "graphml":
            raise self._wrong(f"not GraphML: the outermost element is <{kind}>")
        if inside_data:
            return  # drawings and the like
        if kind == "node":
            self._is_group = attributes.get("yfiles.foldertype") == "group"
        if kind == "graph":
            # Of nested graphs networkx reads those alone that yEd makes of its groups.
            if parent != "graphml" and not (parent == "node" and self._is_group):
                raise self._wrong("a graph within a graph, which cannot be read: take it apart")
            self.n_graphs += parent == "graphml"
            if self.n_graphs > 1:
                raise self._wrong("a second graph: put each into a file of its own")
        elif kind in ("node", "edge"):
            if parent != "graph":
                raise self._wrong(f"<{kind}> must lie in <graph>, not in <{parent}>")
            wanted = ("id",) if kind == "node" else ("source", "target")
            for attribute in wanted:
                if attribute not in attributes:
                    raise self._wrong(f"<{kind}> has no {attribute!r}")
            line = self._parser.CurrentLineNumber
            if kind == "node":
                self.nodes.add(attributes["id"])
            else:
                self.ends.extend((attributes[end], line) for end in wanted)

    def _wrong(self, problem: str) -> InputError:
        return at_line(self._name, self._parser.CurrentLineNumber, problem)
