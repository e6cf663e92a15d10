"""Ratios, slopes, bars, tables and the page, from given rows."""

from dataclasses import replace

import pytest
from bench_helpers import ROWS, equal, grown, sampled, timed

from grfpp_lab.benchmark import tables
from grfpp_lab.benchmark.settings import Row, find, workloads


def test_ratios_of_speeds_and_of_seconds():
    rows = [
        sampled("a", "grfpp, float64", 100.0),
        sampled("a", "slow", 4.0),
        Row("sampling", "a", "absent", status="not run"),
        sampled("b", "slow", 1.0),
        timed("uses", "c", "Chebyshev", 2.0),
        timed("uses", "c", "grfpp", 8.0),
    ]
    found = [(each.workload, each.other, each.times) for each in tables.ratios(rows)]
    assert found == [("a", "slow", 25.0), ("c", "Chebyshev", 0.25)]


def test_rows_are_found_by_section_workload_and_method():
    rows = [sampled("b", "x", 1.0), sampled("a", "x", 2.0), sampled("b", "y", 3.0)]
    assert workloads(rows, "sampling") == ["b", "a"]
    assert find(rows, "sampling", "a", "x", "steps_per_second") == 2.0
    assert find(rows, "sampling", "a", "z", "steps_per_second") is None
    assert find(rows, "sampling", "a", "x", "seconds") is None


def test_slope():
    sizes = (10**4, 10**5, 10**6)
    rows, steep = [grown(n, 2.0, 500.0) for n in sizes], [grown(n, n**0.5, 500.0) for n in sizes]
    assert tables.slope(rows, "microseconds_per_node") == pytest.approx(1)
    assert tables.slope(steep, "microseconds_per_node") == pytest.approx(1.5)
    assert tables.slope(rows[:1], "microseconds_per_node") is None
    assert tables.slope(rows, "microseconds_per_node", least=10**6) is None


def verdicts(rows):
    return [bar.verdict for bar in tables.bars(rows)]


def all_met():
    numbers = {"n_nodes": 1e7, "seconds": 100.0, "peak_bytes": 1e9, "same_as_stored": 1.0}
    recompute = Row("growth", "grid, 10,000,000 nodes", "grfpp, recompute", numbers=numbers)
    return [
        sampled(tables.GRID_LARGE, "grfpp, float64", 101e6),
        sampled(tables.REGULAR, "grfpp, float64", 40e6),
        sampled(tables.REGULAR, "torch_cluster", 7e6),
        sampled(tables.REGULAR, "pointer chases", 160e6),
        sampled(tables.GRID_SMALL, "grfpp, float64", 120e6),
        sampled(tables.GRID_SMALL, "fast-graph-gp", 0.2e6),
        sampled(tables.GRID_SMALL, "plain Python, numpy arrays", 0.2e6),
        sampled(tables.GRID_SMALL, "plain Python, lists", 0.4e6),
        grown(1024, 9.0, 900.0),
        grown(10**4, 2.0, 590.0),
        grown(10**7, 3.0, 410.0),
        timed("paper", tables.MESH, "grfpp", 0.3),
        timed("paper", tables.MESH, "paper, GRFs++", 5591.42, status="quoted"),
        recompute,
        sampled(tables.GRID_LARGE, "grfpp, pooled, float64", 102e6),
        sampled(tables.REGULAR, "grfpp, pooled, float64", 33e6),
        sampled(tables.SCALE_FREE, "grfpp, float64", 40e6),
        sampled(tables.SCALE_FREE, "grfpp, pooled, float64", 33e6),
        *(
            row
            for kernel, graph, ratio in (
                ("exp(W)", tables.GRID_LARGE, 2e4),
                ("exp(W)", tables.REGULAR, 80),
                ("exp(W)", tables.SCALE_FREE, 11),
                ("exp(5 W)", tables.GRID_LARGE, 30),
                ("exp(5 W)", tables.REGULAR, 5),
                ("exp(5 W)", tables.SCALE_FREE, 4),
            )
            for row in equal(f"{kernel}, {graph}", ratio)
        ),
    ]


def test_bars_that_are_met():
    rows = all_met()
    assert set(verdicts(rows)) == {"met"}
    assert tables.bars(rows)[9].found == "1.01 × (102 million steps/s)"
    assert tables.bars(rows)[12].found == "1/20,000"
    assert "25% of the machine's pointer chases" in tables.bars(rows)[1].found
    assert "5.7 × torch_cluster" in tables.bars(rows)[1].found


@pytest.mark.parametrize(
    ("bar", "row", "numbers"),
    [
        *((0, 0, {"steps_per_second": 99e6}), (1, 1, {"steps_per_second": 30e6})),
        *((2, 5, {"steps_per_second": 1e6}), (3, 6, {"steps_per_second": 1e6})),
        *((4, 7, {"steps_per_second": 1e6}), (5, 10, {"microseconds_per_node": 3.3})),
        *((6, 9, {"peak_bytes_per_node": 601.0}), (7, 11, {"seconds": 2.0})),
        *((8, 13, {"peak_bytes": 5e9}), (8, 13, {"same_as_stored": 0.0})),
        *((9, 14, {"steps_per_second": 100e6}), (10, 15, {"steps_per_second": 31e6})),
        *((11, 17, {"steps_per_second": 31e6}), (12, 18, {"error": 2.1e-5})),
        (17, 28, {"error": 0.07}),
    ],
)
def test_bars_that_are_missed(bar, row, numbers):
    rows = all_met()
    rows[row] = replace(rows[row], numbers={**rows[row].numbers, **numbers})
    found = verdicts(rows)
    assert found[bar] == "not met"
    assert [v for v in found if v != "met"] == ["not met"]


def test_bars_need_rows_and_the_sizes_of_the_full_set():
    assert set(verdicts([])) == {"not measured"}
    rows = [grown(10**4, 2.0, 500.0), grown(10**6, 2.5, 400.0)]
    assert verdicts(rows)[5] == "not measured"
    assert "full set" in tables.bars(rows)[5].found
    rows = equal("exp(W), grid, 100,000 nodes", 2e4)
    bar = tables.bars(rows)[12]
    assert bar.verdict == "not measured"
    assert bar.workload == "exp(W), grid, 100,000 nodes"
    assert bar.found == "1/20,000; 10⁶ nodes are in the full set"


def test_sampling_and_growth_tables():
    table = tables.sampling_table(ROWS)
    (group,) = table.groups
    assert (group.title, list(group.strong)) == ("grid, 100 nodes", [0])
    assert group.rows == [
        ["grfpp, float64", "90", "1", "50%", "2", "0.1"],
        ["pointer chases", "180", "0.5", "–", "1", ""],
        ["slow peer", "0.1", "900", "<1%", "1", "7.5"],
        ["lost peer", "not run", "", "", "", ""],
    ]
    assert table.caption == (
        "pointer chases: the limit. slow peer: no features. lost peer: it does not build."
    )

    lost = Row("sampling", "grid, 9 nodes", "slow peer", status="not run", note="it hangs")
    notes = tables.sampling_table([*ROWS, lost]).caption
    assert notes.endswith(" slow peer (grid, 9 nodes): it hangs.")
    lines = tables.growth_table(ROWS).groups[0].rows
    assert lines[0] == ["1,000", "grfpp, float32", "0.002", "72", "2", "900", "400", "0.006"]
    assert lines[-1][:3] == ["grid, 10 nodes", "grfpp, recompute", "not run"]


def test_numbers_are_short():
    numbers = (0, 1e-5, 0.01234, 99.96, 1234.5)
    assert [*map(tables.short, numbers)] == ["0", "1e-05", "0.0123", "100", "1,234"]


def test_equal_table_and_winners():
    first, second = tables.equal_table(ROWS).groups
    assert first.rows == [
        ["grfpp, pooled", "2", "576", "2.00e-04", "1"],
        ["grfpp, independent", "2", "576", "2.00e-01", "1,000"],
    ]
    assert second.rows == [["grfpp, pooled", "not run", "–", "–", "–"]]
    assert tables.winners(ROWS) == [
        "K[S, S]: walks win: grfpp is 10 × faster than Chebyshev.",
        "K @ V: walks lose: Chebyshev is 10 × faster than grfpp.",
    ]


def test_all_lines_of_a_table_are_as_long_as_its_head():
    for make in (
        *(tables.bar_table, tables.sampling_table, tables.equal_table),
        *(tables.growth_table, tables.paper_rows, tables.uses_table),
    ):
        table = make(ROWS)
        assert {len(line) for group in table.groups for line in group.rows} == {len(table.columns)}


MACHINE = {
    **{"processor": "Abacus 5", "cores": 2, "memory_bytes": 8 * 2**30, "system": "Linux x86_64"},
    **{"python": "3.11", "numpy": "2", "scipy": "1", "numba": "0.6"},
}
DOCUMENT = {
    **{"machine": MACHINE, "threads": 2, "set": "quick", "seconds": 200.0, "grfpp": "0.1"},
    "began": "2026-01-01T00:00:00+00:00",
}


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
        "Equal seconds",
        "time by the power 1.000",
    ):
        assert text in html
    # A picture for sampling, two for growth, one for the meshes, two for the uses.
    assert html.count("<img ") == 6
    sections = ("sampling", "equal", "growth", "paper", "uses")
    empty = [Row(section, "w", "m", status="not run") for section in sections]
    assert "<img " not in bench_page(DOCUMENT, empty)
