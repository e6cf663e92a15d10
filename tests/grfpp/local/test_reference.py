"""The compiled loops of local queries against plain Python."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from small_graphs import GRAPHS

import grfpp
from grfpp import LocalKernel
from grfpp.walks import reference

#: Series whose steps have pools of their own, and one whose steps share a pool.
KERNELS = [grfpp.Diffusion(3.0), grfpp.TaylorKernel([-1, 0.5, 0, 0.25]), grfpp.InversePower(1)]
BUDGETS = [0.7, 5.0, 40.0]


@pytest.fixture(params=GRAPHS)
def local_kernels(request):
    """Small and large budgets of every kernel whose series converges on the graph."""
    graph = GRAPHS[request.param]
    radius = graph.spectral_radius() or 1.0
    kernels = [each for each in KERNELS if radius < 0.99 * each.radius]
    return [
        LocalKernel(graph, kernel, budget=budget, seed=5)
        for kernel in kernels
        for budget in BUDGETS
    ]


def assert_equal(found, wanted):
    assert_allclose(found, wanted, rtol=1e-10, atol=1e-12 * np.abs(wanted).max(initial=1e-200))


@pytest.mark.filterwarnings("ignore::grfpp.errors.InputWarning")
def test_rows(local_kernels):
    for near in local_kernels:
        n = near.graph.n_nodes
        wanted = np.zeros((n, n))
        for node in range(n):
            for column, value in reference.local_row(near.plan, node).items():
                wanted[node, column] = value
        assert_equal(near.rows(np.arange(n)).toarray(), wanted)


@pytest.mark.filterwarnings("ignore::grfpp.errors.InputWarning")
def test_largest_entries_are_summed_over_their_neighbours(local_kernels):
    for near in local_kernels:
        plan, n = near.plan, near.graph.n_nodes
        if not plan.weights.is_reversible or near.budget < near.graph.n_edges:
            continue
        nodes, values = near.top_k(np.arange(n), 3)
        for node in range(n):
            for column, value in zip(nodes[node], values[node], strict=True):
                wanted = reference.pull_entry(plan, node, int(column)) if column >= 0 else 0.0
                assert_equal(value, wanted)


@pytest.mark.filterwarnings("ignore::grfpp.errors.InputWarning")
def test_entries_from_two_sides(local_kernels):
    for near in local_kernels:
        if not near.plan.weights.is_reversible:
            continue
        nodes = np.arange(min(near.graph.n_nodes, 4))
        wanted = [
            [reference.two_sided_entry(near.plan, int(i), int(j)) for j in nodes] for i in nodes
        ]
        assert_equal(near.block(nodes), np.array(wanted))
