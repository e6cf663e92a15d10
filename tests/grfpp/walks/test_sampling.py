"""Factors on threads: the same bits for any number of them, and sizes before memory."""

import networkx as nx
import numpy as np
import pytest
from little_memory import only
from numpy.testing import assert_allclose, assert_array_equal
from small_graphs import GRAPHS, karate, weighted

from grfpp import Diffusion, FixedLength, Geometric, Graph, sample
from grfpp.errors import InputError
from grfpp.options import WalkOptions
from grfpp.walks import WalkPlan, sample_factor, sample_rows, sampling
from grfpp.walks.planning import plan_walks
from grfpp.walks.pool_arrays import PoolBuffers
from grfpp.walks.reference import reference_rows
from grfpp.walks.sampling import expected_entries, max_row_entries, pool_room, walker_bytes

KINDS = ["weighted, sym", "unweighted, sym", "directed, None", "loops and isolated, sym"]
BLOCK_SIZES = [(24_000, 600_000), (300, 2_000), (8, 50)]
LAW = Geometric(0.15)


def plan_of(graph, law=LAW, n_walks=9, seed=3, ratio=-0.7, n=100):
    return WalkPlan.of(graph, ratio ** np.arange(n), law, n_walks, seed)


def block_sizes(monkeypatch, batch, task):
    monkeypatch.setattr(sampling, "BATCH_STEPS", batch)
    monkeypatch.setattr(sampling, "TASK_STEPS", task)


def assert_same_bits(found, wanted):
    assert found.shape == wanted.shape
    assert found.dtype == wanted.dtype
    for part in ("indptr", "indices", "data"):
        assert_array_equal(getattr(found, part), getattr(wanted, part))


# --- the same bits -------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", KINDS)
def test_same_bits_for_any_threads_any_block_size_and_any_rows(monkeypatch, name, dtype):
    plan = plan_of(GRAPHS[name])
    n = plan.graph.n_nodes
    whole = sample_factor(plan, n_jobs=1, dtype=dtype)
    assert whole.dtype == dtype
    some = range(n), [n - 1], [2, 2, 0, 2], np.arange(n)[::-2], np.array([4, 1], dtype=np.uint8)
    for sizes in BLOCK_SIZES:
        block_sizes(monkeypatch, *sizes)
        for n_jobs in (1, 2, 5):
            assert_same_bits(sample_factor(plan, n_jobs=n_jobs, dtype=dtype), whole)
        for rows in some:
            assert_same_bits(sample_rows(plan, rows, dtype), whole[np.asarray(rows)])


# --- buffers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("sizes", [(4, 1), (5, 3), (16, 10)])
def test_rows_that_exceed_every_buffer(monkeypatch, name, sizes):
    plan = plan_of(GRAPHS[name], FixedLength(60), n_walks=3)
    wanted = reference_rows(plan, range(plan.graph.n_nodes))
    block_sizes(monkeypatch, *sizes)
    for found in (sample_factor(plan, n_jobs=2), sample_rows(plan, range(plan.graph.n_nodes))):
        assert_allclose(found.toarray(), wanted, rtol=1e-12, atol=1e-12)


def test_a_matrix_that_was_guessed_too_small_grows(monkeypatch):
    plan = plan_of(karate())
    wanted = sample_factor(plan)
    block_sizes(monkeypatch, 8, 50)
    monkeypatch.setattr(sampling, "expected_entries", lambda plan, rows: 1)
    assert_same_bits(sample_factor(plan, n_jobs=2), wanted)


# --- what a factor looks like --------------------------------------------------------------------


@pytest.mark.parametrize("name", KINDS)
def test_columns_stand_in_the_order_of_their_first_visit(name):
    factor = sample_factor(plan_of(GRAPHS[name]))
    for row in range(factor.shape[0]):
        columns = factor.indices[factor.indptr[row] : factor.indptr[row + 1]]
        assert columns[0] == row
        assert len(set(columns.tolist())) == len(columns)


@pytest.mark.parametrize(
    "rows", [[34], [-1], [0.5], [1.0], [True, False], [[1, 2]], 34, ["a"], [2**40]]
)
def test_rows_that_are_none_are_refused(rows):
    with pytest.raises(InputError, match=r"rows must (be whole numbers|lie between 0 and 33)"):
        sample_rows(plan_of(karate()), rows)


# --- progress, interruption, refusals ------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("matrix", [weighted(), nx.to_numpy_array(nx.petersen_graph())])
def test_loads_that_overflow_are_refused_not_returned(matrix, sign, dtype):
    large = Graph(matrix * (1e60 if dtype is np.float64 else 1e10))
    plan = plan_of(large, FixedLength(8), ratio=sign * 1.0)
    for walk in (lambda: sample_factor(plan, dtype=dtype), lambda: sample_rows(plan, [0], dtype)):
        with pytest.raises(InputError, match="the loads of the walks overflow"):
            walk()


def test_small_deposits_undo_large_loads():
    # rate^k = 300^130 alone is beyond float64; f(k) rate^k is not.
    graph = Graph(nx.to_numpy_array(nx.petersen_graph()) * 1e2)
    plan = WalkPlan.of(graph, np.full(131, 1e-200), FixedLength(130), n_walks=1, seed=0)
    wanted = np.exp(130 * np.log(300.0) - 200 * np.log(10.0)) / (1 - 1 / 300)
    assert_allclose(sample_factor(plan).toarray().sum(axis=1), wanted, rtol=1e-10)


def test_what_does_not_fit_is_refused_before_walking(monkeypatch):
    with pytest.raises(InputError, match="1000000000000 walks from one node"):
        sample_factor(plan_of(karate(), n_walks=10**12))
    plan = plan_of(karate())
    only(monkeypatch, 12_000)
    with pytest.raises(InputError, match=r"a factor of 34 nodes with 9 walks each needs \d+ bytes"):
        sample_factor(plan, n_jobs=1)


def ring(n):
    return Graph(nx.to_scipy_sparse_array(nx.cycle_graph(n), dtype=float)).normalized("sym")


def planned(graph, **options):
    return plan_walks(graph, Diffusion(1.0), WalkOptions.of(seed=0, **options)).forward


def test_a_pilot_tells_the_size_of_large_factors():
    plan = plan_of(ring(5000), n_walks=64)
    factor = sample_factor(plan)
    # 64 walks of 6 steps on a ring meet again and again: far fewer entries than steps.
    assert factor.nnz < expected_entries(plan) < 1.2 * factor.nnz < plan.expected_steps * 5000 / 3


@pytest.mark.parametrize("n_walks", [1, 16, 200])
@pytest.mark.parametrize("walks", ["pooled", "independent"])
def test_no_row_has_more_entries_than_the_bound(walks, n_walks):
    plan = planned(ring(5000), walks=walks, n_walks=n_walks)
    longest = np.diff(sample_rows(plan, np.arange(200)).indptr).max()
    assert longest <= max_row_entries(plan)


def test_factors_that_do_not_fit_are_refused_before_walking(monkeypatch):
    graph = ring(3000)
    only(monkeypatch, 5_000_000)
    with pytest.raises(InputError, match="4 factors of 3000 nodes with 400 walks each") as info:
        sample(graph, Diffusion(1.0), n_walks=400, seed=0, n_jobs=1)
    assert "storage='recompute'" in info.value.advice
    K = sample(graph, Diffusion(1.0), n_walks=400, seed=0, n_jobs=1, storage="recompute")
    assert (K @ np.ones(3000)).shape == (3000,)


@pytest.mark.parametrize("n_walks", [1, 50, 10**9])
def test_the_buffers_of_a_pool_are_no_larger_than_said(n_walks):
    plan = planned(karate(), n_walks=n_walks)
    buffers = PoolBuffers.of(pool_room(plan))
    arrays = [array for array in buffers if isinstance(array, np.ndarray)]
    assert sum(array.nbytes for array in arrays) <= walker_bytes(plan)


@pytest.mark.parametrize("walks", ["pooled", "independent"])
def test_buffers_of_all_threads_must_fit(monkeypatch, walks):
    only(monkeypatch, 1_500_000)
    sampling.require_walkers(planned(ring(5000), walks=walks, n_walks=10), 8)
    with pytest.raises(InputError, match="on each of 8 threads"):
        sampling.require_walkers(planned(ring(5000), walks=walks, n_walks=10**6), 8)
