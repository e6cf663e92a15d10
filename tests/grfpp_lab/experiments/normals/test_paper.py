"""The paper's table of cosines."""

from laboratory.normals_rows import TRUE

from grfpp.datasets import mesh_table
from grfpp_lab.experiments.normals.paper import AL_MOHY, BRUTE, GRF, PAPER, REUSED, STITCHED


def test_the_papers_table_has_its_meshes_and_methods():
    sizes = {size for size, _ in PAPER}
    assert len(sizes) == 41
    assert sizes == {mesh.paper_vertices for mesh in mesh_table() if mesh.role == "normals"}
    assert {size for size in sizes if (size, AL_MOHY) not in PAPER} == {9603}
    assert all((size, method) in PAPER for size in sizes for method in (BRUTE, GRF, STITCHED))
    assert (PAPER[64, BRUTE], PAPER[8800, BRUTE], PAPER[9603, REUSED]) == (0.4255, 0.9836, 0.9734)
    assert (PAPER[992, GRF], PAPER[992, STITCHED], PAPER[992, AL_MOHY]) == (0.6967, 0.7144, 0.7184)
    assert len(TRUE) == 33
