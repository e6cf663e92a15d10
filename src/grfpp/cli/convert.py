"""`grfpp convert`: from a file with a graph of any size to a folder on disk.

Edge lists (.txt .tsv .csv .edges .edgelist, also compressed as .gz or .zip, .parquet, .feather) may
be larger than memory: DuckDB sorts them. While this runs, there must be room for temporary files
beside the folder, about three times the text, and for the folder itself. Other files are read into
memory first. The folder holds the same edges, names and order that other commands read from the
file.

Example commands:
  grfpp convert edges.tsv.gz graph.grf
  grfpp convert calls.parquet calls.grf --columns caller,callee --directed
  grfpp convert follows.csv follows.grf --directed --memory 4GB --json
  grfpp estimate graph.grf --rows ann
"""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

import click

from grfpp.cli import console, options, results
from grfpp.conversion import convert as convert_graph
from grfpp.io.folder.reader import folder_bytes


@options.command
@options.option("--nodes", "n_nodes", type=int)
@options.option("--memory", metavar="SIZE")
@options.graph_options
@click.argument("target", metavar="FOLDER.grf", type=options.OutputFile(".grf"))
@options.shows_result
def convert(
    *, file: options.GraphFile, target: Path, n_nodes: int | None, memory: str | None
) -> results.Result:
    """Write a graph to a folder that other commands open without reading it.

    Every command takes the folder for its GRAPH, and maps it into memory; in Python it is
    grfpp.Graph.open(folder). Edge lists may be of any size.

    Parameters
    ----------
    target
        Folder to write; an existing one is replaced.
    n_nodes
        Number of nodes, which are 0 to N - 1, where some of them have no edge.
    memory
        Largest memory of DuckDB, such as 4GB; if not given, 1.5GB or a third of the free memory.
    """
    result = results.Result()
    seconds, step, start = result.seconds, "reading", perf_counter()
    with console.progress_bar("reading") as update:

        def progress(name: str, done: int, total: int) -> None:
            nonlocal step, start
            if name != step:
                now = perf_counter()
                seconds[step] = now - start
                step, start = name, now
            update(description=name, completed=done, total=total or None)

        graph = convert_graph(
            file.path, target, n_nodes=n_nodes, memory=memory, progress=progress, **file.parameters
        )
    seconds[step] = perf_counter() - start

    weight = None if graph.scaled.base is not None else graph.scaled.value
    names = {None: f"none: nodes are 0 to {graph.n_nodes - 1}", "whole": "whole numbers"}
    result.add_graph(file.path, graph)
    text = "one per edge" if weight is None else f"all {weight:g}, none stored"
    result.add("weights", text, weights=weight)
    result.add("names", names.get(graph.names.kind, "text"), names=graph.names.kind)
    result.add_time(**{name: name for name in seconds})
    result.add(output=result.add_file(target, folder_bytes(target)))
    return result
