"""`grfpp query`: the nodes that are nearest to some nodes under a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np

from grfpp.arguments import positive
from grfpp.cli import console, options, outputs
from grfpp.cli.dask import cluster_document, cluster_fact, with_cluster
from grfpp.cli.reading import Reading, with_reading
from grfpp.cli.rows import labels_of, read_names
from grfpp.distributed.local import ask_top_k
from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.kernels import kernel_from_spec
from grfpp.local import LocalKernel
from grfpp.typing import FloatArray, IntArray

#: Shown below the options.
NOTES = """
\b
Nodes are named as in the file, and numbered from 0 where it has no names. Answers cost what the
nodes reached cost, however large the graph is; a folder graph.grf (grfpp convert) is not read as a
whole either. Kernels are written as for grfpp estimate.

\b
Examples:
  grfpp query graph.gml --node Anna --top 5
  grfpp query graph.txt --node 17 --node 4 --kernel diffusion:5 --std
  grfpp query web.grf --node example.org --kernel personalized-pagerank:0.15
  grfpp query graph.grf --nodes-from names.txt --tol 0.01 --output near.csv
  grfpp query graph.txt --node 17 --budget 100000 --seed 7 --json
  grfpp query graph.grf --nodes-from names.txt --dask tcp://scheduler:8786 -o near.csv
"""


class Answer(NamedTuple):
    """The nearest nodes of some nodes, a row each; -1 where there are fewer."""

    nodes: IntArray
    values: FloatArray
    std: FloatArray | None


@with_cluster
@with_reading
def query(
    graph: options.GraphFile,
    *,
    node: Annotated[
        list[str] | None,
        options.optional("Ask about this node; may be given several times.", "NAME", "--node"),
    ] = None,
    nodes_from: Annotated[
        Path | None, options.optional("Ask about the nodes in this file, a line each.", "FILE")
    ] = None,
    top: Annotated[
        int, options.option("How many nodes to find for each.", "K", "--top", "-n", min=1)
    ] = 10,
    kernel: Annotated[
        str, options.kernel("The kernel; grfpp estimate --help lists them.", "-k")
    ] = "diffusion",
    normalize: Annotated[
        Literal["sym", "rw", "none"] | None,
        options.optional(
            "Weights: D^-1/2 A D^-1/2 (sym), D^-1 A (rw), or A as it is (none); if not given, rw "
            "for personalized-pagerank and heat, else sym.",
            "sym|rw|none",
        ),
    ] = None,
    scale: Annotated[float, options.option("Factor on all weights.", "X")] = 1.0,
    tol: Annotated[
        float | None, options.optional("Relative error of each row, in the 2-norm.", "X")
    ] = None,
    budget: Annotated[
        float | None, options.optional("Edges that may be followed for each node.", "N")
    ] = None,
    std: Annotated[
        bool,
        options.option(
            "Standard errors of the values, from 16 further rows each: takes 16 times as long.",
            None,
            "--std",
        ),
    ] = False,
    no_self: Annotated[
        bool, options.option("Leave each node out of its own list.", None, "--no-self")
    ] = False,
    seed: Annotated[int, options.option("Of the walks.", "N", "--seed", min=0)] = 0,
    jobs: Annotated[
        int, options.option("Threads; -1 for all cores. The result is the same.", "N", "--jobs")
    ] = -1,
    output: Annotated[Path | None, options.output("Write a line for each node found.")] = None,
    directed: options.Directed = False,
    client: Any,
    reading: Reading,
    as_json: options.AsJson = False,
) -> None:
    """Find the nodes that are nearest to some nodes under a kernel.

    Those with the largest entries in a node's row, each with its value.
    """
    outputs.check_output(output, ".csv", others=[graph, nodes_from])
    function = kernel_from_spec(kernel)
    names = _asked(node, nodes_from)
    factor = positive(scale, "scale")
    seconds: dict[str, float] = {}
    with console.timed(seconds, "read", f"reading {graph}"):
        source = reading.graph(graph, directed=directed)
        places = [source.names.written(name, option) for option, name in names]
        kind = normalize or function.normalization
        W = source.normalized(None if kind == "none" else kind, factor)
        near = LocalKernel(W, function, tol=tol, budget=budget, seed=seed, n_jobs=jobs)
    with console.timed(seconds, "load", "loading the compiled loops"):
        _nearest(near, places[:1], 1, std, with_self=True)
    with console.timed(seconds, "query", "looking for the nearest nodes"):
        most = min(top, source.n_nodes)
        answer = _nearest(near, places, most, std, with_self=not no_self, client=client)
    found = _found(source, places, answer)
    if output is not None:
        columns = ["node", "rank", "other", "value", *(["std"] if std else [])]
        lines = [
            [each["node"], rank, other["node"], other["value"], *([other["std"]] if std else [])]
            for each in found
            for rank, other in enumerate(each["top"], start=1)
        ]
        outputs.write_csv(output, columns, lines)
    effort = f"tol {tol:g}" if tol is not None else f"budget {near.budget:,.0f} edges a node"
    facts = [
        outputs.graph_fact(graph, source),
        ("weights", f"normalize {kind}, scale {factor:g}"),
        ("kernel", repr(function)),
        ("pools", f"{effort}, seed {seed}"),
        *cluster_fact(client),
        (
            "time",
            f"{seconds['read']:.2f} s reading, {seconds['load']:.2f} s loading compiled loops, "
            f"{seconds['query']:.4f} s for {len(places):,} "
            f"{'node' if len(places) == 1 else 'nodes'}",
        ),
        *((f"node {each['node']}", _summary(each["top"])) for each in found),
    ]
    document = {
        "graph": {**outputs.graph_document(graph, source), "normalize": kind, "scale": factor},
        "kernel": function.to_dict(),
        "tol": tol,
        "budget": near.budget,
        "seed": seed,
        "cluster": cluster_document(client),
        "seconds": seconds,
        "nodes": found,
        "output": None if output is None else outputs.file_document(output),
    }
    console.tell([*facts, *outputs.wrote(output)], document, as_json)


def _asked(names: Sequence[str] | None, path: Path | None) -> list[tuple[str, str]]:
    """The nodes that the options ask about, in their order, each with the option that does."""
    if not names and path is None:
        raise InputError("--node NAME says which node to ask about; or --nodes-from FILE")
    listed = [] if path is None else read_names(path, "--nodes-from")
    return [*(("node", name) for name in names or []), *(("nodes_from", name) for name in listed)]


def _nearest(
    near: LocalKernel,
    places: Sequence[int],
    k: int,
    std: bool,
    with_self: bool,
    client: Any = None,
) -> Answer:
    """Ask, in this process or on a cluster."""
    if client is not None:
        found = ask_top_k(client, near, places, (k, std, with_self))
        return Answer(*found, *(() if std else (None,)))
    if std:
        return Answer(*near.top_k(places, k, return_std=True, include_self=with_self))
    return Answer(*near.top_k(places, k, include_self=with_self), None)


def _found(graph: Graph, places: Sequence[int], answer: Answer) -> list[dict[str, Any]]:
    """What was found for each node, by name."""
    labels = labels_of(graph)
    bars = np.zeros_like(answer.values) if answer.std is None else answer.std
    return [
        {
            "row": place,
            "node": outputs.plain(labels[place]),
            "top": [
                {
                    "row": other,
                    "node": outputs.plain(labels[other]),
                    "value": value,
                    "std": None if answer.std is None else bar,
                }
                for other, value, bar in zip(
                    nodes.tolist(), values.tolist(), errors.tolist(), strict=True
                )
                if other >= 0
            ],
        }
        for place, nodes, values, errors in zip(
            places, answer.nodes, answer.values, bars, strict=True
        )
    ]


def _summary(top: Sequence[dict[str, Any]]) -> str:
    """The nodes found, for people."""
    return ", ".join(
        f"{each['node']}: {each['value']:.4g}"
        + ("" if each["std"] is None else f" ± {each['std']:.1g}")
        for each in top
    )
