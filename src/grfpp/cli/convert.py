"""`grfpp convert`: from a file with a graph of any size to a folder on disk."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

from grfpp.cli import console, options, outputs
from grfpp.cli.reading import Reading, with_reading
from grfpp.conversion import convert as convert_graph
from grfpp.errors import InputError, shown
from grfpp.graph import Graph
from grfpp.io.folder.reader import folder_bytes, is_folder_path
from grfpp.memory import readable_bytes

#: Shown below the options.
NOTES = """
\b
Edge lists (.txt .tsv .csv .edges .edgelist, also packed as .gz or .zip, .parquet, .feather) may be
larger than memory: DuckDB sorts them (pip install '.[large]'). While this runs, there must be room
for some files beside the folder, about 2.5 times the text, and for the folder itself. Other files
are read into memory first. The graph is the one that other commands read from the file: the same
edges, names and order.

\b
Examples:
  grfpp convert edges.tsv.gz graph.grf
  grfpp convert calls.parquet calls.grf --columns caller,callee --directed
  grfpp convert follows.csv follows.grf --directed --memory 4GB --json
  grfpp estimate graph.grf --rows ann
"""

_STEPS = {
    "reading": "reading",
    "naming": "naming nodes",
    "sorting": "sorting",
    "writing": "writing",
}


@with_reading
def convert(
    graph: Annotated[
        Path,
        options.argument("File with the graph: an edge list of any size, or another.", "EDGES"),
    ],
    target: Annotated[
        Path, options.argument("Folder to write; one that is there is replaced.", "GRAPH.grf")
    ],
    *,
    directed: options.Directed = False,
    nodes: Annotated[
        int | None,
        options.optional(
            "Number of nodes, which are 0 to N - 1, where some of them have no edge.", "N"
        ),
    ] = None,
    memory: Annotated[
        str | None,
        options.optional(
            "What DuckDB may take, such as 4GB; 1.5GB if not given, or a third of what is free.",
            "SIZE",
        ),
    ] = None,
    reading: Reading,
    as_json: options.AsJson = False,
) -> None:
    """Write a graph to a folder that is opened in no time and used without being read.

    Every command takes the folder for its GRAPH; in Python it is grfpp.Graph.open(folder).
    """
    if not is_folder_path(target):
        raise InputError(f"GRAPH.grf must end in .grf, found {shown(str(target))}")
    outputs.require_other("GRAPH.grf", target, [graph])
    seconds: dict[str, float] = {}
    step, began = "reading", perf_counter()
    with console.progress_bar("reading") as update:

        def progress(name: str, done: int, total: int) -> None:
            nonlocal step, began
            if name != step:
                now = perf_counter()
                seconds[step] = now - began
                step, began = name, now
            update(description=_STEPS[name], completed=done, total=total or None)

        written = convert_graph(
            graph,
            target,
            directed=True if directed else None,
            n_nodes=nodes,
            memory=memory,
            progress=progress,
            symmetrize=reading.undirected,
            mesh_weights=reading.mesh_weights,
            **reading.edges.given,
        )
    seconds[step] = perf_counter() - began
    facts = [
        outputs.graph_fact(graph, written),
        ("weights", _weights(written)),
        ("names", _names(written)),
        ("time", ", ".join(f"{took:.1f} s {_STEPS[name]}" for name, took in seconds.items())),
        ("wrote", f"{target}, {readable_bytes(folder_bytes(target))}"),
    ]
    document: dict[str, Any] = {
        "graph": outputs.graph_document(graph, written),
        "weights": None if written.scaled.base is not None else written.scaled.value,
        "names": written.names.kind,
        "seconds": seconds,
        "output": {"path": str(target), "n_bytes": folder_bytes(target)},
    }
    console.tell(facts, document, as_json)


def _weights(graph: Graph) -> str:
    rule = graph.scaled
    return "of their own" if rule.base is not None else f"all {rule.value:g}, none stored"


def _names(graph: Graph) -> str:
    found = {None: f"none: nodes are 0 to {graph.n_nodes - 1}", "whole": "whole numbers"}
    return found.get(graph.names.kind, "text")
