"""Compile everything now, so that no later call has to."""

from __future__ import annotations

import numpy as np


def warmup() -> None:
    """Run every compiled loop once on a tiny graph; the machine keeps the result.

    Examples
    --------
    >>> from grfpp.warmup import warmup
    >>> warmup()
    """
    from grfpp import Diffusion, Graph, sample, sample_submatrix

    graph = Graph(np.ones((3, 3))).normalized("sym")
    for dtype in (np.float64, np.float32):
        for storage in ("memory", "recompute"):
            K = sample(graph, Diffusion(1.0), n_walks=2, seed=0, dtype=dtype, storage=storage)
            K @ np.ones((3, 2))
            K.features()
            K.rows([0])
    sample_submatrix(graph, Diffusion(1.0), [0], n_walks=2, seed=0)
