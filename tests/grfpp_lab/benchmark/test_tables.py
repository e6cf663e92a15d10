"""Tables from given rows."""

import pytest
from bench_helpers import ROWS

from grfpp_lab.benchmark import tables
from grfpp_lab.benchmark.rows import Row
from grfpp_lab.benchmark.tables import short


def test_sampling_table():
    table = tables.sampling_table(ROWS)
    (group,) = table.groups
    assert group.title == "grid, 100 nodes"
    assert group.rows == [
        ["grfpp, float64", "90", "1", "50%", "2", "0.1"],
        ["pointer chases", "180", "0.5", "–", "1", ""],
        ["slow peer", "0.1", "900", "<1%", "1", "7.5"],
        ["lost peer", "not run", "", "", "", ""],
    ]
    assert list(group.strong) == [0]
    assert table.caption == (
        "pointer chases: the limit. slow peer: no features. lost peer: it does not build."
    )


def test_notes_name_the_workload_of_what_failed_only_there():
    lost = Row("sampling", "grid, 9 nodes", "slow peer", status="not run", note="it hangs")
    notes = tables.sampling_table([*ROWS, lost]).caption
    assert notes.endswith(" slow peer (grid, 9 nodes): it hangs.")


def test_equal_table():
    first, second = tables.equal_table(ROWS).groups
    assert first.rows == [
        ["grfpp, pooled", "2", "576", "2.00e-04", "1"],
        ["grfpp, independent", "2", "576", "2.00e-01", "1,000"],
    ]
    assert second.rows == [["grfpp, pooled", "not run", "–", "–", "–"]]


def test_growth_table():
    lines = tables.growth_table(ROWS).groups[0].rows
    assert lines[0] == ["1,000", "grfpp, float32", "0.002", "72", "2", "900", "400", "0.006"]
    assert lines[-1][:3] == ["grid, 10 nodes", "grfpp, recompute", "not run"]


def test_seconds():
    lines = tables.paper_rows(ROWS).groups[0].rows
    assert lines[0] == ["paper, GRFs++", "5,591", "13,979", "0.1", "quoted", "–"]
    assert lines[3][4] == "estimated"


def test_winners():
    assert tables.winners(ROWS) == [
        "K[S, S]: walks win: grfpp is 10 × faster than Chebyshev.",
        "K @ V: walks lose: Chebyshev is 10 × faster than grfpp.",
    ]


def test_all_lines_of_a_table_are_as_long_as_its_head():
    for make in (
        tables.bar_table,
        tables.sampling_table,
        tables.equal_table,
        tables.growth_table,
        tables.paper_rows,
        tables.uses_table,
    ):
        table = make(ROWS)
        assert {len(line) for group in table.groups for line in group.rows} == {len(table.columns)}


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (1e-5, "1e-05"), (0.01234, "0.0123"), (99.96, "100"), (1234.5, "1,234")],
)
def test_short(value, text):
    assert short(value) == text
