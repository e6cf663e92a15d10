"""The problem of the Gaussian-process experiment: a function on a mesh, and noisy values of it."""

import math
from dataclasses import dataclass

import numpy as np

from grfpp.datasets import triangulated_sphere
from grfpp.graph import Graph
from grfpp.kernels import Diffusion
from grfpp.typing import FloatArray, IntArray

#: Time, size and noise of the process that made the data.
LAM, OUTPUTSCALE, NOISE = 12.0, 30.0, 0.09


@dataclass(frozen=True, eq=False)
class Problem:
    """A graph, a function on it, and where it was observed with noise."""

    W: Graph
    smooth: FloatArray
    noisy: FloatArray
    train: IntArray
    test: IntArray


def problem(n_subdivisions: int, seed: int) -> Problem:
    """A draw on a triangulated sphere; half of the nodes are observed."""
    W = triangulated_sphere(n_subdivisions).graph.normalized("sym")
    rng = np.random.default_rng(seed)
    # exp(−λ L / 2) times white noise has the covariance exp(−λ L).
    draw = Diffusion(LAM / 2).apply(W, rng.standard_normal(W.n_nodes))
    smooth = math.sqrt(OUTPUTSCALE) * math.exp(-LAM / 2) * draw
    noisy = smooth + math.sqrt(NOISE) * rng.standard_normal(W.n_nodes)
    order = rng.permutation(W.n_nodes)
    half = W.n_nodes // 2
    return Problem(W, smooth, noisy, np.sort(order[:half]), np.sort(order[half:]))


def n_nodes(n_subdivisions: int) -> int:
    """Nodes of the sphere."""
    return 10 * (1 << 2 * n_subdivisions) + 2
