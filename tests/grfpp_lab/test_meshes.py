"""The paper's meshes and what stands in for them."""

from grfpp.datasets import mesh_table
from grfpp_lab import meshes


def test_the_papers_sizes_are_those_of_the_data():
    sizes = [mesh.paper_vertices for mesh in mesh_table() if mesh.role == "scaling"]
    assert [mesh.n_nodes for mesh in meshes.PAPER_MESHES] == sizes
    assert meshes.LARGEST.dense_seconds is None


def test_what_is_not_at_hand_is_named_by_its_file(no_data):
    assert meshes.why_absent("60246") == "meshes/thingi10k_60246.stl.zip is not at hand"
    (no_data / "meshes").mkdir()
    (no_data / "meshes" / "thingi10k_60246.stl.zip").touch()
    assert meshes.why_absent("60246") is None


def test_spheres_have_the_sizes_that_they_say():
    for name, n_nodes in meshes.spheres((1, 2, 3)):
        assert len(meshes.mesh_named(name).vertices) == n_nodes
