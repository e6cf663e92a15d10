import pytest
from io_helpers import file_refusal, read_text

POINTS = "v 0 0 0\nv 1 0 0\nv 1 1 0 1.0\nv 0 1 0\n"


@pytest.mark.parametrize(
    "faces",
    [
        "f 1 2 3\nf 1 3 4\n",
        "f 1 2 3 4\n",
        "f -4 -3 -2 -1\n",
        "vn 0 0 1\nvt 0 0\ng part\nusemtl red\ns off\nf 1/1/1 2/1 3//1 4\n",
        "f 1 2 \\\n 3 4 # comment\n",
    ],
)
def test_ways_to_write_a_square(faces):
    graph = read_text(POINTS + faces, ".obj")
    diagonals = faces.count("f ") - 1
    assert (graph.n_nodes, graph.n_edges) == (4, 4 + diagonals)


def test_faces_before_their_points():
    assert read_text("f 1 2 3\n" + POINTS, ".obj").n_edges == 3


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (POINTS + "f 1 2\n", "line 5: the face needs three corners"),
        (POINTS + "f 1 2 5\n", "line 5: the face names vertex 4, but there are 4"),
        (POINTS + "f 1 2 -5\n", "line 5: the face names vertex -1"),
        (POINTS + "f 0 1 2\n", "line 5: vertices are counted from 1"),
        (POINTS + "f 1 2 x\n", "line 5: expected whole numbers"),
        (POINTS + "v 1 2\n", "line 5: expected the three coordinates"),
        (POINTS + "f 1 2 \\", "line 5: the file ends within a line"),
        (POINTS + "nonsense 1\n", "line 5: not OBJ: unknown keyword 'nonsense'"),
        (POINTS, "no triangles"),
        ("", "no triangles"),
        ("v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "finite"),
    ],
)
def test_refusals(content, words):
    assert words in file_refusal(content, ".obj")
