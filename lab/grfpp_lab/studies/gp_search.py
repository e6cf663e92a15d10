"""`GraphSearch` beside breadth-first search and random queries.

``python -m grfpp_lab.studies.gp_search`` prints, for the largest component of SNAP's email-Enron
where ``GRFPP_DATA`` holds it (a scale-free graph elsewhere), the number of queries until the node
of highest degree is asked for, each run from another random start. Values are logarithms of
degrees. With ``normalization="sym"`` the smoothest function of the prior is the root of the degree,
so that this function suits it; with ``"rw"`` it is constant. ``--fields`` prints the same for
fields of the study of fields, until a value among the highest thousandth is found. ``--large``
prints seconds of processor time and memory on a grid and a scale-free graph of a million nodes, and
whether a search that was saved goes on as it would have.
"""

import argparse
import os
import resource
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np
from scipy.sparse.csgraph import breadth_first_order, connected_components

from grfpp.datasets import grid
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


def queries(graph: Graph, values: FloatArray, is_goal: BoolArray, seed: int, **options: Any) -> int:
    """How many nodes are asked for until one is a goal."""
    search = GraphSearch(graph, random_state=seed, n_jobs=1, **options)
    for number in range(1, LIMIT + 1):
        (node,) = search.ask()
        if is_goal[node]:
            return number
        search.tell(node, values[node])
    return LIMIT


def compare(
    name: str,
    graph: Graph,
    values: FloatArray,
    is_goal: BoolArray,
    seeds: range,
    normalizations: Sequence[str],
) -> None:
    """Print medians of all ways."""
    goals = np.flatnonzero(is_goal)
    for acquisition, normalization in product(("ei", "thompson"), normalizations):
        began = process_time()
        given = {"acquisition": acquisition, "normalization": normalization}
        counts = [queries(graph, values, is_goal, seed, **given) for seed in seeds]
        seconds = (process_time() - began) / sum(counts)
        print(
            f"{name}, {acquisition}, {normalization}: median {np.median(counts):g} queries of "
            f"{len(counts)} runs, {min(counts)} to {max(counts)}; {seconds:.2f} s a query",
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


def large(name: str, graph: Graph, n_queries: int) -> None:
    """Print seconds and memory of a search of a smooth function, or of logarithms of degrees."""
    degrees = np.diff(graph.indptr)
    values = np.log(degrees)
    if degrees.max() <= 4:
        side = round(graph.n_nodes**0.5)
        rows, columns = np.divmod(np.arange(graph.n_nodes), side)
        values = -np.hypot(rows - 0.7 * side, columns - 0.3 * side)
    for acquisition in ("thompson", "ei"):
        began = process_time()
        search = GraphSearch(graph, acquisition=acquisition, n_jobs=1)
        first = search.ask(n_queries)
        search.tell(first, values[first])
        (node,) = search.ask()
        print(f"{name}, {acquisition}: fit to {n_queries} {process_time() - began:.0f} s", end="")
        search.tell(node, values[node])
        seconds = []
        for size in (1, 1, 1, 10, 10):
            began = process_time()
            nodes = search.ask(size)
            search.tell(nodes, values[nodes])
            seconds.append((process_time() - began) / size)
        print(
            f"; a suggestion {max(seconds[:3]):.2f} s, in batches of 10 {seconds[-1]:.2f} s", end=""
        )
        with TemporaryDirectory() as folder:
            path = Path(folder, "search.npz")
            search.save(path)
            began = process_time()
            resumed = GraphSearch.load(path, graph)
            is_same = resumed.ask(3) == search.ask(3)
            print(f"; resumed in {process_time() - began:.0f} s, the same: {is_same}", end="")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"; peak so far {peak:.1f} GB; best {search.best[1]:.3g} of {values.max():.3g}",
            flush=True,
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="gp_search", description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--fields", nargs="*", choices=list(PLACES), help="these, not degrees")
    parser.add_argument("--normalization", nargs="*", default=["sym", "rw"])
    parser.add_argument(
        "--large", nargs="*", choices=("grid", "scale-free"), help="timings on these"
    )
    parser.add_argument("--nodes", type=int, default=1_000_000, help="of --large")
    parser.add_argument("--brief", action="store_true", help="fields on graphs of a quarter")
    options = parser.parse_args(arguments)
    seeds = range(options.seed, options.seed + options.runs)
    side = round(options.nodes**0.5)
    makers = {
        "grid": lambda: grid(side, side),
        "scale-free": lambda: scale_free(side**2, 5, seed=1),
    }
    for name in options.large or ():
        large(name, makers[name](), 20)
    if options.fields is None and options.large is None:
        name, found = graph()
        degrees = np.diff(found.indptr)
        goals, values = degrees == degrees.max(), np.log(degrees)
        name = f"{name}, {found.n_nodes} nodes"
        compare(name, found, values, goals, seeds, options.normalization)
    for place in options.fields or ():
        rng = np.random.default_rng(options.seed)
        made, draw = PLACES[place](options.brief, rng)
        field = draw(1, rng)
        goals = field >= np.quantile(field, 0.999)
        compare(place, made, field, goals, seeds, options.normalization)


if __name__ == "__main__":
    main()
