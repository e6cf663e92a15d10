"""Tables and charts of encodings."""

import pytest
from laboratory.gps_rows import ALL, made_rows

from grfpp_lab.experiments.gps import data as gps_data
from grfpp_lab.experiments.gps.encodings import (
    ENCODINGS,
    GRF,
    GRF_PP,
    LAPLACIAN,
    NOISE,
    NONE,
    OURS,
    WALK,
)
from grfpp_lab.experiments.gps.paper import PAPER
from grfpp_lab.experiments.gps.views import (
    all_error_panels,
    error_panels,
    kinds_table,
    pairs_table,
    paper_table,
    reference_table,
)


def test_the_papers_table_is_quoted_and_put_right():
    rows = made_rows({name: {GRF: 0.01, GRF_PP: 0.03} for name in ALL})
    table = paper_table(rows)
    measured, quoted = (group.rows for group in table.groups)
    assert [line[0] for line in measured] == [gps_data.TASKS[name].title for name in ALL]
    assert all("±" in cell for line in measured for cell in line[2:])
    peptides = next(line for line in quoted if line[0].startswith("Peptides-func"))
    assert peptides[0] == "Peptides-func (printed as Peptides-struct)"
    assert peptides[2:] == ["62.93", "64.17", "64.33"]
    assert PAPER["pattern"] == {NONE: 84.91, GRF: 85.20, GRF_PP: 85.39}
    assert "wrong way round" in table.caption


def test_tables_and_charts_have_every_data_set_and_encoding():
    gains = {GRF: 0.01, GRF_PP: 0.03, WALK: 0.0, LAPLACIAN: 0.0, NOISE: 0.0}
    gains |= dict.fromkeys(OURS, 0.02)
    rows = made_rows(dict.fromkeys(ALL, gains), n_seeds=3)
    assert [len(group.rows) for group in pairs_table(rows).groups] == [6, 6, 6]
    assert pairs_table(rows).groups[0].rows[0][-1] == "+0.48"
    assert pairs_table(rows).groups[0].rows[-1][-1] == "+1.23"  # of an error that falls
    assert [len(group.rows) for group in kinds_table(rows).groups] == [6] * len(OURS)
    assert kinds_table(rows).groups[1].rows[0][-1] == ""
    assert reference_table(rows).columns == ["data", *ENCODINGS]
    panels = error_panels(rows)
    assert [panel.title for panel in panels] == [gps_data.TASKS[name].title for name in ALL]
    assert all(len(panel.curves) == 4 for panel in panels)
    assert all(len(panel.curves) == len(ENCODINGS) for panel in all_error_panels(rows))
    one = made_rows({"mnist": {GRF: 0.01, GRF_PP: 0.03}}, n_seeds=1)
    assert pairs_table(one).groups[0].rows[0][3] == ""
    assert error_panels(one)


def test_charts_show_losses_too():
    rows = made_rows({"mnist": {GRF: -0.1, GRF_PP: 0.1}}, n_seeds=3, noise=0.0)
    (panel,) = error_panels(rows)
    worse, better, same, paper = panel.curves
    assert min(worse.y) > 1 > max(better.y)
    assert same.y == [1.0, 1.0]
    assert paper.y[0] == pytest.approx((100 - 97.38) / (100 - 97.02))
    perfect = [{**row, "test": 1.0} for row in rows]
    assert all(
        y > 0 for each in all_error_panels(perfect) for curve in each.curves for y in curve.y
    )


def test_an_error_is_shown_as_it_is():
    rows = made_rows({"peptides-struct": {GRF: -0.1, GRF_PP: 0.1}}, n_seeds=3, noise=0.0)
    (panel,) = error_panels(rows)
    worse, better, _, paper = panel.curves
    assert min(worse.y) > 1 > max(better.y)
    assert paper.y[0] == pytest.approx(26.61 / 27.84)
    (group, _, _) = pairs_table(rows).groups
    assert group.rows[0][:3] == ["Peptides-struct (our targets)", "+10.00 ± 0.00", "3 of 3"]
    measured, quoted = (group.rows for group in paper_table(rows).groups)
    assert measured[0][1] == "MAE × 100, lower is better"
    assert quoted[-1][0] == "Peptides-struct (printed as Peptides-func ↓)"
