"""How far the probabilities of clusters are off, by temperature."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.optimize import linear_sum_assignment

from grfpp.tasks import SpectralKernelClustering, calibration_error
from grfpp.tasks.nodes.k_means import WIDER
from grfpp.typing import FloatArray, IntArray
from grfpp_lab.studies.clustering.choosing import SEED
from grfpp_lab.studies.clustering.generated import CHOOSING_SEEDS, FAMILIES, Planted
from grfpp_lab.studies.clustering.tables import print_means

#: Widths of the clouds that are compared.
WIDTHS = (1.0, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0)
#: Graphs that no width was chosen on.
OTHER_SEEDS = range(2000, 2010)


def sureness(n_seeds: int = len(CHOOSING_SEEDS)) -> dict[str, dict[str, float]]:
    """Print calibration errors by width and family; give those on graphs of other seeds."""
    found: dict[str, dict[str, float]] = {}
    for title, seeds in (("chosen on", CHOOSING_SEEDS), ("others", OTHER_SEEDS)):
        errors: dict[str, dict[str, list[float]]] = {f"{width:g}": {} for width in WIDTHS}
        for family, make in FAMILIES.items():
            for seed in seeds[:n_seeds]:
                given, classes = _given(make(seed))
                for width in WIDTHS:
                    wider = _tempered(given, WIDER / width)
                    own = errors[f"{width:g}"].setdefault(family, [])
                    own.append(calibration_error(wider, classes))
        found = {
            width: {family: float(np.mean(each)) for family, each in own.items()}
            for width, own in errors.items()
        }
        print(f"{title}: calibration error by width of the clouds; {WIDER:g} is the default")
        print_means(found)
    return found


def _given(graph: Planted) -> tuple[FloatArray, IntArray]:
    """Probabilities of clusters, and the cluster that each node's class is best matched with."""
    clustering = SpectralKernelClustering(graph.n_clusters, random_state=SEED, n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of clusters with nearly all nodes
        labels = clustering.fit_predict(graph.adjacency)
    classes = np.unique(graph.truth, return_inverse=True)[1]
    together = np.zeros((graph.n_clusters, graph.n_clusters))
    np.add.at(together, (labels, classes), 1)
    clusters, own = linear_sum_assignment(-together)
    match = np.empty(graph.n_clusters, np.int64)
    match[own] = clusters
    return clustering.predict_proba(graph.adjacency), match[classes]


def _tempered(probabilities: FloatArray, power: float) -> FloatArray:
    """What clouds of another width would give."""
    raised = np.maximum(probabilities, 1e-300) ** power
    tempered: FloatArray = raised / raised.sum(axis=1, keepdims=True)
    return tempered
