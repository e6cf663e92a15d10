"""Rows as charts and as tables."""

import pytest

from grfpp_lab.experiments import views
from grfpp_lab.experiments.verdicts import judged

ROWS = [
    {
        "graph": graph,
        "n_nodes": 9,
        "degree": degree,
        "n_walks": walks,
        "error": 1 / (degree * walks),
    }
    for graph in ("karate", "er-20")
    for degree in (2, 1)
    for walks in (16, 4)
]
ROWS = [{**row, "standard_error": 0.01} for row in ROWS]


def test_values_are_sorted_and_distinct_ones_keep_their_order():
    assert views.values([*ROWS, {"degree": None}, {}], "degree") == [1, 2]
    assert views.distinct(ROWS, "graph") == ["karate", "er-20"]
    assert views.select(ROWS, graph="karate", degree=3) == []


def test_curves_are_in_the_order_of_their_axis():
    curve = views.error_curve("c", views.select(ROWS, graph="karate", degree=1), "n_walks", 2)
    assert (curve.x, curve.y, curve.spread) == ([4, 16], [1 / 4, 1 / 16], [0.01, 0.01])
    mean = views.mean_curve("m", ROWS, "n_walks", lambda row: row["degree"], 0)
    assert (mean.x, mean.y) == ([4, 16], [1.5, 1.5])
    assert mean.spread == pytest.approx([0.28867, 0.28867], rel=1e-4)
    assert views.chart("t", [curve, views.curve("none", [], "x", "y")], "x", "y").curves == [curve]


def test_a_claim_on_errors_is_about_its_own_rows():
    claim = views.error_claim(
        *("name", "title", "caption", views.degree_series),
        lambda rows: judged(str(len(rows)), []),
        own=lambda rows: views.select(rows, graph="karate"),
    )
    (panel,) = claim.panels(ROWS)
    assert [curve.name for curve in panel.curves] == ["GRF", "GRF++ degree 2"]
    assert claim.judge(ROWS).paper == "4"
    (table,) = [make(ROWS) for make in claim.tables]
    assert table.groups[0].rows == [["Karate", "0.06 ± 0.01", "0.03 ± 0.01"]]
    assert table.caption.startswith("Relative error at 16 walks")
