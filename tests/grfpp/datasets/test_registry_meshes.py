"""The table of meshes, against the paper's and the real files."""

import csv
import os
from pathlib import Path

from datasets_helpers import needs_data

from grfpp.datasets import dataset_info, mesh_table


def test_the_table():
    table = mesh_table()
    assert len({mesh.name for mesh in table}) == len(table) == 49
    roles = [mesh.role for mesh in table]
    assert [roles.count(role) for role in ("normals", "scaling", "extra")] == [41, 4, 4]
    stand_ins = [mesh for mesh in table if mesh.is_stand_in]
    assert len(stand_ins) == 9
    for mesh in table:
        assert mesh.licence
        if mesh.role == "extra":
            assert mesh.paper_name is mesh.paper_vertices is None
        elif mesh.is_stand_in:
            assert abs(mesh.n_vertices / mesh.paper_vertices - 1) < 0.01
        else:
            assert (mesh.n_vertices, mesh.name) == (mesh.paper_vertices, mesh.paper_name)
    sizes = [mesh.paper_vertices for mesh in table if mesh.paper_vertices]
    assert sizes == sorted(sizes)


def rows(name):
    with Path(os.environ["GRFPP_DATA"], "meshes", name).open(
        encoding="utf-8", newline=""
    ) as stream:
        return list(csv.DictReader(stream))


def test_the_table_says_what_the_real_data_say():
    needs_data()
    sizes = {row["file"]: row for row in rows("manifest.csv")}
    for mesh, row in zip(mesh_table(), rows("paper_table.csv"), strict=True):
        assert row["file"] == f"thingi10k_{mesh.name}.stl.zip"
        assert (row["paper_thingi10k_id"] or None) == mesh.paper_name
        assert (row["paper_vertices"] or "None") == str(mesh.paper_vertices)
        assert ("stand-in" in row["match"]) == mesh.is_stand_in
        found = sizes[row["file"]]
        assert mesh.author in found["licence"]
        assert [mesh.n_vertices, mesh.n_edges, mesh.n_faces] == [
            int(found[key]) for key in ("vertices", "edges", "faces")
        ]
        source = found["source"].partition("@")[2].replace(":", "/")
        assert dataset_info(mesh.name).files[0].address.endswith(source)
