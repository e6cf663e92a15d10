"""The experiment on pooled walks: plans and the smallest size."""

import pytest

import grfpp
from grfpp_lab.experiments.refined import experiment as refined
from grfpp_lab.experiments.refined import measuring as graphs
from grfpp_lab.experiments.refined.measuring import (
    AVERAGED,
    CHEBYSHEV,
    INDEPENDENT,
    KERNELS,
    LARGEST,
    POOLED,
)
from grfpp_lab.harness.experiment import Holds, Settings, Size


def test_the_smallest_size_gives_rows_verdicts_charts_and_tables(no_data):
    plan = refined.plan(Settings(Size.TINY, seed=3))
    rows = [row for cell in plan.cells for row in refined.EXPERIMENT.run(cell)]
    assert {row["method"] for row in rows} >= {INDEPENDENT, POOLED, AVERAGED, CHEBYSHEV, LARGEST}
    for claim in refined.EXPERIMENT.claims:
        assert claim.judge(rows).measured
        assert claim.panels(rows), claim.name
        for table in claim.tables:
            made = table(rows)
            assert {len(line) for group in made.groups for line in group.rows} == {
                len(made.columns)
            }
    by_name = {claim.name: claim.judge(rows).holds for claim in refined.EXPERIMENT.claims}
    assert by_name["refined-off"] is Holds.YES


def test_the_full_size_has_all_kernels_on_all_graphs(no_data):
    plan = refined.plan(Settings())
    found = {(cell["graph"], cell["name"]) for cell in plan.cells}
    names = {graph for graph, _ in found}
    assert len(found) == len(names) * len(KERNELS)
    assert {graphs.LARGE_REGULAR, graphs.LARGE_SCALE_FREE, graphs.GRID, graphs.DENSE} <= names
    # Without data, a sphere in place of the mesh.
    assert graphs.MESH in plan.skipped
    assert {graphs.SPHERE, graphs.SPHERE + graphs.LOG_NORMAL} <= names


def test_every_method_takes_the_same_steps(no_data):
    for cell in refined.plan(Settings()).cells:
        for budget in cell.get("budgets", ()):
            assert budget % (2 * cell["degree"] * 9) == 0


def test_series_that_diverge_are_refused():
    with pytest.raises(grfpp.InputError, match="refined: with --scale 1 the series"):
        refined.plan(Settings(scale=1.0))
    assert refined.plan(Settings(Size.TINY, scale=0.5)).cells
