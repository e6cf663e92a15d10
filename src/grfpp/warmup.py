"""Compile everything now, so that no later call has to."""

from __future__ import annotations

from itertools import product
from typing import get_args

import numpy as np


def warmup() -> None:
    """Run every compiled loop once on a tiny graph; the machine keeps the result.

    Examples
    --------
    >>> from grfpp.warmup import warmup
    >>> warmup()
    """
    from grfpp import Diffusion, Graph, sample, sample_submatrix
    from grfpp.options import Storage, Walks

    graph = Graph([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 1.0]]).normalized("sym")
    for walks, dtype, storage in product(
        get_args(Walks), (np.float64, np.float32), get_args(Storage)
    ):
        options = {"dtype": dtype, "storage": storage, "walks": walks}
        K = sample(graph, Diffusion(1.0), n_walks=2, seed=0, **options)
        K @ np.ones((3, 2))
        K.features()
        K.rows([0])
    sample_submatrix(graph, Diffusion(1.0), [0], n_walks=2, seed=0)
