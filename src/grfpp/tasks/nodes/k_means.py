"""k-means that gives the same clusters on any number of threads, and how sure they are."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from grfpp.typing import FloatArray, IntArray

#: Squared distances count in units of this times the clusters' own spread: the temperature under
#: which nodes of generated graphs are most nearly as often right as they are sure (the laboratory's
#: ``python -m grfpp_lab.studies.clustering sure``); and the spread is at least the second.
WIDER, _LEAST_SPREAD = 4.0, 1e-6


class Clusters(NamedTuple):
    """Clusters of points, and how likely each point is in each of them."""

    labels: IntArray
    probabilities: FloatArray


def k_means(points: FloatArray, k: int, n_init: int, seed: int) -> Any:
    """Fit scikit-learn's k-means; the best of `n_init` starts counts."""
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # it has no types

    # One thread: several would add in another order, and their number would change the result.
    with threadpool_limits(1, user_api="openmp"), warnings.catch_warnings():
        # Fewer places than clusters: nodes that nothing tells apart stay together.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return KMeans(k, n_init=n_init, random_state=seed % 2**32).fit(points)


def soft_clusters(points: FloatArray, k: int, n_init: int, seed: int) -> Clusters:
    """Clusters by `k_means`, as round normal clouds of one width: the nearest is the likeliest.

    Examples
    --------
    >>> found = soft_clusters(np.array([[0.0], [0.1], [0.45], [1.0], [1.1]]), 2, 10, 0)
    >>> found.labels[0] == found.labels[2] != found.labels[4]
    np.True_
    >>> found.probabilities[2].max() < found.probabilities[0].max()
    np.True_
    """
    fitted = k_means(points, k, n_init, seed)
    n, dimension = points.shape
    spread = max(float(fitted.inertia_) / (n * dimension), _LEAST_SPREAD)
    exponents = fitted.transform(points) ** 2 / (-2 * WIDER * spread)
    probabilities = np.exp(exponents - exponents.max(axis=1, keepdims=True))
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    return Clusters(fitted.labels_.astype(np.int64), probabilities)
