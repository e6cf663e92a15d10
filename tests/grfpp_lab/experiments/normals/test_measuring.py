"""Cosines of methods."""

import numpy as np
import pytest
from independent_walks import INDEPENDENT

from grfpp.datasets import triangulated_sphere
from grfpp.tasks.normals import hide_normals, predict_normals
from grfpp_lab.experiments.claims import POOLED
from grfpp_lab.experiments.normals import experiment as normals
from grfpp_lab.experiments.normals import measuring as normals_measuring
from grfpp_lab.experiments.normals.claims import AL_MOHY, BRUTE, COSINES, GRF, REUSED, STITCHED


@pytest.mark.parametrize(
    ("method", "options"),
    [
        (GRF, {"degree": 1}),
        (STITCHED, {"degree": 2}),
        (REUSED, {"degree": 2, "reuse_walks": True}),
        (POOLED, {"degree": 2, "walks": "pooled", "termination": "matched:9"}),
    ],
)
def test_rows_are_what_the_library_predicts(no_data, method, options):
    cell = {
        **{"part": COSINES, "graph": "sphere 2", "n_nodes": 162, "paper_size": 0},
        **{"stand_in": False, "method": method, "n_walks": [4], "sigmas": [0.6]},
        **{"n_choosing": 1, "repeats": 2, "termination": "geometric:0.1", "seed": 0},
    }
    cell |= {name: options[name] for name in ("walks", "termination") if name in options}
    (row,) = normals.run(cell)
    sphere = triangulated_sphere(2)
    seeds = normals_measuring.seeds(
        3, graph="sphere 2", method=method, seed=0, sigma=0.6, n_walks=4
    )
    masks = normals_measuring.seeds(3, graph="sphere 2", what="hidden vertices", seed=0)
    found = [
        predict_normals(
            hide_normals(sphere, 0.8, mask),
            how="paper",
            scale=0.6**2,
            n_walks=4,
            random_state=seed,
            **{**INDEPENDENT, **options},
        ).cosine
        for mask, seed in zip(masks, seeds, strict=True)
    ]
    assert row["cosine_to_choose_by"] == pytest.approx(found[0], rel=1e-12)
    assert row["cosine"] == pytest.approx(np.mean(found[1:]), rel=1e-12)


def test_methods_differ_as_they_should(no_data):
    shared = {
        **{"part": COSINES, "graph": "sphere 2", "n_nodes": 162, "paper_size": 0},
        **{"stand_in": False, "sigmas": [0.8], "n_choosing": 1, "repeats": 3, "seed": 0},
        **{"termination": "geometric:0.1"},
    }
    found = {
        method: normals.run({**shared, "method": method, "n_walks": [n_walks]})[0]["cosine"]
        for method, n_walks in (
            *((BRUTE, None), (AL_MOHY, None), (GRF, 8), (STITCHED, 8), (REUSED, 8)),
        )
    }
    assert found[AL_MOHY] == pytest.approx(found[BRUTE], abs=1e-12)
    assert len({round(value, 9) for value in found.values()}) == 4
    assert found[GRF] < found[STITCHED] < found[BRUTE]
