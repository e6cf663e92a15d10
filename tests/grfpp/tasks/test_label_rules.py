"""Several kernels of one graph."""

import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_allclose

import grfpp
from grfpp.linalg.chebyshev import MARGIN
from grfpp.operators.kernel_choice import KernelChoice
from grfpp.tasks.label_rules import KernelProducts, LabelledBlock, Rule, learn

CLUB = grfpp.Graph(nx.karate_club_graph())
KERNELS = ("diffusion:2", "diffusion:60", "regularized-laplacian:2:19")
NODES = np.array([3, 30, 7])


@pytest.mark.parametrize(
    ("options", "is_shared"),
    [({}, True), ({"method": "chebyshev"}, False), ({"normalization": "rw"}, False)],
)
def test_products_are_those_of_the_kernels(options, is_shared):
    choices = [KernelChoice.of(kernel=each, estimate="exact", **options) for each in KERNELS]
    made = KernelProducts(CLUB, choices)
    assert made.is_shared is is_shared
    blocks = list(made.blocks(NODES, NODES[:2]))
    units = np.eye(34)[:, NODES]
    products = list(made.products(units, NODES[:2]))
    W = CLUB.normalized(options.get("normalization", "sym"))
    for number, choice in enumerate(choices):
        K = choice.kernel.exact(W)
        if is_shared:
            K = K / choice.kernel.value(1 + MARGIN)
        size = np.abs(K).max()
        assert_allclose(blocks[number] / size, K[np.ix_(NODES, NODES[:2])] / size, atol=1e-7)
        rows, masses = products[number]
        assert_allclose(rows / size, K[np.ix_(NODES[:2], NODES)] / size, atol=1e-7)
        assert_allclose(masses / size, K.sum(axis=0)[NODES] / size, atol=1e-6)
        everywhere = made.product(number, units)
        assert_allclose(everywhere / size, K[:, NODES] / size, atol=1e-7)
        lengths = np.linalg.norm(K[:, NODES], axis=1)
        assert_allclose(made.row_norms(number, NODES) / size, lengths / size, atol=1e-7)


def test_a_series_that_diverges_is_refused():
    with pytest.raises(grfpp.DivergentSeriesError, match="converges"):
        KernelProducts(CLUB, [KernelChoice.of(kernel="inverse-power", estimate="exact")])


def test_kriging_of_a_singular_matrix_is_the_best_fit():
    """A kernel with zeros on its diagonal is no covariance, but shows which others are good."""
    house = nx.Graph([(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (3, 4)])
    K, labels = nx.to_numpy_array(house, nodelist=range(5)), np.array([0, 0, 1, 1, 1])
    block = LabelledBlock(K, labels, 2, np.arange(5))
    weights = learn(Rule("kriging", 0.01, False), block).weights
    assert_allclose(K @ K @ weights, K @ block.targets, atol=1e-12)
