"""The linear operator, by the test case that linear_operator has for all of its own."""

import unittest
import warnings
from operator import methodcaller

import networkx as nx
import numpy as np
import pytest
import torch
from independent_walks import INDEPENDENT
from refusal_case import refused
from torch.testing import assert_close

import grfpp
from grfpp import InputError
from grfpp.torch import DiffusionModulation, KernelLinearOperator, LearnableKernel

# Names of pytest's own kind of test only: the case is inherited, not collected.
from linear_operator import settings  # isort: skip
from linear_operator.test import linear_operator_test_case as case  # isort: skip

W = grfpp.Graph(nx.lollipop_graph(4, 2)).normalized("sym")
KARATE = grfpp.Graph(nx.karate_club_graph()).normalized("sym")


def dense_links(operator):
    product = None
    for link in operator._chain.links:
        matrix = link.to_dense(operator._values)
        product = matrix if product is None else product @ matrix
    return product


def symmetric_operator(degree=2):
    modulation = DiffusionModulation(6, degree=degree, lam=1.0)
    # Noise keeps eigenvalues apart, of which the graph's own kernel has equal ones.
    kernel = LearnableKernel(W, modulation, n_walks=30, seed=0, symmetric=True, **INDEPENDENT)
    # exp(W) has determinant 1 here; twice the values give one whose logarithm is not zero.
    values = [(2 * each).detach().requires_grad_(True) for each in kernel.values()]
    return KernelLinearOperator(*values, chain=kernel.chain)


class OfKernels(unittest.TestCase):
    seed = 3

    def setUp(self):
        super().setUp()
        # What the case itself and torch's own parts warn of is not about this operator.
        self.enterContext(warnings.catch_warnings())
        warnings.simplefilter("ignore")

    def evaluate_linear_op(self, linear_op):
        return dense_links(linear_op)


class TestSymmetric(OfKernels, case.LinearOperatorTestCase):
    should_test_sample = True

    def create_linear_op(self):
        return symmetric_operator()


class TestOfAnEstimate(OfKernels, case.RectangularLinearOperatorTestCase):
    def create_linear_op(self):
        estimate = grfpp.sample(W, grfpp.Diffusion(1.0), seed=0)
        return KernelLinearOperator.of(estimate, dtype=torch.float32)[1:5]


NEGATIVE = grfpp.TaylorKernel([-2.0, 0.5, 0.1])


@pytest.mark.parametrize(
    "options", [{}, {"symmetrize": True}, {"deflate": 3}, {"kernel": NEGATIVE}]
)
@pytest.mark.parametrize("degree", [1, 2, 3])
def test_an_estimate_keeps_its_numbers(degree, options):
    options = {"kernel": grfpp.Diffusion(1.0), **options}
    estimate = grfpp.sample(KARATE, degree=degree, seed=0, **options)
    K = KernelLinearOperator.of(estimate)
    dense = torch.from_numpy(estimate.toarray())
    assert_close(K.to_dense(), dense)
    assert_close(K.mT.to_dense(), dense.T)
    assert_close(K.diagonal(), dense.diagonal())
    assert_close(K[[3, 7, 3]].to_dense(), dense[[3, 7, 3]])
    assert not K.is_symmetric
    assert not K[2:5, 2:5].is_symmetric


ONES = torch.ones(34, 1, dtype=torch.float64)
NEEDING_SYMMETRY = [
    *(lambda K: torch.linalg.solve(K, ONES), methodcaller("solve", ONES), methodcaller("logdet")),
    *(methodcaller("inv_quad", ONES), methodcaller("inv_quad_logdet", ONES, logdet=True)),
    *(methodcaller("eigh"), methodcaller("svd"), methodcaller("root_decomposition")),
    *(methodcaller("sqrt_inv_matmul", ONES), methodcaller("pivoted_cholesky", 3)),
    methodcaller("zero_mean_mvn_samples", 2),
]


@pytest.mark.parametrize("largest", [800, 0])  # Cholesky's method; iterations
@pytest.mark.parametrize("method", NEEDING_SYMMETRY)
def test_what_needs_symmetry_is_refused_without_it(method, largest):
    K = KernelLinearOperator.of(grfpp.sample(KARATE, grfpp.Diffusion(1.0), seed=0))
    refusal = pytest.raises(InputError, match="needs a symmetric operator")
    with settings.max_cholesky_size(largest), refusal:
        method(K)


def test_symmetry_survives_equal_choices_of_rows_and_columns():
    K = symmetric_operator()
    assert K.is_symmetric
    chosen = torch.tensor([4, 0, 2])
    assert K[chosen][:, chosen].shape == (3, 3)
    part = K[1:4, 1:4]
    assert part.is_symmetric
    assert np.linalg.eigvalsh(part.to_dense().detach().numpy()).min() > -1e-6
    assert not K[1:4, 2:5].is_symmetric


test_only_estimates_are_converted = refused(estimate=lambda: KernelLinearOperator.of(np.eye(3)))


def test_products_with_and_without_gradients_agree():
    K = symmetric_operator()
    right = torch.randn(2, 5, 6, 3)
    with torch.no_grad():
        plain = K._matmul(right)
    assert_close(K._matmul(right), plain)
