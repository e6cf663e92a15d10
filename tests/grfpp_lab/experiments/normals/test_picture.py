"""The picture."""

from grfpp_lab.experiments.normals import picture as normals_picture
from grfpp_lab.experiments.normals.parts import PICTURE


def test_the_picture_is_left_out_where_its_mesh_is_gone(no_data):
    row = {"part": PICTURE, "graph": "mesh 98480", "sigma": 0.8, "seed": 12345}
    assert normals_picture.picture_panels([{**row, "termination": "geometric:0.1"}]) == []
