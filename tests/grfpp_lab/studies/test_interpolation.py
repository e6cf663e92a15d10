"""The study of interpolation: its surfaces, and what it prints."""

import numpy as np
import pytest

from grfpp.tasks.normals import vertex_normals
from grfpp_lab.studies.interpolation import MAKERS, main, surface


def test_the_default_beside_its_rivals(capsys):
    main(["--surfaces", "hull, tiny", "--repeats", "1", "--kernels", "3:16", "--noises", "0.001"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:3] == ["surface", "nodes", "paper"]
    assert lines[1].startswith("hull, tiny")
    assert "default above paper on 1 of 1" in lines
    assert len(MAKERS) == 33


def test_the_grid(capsys):
    kernels = ["--kernels", "3:16", "0:4", "--noises", "0.001", "0.1"]
    main(["--grid", "--surfaces", "box, tiny", "--repeats", "1", *kernels])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("best setting of every task: 0.")
    assert sum("kernel " in line for line in lines) == 4
    cosines = [float(line.split()[0]) for line in lines[1:]]
    assert cosines == sorted(cosines, reverse=True)


@pytest.mark.parametrize("name", [name for name in MAKERS if "tiny" in name])
def test_normals_point_outwards_and_surfaces_are_a_function_of_the_seed(name):
    mesh = surface(name, 0)
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    assert np.einsum("ij,ij->i", a, np.cross(b, c)).sum() > 0  # six times the volume
    assert vertex_normals(mesh.vertices, mesh.faces).any(axis=1).all()
    np.testing.assert_array_equal(surface(name, 0).vertices, mesh.vertices)
    if name != "box, tiny":
        assert not np.array_equal(surface(name, 1).vertices, mesh.vertices)


def test_normals_of_terrain_point_up():
    mesh = surface("terrain, steps", 0)
    assert (vertex_normals(mesh.vertices, mesh.faces)[:, 2] > 0).all()
