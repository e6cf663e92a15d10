"""Gaussian processes at the smallest size."""

import pytest

from grfpp_lab.experiments.claims import POOLED
from grfpp_lab.experiments.gp import experiment as gp
from grfpp_lab.experiments.gp.claims import EXACT, GRF, HEAD
from grfpp_lab.harness.experiment import Holds, Settings, Size


@pytest.fixture(scope="module")
def rows():
    cells = gp.plan(Settings(Size.TINY)).cells
    return [row for cell in cells for row in gp.run(cell)]


def test_the_smallest_size(rows):
    assert [row["method"] for row in rows] == [EXACT, GRF, "GRF++", HEAD, POOLED] * 2
    for row in rows:
        assert row["n_nodes"] == 162
        assert 0.2 < row["rmse"] < 0.7
        assert 0.6 < row["coverage"] <= 1
        assert row["lam"] > 5  # it has moved from where it began, towards 12
        assert all(row[name] >= 0 for name in gp.TIMINGS)
    for claim in gp.EXPERIMENT.claims:
        assert claim.judge(rows).holds is Holds.OPEN
        assert all(panel.curves for panel in claim.panels(rows))
        assert all(table(rows).groups for table in claim.tables)


def test_what_is_not_timed_repeats_itself(rows):
    cell = gp.plan(Settings(Size.TINY)).cells[3]
    (again,) = gp.run(cell)
    assert {k: v for k, v in again.items() if k not in gp.TIMINGS} == {
        k: v for k, v in rows[3].items() if k not in gp.TIMINGS
    }


def test_pooled_walks_are_the_kernels_own():
    cells = gp.plan(Settings(Size.FULL)).cells
    (large,) = [c for c in cells if (c["method"], c["subdivisions"]) == (POOLED, 5)]
    assert not {"n_walks", "n_exact", "termination"} & set(large)
    assert (large["walks"], large["dtype"]) == ("pooled", "float64")
    assert not any("walks" in cell for cell in cells if cell["method"] != POOLED)


def test_without_a_peer_the_page_says_so():
    assert "GRFPP_PEERS" in gp.plan(Settings(Size.TINY)).skipped["fast-graph-gp"]


def test_plans_grow_with_the_size():
    sizes = [len(gp.plan(Settings(size)).cells) for size in (Size.TINY, Size.QUICK, Size.FULL)]
    assert sizes == sorted(sizes)
    largest = max(cell["subdivisions"] for cell in gp.plan(Settings(Size.FULL)).cells)
    assert largest == 7
