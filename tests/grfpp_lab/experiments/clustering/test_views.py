"""Tables and charts of clustering."""

import pytest
from laboratory.clustering_rows import pooled_rows, regularized_rows, rows

from grfpp_lab.experiments.clustering.paper import GRF, GRF_PP, LOUVAIN
from grfpp_lab.experiments.clustering.views import (
    EQUAL,
    EXACT,
    POOLED_PP,
    REGULARIZED,
    degree_table,
    pooled_panels,
    regularized_panels,
    rival_panels,
    rival_table,
    walk_panels,
)


def test_tables_and_panels():
    made = rows(karate=(0.3, 0.2, 0.2, 0.4), cora=(0.3, 0.3, 0.2, 0.1))
    first = degree_table(made)
    assert first.groups[0].rows[0][:4] == ["Karate", "10", "2", "0.3000 ± 0.0300"]
    assert first.groups[0].rows[0][-2:] == ["0.2995", "0.2585"]
    assert first.groups[0].rows[1][-2:] == ["", ""]
    second = rival_table(made)
    assert second.columns == ["graph", GRF, GRF_PP, EXACT, LOUVAIN]
    assert [len(group.rows) for group in second.groups] == [2, 1]
    assert second.groups[1].rows[0] == ["Karate", "0.2995", "0.2585", "", "0.4367"]
    assert [panel.title for panel in walk_panels(made)] == ["Karate", "Cora"]
    (panel,) = rival_panels(made)  # the paper has no Cora
    assert [curve.name for curve in panel.curves] == [GRF, GRF_PP, LOUVAIN, EQUAL]
    assert (panel.curves[1].x, panel.curves[1].y) == ([0.2585], [0.2])


def test_pooled_walks_are_a_further_curve_and_column():
    made = [*rows(karate=(0.3, 0.2, 0.2, 0.4)), *pooled_rows(karate=0.19)]
    (panel,) = walk_panels(made)
    assert [curve.name for curve in panel.curves] == [GRF, GRF_PP, POOLED_PP, EXACT]
    assert len({curve.style for curve in panel.curves}) == 4
    (beside,) = pooled_panels(made)
    assert [curve.y for curve in beside.curves] == [pytest.approx([y]) for y in (0.1, 0.0, 0.01)]
    first = degree_table(made)
    line = dict(zip(first.columns, first.groups[0].rows[0], strict=True))
    assert (line[POOLED_PP], line[EXACT]) == ("0.1900 ± 0.0300", "0.2000 ± 0.0300")
    assert POOLED_PP in rival_table(made).columns
    assert [curve.name for curve in rival_panels(made)[0].curves] == [GRF, GRF_PP, LOUVAIN, EQUAL]


def test_the_default_beside_the_best_other_method():
    made = [*rows(karate=(0.3, 0.2, 0.2, 0.4)), *regularized_rows(karate=0.1)]
    (panel,) = regularized_panels(made)
    assert [curve.name for curve in panel.curves] == [REGULARIZED, EXACT, LOUVAIN]
    assert [curve.y for curve in panel.curves] == [[0.1], [0.2], [0.4]]
    assert REGULARIZED in rival_table(made).columns
