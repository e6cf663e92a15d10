"""Return masses: what they are, and their estimate on large graphs."""

import networkx as nx
import numpy as np
import pytest

pytest.importorskip("torch_geometric", reason="torch and torch_geometric are not installed")

import torch
from encoding_helpers import data, molecules
from torch_geometric.transforms import AddRandomWalkPE

from grfpp import Diffusion, Graph, RegularizedLaplacian
from grfpp.torch import grf_pe
from grfpp.torch.encodings import return_masses


def test_they_are_those_of_pyg():
    for graph in molecules(6):
        expected = AddRandomWalkPE(7)(graph).random_walk_pe
        (found,) = grf_pe([graph], dim=7, kind="return")
        assert torch.allclose(found, expected, rtol=0, atol=1e-6)


def test_by_kernels_they_are_diagonals():
    matrix = nx.to_numpy_array(nx.karate_club_graph())
    W = Graph(matrix).normalized("sym", 0.7)
    kernels = [Diffusion(3.0), RegularizedLaplacian(1.0)]
    options = {"kernel": kernels, "scale": 0.7, "dtype": torch.float64}
    (found,) = grf_pe([data(matrix)], kind="return", **options)
    expected = np.stack([kernel.exact(W).diagonal() for kernel in kernels], axis=1)
    assert np.abs(found.numpy() - expected).max() < 1e-8


def test_large_graphs_are_walked_on_without_bias(monkeypatch):
    graph = data(nx.to_numpy_array(nx.barabasi_albert_graph(60, 3, seed=2)))
    options = {"kind": "return", "dim": 6, "dtype": torch.float64}
    (exact,) = grf_pe([graph], **options)
    monkeypatch.setattr(return_masses, "_MOST_PRODUCTS", 1000.0)
    tiny = data([[0, 1], [1, 0]])
    found = []
    for seed in range(49):
        alone = grf_pe([graph], n_walks=1, seed=seed, **options)[0]
        found.append(alone)
        if seed < 2:
            beside = grf_pe([tiny, graph, tiny], n_walks=1, seed=seed, n_jobs=2, **options)
            assert torch.equal(beside[1], alone)
            assert beside[0].tolist() == [[0, 1, 0, 1, 0, 1]] * 2
    # Sums of many nodes with signs: single entries vary too seldom to be near to normal.
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (64, 60))
    errors = torch.einsum("sn,tnk->tsk", torch.from_numpy(signs), torch.stack(found) - exact)
    spread = errors.std(dim=0)
    assert spread.max() > 0.01
    z = errors.mean(dim=0)[spread > 1e-9] / (spread[spread > 1e-9] / 7)
    assert 0.7 < (z**2).mean().sqrt() < 1.3  # fixed seeds
    assert torch.allclose(grf_pe([graph], n_walks=5000, **options)[0], exact, atol=1e-3)
