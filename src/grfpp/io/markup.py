"""Graphs of networkx, and GML and GraphML files, which networkx parses."""

from __future__ import annotations

import io
import re
import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from grfpp.errors import InputError, shown
from grfpp.io.matrices import arcs, real_numbers, undirected
from grfpp.io.text import at_line, decode, errors_about, input_errors

#: Line and column in messages of networkx.
_GML_POSITION = re.compile(r" at \((\d+), \d+\)$")


def from_networkx(graph: Any, weight: str = "weight") -> tuple[sp.coo_array, list[Any]]:
    """Read a networkx graph of any class; parallel edges are summed later.

    Edges without the attribute `weight` weigh 1. Nodes keep their order and their names.
    """
    names = list(graph)
    position = {name: i for i, name in enumerate(names)}
    edges = list(graph.edges(data=weight, default=1))
    pairs = [(position[u], position[v]) for u, v, _ in edges]
    rows, columns = np.array(pairs, np.int64).reshape(-1, 2).T
    weights = real_numbers([w for *_, w in edges], lambda i: f"edge {edges[i][:2]!r}")
    matrix = arcs if graph.is_directed() else undirected
    return matrix(rows, columns, weights, len(names)), names


def parse_gml(data: bytes, name: str) -> Any:
    """Parse a GML file into a networkx graph with all its attributes; nodes are named by ``id``."""
    import networkx as nx

    try:
        graph = nx.parse_gml(decode(data, name).split("\n"), label=None)
    except InputError:
        raise
    except Exception as error:  # its parser raises many kinds on junk, RecursionError among them
        message, advice = str(error) or type(error).__name__, None
        if message.startswith("edge") and "is duplicated" in message:
            advice = "put 'multigraph 1' into the graph, which sums parallel edges"
        if position := _GML_POSITION.search(message):
            problem = f"not GML: {message[: position.start()]}"
            raise at_line(name, int(position[1]), problem) from None
        raise InputError(f"{name} is not a GML graph: {message}", advice=advice) from None
    attributes = [graph.graph, *dict(graph.nodes(data=True)).values()]
    attributes += [values for *_, values in graph.edges(data=True)]
    if any({"graph", "node", "edge"} & values.keys() for values in attributes):
        raise InputError(f"{name} has a graph within a graph", advice="split it into two files")
    return graph


def parse_graphml(data: bytes, name: str) -> Any:
    """Parse a GraphML file into a networkx graph with all its attributes.

    networkx adds undeclared nodes of edges, and reads the first graph only: so the numbers of nodes
    and edges are compared with those of the file.
    """
    import networkx as nx

    n_nodes, n_edges = _listed(data, name)
    # Warnings about ports and drawing, which a graph does not have.
    with input_errors(f"{name} is not a GraphML graph"), warnings.catch_warnings(action="ignore"):
        graph = nx.read_graphml(io.BytesIO(data))
    if (graph.number_of_nodes(), graph.number_of_edges()) != (n_nodes, n_edges):
        listed = f"{n_nodes:,} nodes and {n_edges:,} edges"
        advice = "remove further graphs, nested ones, and duplicate ids of edges"
        raise InputError(f"{name} lists {listed}, of which {graph} can be read", advice=advice)
    return graph


def _listed(data: bytes, name: str) -> tuple[int, int]:
    """The numbers of nodes and edges that a GraphML file lists."""
    from xml.etree import ElementTree

    try:
        root = ElementTree.fromstring(data)
    except ElementTree.ParseError as error:
        raise at_line(name, error.position[0], f"not well-formed XML: {error}") from None
    except (ValueError, LookupError) as error:
        raise InputError(f"{name} is not XML text: {error}") from None
    if str(root.tag).rpartition("}")[2] != "graphml" or root.find("{*}graph") is None:
        raise InputError(f"{name} is not a GraphML graph: its root is <{root.tag}>")
    for element in list(root.iter()):
        for data_element in element.findall("{*}data"):  # such as drawings
            element.remove(data_element)
    nodes = {node.get("id") for node in root.iterfind(".//{*}node")}
    edges = list(root.iterfind(".//{*}edge"))
    ends = {edge.get(end) for edge in edges for end in ("source", "target")}
    if None in nodes or not nodes.issuperset(ends):
        missing = shown(sorted(ends - nodes | ends & {None}, key=str))
        raise InputError(f"{name}: a node without an id, or an edge to unknown nodes: {missing}")
    return len(nodes), len(edges)


#: Parsers by suffix.
PARSERS = {".gml": parse_gml, ".graphml": parse_graphml}


def matrix_of(graph: Any, name: str, suffix: str) -> tuple[sp.coo_array, list[Any]]:
    """Weight matrix and node names of a graph that was parsed from the file `name`.

    Weights are the edges' ``weight`` if any edge has one; else ``value``, the name in GML, if it is
    a number; else 1. Nodes are named by their ids, those of GML by ``label`` if labels are unique.
    """
    attributes = [values for *_, values in graph.edges(data=True)]
    by_value = all(isinstance(values.get("value", 1), int | float) for values in attributes)
    weighted = any("weight" in values for values in attributes)
    with errors_about(name):
        matrix, ids = from_networkx(graph, "value" if by_value and not weighted else "weight")
    labels = [label for _, label in graph.nodes(data="label")]
    try:
        unique = None not in labels and len(set(labels)) == len(labels)
    except TypeError:  # nested attributes cannot be compared
        unique = False
    return matrix, labels if unique and suffix == ".gml" else ids
