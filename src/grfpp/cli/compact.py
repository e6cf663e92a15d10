"""`grfpp compact`: merge the updates of a graph's folder.

Queries of a folder with updates are about as fast as without; opening it takes longer with each,
and operations on the whole matrix merge them in memory. This writes the merged arrays beside the
folder and replaces it in one step.

Example commands:
  grfpp compact graph.grf
"""

from __future__ import annotations

from pathlib import Path

import click

from grfpp.cli import options, results
from grfpp.conversion import compact as compact_folder
from grfpp.io.folder.reader import folder_bytes


@options.command
@click.argument("folder", metavar="FOLDER.grf", type=options.PATH)
@options.shows_result
def compact(*, folder: Path) -> results.Result:
    """Merge the updates of a graph on disk into its arrays.

    Parameters
    ----------
    folder
        Folder of the graph.
    """
    result = results.Result()
    with result.timed("compact", f"merging the updates of {folder}"):
        graph = compact_folder(folder)
    result.add_graph(folder, graph)
    result.add_time(compact="for merging")
    result.add(output=result.add_file(folder, folder_bytes(folder)))
    return result
