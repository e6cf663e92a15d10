"""`grfpp query`: the nodes that are nearest to some nodes under a kernel.

Nodes are named as in the file, or by indices from 0 where it has no names. The cost depends on the
nodes that are reached, not on the size of the graph; of a folder graph.grf (grfpp convert) only
their part is read. Kernels have the text forms of grfpp estimate.

Example commands:
  grfpp query graph.gml --node Anna --top 5
  grfpp query graph.txt --node 17 --node 4 --kernel diffusion:5 --std
  grfpp query web.grf --node example.org --kernel personalized-pagerank:0.15
  grfpp query graph.grf --nodes-from names.txt --tol 0.01 --output near.csv
  grfpp query graph.txt --node 17 --budget 100000 --seed 7 --json
  grfpp query graph.grf --nodes-from names.txt --dask tcp://scheduler:8786
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from grfpp.cli import options, results
from grfpp.distributed.local import query_top_k
from grfpp.errors import InputError
from grfpp.io.files import read_text
from grfpp.local import LocalKernel
from grfpp.operators.kernel_choice import KernelChoice


@options.command
@options.option("--node", multiple=True, metavar="NAME")
@options.path_option("--nodes-from", metavar="FILE")
@options.option("--top", "-n", type=click.IntRange(1), default=10)
@options.kernel_options
@options.option("--tol", type=float)
@options.option("--budget", type=float)
@options.std_option
@options.option("--no-self", is_flag=True)
@options.seed_option
@options.jobs_option
@options.output_option()
@options.cluster_option
@options.graph_options
@options.shows_result
def query(
    *,
    file: options.GraphFile,
    node: Sequence[str],
    nodes_from: Path | None,
    top: int,
    choice: KernelChoice,
    std: bool,
    no_self: bool,
    output: Path | None,
    client: Any,
    **settings: Any,
) -> results.Result:
    """Find the nodes that are nearest to some nodes under a kernel.

    Those with the largest entries in a node's row, each with its value.

    Parameters
    ----------
    node
        Ask about this node; may be given several times.
    nodes_from
        Ask about the nodes in this file, one per line.
    top
        Number of nearest nodes to find for each.
    tol
        Relative error of each row, in the 2-norm.
    budget
        Number of edges that may be followed for each node.
    std
        Standard errors of the values, from 16 further rows each: takes 16 times as long.
    no_self
        Leave each node out of its own list.
    output
        Write a line for each node found.
    """
    names = _requested_names(node, nodes_from)
    result = results.Result()
    with result.timed("read", f"reading {file.path}"):
        source = file.read()
        rows = [source.names.index_of_text(name, argument) for argument, name in names]
        local = LocalKernel(choice.weights(source), choice.kernel, **settings)
    with result.timed("load", "loading the compiled loops"):
        with_std: Any = std
        local.top_k(rows[:1], 1, with_std)
    with result.timed("query", "finding the nearest nodes"):
        k = min(top, source.n_nodes)
        if client is not None:
            answer = query_top_k(client, local, rows, (k, std, not no_self))
        else:
            answer = local.top_k(rows, k, with_std, include_self=not no_self)

    tol, seed, budget = settings["tol"], settings["seed"], local.ranking_plan.budget
    effort = f"tol {tol:g}" if tol is not None else f"budget {budget:,.0f} edges a node"
    n_nodes = f"{len(rows):,} {'node' if len(rows) == 1 else 'nodes'}"
    result.add_graph(file.path, source, choice)
    result.add("kernel", repr(choice.kernel), kernel=choice.kernel.to_dict())
    result.add("pools", f"{effort}, seed {seed}", tol=tol, budget=budget, seed=seed)
    result.add_cluster(client)
    result.add_time(read="reading", load="loading compiled loops", query=f"for {n_nodes}")
    labels = results.node_names(source)
    nearest = []
    lines = []
    for row, *lists in zip(rows, *(array.tolist() for array in answer), strict=True):
        name, entries = results.json_name(labels[row]), []
        for rank, (other, value, *error) in enumerate(zip(*lists, strict=True), start=1):
            if other >= 0:  # else fewer than k nodes are reached
                entry = {"row": other, "node": results.json_name(labels[other]), "value": value}
                entries.append({**entry, "std": error[0] if std else None})
                lines.append([name, rank, entry["node"], value, *error])
        text = results.entries_text((e["node"], e["value"], e["std"]) for e in entries)
        result.add(f"node {name}", text)
        nearest.append({"row": row, "node": name, "top": entries})
    results.write_csv(output, ["node", "rank", "other", "value", "std"][: 4 + std], lines)
    result.add(nodes=nearest, output=result.add_file(output))
    return result


def _requested_names(names: Sequence[str], path: Path | None) -> list[tuple[str, str]]:
    """The names of the requested nodes, each after the argument that it comes from."""
    if not names and path is None:
        raise InputError("or --nodes-from must be given", argument="node")
    lines = [] if path is None else [line.strip() for line in read_text(path).split("\n")]
    if path is not None and not any(lines):
        raise InputError(f"must hold names of nodes, {path} has none", argument="nodes_from")
    return [*(("node", name) for name in names), *(("nodes_from", name) for name in lines if name)]
