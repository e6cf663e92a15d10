"""Tables and charts of masks."""

import pytest

pytest.importorskip("torch", reason="torch is not installed")
from laboratory.vit_rows import CLEAR, FAINT, rows

from grfpp_lab.experiments.vit import views
from grfpp_lab.experiments.vit.paper import METHODS, PLAIN


def test_the_table_stands_beside_the_paper():
    made = views.table(rows({"mnist": CLEAR, "cifar10": FAINT}, learned=0.5))
    assert len(made.columns) == 1 + len(METHODS) + 5
    assert all(len(line) == len(made.columns) for group in made.groups for line in group.rows)
    assert made.groups[0].rows[0][1:3] == ["72.00 ± 1.58", "73.00 ± 1.54"]
    assert made.groups[0].rows[0][4] == "+1.00 ± 0.07"
    assert made.groups[1].rows[1][:3] == ["Places365", "55.78", "56.03"]
    assert "not comparable" in made.groups[1].title


def test_charts_end_with_the_last_epoch():
    panels = views.panels(rows({"mnist": CLEAR}))
    curve = panels[0].curves[0]
    assert (curve.name, curve.x, curve.y) == (PLAIN, [1, 2], [90.0, 28.0])
