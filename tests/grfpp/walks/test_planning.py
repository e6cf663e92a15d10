"""From a request to plans, and what is refused before any graph is seen."""

import warnings
from itertools import product

import networkx as nx
import numpy as np
import pytest
from independent_walks import INDEPENDENT
from small_graphs import directed, karate

from grfpp import (
    Cosine,
    Diffusion,
    Geometric,
    Graph,
    InputError,
    InversePower,
    PStep,
    WalkOptions,
)
from grfpp.walks.planning import check_normalized, plan_walks
from grfpp.walks.streams import factor_key

KERNEL = Diffusion(1.0)


def test_undirected_graphs_are_walked_one_way():
    plans = plan_walks(karate(), KERNEL, WalkOptions(seed=3, n_walks=5, **INDEPENDENT))
    assert plans.back is plans.forward
    assert (plans.forward.n_walks, plans.forward.seed) == (5, 3)


def test_right_factors_of_directed_graphs_walk_against_the_arcs():
    graph = Graph(directed()).normalized("rw", 0.9)
    plans = plan_walks(graph, KERNEL, WalkOptions(seed=3, **INDEPENDENT))
    for number in range(4):
        plan = plans.of_factor(number)
        assert plan.key == factor_key(3, number)
        wanted = graph.adjacency if number % 2 == 0 else graph.adjacency.T
        np.testing.assert_array_equal(plan.graph.adjacency.toarray(), wanted.toarray())


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
