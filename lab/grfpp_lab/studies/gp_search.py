"""`GraphSearch` beside breadth-first search and random queries.

``python -m grfpp_lab.studies.gp_search`` prints, for the largest component of SNAP's email-Enron
where ``GRFPP_DATA`` holds it (a scale-free graph elsewhere), the number of queries until the node
of highest degree is asked for, each run from another random start. Values are logarithms of
degrees. With ``normalization="sym"`` the smoothest function of the prior is the root of the degree,
so that this function suits it; ``--fields`` prints the same for fields of the study of fields,
until a value among the highest thousandth is found.
"""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from time import process_time

import numpy as np
from scipy.sparse.csgraph import breadth_first_order, connected_components

from grfpp.gp import GraphSearch
from grfpp.graph import Graph
from grfpp.typing import BoolArray, FloatArray
from grfpp_lab.graphs import scale_free
from grfpp_lab.studies.gp_fields import PLACES

ENRON = "nodes/email-enron.txt.gz"
#: Queries after which a search has failed.
LIMIT = 400


def graph() -> tuple[str, Graph]:
    """The graph with its name."""
    path = Path(os.environ.get("GRFPP_DATA", ""), ENRON)
    if not os.environ.get("GRFPP_DATA") or not path.exists():
        return "scale-free", scale_free(20_000, 5, seed=1)
    whole = Graph(path)
    component = connected_components(whole.adjacency)[1]
    inside = np.flatnonzero(component == np.bincount(component).argmax())
    return "email-Enron", Graph(whole.adjacency[inside][:, inside])


def queries(
    graph: Graph, values: FloatArray, is_goal: BoolArray, acquisition: str, seed: int
) -> int:
    """How many nodes are asked for until one is a goal."""
    search = GraphSearch(graph, acquisition=acquisition, random_state=seed, n_jobs=1)
    for number in range(1, LIMIT + 1):
        (node,) = search.ask()
        if is_goal[node]:
            return number
        search.tell(node, values[node])
    return LIMIT


def compare(name: str, graph: Graph, values: FloatArray, is_goal: BoolArray, seeds: range) -> None:
    """Print medians of all ways."""
    goals = np.flatnonzero(is_goal)
    for acquisition in ("ei", "thompson"):
        began = process_time()
        counts = [queries(graph, values, is_goal, acquisition, seed) for seed in seeds]
        seconds = (process_time() - began) / sum(counts)
        print(
            f"{name}, {acquisition}: median {np.median(counts):g} queries of {len(counts)} runs, "
            f"{min(counts)} to {max(counts)}; {seconds:.2f} s a query",
            flush=True,
        )
    breadth, random = [], []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        order = breadth_first_order(
            graph.adjacency, rng.integers(graph.n_nodes), return_predecessors=False
        )
        breadth.append(1 + int(np.isin(order, goals).argmax()))
        random.append(1 + int(np.isin(rng.permutation(graph.n_nodes), goals).argmax()))
    print(f"{name}, breadth-first: median {np.median(breadth):g}; random: {np.median(random):g}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="gp_search", description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--fields", nargs="*", choices=list(PLACES), help="these, not degrees")
    parser.add_argument("--brief", action="store_true", help="fields on graphs of a quarter")
    options = parser.parse_args(arguments)
    seeds = range(options.seed, options.seed + options.runs)
    if options.fields is None:
        name, found = graph()
        degrees = np.diff(found.indptr)
        goals = degrees == degrees.max()
        compare(f"{name}, {found.n_nodes} nodes", found, np.log(degrees), goals, seeds)
    for place in options.fields or ():
        rng = np.random.default_rng(options.seed)
        made, draw = PLACES[place](options.brief, rng)
        field = draw(1, rng)
        compare(place, made, field, field >= np.quantile(field, 0.999), seeds)


if __name__ == "__main__":
    main()
