"""Graphs in folders on disk: `convert` writes, `update` appends changes, `compact` merges them."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, Unpack

from grfpp.errors import InputError, shown
from grfpp.graph import Graph
from grfpp.io.changes import read_changes
from grfpp.io.convert import Progress, convert_edges
from grfpp.io.files import known_file
from grfpp.io.folder.layout import SUFFIX
from grfpp.io.folder.reader import is_folder_path
from grfpp.io.folder.segments import only_writer, write_compacted, write_segment
from grfpp.io.meshes import MeshWeights
from grfpp.io.objects import declares_direction
from grfpp.io.table_options import EdgeListKeywords, EdgeListOptions, ListFile, ListRequest
from grfpp.io.tables import SUFFIXES
from grfpp.linalg.symmetrize import Symmetrize
from grfpp.updates import Changes

#: Sizes such as "2GB", "1.5 GB" or "300M".
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kMGT]?)i?B?", re.IGNORECASE)
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
#: Smallest memory limit with which DuckDB sorts edges.
_MIN_MEMORY = 50 * 10**6


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

    Edge lists (text, also compressed, and Parquet and Feather files) may be larger than memory:
    they are parsed, numbered and sorted by DuckDB, which spills to disk. All other sources of
    `Graph` are read into memory first.

    The graph is that of ``Graph(source)``: the same edges and names, in the same order.

    Parameters
    ----------
    source
        The path of an edge list, or anything else that `Graph` takes.
    target
        The folder. An existing one is replaced when the new one is complete. Files of an
        interrupted call are removed by the next one. The disk needs room for the graph and about
        three times the uncompressed text.
    directed, n_nodes, symmetrize, mesh_weights, **reading
        As for `Graph`; `symmetrize` and `mesh_weights` are not for edge lists.
    memory
        Memory limit of DuckDB, in bytes or as text such as ``"2GB"``. By default 1.5 GB, or a third
        of the free memory if that is less. Python takes some 300 MB in addition.
    progress
        A function of the step, the amount done and the total amount.

    Returns
    -------
    Graph
        The graph on disk, as by `Graph.open`.

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
    options = EdgeListOptions.of(reading)
    max_bytes = None if memory is None else memory_size(memory)
    file = _edge_list(source)
    if file is None:
        if memory is not None:
            problem = "is for edge lists only: other sources are read whole"
            raise InputError(problem, argument="memory", advice="leave it out")
        others: dict[str, Any] = {"symmetrize": symmetrize, "mesh_weights": mesh_weights, **reading}
        graph = Graph(source, directed=directed, n_nodes=n_nodes, **others)
        if directed and declares_direction(source) and not graph.is_directed:
            problem = f"is for edge lists only: {source} states that it is undirected"
            raise InputError(problem, argument="directed", advice="leave it out")
        graph.save(target)
        return Graph.open(target)
    if mesh_weights is not None:
        raise InputError(f"is for meshes: {source} is an edge list", argument="mesh_weights")
    if symmetrize is not None:
        advice = "use duplicates='max' for the larger weight of both directions"
        problem = f"is not available when edge lists such as {source} are converted"
        raise InputError(problem, argument="symmetrize", advice=advice)
    request = ListRequest.of(directed, n_nodes, options)
    convert_edges(file, request, target, max_bytes, progress or (lambda step, done, total: None))
    return Graph.open(target)


def update(
    folder: str | Path,
    changes: str | Path | None = None,
    *,
    add: Any = None,
    remove: Any = None,
    reweight: Any = None,
) -> Graph:
    """Append changes of edges to a ``.grf`` folder, and open it.

    They are one more file in the folder, with a checksum, written completely or not at all. Graphs
    that were opened before stay as they were.

    Parameters
    ----------
    folder
        The folder.
    changes
        A file (``.csv``, ``.tsv``, ``.txt``, ``.parquet``) with the columns ``operation`` (``add``,
        ``remove`` or ``reweight``), source, target and, unless all weights are 1, weight.
    add, remove, reweight
        Changes as for `Graph.updated`, instead of a file.

    Returns
    -------
    Graph
        The graph with the changes, as by `Graph.open`.

    Examples
    --------
    >>> import tempfile, pathlib, grfpp
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "path.grf"
    >>> grfpp.Graph([("a", "b"), ("b", "c")]).save(folder)
    >>> grfpp.update(folder, add=[("c", "d")])
    Graph(n_nodes=4, n_edges=3, undirected)
    >>> grfpp.compact(folder)
    Graph(n_nodes=4, n_edges=3, undirected)
    """
    listed = {"add": add, "remove": remove, "reweight": reweight}
    if changes is not None and any(edges is not None for edges in listed.values()):
        problem = "and add, remove, reweight exclude each other"
        raise InputError(problem, argument="changes", advice="pass a file, or lists of edges")
    with only_writer(_folder(folder)):
        before = Graph.open(folder)
        if changes is None:
            read = Changes.of(before.names, **listed)
        else:
            read = read_changes(changes, before.names)
        write_segment(before.update_of, before.with_changes(read).update_of)
    return Graph.open(folder)


def compact(folder: str | Path) -> Graph:
    """Merge the updates of a ``.grf`` folder into its arrays, and open it.

    Rows are merged in blocks; names are held in memory. The folder is replaced in one step when the
    new one is complete (on Linux; elsewhere in two). Graphs that were opened before stay as they
    were in this process; other processes cannot open their pickles any more.
    """
    with only_writer(_folder(folder)):
        graph = Graph.open(folder)
        write_compacted(graph.update_of)
    return Graph.open(folder)


def _folder(path: str | Path) -> str | Path:
    if not is_folder_path(path):
        raise InputError(f"must end in {SUFFIX}, found {shown(str(path))}", argument="folder")
    return path


def _edge_list(source: Any) -> ListFile | None:
    """The file of an edge list; ``None`` for other sources."""
    if not isinstance(source, str | Path) or is_folder_path(source):
        return None
    file, suffix = known_file(source)
    return ListFile(file, suffix, str(source)) if suffix in SUFFIXES else None


def memory_size(size: int | str) -> int:
    """A number of bytes from a number or text such as ``"2GB"``.

    Examples
    --------
    >>> memory_size("1.5 GB"), memory_size(10**9)
    (1500000000, 1000000000)
    """
    match = _SIZE.fullmatch(size.strip()) if isinstance(size, str) else None
    if isinstance(size, bool) or (match is None and not isinstance(size, int)):
        problem = f"must be a number of bytes, or text such as '2GB', found {shown(size)}"
        raise InputError(problem, argument="memory")
    amount = float(size) if match is None else float(match[1]) * _UNITS[match[2].lower()]
    if not _MIN_MEMORY <= amount <= sys.maxsize:
        problem = f"must be at least 50MB, and below {sys.maxsize} bytes, found {shown(size)}"
        raise InputError(problem, argument="memory")
    return int(amount)
