"""Settings compared on generated graphs: the default is the one of least mean error."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from grfpp.tasks.nodes.clustering import SpectralKernelClustering, rand_error
from grfpp_lab.studies.clustering.generated import CHOOSING_SEEDS, FAMILIES, Planted
from grfpp_lab.studies.clustering.tables import print_means

#: Of k-means and walks.
SEED = 0
#: What is compared with the default, one change at a time; `beyond` is the number of eigenvectors
#: less that of clusters.
REGULARIZATIONS = (0.05, 0.1, 0.25)
KERNELS = ("diffusion:1", "diffusion:10", "diffusion:30")
BEYOND = (-1, 0, 1)
#: What the default is, and what it is without one of its parts.
DEFAULT = {"trim": True, "regularization": 0.1, "kernel": "diffusion:10", "beyond": 1}
WITHOUT = {"trim": False, "regularization": 0.0}


def named(chosen: dict[str, Any]) -> str:
    """Settings in words."""
    tau, trimmed = chosen["regularization"], "" if chosen["trim"] else ", untrimmed"
    return f"τ {tau:g}, k{chosen['beyond']:+d}, {chosen['kernel']}{trimmed}"


def settings() -> Iterator[tuple[str, dict[str, Any]]]:
    """All settings that are compared, by name."""
    for regularization, kernel, beyond in product(REGULARIZATIONS, KERNELS, BEYOND):
        chosen = {"regularization": regularization, "kernel": kernel, "beyond": beyond}
        yield named(chosen := {**DEFAULT, **chosen}), chosen
    for part, value in WITHOUT.items():
        yield named(chosen := {**DEFAULT, part: value}), chosen


def error_of(graph: Planted, **chosen: Any) -> float:
    """The pair error of some settings on one graph, told the true number of clusters."""
    beyond, k = chosen.pop("beyond"), graph.n_clusters
    clustering = SpectralKernelClustering(
        k, n_components=max(1, k + beyond), random_state=SEED, n_jobs=1, **chosen
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of clusters with nearly all nodes
        return rand_error(clustering.fit_predict(graph.adjacency), graph.truth)


def choose(n_seeds: int = len(CHOOSING_SEEDS)) -> str:
    """Print the mean error of each setting on each family, the best last; give its name."""
    errors: dict[str, dict[str, list[float]]] = {name: {} for name, _ in settings()}
    for family, make in FAMILIES.items():
        for seed in CHOOSING_SEEDS[:n_seeds]:
            graph = make(seed)
            for name, chosen in settings():
                errors[name].setdefault(family, []).append(error_of(graph, **chosen))
    means = {
        name: {family: float(np.mean(each)) for family, each in own.items()}
        for name, own in errors.items()
    }
    ranked = sorted(means, key=lambda name: -np.mean(list(means[name].values())))
    print_means({name: means[name] for name in ranked})
    return ranked[-1]
