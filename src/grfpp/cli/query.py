"""`grfpp query`: the nodes that are nearest to some nodes under a kernel.

Nodes are named as in the file, or by indices from 0 where it has no names. The cost depends on the
nodes that are reached, not on the size of the graph; of a folder graph.grf (grfpp convert) only
their part is read. Kernels have the text forms of grfpp estimate.

--from makes one query of several nodes with weights, a negative one after a colon too; --node asks
about each node by itself. A line of --queries is a JSON object of nodes and weights; each is
answered by one line of JSON, as soon as some hundred are done.

Example commands:
  grfpp query graph.gml --node Anna --top 5
  grfpp query graph.txt --node 17 --node 4 --kernel diffusion:5 --std
  grfpp query web.grf --node example.org --kernel personalized-pagerank:0.15
  grfpp query graph.gml --from Anna:2 --from Ben:1 --confidence 0.99
  grfpp query graph.gml --from Anna:2 --among kind=passage --exclude Ben
  grfpp query graph.grf --queries seeds.jsonl --per-degree > answers.jsonl
  grfpp query graph.grf --nodes-from names.txt --tol 0.01 --output near.csv
  grfpp query graph.txt --node 17 --budget 100000 --seed 7 --json
  grfpp query graph.grf --nodes-from names.txt --dask tcp://scheduler:8786
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import click

from grfpp._checks import finite
from grfpp.cli import options, results
from grfpp.distributed.local import query_top_k
from grfpp.errors import InputError, shown
from grfpp.graph import Graph
from grfpp.io.files import read_attribute, read_text
from grfpp.local import LocalKernel
from grfpp.nodes import NodeNames
from grfpp.operators.kernel_choice import KernelChoice

#: Queries of a file that are answered at a time.
_BATCH = 256


@options.command
@options.option("--node", multiple=True, metavar="NAME")
@options.path_option("--nodes-from", metavar="FILE")
@options.option("--from", "seeds", multiple=True, metavar="NAME[:WEIGHT]")
@options.path_option("--queries", metavar="FILE.jsonl")
@options.option("--top", "-n", type=click.IntRange(1), default=10)
@options.kernel_options
@options.option("--tol", type=float)
@options.option("--budget", type=float)
@options.std_option
@options.option("--confidence", type=float)
@options.option("--no-self", is_flag=True)
@options.option("--among", multiple=True, metavar="NAME|ATTRIBUTE=VALUE")
@options.option("--exclude", multiple=True, metavar="NAME|ATTRIBUTE=VALUE")
@options.option("--per-degree", is_flag=True)
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
    seeds: Sequence[str],
    queries: Path | None,
    top: int,
    choice: KernelChoice,
    std: bool,
    confidence: float | None,
    no_self: bool,
    among: Sequence[str],
    exclude: Sequence[str],
    per_degree: bool,
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
    seeds
        Ask once about all nodes that are given so, with their weights: 1 if not given.
    queries
        Ask about the nodes and weights of each line, a JSON object; print a line of JSON for each.
    top
        Number of nearest nodes to find for each.
    tol
        Relative error of each row, in the 2-norm.
    budget
        Number of edges that may be followed for each node.
    std
        Standard errors of the values, from 16 further rows each: takes 16 times as long.
    confidence
        Enlarge budgets until the set of the nearest nodes is right with this probability, or that
        is out of reach; say how many ranks are certain.
    no_self
        Leave each node out of its own list.
    among
        List only these nodes: a name, or an attribute in a .gml or .graphml file and its value; may
        be given several times.
    exclude
        Leave these nodes out.
    per_degree
        Divide values by the degrees of their nodes, against hubs.
    output
        Write a line for each node found.
    """
    _check_one_kind(node or nodes_from, seeds, queries)
    if client is not None and (seeds or queries or among or exclude or per_degree or confidence):
        problem = "takes neither seeds nor filters nor --confidence"
        raise InputError(problem, argument="dask", advice="leave them out")
    if queries is not None and output is not None:
        problem = "is for --node and --from"
        raise InputError(problem, argument="output", advice="redirect the output of --queries")
    result = results.Result()
    with result.timed("read", f"reading {file.path}"):
        source = file.read()
        names = _requested_names(node, nodes_from)
        rows = [source.names.index_of_text(name, argument) for argument, name in names]
        weights = _weighted(source.names, seeds)
        asked: dict[str, Any] = {
            "k": min(top, source.n_nodes),
            "include_self": not no_self,
            "among": _chosen(among, file.path, source, "among"),
            "exclude": _chosen(exclude, file.path, source, "exclude"),
            "normalize": "degree" if per_degree else None,
            "confidence": confidence,
            "return_std": std,
        }
        local = LocalKernel(choice.weights(source), choice.kernel, **settings)
    labels = results.node_names(source)
    if queries is not None:
        lines_read = _read_queries(queries, source.names)
        while sets := list(islice(lines_read, _BATCH)):
            answer = local.top_k(seeds=[places for places, _ in sets], **asked)
            for (_, given), lists in zip(sets, _lists(answer), strict=True):
                print(json.dumps({"seeds": given, "top": _entries(labels, lists, std)}), flush=True)
        return result
    what: dict[str, Any] = {"seeds": [weights]} if seeds else {"nodes": rows}
    with result.timed("load", "loading the compiled loops"):
        local.top_k(**{name: some[:1] for name, some in what.items()}, **{**asked, "k": 1})
    with result.timed("query", "finding the nearest nodes"):
        if client is not None:
            answer = query_top_k(client, local, rows, (asked["k"], std, not no_self))
        else:
            answer = local.top_k(**what, **asked)

    tol, seed, budget = settings["tol"], settings["seed"], local.ranking_plan.budget
    effort = f"tol {tol:g}" if tol is not None else f"budget {budget:,.0f} edges a node"
    n_nodes = f"{len(rows):,} {'node' if len(rows) == 1 else 'nodes'}"
    result.add_graph(file.path, source, choice)
    result.add("kernel", repr(choice.kernel), kernel=choice.kernel.to_dict())
    result.add("pools", f"{effort}, seed {seed}", tol=tol, budget=budget, seed=seed)
    result.add_cluster(client)
    words = "for one set" if seeds else f"for {n_nodes}"
    result.add_time(read="reading", load="loading compiled loops", query=words)
    nearest = []
    lines = []
    said: list[tuple[str, Any, dict[str, Any]]]
    said = [
        (f"node {(name := results.json_name(labels[row]))}", name, {"row": row}) for row in rows
    ]
    if seeds:
        name = " ".join(f"{labels[place]}:{weight:g}" for place, weight in weights.items())
        said = [(f"from {name}", name, {"seeds": _by_name(labels, weights)})]
    for (label, name, about), lists in zip(said, _lists(answer), strict=True):
        entries = _entries(labels, lists, std)
        for rank, entry in enumerate(entries, start=1):
            more = [entry[key] for key in ("std", "certain") if entry.get(key) is not None]
            lines.append([name, rank, entry["node"], entry["value"], *more])
        text = results.entries_text((e["node"], e["value"], e["std"]) for e in entries)
        if confidence is not None:
            n_certain = max((r for r, e in enumerate(entries, 1) if e["certain"]), default=0)
            text += f" (the first {n_certain} are certain)"
        result.add(label, text)
        nearest.append({**about, **({} if seeds else {"node": name}), "top": entries})
    columns = ["node", "rank", "other", "value"]
    columns += ["std"] * std + ["certain"] * (confidence is not None)
    results.write_csv(output, columns, lines)
    result.add(nodes=nearest, output=result.add_file(output))
    return result


def _check_one_kind(nodes: Any, seeds: Any, queries: Any) -> None:
    """Refuse no query, and several kinds of them."""
    kinds = sum(map(bool, (nodes, seeds, queries)))
    if kinds == 0:
        raise InputError("or --nodes-from, --from or --queries must be given", argument="node")
    if kinds > 1:
        problem = "--from and --queries exclude each other"
        raise InputError(problem, argument="node", advice="use one of them")


def _lists(answer: tuple[Any, ...]) -> Iterator[tuple[list[Any], ...]]:
    """The lists of each query: nodes, values, and what was asked for besides."""
    return zip(*(array.tolist() for array in answer), strict=True)


def _entries(labels: Any, lists: Sequence[list[Any]], std: bool) -> list[dict[str, Any]]:
    """The nodes of one list as programs get them; fewer than asked for where few are reached."""
    entries = []
    for other, value, *more in zip(*lists, strict=True):
        if other >= 0:
            entry = {"row": other, "node": results.json_name(labels[other]), "value": value}
            entry |= {"std": more[0] if std else None}
            entries.append(entry | ({"certain": more[0]} if more and not std else {}))
    return entries


def _weighted(names: NodeNames, texts: Sequence[str]) -> dict[int, float]:
    """Indices and weights of nodes, which may be written after a colon; 1 by default."""
    weights: dict[int, float] = {}
    for text in texts:
        name, _, number = text.rpartition(":")
        weight = _number(number) if name else None
        try:
            place = names.index_of_text(text if weight is None else name, "seeds")
        except InputError:
            if weight is None:
                raise
            place, weight = names.index_of_text(text, "seeds"), None  # a name with a colon
        weights[place] = weights.get(place, 0.0) + (1.0 if weight is None else weight)
    return weights


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _by_name(labels: Any, weights: dict[int, float]) -> dict[str, float]:
    return {str(labels[place]): weight for place, weight in weights.items()}


def _read_queries(
    path: Path, names: NodeNames
) -> Iterator[tuple[dict[int, float], dict[str, float]]]:
    """The seeds of each line, by index and as they are written."""
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                given = json.loads(line)
                weights: dict[int, float] = {}
                for name, weight in given.items():
                    place = names.index_of_text(name, "seeds")
                    weights[place] = weights.get(place, 0.0) + finite(weight, "seeds")
                if not any(weights.values()):
                    raise InputError("must have a weight that is not zero", argument="seeds")
            except InputError as error:
                problem = f"{path}, line {number}: {error.problem}"
                raise InputError(problem, argument="queries", advice=error.advice) from None
            except (ValueError, AttributeError):
                problem = f"{path}, line {number} must be a JSON object of nodes and weights"
                raise InputError(problem, argument="queries") from None
            yield weights, given


def _chosen(texts: Sequence[str], path: Path, graph: Graph, argument: str) -> list[int] | None:
    """The nodes of these names, or whose attributes have these values."""
    if not texts:
        return None
    chosen: list[int] = []
    for text in texts:
        attribute, equals, value = text.partition("=")
        if not equals:
            chosen.append(graph.names.index_of_text(text, argument))
            continue
        try:
            values = read_attribute(path, attribute)
        except InputError as error:
            raise InputError(error.problem, advice=f"pass names of nodes to --{argument}") from None
        found = [place for place, other in enumerate(values) if str(other) == value]
        if not found:
            problem = f"must be a value of {attribute}, no node has {shown(value)}"
            raise InputError(problem, argument=argument)
        chosen += found
    return chosen


def _requested_names(names: Sequence[str], path: Path | None) -> list[tuple[str, str]]:
    """The names of the requested nodes, each after the argument that it comes from."""
    lines = [] if path is None else [line.strip() for line in read_text(path).split("\n")]
    if path is not None and not any(lines):
        raise InputError(f"must hold names of nodes, {path} has none", argument="nodes_from")
    return [*(("node", name) for name in names), *(("nodes_from", name) for name in lines if name)]
