import numpy as np
import pytest
from small_graphs import directed, karate, weighted
from statistics_helpers import copies, estimates

import grfpp
from grfpp import Diffusion, Graph, InversePower, Matched, PStep, TaylorKernel, WalkOptions
from grfpp.walks.convergence import truncation_bias
from grfpp.walks.planning import plan_pools, share_steps

KERNELS = [Diffusion(1.0), Diffusion(20.0), PStep(3, 2.0), InversePower(2), TaylorKernel([1, 0, 2])]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("degree", [1, 3])
def test_what_the_table_leaves_out_is_no_bias(kernel, degree):
    for graph in (karate(0.6), Graph(directed()).normalized("rw", 0.6)):
        modulation, budget = share_steps(kernel, degree, Matched(9), graph)
        assert len(modulation) == budget.max_length + 1
        assert truncation_bias(kernel, degree, graph, budget.max_length) < 1e-12


def test_gaps_in_a_series_do_not_end_it():
    coefficients = np.zeros(71)
    coefficients[[0, 70]] = 1.0
    modulation, _ = share_steps(TaylorKernel(coefficients), 1, Matched(9), karate())
    assert len(modulation) > 70 and modulation[70] != 0


def skewed(scale):
    """Weights whose row sums differ so much that masses of W grow beyond the spectral radius."""
    graph = Graph(weighted(30, seed=4, density=0.2) ** 3).normalized("sym", scale)
    return graph


def test_masses_are_counted_in_a_measure_where_those_of_the_weights_grow_too_fast():
    options = WalkOptions(seed=0)
    plain = plan_pools(skewed(0.5), InversePower(2), options)
    assert len(plain.steps.measure) == 0
    measured = plan_pools(skewed(0.97), InversePower(2), options)
    phi = measured.steps.measure
    W = skewed(0.97).adjacency
    growth = (W @ phi / phi).max()
    assert (W.sum(axis=1)).max() > 1.0 > growth > 0.97
    assert len(plan_pools(skewed(0.97), Diffusion(5.0), options).steps.measure) == 0
    assert len(plan_pools(karate(0.97), InversePower(2), options).steps.measure) == 0


def test_in_a_measure_the_mean_is_the_same():
    kernel, small = InversePower(2), skewed(0.9)
    many = copies(small.adjacency.toarray(), 400)
    K = grfpp.sample(many, kernel, 1, 8, seed=0, on_infinite_variance="ignore")
    samples, exact = estimates(K, 30), kernel.exact(small)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (30, 20))
    products, wanted = signs.T @ samples @ signs, signs.T @ exact @ signs
    error = products.std(axis=0, ddof=1) / np.sqrt(len(products))
    assert 0.85 < np.sqrt(np.mean(((products.mean(axis=0) - wanted) / error) ** 2)) < 1.15


def test_coefficients_by_a_function_that_never_underflow_are_not_followed_for_ever():
    """Where they have gaps is not known; 65,536 of them would take hours."""
    half = Graph(karate()).normalized("sym", 0.5)
    table, _ = share_steps(TaylorKernel(lambda k: 1.0), 1, Matched(9), half)
    known, _ = share_steps(InversePower(1), 1, Matched(9), half)
    np.testing.assert_allclose(table, known, rtol=1e-12)
