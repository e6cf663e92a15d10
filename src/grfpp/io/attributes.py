"""What files say about nodes beside their names: an attribute, such as the true class."""

from __future__ import annotations

import os
from typing import Any

from grfpp.errors import InputError
from grfpp.io.files import known_file, read_bytes
from grfpp.io.gml import parse_gml
from grfpp.io.graphml import parse_graphml

#: Formats that have attributes, and what parses them.
_PARSERS = {".gml": parse_gml, ".graphml": parse_graphml}
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
    file, suffix = known_file(path)
    if suffix not in _PARSERS:
        raise InputError(
            f"{path} has no attributes of nodes; {' and '.join(_PARSERS)} files may have some"
        )
    graph = _PARSERS[suffix](read_bytes(file, suffix, str(path)), str(path))
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
