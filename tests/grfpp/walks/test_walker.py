import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from small_graphs import GRAPHS, karate

from grfpp import FixedLength, Geometric
from grfpp.walks import WalkPlan
from grfpp.walks.reference import reference_rows
from grfpp.walks.walker import Output, Walker

DOUBLE = np.dtype(np.float64)


LAW = Geometric(0.2)


def plan_of(graph, law=LAW, n_walks=6):
    return WalkPlan.of(graph, (-0.7) ** np.arange(80), law, n_walks, seed=4)


def dense(block, n):
    rows = np.zeros((len(block.end), n))
    start = 0
    for row, end in zip(rows, block.end.tolist(), strict=True):
        row[block.columns[start:end]] = block.values[start:end]
        start = end
    assert start == len(block.columns) == len(block.values)
    return rows


@pytest.mark.parametrize("batch_steps", [4, 30, 10_000])
@pytest.mark.parametrize("room", [0, 1, 50, 10_000])
@pytest.mark.parametrize("name", ["weighted, sym", "unweighted, sym", "directed, None"])
def test_any_buffers_give_the_same_block(name, room, batch_steps):
    plan = plan_of(GRAPHS[name])
    rows = np.arange(plan.graph.n_nodes)
    block = Walker(plan, batch_steps).walk(rows, Output(room, DOUBLE))
    wanted = reference_rows(plan, rows.tolist())
    assert_allclose(dense(block, len(rows)), wanted, rtol=1e-12, atol=1e-12)
    same = Walker(plan, 10_000).walk(rows, Output(10_000, DOUBLE))
    for found, want in zip(block, same, strict=True):
        assert_array_equal(found, want)


def test_a_walker_and_its_output_serve_again_and_again():
    plan = plan_of(karate())
    walker, output = Walker(plan, 100), Output(1, DOUBLE)
    wanted = reference_rows(plan, range(34))
    for rows in ([3, 4], [30], [], [0, 1, 2, 33, 33], list(range(34))):
        block = walker.walk(np.array(rows, dtype=np.int64), output)
        assert_allclose(dense(block, 34), wanted[rows], rtol=1e-12, atol=1e-12)


def test_the_block_lies_in_the_output():
    output = Output(5000, DOUBLE)
    block = Walker(plan_of(karate()), 100).walk(np.arange(34), output)
    assert np.shares_memory(block.values, output.values)
    assert np.shares_memory(block.columns, output.columns)


def test_room_grows_and_keeps_what_is_there():
    output = Output(3, np.dtype(np.float32))
    output.columns[:] = [5, 6, 7]
    output.values[:] = [1.0, 2.0, 3.0]
    output.enlarge(used=2, size=10)
    assert len(output.columns) == len(output.values) == 10
    assert output.columns.dtype == np.int32 and output.values.dtype == np.float32
    assert_array_equal(output.columns[:2], [5, 6])
    assert_array_equal(output.values[:2], [1.0, 2.0])


def test_a_row_longer_than_the_batch_makes_the_buffers_grow():
    plan = plan_of(karate(), FixedLength(79), n_walks=3)
    walker = Walker(plan, 8)
    block = walker.walk(np.array([5, 6]), Output(1, DOUBLE))
    assert_allclose(dense(block, 34), reference_rows(plan, [5, 6]), rtol=1e-12, atol=1e-12)
