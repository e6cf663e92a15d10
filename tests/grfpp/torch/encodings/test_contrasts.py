"""Contrasts: what they are, and where there are none."""

import networkx as nx
import numpy as np
import pytest

pytest.importorskip("torch_geometric", reason="torch and torch_geometric are not installed")

import torch
from encoding_helpers import data

from grfpp.errors import InputError
from grfpp.torch import AddContrastPE, AddGRFPE, grf_pe

EXACT = {"dtype": torch.float64}


def random_features():
    x = np.random.default_rng(0).normal(size=(34, 2))
    return data(nx.to_numpy_array(nx.karate_club_graph()), x=torch.from_numpy(x))


@pytest.mark.parametrize("normalization", ["rw", "sym"])
@pytest.mark.parametrize("include_self", [True, False])
def test_they_are_differences_of_smoothed_features(normalization, include_self):
    graph = random_features()
    options = {"normalization": normalization, "include_self": include_self, **EXACT}
    (smooth,) = grf_pe([graph], kind="smooth", **options)
    (found,) = grf_pe([graph], kind="contrast", **options)
    near, middle, far = smooth.split(2, dim=1)
    assert torch.equal(found, torch.cat([graph.x - near, near - middle, middle - far], dim=1))


def test_together_with_the_features_they_tell_the_widest_means():
    graph = random_features()
    (found,) = grf_pe([graph], kind="contrast", **EXACT)
    (far,) = grf_pe([graph], kind="smooth", kernel="heat:16", **EXACT)
    assert torch.allclose(graph.x - sum(found.split(2, dim=1)), far)


def test_there_are_none_of_constants_and_at_isolated_nodes():
    matrix = np.zeros((6, 6))
    matrix[:5, :5] = nx.to_numpy_array(nx.star_graph(4))
    graph = data(matrix, x=torch.tensor([[3.0, 0.0]] * 4 + [[3.0, 1.0], [3.0, 7.0]]))
    contrast = AddContrastPE(kernel="heat:2")(graph).contrast_pe
    assert contrast[:, 0].abs().max() < 1e-6
    assert contrast[5].tolist() == [0, 0]
    assert contrast[:5, 1].abs().min() > 1e-3


def test_features_are_needed():
    with pytest.raises(InputError, match="has no features of nodes to smooth"):
        grf_pe([nx.path_graph(3)], kind="contrast")


@pytest.mark.parametrize("kind", ["smooth", "contrast", "profile"])
@pytest.mark.parametrize(
    ("options", "x", "words"),
    [
        ({}, torch.ones(3, 0), "x must have a feature at least"),
        ({}, 1.7e308 * torch.tensor([[1.0], [-1.0], [1.0]]).double(), "exceed the range of"),
        ({"dtype": torch.float16}, 1e6 * torch.eye(3), "exceed the range of torch.float16"),
        ({"kernel": {"heat:1", "heat:4"}}, torch.eye(3), "must have an order: pass a list"),
        ({"kernel": "heat:1e-11"}, torch.eye(3), "has next to nothing but a node's own features"),
        ({"symmetrize": "no"}, torch.eye(3), "symmetrize"),
    ],
)
def test_what_would_give_no_numbers_is_refused(kind, options, x, words):
    path = data(nx.to_numpy_array(nx.path_graph(3)), x=x)
    with pytest.raises(InputError, match=words):
        AddGRFPE(kind=kind, **options)(path)
