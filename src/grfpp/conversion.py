"""`convert`: whatever holds a graph -> a folder on disk, edge lists of any size."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, Unpack

from grfpp.errors import InputError, shown
from grfpp.graph import Graph
from grfpp.io.convert import Progress, convert_edges
from grfpp.io.files import known_file
from grfpp.io.folder.layout import SUFFIX
from grfpp.io.folder.reader import is_folder_path
from grfpp.io.meshes import MeshWeights
from grfpp.io.objects import declares_direction
from grfpp.io.table_options import EdgeListKeywords, EdgeListOptions, ListFile, ListRequest
from grfpp.io.tables import SUFFIXES
from grfpp.linalg.symmetrize import Symmetrize

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kMGT]?)i?B?", re.IGNORECASE)
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_LEAST_MEMORY = 50 * 10**6


def convert(
    source: Any,
    target: str | Path,
    *,
    directed: bool | None = None,
    n_nodes: int | None = None,
    symmetrize: Symmetrize | None = None,
    mesh_weights: MeshWeights | None = None,
    memory: int | str | None = None,
    progress: Progress | None = None,
    **reading: Unpack[EdgeListKeywords],
) -> Graph:
    r"""Write a graph to a ``.grf`` folder, and open it from there.

    Edge lists (text, also packed, and Parquet and Feather files) may be larger than memory: they
    are parsed, numbered and sorted by DuckDB, which keeps on disk what does not fit. All else that
    `Graph` takes is read into memory first.

    The graph is that of ``Graph(source)``: the same edges, the same names, in the same order.

    Parameters
    ----------
    source
        The path of an edge list, or anything else that `Graph` takes.
    target
        The folder. One that is there already is replaced when the new one is whole; what is half
        written is never seen, and removed by the next call where this one is killed. Beside it
        there must be room for the graph and about three times the text, without packing.
    directed, n_nodes, symmetrize, mesh_weights, **reading
        As for `Graph`; the third and fourth not for edge lists.
    memory
        Bytes that DuckDB may take, as a number or as text such as ``"2GB"``. By default 1.5 GB, or
        a third of what is free where that is less. Python takes some 300 MB beside it.
    progress
        A function that is called as this goes on.

    Returns
    -------
    Graph
        As `Graph.open` gives it.

    Examples
    --------
    >>> import tempfile, pathlib, grfpp
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "calls.csv").write_text("who,whom,n\nann,bob,3\nbob,cy,1\n")
    >>> graph = grfpp.convert(folder / "calls.csv", folder / "calls.grf")
    >>> graph, list(graph.node_ids), graph.index("cy")
    (Graph(n_nodes=3, n_edges=2, undirected), ['ann', 'bob', 'cy'], 2)
    """
    if not is_folder_path(target):
        raise InputError(f"must end in {SUFFIX}, found {shown(str(target))}", argument="target")
    options = EdgeListOptions(**reading)
    room = None if memory is None else memory_size(memory)
    listed = _edge_list(source)
    if listed is None:
        if memory is not None:
            raise InputError("is for lists of edges; all else is read whole", argument="memory")
        how: dict[str, Any] = {"symmetrize": symmetrize, "mesh_weights": mesh_weights, **reading}
        graph = Graph(source, directed=directed, n_nodes=n_nodes, **how)
        if directed and declares_direction(source) and not graph.is_directed:
            problem = f"is for lists of edges: {source} says itself that it is undirected"
            raise InputError(problem, argument="directed")
        graph.save(target)
        return Graph.open(target)
    if mesh_weights is not None:
        raise InputError(f"is for meshes: {source} is a list of edges", argument="mesh_weights")
    if symmetrize is not None:
        advice = "pass duplicates: max for the larger weight of both orders"
        problem = f"is not for converting lists of edges, as {source} is"
        raise InputError(problem, argument="symmetrize", advice=advice)
    request = ListRequest.of(directed, n_nodes, options)
    convert_edges(listed, request, target, room, progress or (lambda step, done, total: None))
    return Graph.open(target)


def _edge_list(source: Any) -> ListFile | None:
    """The file, where it is a list of edges."""
    if not isinstance(source, str | Path) or is_folder_path(source):
        return None
    file, suffix = known_file(source)
    return ListFile(file, suffix, str(source)) if suffix in SUFFIXES else None


def memory_size(size: int | str) -> int:
    """Bytes that a number or text such as ``"2GB"`` stands for.

    Examples
    --------
    >>> memory_size("1.5 GB"), memory_size(10**9)
    (1500000000, 1000000000)
    """
    found = _SIZE.fullmatch(size.strip()) if isinstance(size, str) else None
    if isinstance(size, bool) or (found is None and not isinstance(size, int)):
        problem = f"must be a number of bytes, or text such as '2GB', found {shown(size)}"
        raise InputError(problem, argument="memory")
    amount = float(size) if found is None else float(found[1]) * _UNITS[found[2].lower()]
    if not _LEAST_MEMORY <= amount <= sys.maxsize:
        problem = f"must be 50MB at least, and no more than a machine has, found {shown(size)}"
        raise InputError(problem, argument="memory")
    return int(amount)
