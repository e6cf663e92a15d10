"""Tabs. node_clustering, node_cluster_extend: clusters of nodes by estimated kernels."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from grfpp.datasets import GraphDataset, load_graph
from grfpp.graph import Graph
from grfpp_lab.experiments.claims import POOLED
from grfpp_lab.experiments.clustering import claims
from grfpp_lab.experiments.measuring import at_hand, mean_and_error, pick, seeds, why_absent
from grfpp_lab.experiments.study import errors as grid
from grfpp_lab.harness import experiment as lab
from grfpp_lab.harness.experiment import but

#: Nodes, and clusters to find: the number of true classes. The paper has 6 for Databases.
GRAPHS = {
    **{"karate": (34, 2), "dolphins": (62, 2), "polbooks": (105, 3), "football": (115, 12)},
    **{"databases": (1006, 7), "eurosis": (1272, 13), "cora": (2485, 7)},
}


@dataclass(frozen=True)
class Parameters:
    """What is measured: graphs, numbers of walks, and independent repeats."""

    graphs: tuple[str, ...]
    n_walks: tuple[int, ...]
    repeats: int


PARAMETERS = {
    lab.Size.FULL: Parameters(tuple(GRAPHS), (2, 4, 8, 16, 32), 10),
    lab.Size.QUICK: Parameters(tuple(GRAPHS), (4, 16), 10),
    lab.Size.TINY: Parameters(("karate",), (4, 16), 2),
}


def plan(settings: lab.Settings) -> lab.Plan:
    """A cell for every graph, method and number of walks."""
    mine, (scale, p_halt) = PARAMETERS[settings.size], grid.chosen(settings)
    read = partial(load_graph, download=False)
    graphs, skipped = at_hand(mine.graphs, lambda name: why_absent(name, read))
    absent = claims.why_no_rivals()
    if absent is not None:
        skipped[", ".join(claims.RIVALS)] = absent
    cells: list[lab.Cell] = []
    for graph in graphs:
        shared = {"graph": graph, "repeats": mine.repeats, "seed": settings.seed}
        kernel = {**shared, "scale": scale}
        walks = {**kernel, "termination": grid.geometric(p_halt)}
        cells += [
            {**walks, "method": method, "n_walks": n_walks}
            for method in claims.DEGREES
            for n_walks in mine.n_walks
        ]
        pools = {**kernel, "termination": grid.matched(p_halt), "walks": POOLED}
        cells += [
            {**pools, "method": claims.POOLED_PP, "n_walks": n_walks} for n_walks in mine.n_walks
        ]
        cells.append({**kernel, "method": claims.EXACT})
        cells.append({**shared, "method": claims.REGULARIZED})
        if absent is None:
            cells += [
                {
                    **shared,
                    "method": method,
                    "repeats": mine.repeats if method in claims.SEEDED else 1,
                }
                for method in claims.RIVALS
            ]
    return lab.Plan(cells, _parameters(mine, scale, p_halt), skipped)


def _parameters(mine: Parameters, scale: float, p_halt: float) -> dict[str, str]:
    return {
        "kernel": "exp(W)",
        "weights": grid.weights_in_words(scale),
        "walk lengths": f"geometric, p_halt = {p_halt:g}",
        "walks a node and factor": f"{grid.listed(mine.n_walks)}; {claims.MAIN_WALKS} in the "
        "tables; pooled ones take as many steps",
        "clusters": "as many as true classes (Databases: 7 here, 6 in the paper)",
        "repeats": f"{mine.repeats}, with other walks and other starts of k-means",
    }


def unweighted(name: str) -> GraphDataset:
    """A graph with its classes, all edges with weight one."""
    data = load_graph(name, download=False)
    return replace(data, graph=Graph((data.graph.adjacency > 0).astype(np.float64)))


def run(cell: lab.Cell) -> list[lab.Row]:
    """The pair error of one method on one graph, over the repeats."""
    from grfpp.tasks.clustering import pair_error

    data, method = unweighted(cell["graph"]), cell["method"]
    n_clusters = len(data.classes)
    errors = [
        pair_error(_labels(cell, data, n_clusters, seed), data.labels)
        for seed in seeds(cell["repeats"], **but(cell, "repeats"))
    ]
    # Equal errors have a mean that rounding moves, and so a deviation that is not quite zero.
    same = len(set(errors)) == 1
    error, standard_error = mean_and_error(errors[:1] if same else errors)
    return [
        {
            "graph": cell["graph"],
            "n_nodes": data.graph.n_nodes,
            "n_clusters": n_clusters,
            "method": method,
            **(pick(cell, "walks") if "walks" in cell else {}),
            "n_walks": cell.get("n_walks"),
            "scale": cell.get("scale"),
            "repeats": cell["repeats"],
            "error": error,
            "standard_error": standard_error,
            "deviation": 0.0 if same else float(np.std(errors, ddof=1)),
            "paper_error": claims.PAPER.get(cell["graph"], {}).get(method),
        }
    ]


def _labels(cell: lab.Cell, data: GraphDataset, n_clusters: int, seed: int) -> Any:
    method = cell["method"]
    if method in claims.RIVALS:
        return claims.rival_labels(method, data.graph.adjacency, n_clusters, seed)
    from grfpp.tasks.clustering import SpectralKernelClustering

    if method == claims.REGULARIZED:  # as users get it who choose nothing
        ours = SpectralKernelClustering(n_clusters, random_state=seed, n_jobs=1)
        return ours.fit_predict(data.graph)
    clustering = SpectralKernelClustering(
        n_clusters, method="paper", scale=cell["scale"], random_state=seed, n_jobs=1
    )
    if method == claims.EXACT:
        clustering.set_params(estimate="exact")
    else:
        clustering.set_params(
            degree=claims.DEGREES.get(method, 2),
            n_walks=cell["n_walks"],
            termination=cell["termination"],
            walks=cell.get("walks", "independent"),
        )
    return clustering.fit_predict(data.graph)


EXPERIMENT = lab.Experiment(
    name="clustering",
    plan=plan,
    run=run,
    parts=("tasks",),
    claims=[
        lab.Claim("clustering", claims.walk_panels, claims.judge_degrees, (claims.degree_table,)),
        lab.Claim("clustering-pooled", claims.pooled_panels, claims.judge_pooled),
        lab.Claim(
            "clustering-rivals", claims.rival_panels, claims.judge_rivals, (claims.rival_table,)
        ),
        lab.Claim("clustering-regularized", claims.regularized_panels, claims.judge_regularized),
    ],
)
