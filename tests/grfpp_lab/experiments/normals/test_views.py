"""Tables and charts of normals."""

import numpy as np
from laboratory.normals_rows import TRUE, as_paper, cosine_rows, second_rows

from grfpp.datasets import mesh_table
from grfpp_lab.experiments.normals import views
from grfpp_lab.experiments.normals.paper import BRUTE, GRF, PAPER, STITCHED
from grfpp_lab.experiments.normals.parts import TWICE
from grfpp_lab.experiments.views import POOLED


def test_the_table_has_the_papers_numbers_and_the_means():
    stand_in = next(m for m in mesh_table() if m.role == "normals" and m.is_stand_in)
    table = views.cosine_table(cosine_rows(as_paper, [*TRUE[:3], stand_in]))
    meshes, means = table.groups
    first = dict(zip(table.columns, meshes.rows[0], strict=True))
    assert (first["vertices"], first["mesh"], first["paper, GRF++"]) == (
        "64",
        "mesh 60246",
        "0.3889",
    )
    assert (first[BRUTE], first[TWICE]) == ("0.4255", "0.4205")
    assert sum("∗" in line[1] for line in meshes.rows) == 1
    mean = dict(zip(table.columns, means.rows[0], strict=True))
    assert mean["mesh"] == "mean of 3"
    expected = np.mean([PAPER[mesh.paper_vertices, BRUTE] for mesh in TRUE[:3]])
    assert mean[BRUTE] == mean["paper, brute force"] == f"{expected:.4f}"


def test_charts_show_every_mesh():
    rows = cosine_rows(as_paper)
    cosine, missing = views.cosine_panels(rows)
    assert [len(curve.x) for curve in cosine.curves] == [9, 9, 9, 9]
    assert not any(curve.joined for curve in cosine.curves)
    assert [curve.name for curve in missing.curves] == [GRF, STITCHED, POOLED]
    np.testing.assert_allclose(missing.curves[0].y, 0.01)
    above = cosine_rows(lambda m, n, base: as_paper(m, n, base) + 0.1 * (m == POOLED))
    (far,) = views.pooled_panels(above)
    np.testing.assert_allclose(far.curves[2].y, 0.1 - 0.004 / 16)
    assert [curve.name for curve in views.cosine_panels(above)[1].curves] == [GRF, STITCHED]
    assert [panel.title for panel in views.paper_panels(rows)] == [BRUTE, GRF, STITCHED]
    (seconds,) = views.second_panels(second_rows())
    assert len(seconds.curves) == 7
