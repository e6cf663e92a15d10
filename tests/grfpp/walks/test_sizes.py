"""How large a factor will be, before it is walked."""

import networkx as nx
import numpy as np
import pytest
from little_memory import only
from small_graphs import karate

from grfpp import Diffusion, Geometric, Graph, sample
from grfpp.errors import InputError
from grfpp.options import WalkOptions
from grfpp.walks import WalkPlan, sample_factor, sample_rows
from grfpp.walks.planning import plan_walks
from grfpp.walks.pools.walker import PoolBuffers
from grfpp.walks.sizes import (
    expected_entries,
    most_entries,
    most_walks,
    require_walkers,
    walker_bytes,
)


def ring(n):
    return Graph(nx.to_scipy_sparse_array(nx.cycle_graph(n), dtype=float)).normalized("sym")


def plan_of(graph, **options):
    return plan_walks(graph, Diffusion(1.0), WalkOptions.of(seed=0, **options)).forward


def test_a_pilot_tells_the_size_of_large_factors():
    plan = WalkPlan.of(ring(5000), (-0.7) ** np.arange(100), Geometric(0.15), n_walks=64, seed=3)
    factor = sample_factor(plan)
    # 64 walks of 6 steps on a ring meet again and again: far fewer entries than steps.
    assert factor.nnz < expected_entries(plan) < 1.2 * factor.nnz < plan.expected_steps * 5000 / 3


@pytest.mark.parametrize("walks", ["pooled", "independent"])
def test_some_rows_are_guessed_by_themselves(walks):
    plan = plan_of(ring(5000), walks=walks, n_walks=64)
    rows = np.arange(7, 4007)
    found = sample_rows(plan, rows)
    assert found.nnz <= expected_entries(plan, rows) < 1.2 * found.nnz
    few = np.arange(20)
    assert sample_rows(plan, few).nnz <= expected_entries(plan, few)


@pytest.mark.parametrize("n_walks", [1, 16, 200])
@pytest.mark.parametrize("walks", ["pooled", "independent"])
def test_no_row_has_more_entries_than_the_bound(walks, n_walks):
    plan = plan_of(ring(5000), walks=walks, n_walks=n_walks)
    longest = np.diff(sample_rows(plan, np.arange(200)).indptr).max()
    assert longest <= most_entries(plan)
    assert most_walks(plan, most_entries(plan)) <= n_walks


def test_the_degree_that_is_offered_fits(monkeypatch):
    graph = ring(3000)
    only(monkeypatch, 5_000_000)
    with pytest.raises(InputError, match=r"4 factors of 3000 nodes with 400 walks each") as info:
        sample(graph, Diffusion(1.0), n_walks=400, seed=0, n_jobs=1)
    offers = info.value.remedies
    assert offers["most_degree"] >= 1 and offers["recompute"] and offers["float32"]
    sample(graph, Diffusion(1.0), degree=offers["most_degree"], n_walks=400, seed=0, n_jobs=1)
    K = sample(graph, Diffusion(1.0), n_walks=400, seed=0, n_jobs=1, storage="recompute")
    assert (K @ np.ones(3000)).shape == (3000,)


def test_the_walks_that_are_offered_fit(monkeypatch):
    graph = Graph(nx.random_regular_graph(6, 3000, seed=0)).normalized("sym")
    only(monkeypatch, 60_000_000)
    with pytest.raises(InputError, match=r"; n_walks=\d+ fits, or dtype='float32'") as info:
        sample(graph, Diffusion(1.0), n_walks=200, seed=0, n_jobs=1)
    n_walks = info.value.remedies["most_walks"]
    sample(graph, Diffusion(1.0), n_walks=n_walks, seed=0, n_jobs=1)


def test_a_request_out_of_proportion_is_refused_by_its_first_rows(monkeypatch):
    plan = plan_of(ring(5000), walks="independent", n_walks=100)
    only(monkeypatch, 400_000)
    with pytest.raises(InputError, match=r"what 100 walks from each of 5000 nodes leave"):
        expected_entries(plan)


@pytest.mark.parametrize("n_walks", [1, 50, 10**9])
def test_the_buffers_of_a_pool_are_no_larger_than_said(n_walks):
    plan = plan_of(karate().normalized("sym"), n_walks=n_walks)
    arrays = [array for group in PoolBuffers(plan).arrays for array in group]
    assert sum(array.nbytes for array in arrays) <= walker_bytes(plan) + 1024


@pytest.mark.parametrize("walks", ["pooled", "independent"])
def test_the_walks_that_are_offered_fit_on_all_threads(monkeypatch, walks):
    graph = ring(5000)
    only(monkeypatch, 1_500_000)
    plan = plan_of(graph, walks=walks, n_walks=10**6)
    with pytest.raises(InputError, match="on each of 8 threads") as info:
        require_walkers(plan, 8)
    offer = info.value.remedies["most_walks"]
    assert offer > 10
    require_walkers(plan_of(graph, walks=walks, n_walks=offer), 8)
