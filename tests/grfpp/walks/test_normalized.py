"""What is refused before any graph is seen is what every graph with an edge would refuse."""

import warnings
from itertools import product

import networkx as nx
import pytest

from grfpp import Cosine, Diffusion, Geometric, Graph, InputError, InversePower, PStep
from grfpp.options import WalkOptions
from grfpp.walks.normalized import check_normalized
from grfpp.walks.planning import plan_walks

KERNELS = (Diffusion(1.0), Diffusion(30.0), InversePower(2), Cosine(0.8), PStep(3, 2.0))
LAWS = ("geometric:0.1", "geometric:0.6", "poisson:1", "fixed:2", "fixed:60")
GRAPHS = ([[0, 1], [1, 0]], nx.path_graph(5), nx.karate_club_graph())


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
        for graph in GRAPHS[:2]:
            W = Graph(graph).normalized("sym", scale)
            assert refusal(plan_walks, W, kernel, options) is early, (law, scale, degree, truncate)
    assert len(seen) > 1


def test_on_other_graphs_more_may_be_refused_and_never_less():
    for kernel, law, scale in product(KERNELS, LAWS, (0.5, 1.0)):
        options = WalkOptions.of(termination=law, seed=0, walks="independent")
        if refusal(check_normalized, kernel, options, scale):
            W = Graph(GRAPHS[2]).normalized("sym", scale)
            assert refusal(plan_walks, W, kernel, options), (kernel, law, scale)


def test_an_infinite_variance_that_is_asked_for_is_let_through():
    options = WalkOptions(termination=Geometric(0.6), seed=0, walks="independent")
    with pytest.raises(InputError, match=r"variance .* is infinite"):
        check_normalized(InversePower(2), options, 0.95)
    for action in ("warn", "ignore"):
        changed = options.changed(on_infinite_variance=action, truncate=True)
        check_normalized(InversePower(2), changed, 0.95)
