import numpy as np
import pytest
from io_helpers import file_refusal, read_text

FACET = (
    "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
)
SOLID = f"solid a b\n{FACET}endsolid a b\n"


def binary(triangles, announced=None, title=b""):
    count = len(triangles) if announced is None else announced
    facets = b"".join(bytes(12) + np.asarray(t, dtype="<f4").tobytes() + b"\0\0" for t in triangles)
    return title.ljust(80) + count.to_bytes(4, "little") + facets


TRIANGLE = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]


def test_ascii_and_binary():
    assert read_text(SOLID, ".stl").n_edges == 3
    assert read_text(SOLID.upper().replace("\n", "\r\n  "), ".stl").n_edges == 3
    assert read_text(binary([TRIANGLE]), ".stl").n_edges == 3
    assert read_text(binary([TRIANGLE], title=b"solid but binary"), ".stl").n_edges == 3


def test_several_solids_are_one_graph():
    assert read_text(SOLID + SOLID, ".stl").n_nodes == 3
    far = SOLID.replace("vertex 0", "vertex 7").replace("vertex 1", "vertex 8")
    graph = read_text(SOLID + far, ".stl")
    assert (graph.n_nodes, graph.n_edges) == (6, 6)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (SOLID + f"solid c\n{FACET}", "line 17: the file ends here, but the solid of line 10"),
        (SOLID[:60], "line 5: expected the three coordinates"),
        (SOLID.replace("vertex 1 0 0", "vertex 1 0"), "line 5: expected the three coordinates"),
        (SOLID.replace("vertex 1 0 0", "vertex 1 x 0"), "line 5: expected the three coordinates"),
        (SOLID.replace("vertex 1 0 0\n", ""), "line 6: a facet must have three vertices"),
        (SOLID.replace("endfacet\n", ""), "line 8: expected endfacet, found 'endsolid'"),
        (SOLID.replace("vertex 1 0 0", "vertex 1 nan 0"), "finite"),
        ("solid\nendsolid\n", "no triangles"),
        ("solid of words", "line 1"),
        (binary([TRIANGLE])[:-1], "announces 1 triangles, 134 bytes, and has 133"),
        (binary([TRIANGLE], announced=2**32 - 1), "announces 4,294,967,295 triangles"),
        (binary([]), "no triangles"),
        (b"", "only 0 bytes"),
    ],
)
def test_refusals(content, words):
    assert words in file_refusal(content, ".stl")
