"""Smoothed features: what they are, and which are refused."""

import networkx as nx
import numpy as np
import pytest

pytest.importorskip("torch_geometric", reason="torch and torch_geometric are not installed")

import torch
from encoding_helpers import EDGE, data
from torch_geometric.data import Data

from grfpp import Diffusion, Graph
from grfpp.errors import InputError
from grfpp.torch import AddSmoothPE, grf_pe


def test_they_are_products_with_kernels():
    matrix = nx.to_numpy_array(nx.karate_club_graph())
    x = np.random.default_rng(0).normal(size=(34, 2))
    graph = data(matrix, x=torch.from_numpy(x))
    kernels = [Diffusion(3.0), Diffusion(1.0)]
    for normalization in ("rw", "sym"):
        W = Graph(matrix).normalized(normalization, 0.9)
        options = {"kernel": kernels, "normalization": normalization, "scale": 0.9}
        for include_self in (True, False):
            (found,) = grf_pe(
                [graph], kind="smooth", dtype=torch.float64, include_self=include_self, **options
            )
            expected = []
            for kernel in kernels:
                nothing = 0 if include_self else 1  # α₀ of the exponential
                product = kernel.exact(W) @ x - nothing * x
                expected.append(product / (kernel.value(0.9) - nothing))
            assert np.abs(found.numpy() - np.hstack(expected)).max() < 1e-8


def test_means_keep_constants_and_isolated_nodes_their_own():
    matrix = np.zeros((6, 6))
    matrix[:5, :5] = nx.to_numpy_array(nx.star_graph(4))
    graph = data(matrix, x=torch.tensor([[1.0, 0.0]] * 5 + [[1.0, 7.0]]))
    smooth = AddSmoothPE(kernel="heat:9")(graph).smooth_pe
    assert torch.allclose(smooth[:, 0], torch.ones(6))
    assert smooth[:, 1].tolist() == [0, 0, 0, 0, 0, 7]


def test_features_are_a_part_of_what_is_kept():
    transform = AddSmoothPE()
    first, second = (Data(edge_index=EDGE, x=torch.tensor([[a], [0.0]])) for a in (1.0, 2.0))
    assert torch.allclose(2 * transform(first).smooth_pe, transform(second).smooth_pe)
    assert len(transform.cache) == 2
    whole = Data(edge_index=EDGE, x=torch.tensor([1, 0]))
    assert torch.equal(transform(whole).smooth_pe, transform(first).smooth_pe)


@pytest.mark.parametrize(
    ("graphs", "words"),
    [
        ([nx.path_graph(3)], "graph 0: has no features of nodes to smooth: pass a Data with x"),
        ([Data(edge_index=EDGE, num_nodes=2)], "graph 0: Data has no features x"),
        ([Data(edge_index=EDGE, num_nodes=2, x="a")], "graph 0: x must be a tensor .*found 'a'"),
        ([Data(edge_index=EDGE, x=torch.ones(2, 1, 1))], "graph 0: x must hold real numbers"),
        ([Data(edge_index=EDGE, x=torch.ones(2, 1) * 1j)], "graph 0: x must hold real numbers"),
        ([Data(edge_index=EDGE, x=torch.tensor([1.0, np.nan]))], "x must hold finite numbers"),
        (
            [Data(edge_index=EDGE, x=torch.ones(2, width)) for width in (1, 2)],
            "equally many features of their nodes, found 1 and 2",
        ),
    ],
)
def test_features_that_are_refused(graphs, words):
    with pytest.raises(InputError, match=words):
        grf_pe(graphs, kind="smooth")
