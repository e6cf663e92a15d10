"""Panels as values."""

from laboratory.surfaces import surface

from grfpp_lab.report.panels import Curve, Panel, legend


def test_a_legend_names_each_curve_once():
    one, two, three = (Curve(name, [1], [1]) for name in ("one", "two", "three"))
    panels = [Panel("first", [one, two], "x", "y"), Panel("other", [two, three], "x", "y")]
    assert [curve.name for curve in legend(panels)] == ["one", "two", "three"]


def test_surfaces_have_no_legend_and_say_what_they_show():
    chart = Panel("t", [Curve("c", [1], [1])], "x", "y")
    assert legend([surface([1] * 8)]) == []
    assert chart.shows == "y against x"
    assert surface([1] * 8).shows == "error, as colours on the mesh"
