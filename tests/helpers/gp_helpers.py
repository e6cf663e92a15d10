"""A Gaussian process on a small grid."""

import networkx as nx
import numpy as np
import pytest

pytest.importorskip(
    "grfpp.torch.gp.kernels", reason="torch or gpytorch is not installed", exc_type=ImportError
)

import torch

import grfpp
from grfpp.torch import DiffusionModulation, GRFKernel, NodeGP

DOUBLE = torch.float64
GRID = grfpp.Graph(nx.grid_2d_graph(10, 10)).normalized("sym")
TRAIN, TEST = torch.arange(0, 100, 2), torch.arange(1, 100, 2)


def walk_kernel(W=GRID, lam=5.0, degree=2, n_lengths=16, **options):
    modulation = DiffusionModulation(n_lengths, degree=degree, lam=lam, laplacian=True)
    return GRFKernel(W, modulation, **{"n_walks": 50, "seed": 0, "dtype": DOUBLE, **options})


def targets(seed=0):
    rng = np.random.default_rng(seed)
    i, j = np.divmod(np.arange(100), 10)
    return torch.tensor(np.sin(i / 2) + np.cos(j / 3) + 0.1 * rng.standard_normal(100))


def walk_matrix(kernel):
    return kernel.graph_kernel.rows(range(kernel.graph_kernel.n_nodes)).detach()


def model_of(**options):
    y = targets()
    return NodeGP(TRAIN, y[TRAIN], walk_kernel(**options), noise=0.05)
