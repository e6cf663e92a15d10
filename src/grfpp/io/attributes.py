"""What files say about nodes beside their names: an attribute, such as the true class."""

from __future__ import annotations

import io
import os
import warnings
from typing import Any

from grfpp.errors import InputError
from grfpp.io.files import _checked, _read_bytes
from grfpp.io.gml import parse_gml

#: Formats that have attributes.
SUFFIXES = (".gml", ".graphml")
_SHOWN = 8


def read_attribute(path: str | os.PathLike[str], attribute: str) -> list[Any]:
    """Read one attribute of all nodes of a GML or GraphML file, in the order of the graph's rows.

    Parameters
    ----------
    path
        The file, packed or not.
    attribute
        What the file calls it.

    Raises
    ------
    InputError
        When the format has no attributes, when no node has this one (the message names those there
        are), or when some node has not.
    """
    file, suffix = _checked(path)
    if suffix not in SUFFIXES:
        raise InputError(
            f"{path} has no attributes of nodes; {' and '.join(SUFFIXES)} files may have some"
        )
    data = _read_bytes(file, suffix, str(path))
    graph = parse_gml(data, str(path)) if suffix == ".gml" else _parse_graphml(data, path)
    nodes = list(graph.nodes(data=True))
    if not any(attribute in values for _, values in nodes):
        known = sorted({str(name) for _, values in nodes for name in values})
        shown = ", ".join(known[:_SHOWN]) + (", ..." if len(known) > _SHOWN else "")
        raise InputError(
            f"{path}: no node has an attribute {attribute!r}; "
            + (f"there are {shown}" if known else "nodes have none at all")
        )
    for node, values in nodes:
        if attribute not in values:
            raise InputError(f"{path}: node {node!r} has no attribute {attribute!r}, others have")
    return [values[attribute] for _, values in nodes]


def _parse_graphml(data: bytes, path: Any) -> Any:
    import networkx as nx

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about ports and drawing, as in `read_graphml`
            return nx.read_graphml(io.BytesIO(data))
    except Exception as error:  # whatever networkx raises on a file it does not understand
        raise InputError(
            f"{path} is not a GraphML graph: {error or type(error).__name__}"
        ) from None
