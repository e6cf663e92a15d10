"""Rows that come from several threads end up in their places, and nobody waits for ever."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from small_graphs import karate

from grfpp import Geometric, InputError
from grfpp.linalg.growing import Block, GrowingMatrix
from grfpp.walks import WalkPlan, sample_factor, sampler
from grfpp.walks.walker import Walker

N_BLOCKS, ROWS = 40, 3


def block_of(number):
    rng = np.random.default_rng(number)
    per_row = rng.integers(0, 5, ROWS)
    size = int(per_row.sum())
    return Block(
        np.cumsum(per_row),
        rng.integers(0, 9, size).astype(np.int32),
        rng.standard_normal(size),
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

    def give(thread):
        start.wait()
        for number in range(thread, N_BLOCKS, n_threads):
            matrix.append(blocks[number], number * ROWS)

    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(give, range(n_threads)))
    found = matrix.finish()
    assert_array_equal(found.indptr, expected.indptr)
    assert_array_equal(found.indices, expected.indices)
    assert_array_equal(found.data, expected.data)
    assert_array_equal(found.data, np.concatenate([block.values for block in blocks]))


def test_those_that_wait_are_let_go():
    matrix = GrowingMatrix(6, 9, 100, np.dtype(np.float64))
    late = threading.Thread(target=matrix.append, args=(block_of(1), ROWS))
    late.start()
    late.join(0.1)
    assert late.is_alive()
    matrix.abandon()
    late.join(10)
    assert not late.is_alive()


@pytest.mark.parametrize("n_jobs", [1, 2, 4])
def test_a_failure_ends_all_threads(monkeypatch, n_jobs):
    graph = karate()
    plan = WalkPlan.of(graph, np.ones(30), Geometric(0.1), n_walks=8, seed=0)
    monkeypatch.setattr(sampler, "TASK_STEPS", 100)
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
