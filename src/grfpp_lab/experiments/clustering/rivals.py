"""Clusterings by scikit-network, for comparison: as that package does them by default."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from grfpp.imports.optional import how_to_install, missing_packages
from grfpp_lab.experiments.clustering.paper import K_CENTERS, LOUVAIN, PROPAGATION, SPECTRAL

RIVALS = (LOUVAIN, SPECTRAL, K_CENTERS, PROPAGATION)
#: Those whose result depends on a seed.
SEEDED = (SPECTRAL, K_CENTERS)


def why_no_rivals() -> str | None:
    """Why the rivals cannot be run here, if they cannot."""
    missing = missing_packages("sknetwork")
    return how_to_install(missing) if missing else None


def rival_labels(method: str, adjacency: Any, n_clusters: int, seed: int) -> Any:
    """The cluster of each node by one of the rivals; two of them choose how many there are.

    Spectral is scikit-network's embedding of as many dimensions as clusters, on the sphere, then
    k-means with ten starts.
    """
    import scipy.sparse as sp

    matrix = sp.csr_matrix(adjacency)  # it knows no sparse arrays
    if method == LOUVAIN:
        from sknetwork.clustering import Louvain

        return Louvain().fit_predict(matrix)
    if method == PROPAGATION:
        from sknetwork.clustering import PropagationClustering

        return PropagationClustering().fit_predict(matrix)
    if method == K_CENTERS:
        from sknetwork.clustering import KCenters

        np.random.seed(seed % 2**32)  # noqa: NPY002 - it draws from numpy's global generator
        with threads_for_processes():
            return KCenters(n_clusters).fit_predict(matrix)
    from sklearn.cluster import KMeans
    from sknetwork.embedding import Spectral

    points = Spectral(n_clusters).fit_transform(matrix)
    return KMeans(n_clusters, n_init=10, random_state=seed % 2**32).fit_predict(points)


@contextmanager
def threads_for_processes() -> Iterator[None]:
    """Keep scikit-network from forking, which it does for every ranking.

    A fork of a process whose other threads hold locks, as ours that read requests do, can wait
    for them for ever. The numbers are the same.
    """
    from multiprocessing.pool import ThreadPool

    from sknetwork.classification import base_rank

    forking = base_rank.Pool
    base_rank.Pool = lambda n_jobs: ThreadPool(1)
    try:
        yield
    finally:
        base_rank.Pool = forking
