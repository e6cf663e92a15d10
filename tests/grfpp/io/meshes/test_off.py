import io
import zipfile

import numpy as np
import pytest
from io_helpers import file_refusal, read_text, real_data

from grfpp.io.meshes.mesh import read_mesh

BODY = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n"


@pytest.mark.parametrize(
    "head", ["OFF\n4 1 0\n", "OFF 4 1 0\n", "OFF4 1 0\n", "# c\nOFF # c\n\n4 1\n", "COFF\n4 1 0\n"]
)
def test_headers(head):
    body = BODY.replace("\n", " 255 0 0 255\n") if head.startswith("C") else BODY
    graph = read_text(head + body + "4 0 1 2 3\n", ".off")
    assert (graph.n_nodes, graph.n_edges) == (4, 4)  # a square has no diagonal


def test_repeated_points_are_named_by_the_first():
    graph = read_text("OFF\n4 2 0\n0 0 0\n1 0 0\n0 0 0\n0 1 0\n3 0 1 3\n3 2 1 3\n", ".off")
    assert graph.node_ids == [0, 1, 3]


def test_colours_of_faces_are_left_out():
    assert read_text(f"OFF\n4 1 0\n{BODY}3 0 1 2 255 0 0\n", ".off").n_edges == 3


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "line 1: the file ends before its header"),
        ("OFF\n", "line 1: the file ends before its counts"),
        ("OFF\n4 2 0\n0 0 0\n", "line 3: the file ends before vertex 2 of 4; is it truncated?"),
        (f"OFF\n4 2 0\n{BODY}3 0 1 2\n", "line 7: the file ends before face 2 of 2"),
        (f"OFF\n4 1 0\n{BODY}3 0 1\n", "line 7: a face of 3 corners lists 2"),
        (f"OFF\n4 1 0\n{BODY}3 0 1 4\n", "line 7: the face names vertex 4, but there are 4"),
        (f"OFF\n4 1 0\n{BODY}3 0 1 -1\n", "line 7: the face names vertex -1"),
        (f"OFF\n4 1 0\n{BODY}2 0 1\n", "line 7: the face needs three corners"),
        (f"OFF\n4 1 0\n{BODY}x 0 1\n", "line 7: expected whole numbers, found 'x'"),
        (f"OFF\n4 1 0\n{BODY}-3 0 1\n", "line 7"),
        ("OFF\n1 0 0\n0 zero 0\n", "line 3: expected the three coordinates"),
        ("OFF\n4\n", "line 2: expected the numbers of vertices and of faces"),
        ("OFF\n-4 1 0\n", "line 2: expected the numbers of vertices"),
        ("OFF\na b c\n", "line 2: expected whole numbers"),
        (f"OFF\n{10**15} 1 0\n0 0 0\n", "line 3: the file ends before vertex 2"),
        ("OFF BINARY\n", "line 1: expected OFF in text form"),
        ("4OFF\n", "line 1: expected OFF in text form"),
        ("solid x\n", "line 1: expected OFF"),
        ("OFF\n0 0 0\n", "no vertices"),
        (f"OFF\n4 0 0\n{BODY}", "no triangles"),
        (f"OFF\n4 1 0\n{BODY}{'9' * 5000} 1 2\n", "line 7"),
    ],
)
def test_refusals(content, words):
    assert words in file_refusal(content, ".off")


def test_real_shapes_against_trimesh():
    trimesh = pytest.importorskip("trimesh", reason="needs grfpp[mesh]")
    with zipfile.ZipFile(real_data("shapes", "geometric_shapes.zip")) as archive:
        names = [name for name in archive.namelist() if name.endswith(".off")]
        assert len(names) == 80
        for name in names[::8]:
            content = archive.read(name)
            graph = read_text(content, ".off")
            peer = trimesh.load_mesh(io.BytesIO(content), file_type="off")
            edges = {tuple(edge) for edge in peer.edges_unique.tolist() if edge[0] != edge[1]}
            assert graph.n_nodes == len(peer.vertices)
            mesh = read_mesh(content, name, ".off").triangulated()  # which trimesh does by itself
            assert np.count_nonzero(mesh.adjacency().toarray()) == 2 * len(edges)
