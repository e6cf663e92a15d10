import threading

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from little_memory import only
from numpy.testing import assert_allclose, assert_array_equal
from small_graphs import GRAPHS, QUICK, graphs, karate, laws, weighted

from grfpp import FixedLength, Geometric, Graph
from grfpp.errors import InputError
from grfpp.walks import WalkPlan, sample_factor, sample_rows, sampler
from grfpp.walks.reference import reference_rows

KINDS = ["weighted, sym", "unweighted, sym", "directed, None", "loops and isolated, sym"]
BLOCK_SIZES = [(24_000, 600_000), (300, 2_000), (8, 50)]


LAW = Geometric(0.15)


def plan_of(graph, law=LAW, n_walks=9, seed=3, ratio=-0.7, n=100):
    return WalkPlan.of(graph, ratio ** np.arange(n), law, n_walks, seed)


def block_sizes(monkeypatch, batch, task):
    monkeypatch.setattr(sampler, "BATCH_STEPS", batch)
    monkeypatch.setattr(sampler, "TASK_STEPS", task)


def assert_same_bits(found, wanted):
    assert found.shape == wanted.shape
    assert found.dtype == wanted.dtype
    for part in ("indptr", "indices", "data"):
        assert_array_equal(getattr(found, part), getattr(wanted, part))


def our_threads():
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("grfpp")]


# --- the same bits -------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", KINDS)
def test_same_bits_for_any_number_of_threads_and_any_block_size(monkeypatch, name, dtype):
    plan = plan_of(GRAPHS[name])
    wanted = sample_factor(plan, n_jobs=1, dtype=dtype)
    assert wanted.dtype == dtype
    for sizes in BLOCK_SIZES:
        block_sizes(monkeypatch, *sizes)
        for n_jobs in (1, 2, 5):
            assert_same_bits(sample_factor(plan, n_jobs=n_jobs, dtype=dtype), wanted)


def test_small_blocks_really_are_several(monkeypatch):
    calls = []
    block_sizes(monkeypatch, 8, 50)
    sample_factor(plan_of(karate()), n_jobs=2, progress=lambda *rows: calls.append(rows))
    assert len(calls) > 10


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", KINDS)
def test_any_rows_are_the_rows_of_the_whole_factor(monkeypatch, name, dtype):
    plan = plan_of(GRAPHS[name])
    n = plan.graph.n_nodes
    whole = sample_factor(plan, n_jobs=1, dtype=dtype)
    subsets = [
        range(n),
        [n - 1],
        [2, 2, 0, 2],
        np.arange(n)[::-2],
        np.array([4, 1], dtype=np.uint8),
    ]
    for sizes in BLOCK_SIZES:
        block_sizes(monkeypatch, *sizes)
        for rows in subsets:
            assert_same_bits(sample_rows(plan, rows, dtype), whole[np.asarray(rows)])


@settings(QUICK, max_examples=30)
@given(graphs(), laws(), st.data())
def test_any_rows_of_generated_graphs(graph, law, data):
    plan = plan_of(graph, law, n_walks=3, n=40)
    rows = data.draw(st.lists(st.integers(0, graph.n_nodes - 1), max_size=9))
    wanted = sample_factor(plan, n_jobs=1)
    assert_same_bits(sample_rows(plan, rows), wanted[np.array(rows, dtype=int)])


def test_float32_is_float64_rounded_once():
    plan = plan_of(GRAPHS["weighted, sym"])
    double, single = sample_factor(plan), sample_factor(plan, dtype=np.float32)
    assert_array_equal(single.indices, double.indices)
    assert_array_equal(single.data, double.data.astype(np.float32))


def test_seed_factor_and_nothing_else_change_the_walks():
    plan = plan_of(karate())
    wanted = sample_factor(plan).toarray()
    assert (sample_factor(plan_of(karate())).toarray() == wanted).all()
    assert (sample_factor(plan_of(karate(), seed=4)).toarray() != wanted).any()
    assert (sample_factor(plan.with_factor(1)).toarray() != wanted).any()


# --- buffers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("sizes", [(4, 1), (5, 3), (16, 10)])
def test_rows_that_exceed_every_buffer(monkeypatch, name, sizes):
    plan = plan_of(GRAPHS[name], FixedLength(60), n_walks=3)
    wanted = reference_rows(plan, range(plan.graph.n_nodes))
    block_sizes(monkeypatch, *sizes)
    for found in (sample_factor(plan, n_jobs=2), sample_rows(plan, range(plan.graph.n_nodes))):
        assert_allclose(found.toarray(), wanted, rtol=1e-12, atol=1e-12)


def test_one_walk_longer_than_a_batch():
    length = sampler.BATCH_STEPS + 6_000
    ring = Graph(nx.to_numpy_array(nx.cycle_graph(5)) * 0.5)
    plan = WalkPlan.of(ring, np.ones(length + 1), FixedLength(length), n_walks=1, seed=2)
    found = sample_rows(plan, [3]).toarray()
    assert_allclose(found, reference_rows(plan, [3]), rtol=1e-10)
    assert found.sum() == pytest.approx(length + 1)


def test_more_walks_in_one_row_than_a_batch_holds():
    n_walks = sampler.BATCH_STEPS + 1
    plan = plan_of(GRAPHS["weighted, sym"], FixedLength(2), n_walks=n_walks)
    wanted = reference_rows(plan, [1])
    assert_allclose(sample_rows(plan, [1]).toarray(), wanted, rtol=1e-10, atol=1e-12)


def test_many_rows_without_a_step(monkeypatch):
    block_sizes(monkeypatch, 8, 1_000_000)
    plan = plan_of(Graph(np.zeros((500, 500))))
    assert_array_equal(sample_factor(plan).toarray(), np.eye(500))


def test_a_matrix_that_was_guessed_too_small_grows(monkeypatch):
    plan = plan_of(karate())
    wanted = sample_factor(plan)
    block_sizes(monkeypatch, 8, 50)
    monkeypatch.setattr(sampler, "expected_entries", lambda plan, rows: 1)
    assert_same_bits(sample_factor(plan, n_jobs=2), wanted)


# --- what a factor looks like --------------------------------------------------------------------


@pytest.mark.parametrize("name", KINDS)
def test_columns_stand_in_the_order_of_their_first_visit(name):
    factor = sample_factor(plan_of(GRAPHS[name]))
    for row in range(factor.shape[0]):
        columns = factor.indices[factor.indptr[row] : factor.indptr[row + 1]]
        assert columns[0] == row
        assert len(set(columns.tolist())) == len(columns)


def test_indices_take_four_bytes():
    factor = sample_factor(plan_of(karate()))
    assert factor.indices.dtype == factor.indptr.dtype == np.int32
    assert sample_rows(plan_of(karate()), [1, 2]).indices.dtype == np.int32


def test_no_rows():
    found = sample_rows(plan_of(karate()), [])
    assert found.shape == (0, 34) and found.nnz == 0


@pytest.mark.parametrize(
    "rows", [[34], [-1], [0.5], [1.0], [True, False], [[1, 2]], 34, ["a"], [2**40]]
)
def test_rows_that_are_none_are_refused(rows):
    with pytest.raises(InputError, match=r"rows must (be whole numbers|lie between 0 and 33)"):
        sample_rows(plan_of(karate()), rows)


# --- progress, interruption, refusals ------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_progress_counts_rows_up_to_all(monkeypatch, n_jobs):
    block_sizes(monkeypatch, 24_000, 200)
    calls = []
    sample_factor(plan_of(karate()), n_jobs=n_jobs, progress=lambda *rows: calls.append(rows))
    done = [rows[0] for rows in calls]
    assert {rows[1] for rows in calls} == {34}
    assert done == sorted(set(done)) and done[-1] == 34 and len(done) > 3


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_exception_in_the_callback_ends_the_work_and_its_threads(monkeypatch, n_jobs, error):
    block_sizes(monkeypatch, 24_000, 100)
    calls = []

    def stop(done, n):
        calls.append(done)
        raise error("enough")

    with pytest.raises(error, match="enough"):
        sample_factor(plan_of(karate()), n_jobs=n_jobs, progress=stop)
    assert len(calls) == 1
    assert our_threads() == []


def test_threads_end_with_the_work(monkeypatch):
    block_sizes(monkeypatch, 24_000, 100)
    sample_factor(plan_of(karate()), n_jobs=4)
    assert our_threads() == []


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("matrix", [weighted(), nx.to_numpy_array(nx.petersen_graph())])
def test_loads_that_overflow_are_refused_not_returned(matrix, sign, dtype):
    large = Graph(matrix * (1e60 if dtype is np.float64 else 1e10))
    plan = plan_of(large, FixedLength(8), ratio=sign * 1.0)
    with pytest.raises(InputError, match="the loads of the walks overflow"):
        sample_factor(plan, dtype=dtype)
    with pytest.raises(InputError, match="the loads of the walks overflow"):
        sample_rows(plan, [0], dtype)


def test_numbers_whose_sum_alone_overflows_are_kept():
    plan = WalkPlan.of(Graph(np.zeros((4, 4))), np.array([1e308]), FixedLength(0), 1, seed=0)
    assert_array_equal(sample_factor(plan).data, 1e308)


def test_small_deposits_undo_large_loads():
    # rate^k = 300^130 alone is beyond float64; f(k) rate^k is not.
    graph = Graph(nx.to_numpy_array(nx.petersen_graph()) * 1e2)
    plan = WalkPlan.of(graph, np.full(131, 1e-200), FixedLength(130), n_walks=1, seed=0)
    wanted = np.exp(130 * np.log(300.0) - 200 * np.log(10.0)) / (1 - 1 / 300)
    assert_allclose(sample_factor(plan).toarray().sum(axis=1), wanted, rtol=1e-10)


def test_what_does_not_fit_is_refused_before_walking(monkeypatch):
    plan = plan_of(karate())
    only(monkeypatch, 12_000)
    with pytest.raises(InputError, match=r"a factor of 34 nodes with 9 walks each needs \d+ bytes"):
        sample_factor(plan, n_jobs=1)


def test_a_huge_number_of_walks_is_refused_before_walking():
    with pytest.raises(InputError, match="walking 1000000000000 walks from one node, on"):
        sample_factor(plan_of(karate(), n_walks=10**12))


def test_bad_number_of_threads_is_refused():
    with pytest.raises(InputError, match="n_jobs"):
        sample_factor(plan_of(karate()), n_jobs=0)
