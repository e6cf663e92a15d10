"""Kernels and graphs to compute functions of matrices on, and what scipy makes of them."""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from kernel_cases import exponential

import grfpp
from grfpp.graph import Graph


def geometric(k):
    return 0.9**k


KERNELS = [
    *map(grfpp.Diffusion, (1.5, -2.0)),
    *map(grfpp.SquaredDiffusion, (0.7, -1.0)),
    *(grfpp.RegularizedLaplacian(*each) for each in ((2, 0.5), (1.5, 3.0))),
    *(*map(grfpp.InversePower, (4, 0.5)), grfpp.InversePower(4, of=2)),
    *(grfpp.PStep(*each) for each in ((3, 2.0), (4, -0.5))),
    *map(grfpp.Cosine, (1.0, 3.0)),
    *(grfpp.PersonalizedPageRank(0.15), grfpp.HeatKernel(5.0)),
    *map(grfpp.TaylorKernel, ([1, -2, 0, 3.5], [0, 1], [2], exponential)),
    grfpp.TaylorKernel(geometric, radius=1 / 0.9),
]


def random_weights(n, density, seed, directed):
    rng = np.random.default_rng(seed)
    weights = rng.lognormal(size=(n, n)) * (rng.random((n, n)) < density)
    np.fill_diagonal(weights, 0)
    return weights if directed else np.triu(weights) + np.triu(weights).T


def scaled(weights, radius):
    """A graph of the given spectral radius."""
    found = np.abs(np.linalg.eigvals(weights)).max()
    return Graph(weights * (radius / found))


def graphs():
    weighted = random_weights(17, 0.4, 0, directed=False)
    blocks = np.zeros((21, 21))
    blocks[:12, :12] = random_weights(12, 0.5, 1, directed=False)
    blocks[12:19, 12:19] = random_weights(7, 0.7, 2, directed=False)
    loops = weighted + np.diag(np.arange(17.0))
    directed = random_weights(19, 0.3, 3, directed=True)
    directed_loops = directed + np.diag(np.linspace(0, 4, 19))
    directed_loops[7] = directed_loops[:, 11] = 0
    ring = np.roll(np.eye(8), 1, axis=1)
    return {
        "weighted": scaled(weighted, 0.8),
        "disconnected": scaled(blocks, 0.6),
        "self-loops": scaled(loops, 0.9),
        "bipartite": scaled(ring + ring.T, 0.8),
        "directed": scaled(directed, 0.7),
        "directed with loops, a source and a sink": scaled(directed_loops, 0.8),
        "directed ring": scaled(ring, 0.5),
        "nilpotent": Graph(np.diag([0.5, 2.0, 1.0, 0.25], 1)),
        "without edges": Graph(sp.csr_array((6, 6))),
        "one node": Graph([[0.3]]),
    }


GRAPHS = graphs()
UNDIRECTED = [name for name, graph in GRAPHS.items() if not graph.is_directed]
DIRECTED = [name for name, graph in GRAPHS.items() if graph.is_directed]


def power_series(kernel, weights, n=1200):
    """The definition, added up."""
    total = np.zeros_like(weights)
    term = np.eye(len(weights))
    for coefficient in kernel.coefficients(n):
        total += coefficient * term
        term = term @ weights
    return total


def by_scipy(kernel, A):
    identity = np.eye(len(A))
    match kernel:
        case grfpp.Diffusion(lam):
            return scipy.linalg.expm(lam * A)
        case grfpp.SquaredDiffusion(lam):
            return scipy.linalg.expm(lam * A @ A)
        case grfpp.Cosine(lam):
            return scipy.linalg.cosm(lam * A) + scipy.linalg.sinm(lam * A)
        case grfpp.RegularizedLaplacian(power, sigma2):
            inverse = np.linalg.inv((1 + sigma2) * identity - sigma2 * A)
            return (1 + sigma2) ** power * scipy.linalg.fractional_matrix_power(inverse, power)
        case grfpp.InversePower(power, of):
            base = identity - np.linalg.matrix_power(A, of)
            return scipy.linalg.fractional_matrix_power(np.linalg.inv(base), power)
        case grfpp.PersonalizedPageRank(alpha):
            return alpha * np.linalg.inv(identity - (1 - alpha) * A)
        case grfpp.HeatKernel(t):
            return scipy.linalg.expm(t * (A - identity))
        case grfpp.PStep(p, a):
            return np.linalg.matrix_power(a * identity + A, p)
    return power_series(kernel, A)
