"""`grfpp update`: append changes of edges to a graph's folder.

The file (.csv, .tsv, .txt, .parquet) has a header and the columns operation (add, remove or
reweight), source, target and, unless all new weights are 1, weight. Edges to add must be new,
others must be there, and each is listed once. Unknown nodes of added edges are new nodes. Changes
are one more file in the folder, written completely or not at all; programs that have the folder
open keep the graph as it was. grfpp compact merges such files.

Example commands:
  grfpp update graph.grf changes.csv
  grfpp update graph.grf changes.parquet --json
  grfpp query graph.grf --node ann
"""

from __future__ import annotations

from pathlib import Path

import click

from grfpp.cli import options, results
from grfpp.conversion import update as update_folder
from grfpp.io.folder.reader import folder_bytes


@options.command
@click.argument("folder", metavar="FOLDER.grf", type=options.PATH)
@click.argument("changes", metavar="CHANGES", type=options.PATH)
@options.shows_result
def update(*, folder: Path, changes: Path) -> results.Result:
    """Add, remove and reweight edges of a graph on disk, without writing it anew.

    Parameters
    ----------
    folder
        Folder of the graph.
    changes
        File with the changes.
    """
    result = results.Result()
    with result.timed("update", f"updating {folder}"):
        graph = update_folder(folder, changes)
    result.add_graph(folder, graph)
    result.add_time(update="for the update")
    result.add(output=result.add_file(folder, folder_bytes(folder)))
    return result
