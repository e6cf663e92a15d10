"""`grfpp convert`: from a file with a graph of any size to a folder on disk.

Edge lists (.txt .tsv .csv .edges .edgelist, also compressed as .gz or .zip, .parquet, .feather) may
be larger than memory: DuckDB sorts them. While this runs, there must be room for temporary files
beside the folder, about three times the text, and for the folder itself. Other files are read into
memory first. The graph is the one that other commands read from the file: the same edges, names and
order.

Example commands:
  grfpp convert edges.tsv.gz graph.grf
  grfpp convert calls.parquet calls.grf --columns caller,callee --directed
  grfpp convert follows.csv follows.grf --directed --memory 4GB --json
  grfpp estimate graph.grf --rows ann
"""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any

from grfpp._memory import readable_bytes
from grfpp.cli import console, options, results
from grfpp.conversion import convert as convert_graph
from grfpp.errors import InputError, shown
from grfpp.graph import Graph
from grfpp.io.folder.reader import folder_bytes, is_folder_path

_STEPS = {
    "reading": "reading",
    "naming": "naming nodes",
    "sorting": "sorting",
    "writing": "writing",
}


@options.command
@options.argument(
    "graph", "File with the graph: an edge list of any size or other.", "EDGES", type=options.PATH
)
@options.argument(
    "target", "Folder to write; an existing one is replaced.", "GRAPH.grf", type=options.PATH
)
@options.directed_option
@options.option(
    "--nodes",
    "n_nodes",
    help="Number of nodes, which are 0 to N - 1, where some of them have no edge.",
    type=int,
)
@options.option(
    "--memory",
    help="What DuckDB may take, such as 4GB; 1.5GB if not given, or a third of what is free.",
    metavar="SIZE",
)
@options.reading_options
@options.json_option
def convert(
    graph: Path,
    target: Path,
    *,
    directed: bool,
    n_nodes: int | None,
    memory: str | None,
    reading: options.Reading,
    as_json: bool,
) -> None:
    """Write a graph to a folder that is opened in no time and used without being read.

    Every command takes the folder for its GRAPH; in Python it is grfpp.Graph.open(folder).
    """
    if not is_folder_path(target):
        raise InputError(f"GRAPH.grf must end in .grf, found {shown(str(target))}")
    results.require_other("GRAPH.grf", target, [graph])
    seconds: dict[str, float] = {}
    step, start = "reading", perf_counter()
    with console.progress_bar("reading") as update:

        def progress(name: str, done: int, total: int) -> None:
            nonlocal step, start
            if name != step:
                now = perf_counter()
                seconds[step] = now - start
                step, start = name, now
            update(description=_STEPS[name], completed=done, total=total or None)

        written = convert_graph(
            graph,
            target,
            n_nodes=n_nodes,
            memory=memory,
            progress=progress,
            **reading.parameters(directed=directed),
        )
    seconds[step] = perf_counter() - start
    facts = [
        results.graph_fact(graph, written),
        ("weights", _weights(written)),
        ("names", _names(written)),
        ("time", ", ".join(f"{took:.1f} s {_STEPS[name]}" for name, took in seconds.items())),
        ("wrote", f"{target}, {readable_bytes(folder_bytes(target))}"),
    ]
    document: dict[str, Any] = {
        "graph": results.graph_document(graph, written),
        "weights": None if written.scaled.base is not None else written.scaled.value,
        "names": written.names.kind,
        "seconds": seconds,
        "output": {"path": str(target), "n_bytes": folder_bytes(target)},
    }
    results.show(facts, document, as_json)


def _weights(graph: Graph) -> str:
    rule = graph.scaled
    return "of their own" if rule.base is not None else f"all {rule.value:g}, none stored"


def _names(graph: Graph) -> str:
    found = {None: f"none: nodes are 0 to {graph.n_nodes - 1}", "whole": "whole numbers"}
    return found.get(graph.names.kind, "text")
