"""The experiment on vertex normals: plans and the smallest size."""

import pytest

from grfpp.datasets import at_hand
from grfpp_lab.experiments.claims import POOLED
from grfpp_lab.experiments.normals import claims as parts
from grfpp_lab.experiments.normals import experiment as normals
from grfpp_lab.experiments.normals.claims import BRUTE, COSINES, DENSE, METHODS, PICTURE, SECONDS
from grfpp_lab.harness.experiment import Settings, Size


@pytest.fixture
def tiny(no_data):
    plan = normals.plan(Settings(Size.TINY, seed=3))
    return plan, [row for cell in plan.cells for row in normals.run(cell)]


def test_the_smallest_size_gives_rows_verdicts_charts_and_tables(tiny):
    plan, rows = tiny
    assert "mesh 60246" in plan.skipped
    assert {row["part"] for row in rows} == {COSINES, SECONDS, PICTURE}
    cosines = [row for row in rows if row["part"] == COSINES]
    assert {row["method"] for row in cosines} == {*METHODS, POOLED, *parts.BESIDE}
    assert {row["method"] for row in rows if "walks" in row} == {POOLED}
    assert all(-1 <= row["cosine"] <= 1 for row in rows)
    for claim in normals.EXPERIMENT.claims:
        assert claim.judge(rows).measured
        assert claim.panels(rows)
        for table in claim.tables:
            made = table(rows)
            assert {len(line) for group in made.groups for line in group.rows} == {
                len(made.columns)
            }
    again = [row for cell in plan.cells if cell["part"] != SECONDS for row in normals.run(cell)]
    assert again == [row for row in rows if row["part"] != SECONDS]
    dense = [row for row in rows if row["method"] == DENSE]
    assert dense
    assert all(row["distance_to_polynomials"] < 1e-12 for row in dense)


@pytest.mark.skipif(not at_hand("60246"), reason="meshes are not at hand (GRFPP_DATA)")
def test_real_meshes_and_their_numbers():
    plan = normals.plan(Settings(Size.TINY))
    assert {cell["graph"] for cell in plan.cells} == {"mesh 60246", "mesh 85580"}
    cell = next(
        cell
        for cell in plan.cells
        if (cell["graph"], cell["part"], cell["method"]) == ("mesh 85580", COSINES, BRUTE)
    )
    rows = normals.run(cell)
    assert {row["paper_cosine"] for row in rows} == {0.7675}
    assert all(0.6 < row["cosine"] < 1 for row in rows)


@pytest.mark.skipif(not at_hand("87370"), reason="meshes are not at hand (GRFPP_DATA)")
def test_the_full_size_has_all_meshes_of_the_paper_and_the_large_ones():
    plan = normals.plan(Settings(Size.FULL))
    compared = {cell["graph"] for cell in plan.cells if cell["part"] == COSINES}
    assert len(compared) == 41
    timed = {cell["n_nodes"] for cell in plan.cells if cell["part"] == SECONDS}
    assert {35_300, 151_438} <= timed
    dense = {cell["n_nodes"] for cell in plan.cells if cell["method"] == DENSE}
    assert max(dense) <= 10_000
    assert [cell["graph"] for cell in plan.cells if cell["part"] == PICTURE] == ["mesh 98480"]


def test_settings_reach_the_cells(no_data):
    plan = normals.plan(Settings(Size.TINY, scale=0.25, p_halt=0.3))
    for cell in plan.cells:
        if cell["part"] == COSINES:
            assert cell["sigmas"] == ([None] if cell["method"] in parts.BESIDE else [0.5])
        else:
            assert cell["sigma"] == 0.5
    laws = {cell.get("walks"): cell["termination"] for cell in plan.cells}
    assert laws == {None: "geometric:0.3", POOLED: "matched:2.33333333333"}
