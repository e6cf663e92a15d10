"""`grfpp query`: the nodes that are nearest to some nodes under a kernel.

Nodes are named as in the file, and numbered from 0 where it has no names. Answers cost what the
nodes reached cost, however large the graph is; a folder graph.grf (grfpp convert) is not read as a
whole either. Kernels are written as for grfpp estimate.

Example commands:
  grfpp query graph.gml --node Anna --top 5
  grfpp query graph.txt --node 17 --node 4 --kernel diffusion:5 --std
  grfpp query web.grf --node example.org --kernel personalized-pagerank:0.15
  grfpp query graph.grf --nodes-from names.txt --tol 0.01 --output near.csv
  grfpp query graph.txt --node 17 --budget 100000 --seed 7 --json
  grfpp query graph.grf --nodes-from names.txt --dask tcp://scheduler:8786 -o near.csv
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from grfpp.cli import console, options, results
from grfpp.distributed.local import ask_top_k
from grfpp.errors import InputError
from grfpp.io.files import read_text
from grfpp.kernels import kernel_from_spec
from grfpp.local import LocalKernel


@options.command
@options.graph_argument
@options.option(
    "--node", help="Ask about this node; may be given several times.", multiple=True, metavar="NAME"
)
@options.path_option(
    "--nodes-from", help="Ask about the nodes in this file, a line each.", metavar="FILE"
)
@options.option(
    "--top", "-n", help="How many nodes to find for each.", type=click.IntRange(1), default=10
)
@options.kernel_option("The kernel; grfpp estimate --help lists them.", "diffusion", "-k")
@options.normalize_option
@options.scale_option
@options.option("--tol", help="Relative error of each row, in the 2-norm.", type=float)
@options.option("--budget", help="Edges that may be followed for each node.", type=float)
@options.option(
    "--std",
    help="Standard errors of the values, from 16 further rows each: takes 16 times as long.",
    is_flag=True,
)
@options.option("--no-self", help="Leave each node out of its own list.", is_flag=True)
@options.seed_option
@options.jobs_option
@options.output_option("Write a line for each node found.")
@options.directed_option
@options.cluster_option
@options.reading_options
@options.json_option
def query(
    graph: Path,
    *,
    node: Sequence[str],
    nodes_from: Path | None,
    top: int,
    kernel: str,
    normalize: str | None,
    scale: float,
    tol: float | None,
    budget: float | None,
    std: bool,
    no_self: bool,
    seed: int,
    n_jobs: int,
    output: Path | None,
    directed: bool,
    client: Any,
    reading: options.Reading,
    as_json: bool,
) -> None:
    """Find the nodes that are nearest to some nodes under a kernel.

    Those with the largest entries in a node's row, each with its value.
    """
    results.check_output(output, ".csv", others=[graph, nodes_from])
    function = kernel_from_spec(kernel)
    names = _requested_names(node, nodes_from)
    seconds: dict[str, float] = {}
    with console.timed(seconds, "read", f"reading {graph}"):
        source = reading.graph(graph, directed=directed)
        rows = [source.names.written(name, argument) for argument, name in names]
        W, normalization = options.normalized(source, function, normalize, scale)
        local = LocalKernel(W, function, tol=tol, budget=budget, seed=seed, n_jobs=n_jobs)
    with console.timed(seconds, "load", "loading the compiled loops"):
        with_std: Any = std
        local.top_k(rows[:1], 1, with_std)
    with console.timed(seconds, "query", "looking for the nearest nodes"):
        k = min(top, source.n_nodes)
        if client is not None:
            answer = ask_top_k(client, local, rows, (k, std, not no_self))
        else:
            answer = local.top_k(rows, k, with_std, include_self=not no_self)

    labels = results.node_names(source)
    nearest = []
    for row, *lists in zip(rows, *(array.tolist() for array in answer), strict=True):
        entries = [
            {
                "row": other,
                "node": results.json_name(labels[other]),
                "value": value,
                "std": error[0] if std else None,
            }
            for other, value, *error in zip(*lists, strict=True)
            if other >= 0
        ]
        nearest.append({"row": row, "node": results.json_name(labels[row]), "top": entries})
    if output is not None:
        columns = ["node", "value", *(["std"] if std else [])]
        results.write_csv(
            output,
            ["node", "rank", "other", *columns[1:]],
            [
                [answers["node"], rank, *(entry[column] for column in columns)]
                for answers in nearest
                for rank, entry in enumerate(answers["top"], start=1)
            ],
        )
    effort = f"tol {tol:g}" if tol is not None else f"budget {local.budget:,.0f} edges a node"
    facts = [
        results.graph_fact(graph, source),
        ("weights", f"normalize {normalization}, scale {scale:g}"),
        ("kernel", repr(function)),
        ("pools", f"{effort}, seed {seed}"),
        *options.cluster_fact(client),
        (
            "time",
            f"{seconds['read']:.2f} s reading, {seconds['load']:.2f} s loading compiled loops, "
            f"{seconds['query']:.4f} s for {len(rows):,} {'node' if len(rows) == 1 else 'nodes'}",
        ),
    ]
    for answers in nearest:
        entries = answers["top"]
        text = results.entries_text((e["node"], e["value"], e["std"]) for e in entries)
        facts.append((f"node {answers['node']}", text))
    document = {
        "graph": {
            **results.graph_document(graph, source),
            "normalize": normalization,
            "scale": scale,
        },
        "kernel": function.to_dict(),
        "tol": tol,
        "budget": local.budget,
        "seed": seed,
        "cluster": options.cluster_document(client),
        "seconds": seconds,
        "nodes": nearest,
        "output": None if output is None else results.file_document(output),
    }
    results.show(facts, document, as_json, [output])


def _requested_names(names: Sequence[str], path: Path | None) -> list[tuple[str, str]]:
    """The names of the nodes that are asked about, each with the argument that has it."""
    if not names and path is None:
        raise InputError("--node NAME says which node to ask about; or --nodes-from FILE")
    lines = [] if path is None else [line.strip() for line in read_text(path).split("\n")]
    if path is not None and not any(lines):
        raise InputError(f"--nodes-from {path}: there is no name in it")
    return [*(("node", name) for name in names), *(("nodes_from", name) for name in lines if name)]
