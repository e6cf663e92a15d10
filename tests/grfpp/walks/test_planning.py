"""From a request to plans, and what is refused before any graph is seen."""

import pickle
import warnings
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import networkx as nx
import numpy as np
import pytest
from independent_walks import INDEPENDENT
from small_graphs import directed, karate, weighted
from statistics_helpers import copies, estimates

import grfpp
from grfpp import (
    Cosine,
    Diffusion,
    Geometric,
    Graph,
    InputError,
    InversePower,
    Matched,
    PStep,
    TaylorKernel,
    WalkOptions,
)
from grfpp.local import LocalPlan
from grfpp.walks.by_length import plan_by_length
from grfpp.walks.convergence import truncation_bias
from grfpp.walks.planning import check_normalized, plan_pools, plan_walks, share_steps
from grfpp.walks.sampling import pool_series

KERNEL = Diffusion(1.0)


def test_undirected_graphs_are_walked_one_way():
    plans = plan_walks(karate(), KERNEL, WalkOptions(seed=3, n_walks=5, **INDEPENDENT))
    assert plans.back is plans.forward
    assert (plans.forward.n_walks, plans.forward.seed) == (5, 3)


KERNELS = (Diffusion(1.0), Diffusion(30.0), InversePower(2), Cosine(0.8), PStep(3, 2.0))
LAWS = ("geometric:0.1", "geometric:0.6", "poisson:1", "fixed:2", "fixed:60")
SMALL = ([[0, 1], [1, 0]], nx.path_graph(5), nx.karate_club_graph())


def refusal(check, *arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            check(*arguments)
        except InputError as error:
            return type(error)
    return None


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_it_refuses_what_equal_weights_refuse(kernel):
    seen = set()
    for law, scale, degree, truncate in product(LAWS, (0.3, 0.95, 1.0), (1, 3), (False, True)):
        options = WalkOptions.of(
            degree=degree, termination=law, seed=0, truncate=truncate, walks="independent"
        )
        early = refusal(check_normalized, kernel, options, scale)
        seen.add(early)
        for graph in SMALL[:2]:
            W = Graph(graph).normalized("sym", scale)
            assert refusal(plan_walks, W, kernel, options) is early, (law, scale, degree, truncate)
    assert len(seen) > 1


def test_on_other_graphs_more_may_be_refused_and_never_less():
    for kernel, law, scale in product(KERNELS, LAWS, (0.5, 1.0)):
        options = WalkOptions.of(termination=law, seed=0, walks="independent")
        if refusal(check_normalized, kernel, options, scale):
            W = Graph(SMALL[2]).normalized("sym", scale)
            assert refusal(plan_walks, W, kernel, options), (kernel, law, scale)


def test_an_infinite_variance_that_is_asked_for_is_let_through():
    options = WalkOptions(termination=Geometric(0.6), seed=0, walks="independent")
    with pytest.raises(InputError, match=r"variance .* is infinite"):
        check_normalized(InversePower(2), options, 0.95)
    for action in ("warn", "ignore"):
        changed = options.changed(on_infinite_variance=action, truncate=True)
        check_normalized(InversePower(2), changed, 0.95)


# --- pools ----------------------------------------------------------------------------------------

POOL_KERNELS = [
    *(Diffusion(1.0), Diffusion(20.0), PStep(3, 2.0), InversePower(2)),
    TaylorKernel([1, 0, 2]),
]


@pytest.mark.parametrize("kernel", POOL_KERNELS, ids=repr)
@pytest.mark.parametrize("degree", [1, 3])
def test_what_the_table_leaves_out_is_no_bias(kernel, degree):
    for graph in (karate(0.6), Graph(directed()).normalized("rw", 0.6)):
        modulation, budget = share_steps(kernel, degree, Matched(9), graph)
        assert len(modulation) == budget.max_length + 1
        assert truncation_bias(kernel, degree, graph, budget.max_length) < 1e-12


def skewed(scale):
    """Weights whose row sums differ so much that masses of W grow beyond the spectral radius."""
    return Graph(weighted(30, seed=4, density=0.2) ** 3).normalized("sym", scale)


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
    coefficients = np.zeros(71)
    coefficients[[0, 70]] = 1.0  # a gap that is known does not end them
    modulation, _ = share_steps(TaylorKernel(coefficients), 1, Matched(9), karate())
    assert len(modulation) > 70 and modulation[70] != 0
    half = Graph(karate()).normalized("sym", 0.5)
    table, _ = share_steps(TaylorKernel(lambda k: 1.0), 1, Matched(9), half)
    known, _ = share_steps(InversePower(1), 1, Matched(9), half)
    np.testing.assert_allclose(table, known, rtol=1e-12)


class Step(NamedTuple):
    """Options of a compiled step that reads the number of walks."""

    n_walks: int


def test_options_of_the_compiled_step_reach_it_whole(monkeypatch):
    monkeypatch.setattr("grfpp.options.StepOptions", Step)
    options = WalkOptions(n_walks=3, seed=0)
    W = Graph(directed()).normalized("rw")
    plans = (
        *plan_walks(W, Diffusion(1.0), options),
        plan_by_length(W, 4, options),
    )
    for plan in plans:
        sent = pickle.loads(pickle.dumps(plan.with_factor(2)))
        assert pool_series(sent, sent.deposits).options == Step(3)
    local = LocalPlan.of(W, Diffusion(1.0), 64.0, 0)
    assert replace(local, step=Step(3)).pool_series.options == Step(3)
