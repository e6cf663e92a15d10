import numpy as np
import pytest
from independent_walks import INDEPENDENT
from small_graphs import directed, karate

from grfpp import Diffusion, Graph, InputError, Poisson, WalkOptions
from grfpp.walks.planning import plan_walks
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


def test_the_modulation_is_that_of_the_degree():
    for degree in (1, 3):
        plan = plan_walks(karate(), KERNEL, WalkOptions(degree=degree, **INDEPENDENT)).forward
        wanted = KERNEL.modulation(degree, len(plan.modulation))
        np.testing.assert_array_equal(plan.modulation, wanted)


def test_lengths_follow_the_law():
    plan = plan_walks(
        karate(), KERNEL, WalkOptions(termination=Poisson(4.0), walks="independent")
    ).forward
    np.testing.assert_allclose(plan.lengths.survival[:9], Poisson(4.0).survival(range(9)))


def test_what_is_no_kernel_is_refused():
    with pytest.raises(InputError, match="kernel must be a Kernel"):
        plan_walks(karate(), "diffusion", WalkOptions())
