"""The default on graphs on which it was not chosen, beside scikit-network."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from grfpp.tasks.nodes.clustering import NEARLY_ALL, SpectralKernelClustering, rand_error
from grfpp_lab.experiments.clustering.experiment import GRAPHS, unweighted
from grfpp_lab.experiments.clustering.paper import SPECTRAL
from grfpp_lab.experiments.clustering.rivals import RIVALS, SEEDED, rival_labels
from grfpp_lab.studies.clustering.generated import JUDGING_SEEDS, judging_graphs
from grfpp_lab.studies.clustering.tables import print_means

DEFAULT, PAPER = "default", "paper"
#: Of k-means: the mean over all.
SEEDS = range(5)


def labels_of(method: str, adjacency: Any, n_clusters: int, seed: int) -> Any:
    """The clusters by one method, told the number of classes."""
    if method in RIVALS:
        return rival_labels(method, adjacency, n_clusters, seed)
    how: dict[str, Any] = {"method": "paper", "estimate": "exact"} if method == PAPER else {}
    clustering = SpectralKernelClustering(n_clusters, random_state=seed, n_jobs=1, **how)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of clusters with nearly all nodes: they are counted
        return clustering.fit_predict(sp.csr_array(adjacency))


def judge_generated(seeds: range = JUDGING_SEEDS) -> dict[str, float]:
    """Mean errors on block models with hubs and whiskers, and how often clusters collapse."""
    errors: dict[str, list[float]] = {}
    collapsed: dict[str, int] = {}
    for graph in judging_graphs(seeds):
        for method in (DEFAULT, PAPER, *RIVALS):
            labels = labels_of(method, graph.adjacency, graph.n_clusters, 0)
            errors.setdefault(method, []).append(rand_error(labels, graph.truth))
            share = np.bincount(labels).max() / len(labels)
            collapsed[method] = collapsed.get(method, 0) + int(share > NEARLY_ALL)
    print(f"{len(seeds)} generated graphs with hubs and whiskers, mean pair error:")
    for method, own in errors.items():
        print(f"  {method:<12} {np.mean(own):.4f}, in one cluster {collapsed[method]} times")
    ours, theirs = np.array(errors[DEFAULT]), np.array(errors[SPECTRAL])
    print(f"  the default is below {SPECTRAL} on {np.count_nonzero(ours < theirs)} graphs")
    return {method: float(np.mean(own)) for method, own in errors.items()}


def judge_seven(names: Sequence[str] = tuple(GRAPHS)) -> dict[str, dict[str, float]]:
    """Errors on the graphs of the data folder, with as many clusters as classes."""
    means: dict[str, dict[str, float]] = {}
    for name in names:
        data = unweighted(name)
        for method in (DEFAULT, PAPER, *RIVALS):
            seeds = SEEDS if method in (DEFAULT, PAPER, *SEEDED) else SEEDS[:1]
            own = [
                rand_error(
                    labels_of(method, data.graph.adjacency, len(data.classes), seed), data.labels
                )
                for seed in seeds
            ]
            means.setdefault(method, {})[name] = float(np.mean(own))
    print_means(means)
    best = min(RIVALS, key=lambda method: np.mean(list(means[method].values())))
    gaps = {name: means[DEFAULT][name] - means[best][name] for name in names}
    worst = max(gaps, key=lambda name: gaps[name])
    print(
        f"best of scikit-network in the mean: {best}; the default is "
        f"{np.mean(list(gaps.values())):+.4f} from it, at most {gaps[worst]:+.4f} ({worst})"
    )
    return means


def judge() -> None:
    """Print both."""
    judge_generated()
    judge_seven()
