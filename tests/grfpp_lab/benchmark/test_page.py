"""Tables and pages from given rows."""

import pytest
from bench_helpers import grown, sampled, timed

from grfpp_lab.benchmark import tables
from grfpp_lab.benchmark.rows import Row
from grfpp_lab.benchmark.tables import short

ROWS = [
    sampled("grid, 100 nodes", "grfpp, float64", 90e6, version="0.1", threads=2),
    sampled("grid, 100 nodes", "pointer chases", 180e6, note="the limit"),
    sampled("grid, 100 nodes", "slow peer", 0.1e6, version="7.5", note="no features"),
    Row("sampling", "grid, 100 nodes", "lost peer", status="not run", note="it does not build"),
    grown(1000, 2.0, 900.0),
    grown(10**4, 1.5, 700.0),
    grown(10**5, 1.5, 500.0),
    Row("growth", "grid, 10 nodes", "grfpp, recompute", status="not run", note="no memory"),
    timed("paper", "mesh, 35,300 nodes", "paper, GRFs++", 5591.42, status="quoted"),
    timed("paper", "mesh, 35,300 nodes", "grfpp", 0.4),
    timed("paper", "mesh, 35,300 nodes", "Chebyshev", 0.01),
    timed("paper", "mesh, 35,300 nodes", "dense brute force", 9e4, status="estimated"),
    timed("uses", "K[S, S]", "grfpp", 0.5),
    timed("uses", "K[S, S]", "Chebyshev", 5.0, status="estimated"),
    timed("uses", "K @ V", "grfpp", 5.0),
    timed("uses", "K @ V", "Chebyshev", 0.5),
]
DOCUMENT = {
    "machine": {
        "processor": "Abacus 5",
        "cores": 2,
        "memory_bytes": 8 * 2**30,
        "system": "Linux x86_64",
        "python": "3.11",
        "numpy": "2",
        "scipy": "1",
        "numba": "0.6",
    },
    "threads": 2,
    "set": "quick",
    "seconds": 200.0,
    "grfpp": "0.1",
    "began": "2026-01-01T00:00:00+00:00",
}


def test_sampling_table():
    table = tables.sampling_table(ROWS)
    ((title, lines),) = table.groups
    assert title == "grid, 100 nodes"
    assert lines == [
        ["grfpp, float64", "90", "1", "50%", "2", "0.1"],
        ["pointer chases", "180", "0.5", "–", "1", ""],
        ["slow peer", "0.1", "900", "<1%", "1", "7.5"],
        ["lost peer", "not run", "", "", "", ""],
    ]
    assert table.strong == {(0, 0)}
    assert table.notes == (
        "pointer chases: the limit.",
        "slow peer: no features.",
        "lost peer: it does not build.",
    )


def test_notes_name_the_workload_of_what_failed_only_there():
    lost = Row("sampling", "grid, 9 nodes", "slow peer", status="not run", note="it hangs")
    notes = tables.sampling_table([*ROWS, lost]).notes
    assert notes[-1] == "slow peer (grid, 9 nodes): it hangs."


def test_growth_table():
    ((_, lines),) = tables.growth_table(ROWS).groups
    assert lines[0] == ["1,000", "grfpp, float32", "0.002", "72", "2", "900", "400", "0.006"]
    assert lines[-1][:3] == ["grid, 10 nodes", "grfpp, recompute", "not run"]


def test_seconds():
    ((_, lines),) = tables.paper_rows(ROWS).groups
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
        tables.growth_table,
        tables.paper_rows,
        tables.uses_table,
    ):
        table = make(ROWS)
        assert {len(line) for _, lines in table.groups for line in lines} == {len(table.columns)}


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (1e-5, "1e-05"), (0.01234, "0.0123"), (99.96, "100"), (1234.5, "1,234")],
)
def test_short(value, text):
    assert short(value) == text


def test_page():
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    from grfpp_lab.benchmark.page import bench_page

    html = bench_page(DOCUMENT, ROWS)
    for text in (
        "Abacus 5, 2 cores, 8 GiB",
        "it does not build",
        "walks lose: Chebyshev is 10 × faster",
        "Chebyshev is deterministic, accurate to many digits, and up to 40 × faster",
        "not measured",
        "time by the power 1.000",
    ):
        assert text in html
    # A picture for sampling, two for growth, one for the meshes, two for the uses.
    assert html.count("<img ") == 6


def test_page_without_any_numbers():
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    from grfpp_lab.benchmark.page import bench_page

    rows = [Row(s, "w", "m", status="not run") for s in ("sampling", "growth", "paper", "uses")]
    assert "<img " not in bench_page(DOCUMENT, rows)
