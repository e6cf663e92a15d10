"""The estimator of scikit-learn."""

import networkx as nx
import numpy as np
import pytest

pytest.importorskip(
    "grfpp.torch.gp.kernel", reason="torch or gpytorch is not installed", exc_type=ImportError
)

from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score

import grfpp
from grfpp import InputError
from grfpp.torch import NodeGP, NodeGPRegressor

GRAPH = grfpp.Graph(nx.grid_2d_graph(10, 10))
NODES = np.arange(100)
Y = np.sin(NODES // 10 / 2) + np.cos(NODES % 10 / 3)


def test_it_is_the_process():
    gp = clone(NodeGPRegressor(GRAPH)).fit(NODES[::2, None], Y[::2])
    model = NodeGP(NODES[::2], Y[::2], GRAPH.normalized("sym"))
    model.fit()
    wanted = model.posterior(NODES[1::2], seed=0)
    mean, std = gp.predict(NODES[1::2, None], return_std=True)
    np.testing.assert_allclose(mean, wanted.mean, rtol=1e-8)
    np.testing.assert_allclose(std, wanted.std, rtol=1e-6)
    np.testing.assert_array_equal(gp.predict(NODES[1::2]), mean)
    assert gp.model_.plan.how == "columns"


def test_splits_hide_nodes():
    order = np.random.default_rng(0).permutation(100)
    assert cross_val_score(NodeGPRegressor(GRAPH), order, Y[order], cv=3).mean() > 0.8


def test_what_cannot_be_used_is_refused():
    with pytest.raises(InputError, match="family must be"):
        NodeGPRegressor(GRAPH, family="heat").fit([0, 1], [1.0, 2.0])
    with pytest.raises(NotFittedError):
        NodeGPRegressor(GRAPH).predict([0])
