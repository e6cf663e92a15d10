"""Products of CSR matrices, matrices built row by row, nodes within reach."""

import threading
from concurrent.futures import ThreadPoolExecutor

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from small_graphs import QUICK, karate

from grfpp import Geometric, Graph, InputError
from grfpp.linalg import csr as module
from grfpp.linalg import loops
from grfpp.linalg.csr import (
    Block,
    CsrProduct,
    GrowingMatrix,
    combine,
    csr,
    times,
    transposed_times,
    within_steps,
)
from grfpp.walks import WalkPlan, sample_factor, sampling
from grfpp.walks.sampling import Walker

N_BLOCKS, ROWS = 40, 3


def random_csr(shape, seed=0, density=0.3, dtype=np.float64):
    rng = np.random.default_rng(seed)
    matrix = sp.random_array(shape, density=density, rng=rng, format="csr").astype(dtype)
    for start, stop in zip(matrix.indptr, matrix.indptr[1:], strict=False):
        order = start + rng.permutation(stop - start)  # as walks visit columns
        matrix.indices[start:stop] = matrix.indices[order]
        matrix.data[start:stop] = matrix.data[order]
    matrix.has_sorted_indices = False
    return matrix


@QUICK
@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 5), st.integers(0, 99), st.booleans())
def test_products_equal_dense_ones(n_rows, n_columns, width, seed, single):
    matrix = random_csr((n_rows, n_columns), seed, dtype=np.float32 if single else np.float64)
    whole = matrix.toarray().astype(np.float64)
    rng = np.random.default_rng(seed)
    right, left, base = (rng.normal(size=(n, width)) for n in (n_columns, n_rows, n_rows))
    for n_jobs in (1, 3):
        assert_allclose(times(matrix, right, n_jobs), whole @ right, rtol=1e-12, atol=1e-12)
        found = transposed_times(matrix, left, n_jobs)
        assert_allclose(found, whole.T @ left, rtol=1e-12, atol=1e-12)
    total = left.copy()
    options = {"base": base, "scale": 2.0, "keep": -1.0, "total": total, "weight": 0.5}
    found, wanted = times(matrix, right, **options), 2 * whole @ right - base
    assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
    assert_allclose(total, left + 0.5 * wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("width", [1, 4])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_same_bits_for_any_number_of_threads_and_for_a_column_alone(monkeypatch, dtype, width):
    monkeypatch.setattr(module, "_MIN_PARALLEL_WORK", 0)
    matrix = random_csr((101, 101), density=0.4, dtype=dtype)
    dense = np.random.default_rng(1).normal(size=(101, width))
    for product in (times, transposed_times):
        single = product(matrix, dense, 1)
        for n_jobs in (2, 5, 200):
            assert_array_equal(product(matrix, dense, n_jobs), single)
        with pytest.raises(InputError) as caught:
            product(matrix, dense, 0)
        assert caught.value.argument == "n_jobs"
    alone = [times(matrix, np.ascontiguousarray(column[:, None])) for column in dense.T]
    assert_array_equal(times(matrix, dense), np.hstack(alone))


def test_threads_start_for_large_products_only(monkeypatch):
    used = []
    in_order = module.in_order
    monkeypatch.setattr(module, "in_order", lambda *args: used.append(args[-1]) or in_order(*args))
    matrix = random_csr((400, 400), density=0.5)
    times(matrix, np.ones((400, 1)), 3)
    times(matrix, np.ones((400, 8)), 3)
    assert used == [3]


def test_wide_index_types_and_read_only_arrays_compile_few_signatures():
    matrix = random_csr((30, 20))
    wide = sp.csr_array(
        (matrix.data, matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)),
        shape=matrix.shape,
    )
    dense = np.random.default_rng(0).normal(size=(20, 3))
    assert_array_equal(times(wide, dense), times(matrix, dense))
    assert not any(each.mutable for types in loops.rows_times.signatures for each in types[:5])


def test_sums_are_made_in_float64_for_float32_factors():
    n = 4000
    matrix = sp.csr_array(np.full((1, n), 0.1, dtype=np.float32))
    exact = n * float(np.float32(0.1))
    assert times(matrix, np.ones((n, 1)))[0, 0] == pytest.approx(exact, rel=1e-12)
    column = sp.csr_array(np.full((n, 1), 0.1, dtype=np.float32))
    assert transposed_times(column, np.ones((n, 2)))[0, 1] == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("path", ["scipy", "dense", "compiled"])
@pytest.mark.parametrize("base", ["none", "out", "block"])
def test_all_ways_to_multiply_agree(monkeypatch, path, base):
    matrix = random_csr((120, 120), density=0.2 if path == "dense" else 0.05)
    if path == "compiled":
        monkeypatch.setattr(module, "_MIN_COMPILED_WORK", 0)
    rng = np.random.default_rng(0)
    block, out, total = rng.normal(size=(3, 120, 9))
    start = {"none": None, "out": out, "block": block}[base]
    product = CsrProduct(matrix)
    assert product.prefers_dense == (path == "dense")
    wanted = 3 * matrix.toarray() @ block - (0 if start is None else start)
    summed = total + 0.5 * wanted
    keep = 0.0 if start is None else -1.0
    options = {"scale": 3.0, "base": start, "keep": keep, "total": total, "weight": 0.5}
    found = product(block, out=None if start is None else out, **options)
    assert_allclose(found, wanted, atol=1e-12)
    assert_allclose(total, summed, atol=1e-12)


@pytest.mark.parametrize("compiled", [False, True])
def test_combinations_of_columns(monkeypatch, compiled):
    if not compiled:
        monkeypatch.setattr(module, "_LOOPS", "not loaded")
    rng = np.random.default_rng(0)
    out, x, partner = rng.normal(size=(3, 10_000, 3))
    a, b = rng.normal(size=(2, 3))
    wanted = a * out + b * x
    sums = combine(out, a, x, b, partner)
    assert_allclose(out, wanted, rtol=1e-12)
    assert_allclose(sums, (wanted * partner).sum(axis=0), rtol=1e-9)


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
@pytest.mark.parametrize("value_type", [np.float32, np.float64])
def test_arrays_are_taken_as_they_are(index_type, value_type):
    values = np.array([1.0, 2.0, 3.0], dtype=value_type)
    columns = np.array([2, 0, 1], dtype=np.int32)
    matrix = csr(values, columns, np.array([0, 2, 3], dtype=index_type), 4)
    assert_array_equal(matrix.toarray(), [[2, 0, 1, 0], [0, 3, 0, 0]])
    assert matrix.dtype == value_type
    assert matrix.indices.dtype == matrix.indptr.dtype == np.int32
    assert np.shares_memory(matrix.data, values) and np.shares_memory(matrix.indices, columns)


# --- matrices that grow --------------------------------------------------------------------------


def block_of(number):
    rng = np.random.default_rng(number)
    per_row = rng.integers(0, 5, ROWS)
    size = int(per_row.sum())
    return Block(
        np.cumsum(per_row), rng.integers(0, 9, size).astype(np.int32), rng.standard_normal(size)
    )


@pytest.mark.parametrize("capacity", [1, 10_000])
@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_the_order_of_arrival_does_not_matter(n_threads, capacity):
    blocks = [block_of(number) for number in range(N_BLOCKS)]
    in_turn = GrowingMatrix(N_BLOCKS * ROWS, 9, capacity, np.dtype(np.float64))
    for block in blocks:
        in_turn.append(block)
    expected = in_turn.finish()
    matrix = GrowingMatrix(N_BLOCKS * ROWS, 9, capacity, np.dtype(np.float64))
    start = threading.Barrier(n_threads)

    def append_some(thread):
        start.wait()
        for number in range(thread, N_BLOCKS, n_threads):
            matrix.append(blocks[number], number * ROWS)

    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(append_some, range(n_threads)))
    found = matrix.finish()
    for name in ("indptr", "indices", "data"):
        assert_array_equal(getattr(found, name), getattr(expected, name))
    assert_array_equal(found.data, np.concatenate([block.values for block in blocks]))


def test_abandoning_a_matrix_wakes_those_that_wait():
    matrix = GrowingMatrix(6, 9, 100, np.dtype(np.float64))
    late = threading.Thread(target=matrix.append, args=(block_of(1), ROWS))
    late.start()
    late.join(0.1)
    assert late.is_alive()
    matrix.abandon()
    late.join(10)
    assert not late.is_alive()


@pytest.mark.parametrize("n_jobs", [1, 4])
def test_a_failure_ends_all_threads(monkeypatch, n_jobs):
    plan = WalkPlan.of(karate(), np.ones(30), Geometric(0.1), n_walks=8, seed=0)
    monkeypatch.setattr(sampling, "TASK_STEPS", 100)
    walk = Walker.walk

    def fail(self, rows, output):
        if 20 in rows:
            raise InputError("a failure")
        return walk(self, rows, output)

    monkeypatch.setattr(Walker, "walk", fail)
    before = threading.active_count()
    with pytest.raises(InputError, match="a failure"):
        sample_factor(plan, n_jobs=n_jobs)
    assert threading.active_count() == before


# --- nodes within reach --------------------------------------------------------------------------


@QUICK
@given(st.integers(0, 2**32), st.integers(0, 4), st.lists(st.integers(0, 79), max_size=2))
def test_nodes_within_reach_are_those_of_breadth_first_search(seed, n_steps, nodes):
    graph = nx.gnp_random_graph(80, 0.015, seed=seed, directed=True)
    wanted = set(nodes)
    for node in nodes:
        wanted |= nx.single_source_shortest_path_length(graph, node, cutoff=n_steps).keys()
    adjacency = Graph(nx.to_numpy_array(graph), directed=True).adjacency
    found = within_steps(adjacency, np.array(nodes, np.int64), n_steps)
    if found is None:
        assert len(wanted) > 20
    else:
        assert found.tolist() == sorted(wanted)


def test_a_large_part_of_the_graph_is_not_listed():
    grid = Graph(nx.grid_2d_graph(30, 30)).adjacency
    assert within_steps(grid, np.array([465]), 20) is None
    assert len(within_steps(grid, np.array([465]), 4)) == 41
