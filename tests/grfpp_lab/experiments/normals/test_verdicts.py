"""Verdicts on normals."""

import pytest
from laboratory.normals_rows import TRUE, as_paper, cosine_rows, second_rows

from grfpp.datasets import mesh_table
from grfpp_lab.experiments.normals import verdicts
from grfpp_lab.experiments.normals.paper import BRUTE, GRF, REUSED, STITCHED
from grfpp_lab.experiments.normals.parts import (
    BIHARMONIC,
    BIHARMONIC_RW,
    HARMONIC,
    KRIGING,
    KRIGING_END,
    PICTURE,
    chosen_rows,
    true_meshes,
)
from grfpp_lab.experiments.views import POOLED
from grfpp_lab.harness.experiment import Holds


def test_stand_ins_take_no_part():
    stand_in = next(m for m in mesh_table() if m.role == "normals" and m.is_stand_in)
    rows = cosine_rows(as_paper, [*TRUE[:4], stand_in])
    assert len(chosen_rows(rows, BRUTE)) == 5
    assert len(true_meshes(chosen_rows(rows, BRUTE))) == 4
    # However bad they are, the verdict is the same.
    ruined = [{**row, "cosine": 0.0} if row["stand_in"] else row for row in rows]
    assert verdicts.judge_cosines(rows) == verdicts.judge_cosines(ruined)
    assert verdicts.judge_paper(rows) == verdicts.judge_paper(ruined)


def test_near_brute_force_and_above_grf_holds():
    verdict = verdicts.judge_cosines(cosine_rows(as_paper))
    assert verdict.holds is Holds.YES
    assert "GRF++ is 0.0050 below brute force" in verdict.measured
    assert "GRF++ above GRF on 9 of 9" in verdict.measured
    assert "GRF with twice the walks" in verdict.measured


@pytest.mark.parametrize(
    "change",
    [
        {STITCHED: -0.2},  # far from brute force, and below GRF
        {STITCHED: -0.006, GRF: -0.006},  # above GRF, but 0.011 from brute force
        {STITCHED: +0.03},  # above brute force by more than is near
        {GRF: +0.006},  # near brute force, but below GRF
    ],
)
def test_cosines_that_do_not_hold(change):
    rows = cosine_rows(lambda m, n, base: as_paper(m, n, base) + change.get(m, 0))
    assert verdicts.judge_cosines(rows).holds is Holds.NO


@pytest.mark.parametrize(
    ("change", "holds", "told"),
    [
        (0.0, Holds.YES, "pooled walks are 0.00025 below brute force"),
        (0.0007, Holds.YES, "pooled walks are 0.00045 above brute force"),
        (-0.0003, Holds.NO, "pooled walks are 0.00055 below brute force"),
        (0.001, Holds.NO, "pooled walks are 0.00075 above brute force"),
    ],
)
def test_pooled_walks(change, holds, told):
    rows = cosine_rows(lambda m, n, base: as_paper(m, n, base) + change * (m == POOLED))
    found = verdicts.judge_pooled(rows)
    assert found.holds is holds
    assert told in found.measured
    assert "above GRF++ on 9 of 9" in found.measured
    without = [row for row in rows if row["method"] != POOLED]
    assert verdicts.judge_pooled(without).holds is Holds.OPEN
    assert verdicts.judge_cosines(without) == verdicts.judge_cosines(rows)


def test_reuse():
    assert verdicts.judge_reuse(cosine_rows(as_paper)).holds is Holds.YES
    worse = cosine_rows(lambda m, n, base: as_paper(m, n, base) - 0.01 * (m == REUSED))
    verdict = verdicts.judge_reuse(worse)
    assert verdict.holds is Holds.NO
    assert "GRF++r above GRF on 0 of 9" in verdict.measured


def test_likeness_to_the_paper():
    verdict = verdicts.judge_paper(cosine_rows(as_paper))
    assert verdict.holds is Holds.YES
    assert "brute force: correlation 1.000 over 9 meshes" in verdict.measured
    unlike = verdicts.judge_paper(cosine_rows(lambda m, n, base: 1 - base))
    assert unlike.holds is Holds.NO
    assert "brute force: correlation -1.000" in unlike.measured
    few = verdicts.judge_paper(cosine_rows(as_paper, TRUE[:2]))
    assert few.holds is Holds.OPEN


def test_seconds():
    verdict = verdicts.judge_seconds(second_rows())
    assert verdict.holds is Holds.YES
    assert "100 times at 2,996 vertices as long as GRF++" in verdict.measured
    assert "35,300 vertices take 2 s from file to cosine" in verdict.measured
    assert "at 35,300 vertices GRF++ 1 s, Chebyshev 0.01 s, Al-Mohy 0.05 s" in verdict.measured
    assert verdicts.judge_seconds(second_rows(dense=0.5)).holds is Holds.NO
    assert verdicts.judge_seconds(second_rows(largest=5.5)).holds is Holds.NO
    small = [row for row in second_rows() if row["n_nodes"] == 992]
    assert verdicts.judge_seconds(small).holds is Holds.OPEN


def test_the_verdict_on_the_picture():
    rows = [
        {
            **{"part": PICTURE, "method": method, "cosine": cosine, "mean_angle": 9.0},
            **{"n_walks": 4, "credit": "somebody"},
        }
        for method, cosine in (("exact kernel", 0.96), (GRF, 0.94), (STITCHED, 0.95))
    ]
    assert verdicts.judge_picture(rows).holds is Holds.YES
    assert "GRF++ 0.9500 (9.0°), with 4 walks (somebody)" in verdicts.judge_picture(rows).measured
    worse = [{**row, "cosine": 0.9} if row["method"] == STITCHED else row for row in rows]
    assert verdicts.judge_picture(worse).holds is Holds.NO


def _kriging_rows(kriging=0.01, rw=0.002, seconds=None):
    """Biharmonic functions are 0.02 above harmonic ones, kriging so much above the former."""
    above = {HARMONIC: 0.0, BIHARMONIC: 0.02, BIHARMONIC_RW: 0.02 + rw, KRIGING: 0.02 + kriging}
    brute = [row for row in cosine_rows(as_paper) if row["method"] == BRUTE]
    rows = brute + [
        {**row, "method": method, "sigma": None, "cosine": row["cosine"] + more}
        for row in brute
        for method, more in above.items()
    ]
    if seconds is not None:
        rows.append({**second_rows()[0], "n_nodes": 151_438, "method": KRIGING_END})
        rows[-1]["seconds"] = seconds
    return rows


@pytest.mark.parametrize(
    ("options", "holds"),
    [
        ({}, Holds.YES),
        ({"seconds": 9.0}, Holds.YES),
        ({"seconds": 11.0}, Holds.NO),
        ({"kriging": 0.0005}, Holds.YES),  # 0.0015 below the better of the two
        ({"kriging": -0.0005}, Holds.NO),  # 0.0025 below
        ({"kriging": -0.021, "rw": -0.04}, Holds.NO),  # below harmonic functions everywhere
    ],
)
def test_kriging(options, holds):
    found = verdicts.judge_kriging(_kriging_rows(**options))
    assert found.holds is holds
    assert "kriging above harmonic on" in found.measured
    assert ("151,438 vertices take" in found.measured) == ("seconds" in options)


def test_kriging_must_be_above_harmonic_on_nearly_all_meshes():
    rows = _kriging_rows(kriging=0.1)
    meshes = sorted({row["graph"] for row in rows})
    ruined = [
        {**row, "cosine": row["cosine"] - 0.13}
        if row["method"] == KRIGING and row["graph"] == meshes[0]
        else row
        for row in rows
    ]
    assert len(meshes) == 9  # 8 of 9 are fewer than 30 of 33
    assert verdicts.judge_kriging(ruined).holds is Holds.NO
    without = [row for row in rows if row["method"] != KRIGING]
    assert verdicts.judge_kriging(without).holds is Holds.OPEN
