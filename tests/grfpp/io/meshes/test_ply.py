import numpy as np
import pytest
from io_helpers import file_refusal, read_text

POINTS = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]


def header(encoding="ascii", faces=1, vertices=4, extra=""):
    return (
        f"ply\nformat {encoding} 1.0\ncomment made here\nelement vertex {vertices}\n"
        f"property float x\nproperty float y\nproperty float z\n{extra}element face {faces}\n"
        "property list uchar int vertex_indices\nend_header\n"
    )


ROWS = "".join(" ".join(map(str, point)) + "\n" for point in POINTS)


def binary(faces, order="<", line_end=b"\n"):
    encoding = "binary_little_endian" if order == "<" else "binary_big_endian"
    content = header(encoding, len(faces)).encode().replace(b"\n", line_end)
    content += np.array(POINTS, dtype=f"{order}f4").tobytes()
    for face in faces:
        content += bytes([len(face)]) + np.array(face, dtype=f"{order}i4").tobytes()
    return content


def test_ascii():
    graph = read_text(header() + ROWS + "4 0 1 2 3\n", ".ply")
    assert (graph.n_nodes, graph.n_edges) == (4, 4)
    assert read_text((header() + ROWS + "3 0 1 2\n").replace("\n", "\r\n"), ".ply").n_edges == 3


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize(
    ("faces", "n_edges"),
    [
        ([[0, 1, 2]], 3),
        ([[0, 1, 2], [0, 2, 3]], 5),
        ([[0, 1, 2, 3]], 4),
        ([[0, 1, 2], [0, 1, 2, 3]], 5),
    ],
)
def test_binary(faces, n_edges, order, line_end):
    assert read_text(binary(faces, order, line_end), ".ply").n_edges == n_edges


def test_other_properties_and_elements_are_passed_over():
    extra = "property uchar red\nelement camera 1\nproperty double w\nproperty list int float f\n"
    rows = ROWS.replace("\n", " 255\n") + "0.5 2 1.5 2.5\n"
    assert read_text(header(extra=extra) + rows + "3 0 1 2\n", ".ply").n_edges == 3
    vertex = np.array(
        [(*point, 255) for point in POINTS],
        dtype=[("x", "<f4"), ("y", "<f4"), ("z", "<f4"), ("red", "u1")],
    ).tobytes()
    camera = np.array([0.5], dtype="<f8").tobytes() + np.array([2], dtype="<i4").tobytes()
    camera += np.array([1.5, 2.5], dtype="<f4").tobytes()
    face = bytes([3]) + np.array([0, 1, 2], dtype="<i4").tobytes()
    head = header("binary_little_endian", extra=extra).encode()
    assert read_text(head + vertex + camera + face, ".ply").n_edges == 3


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "line 1: not PLY"),
        ("plywood\n", "line 1: not PLY"),
        (header()[:-5], "no end_header"),
        (header().replace("float x", "floot x"), "line 5: not PLY: cannot read 'property floot x'"),
        (header().replace("vertex 4", "vertex four"), "line 4: not PLY"),
        (header().replace("list uchar", "list float"), "line 9: not PLY"),
        (header().replace("ascii", "utf8"), "line 2: not PLY"),
        (header().replace("format ascii 1.0\n", ""), "names no format"),
        (
            header().replace("float x", "float w") + ROWS + "3 0 1 2\n",
            "no vertices with x, y and z",
        ),
        (header() + ROWS, "ends before face 1 of 1; is it truncated"),
        (header() + ROWS[:18], "line 13: the file ends before vertex 4 of 4; is it"),
        (header(vertices=10**15) + ROWS, "truncated"),
        (header() + ROWS + "3 0 1\n", "line 15: cannot read a face from '3 0 1'"),
        (header() + ROWS + "3 0 1 x\n", "line 15: cannot read a face"),
        (header() + ROWS.replace("1 1 0", "1 1"), "line 13: cannot read a vertex from '1 1'"),
        (header() + ROWS + "3 0 1 9\n", "vertex 9"),
        (header() + ROWS + "3 0 1 -1\n", "vertex -1"),
        (header() + ROWS + "2 0 1\n", "face 0 needs three corners at least, found 2"),
        (header(faces=0) + ROWS, "no triangles"),
        (header(vertices=0, faces=0), "no triangles"),
        (binary([[0, 1, 2], [0, 2, 3]])[:-1], "truncated"),
        (binary([[0, 1, 2], [0, 1, 2, 3]])[:-1], "truncated"),
        (binary([[0, 1, 2]])[:150], "truncated"),
        (binary([[0, 1, 9]]), "vertex 9"),
        (binary([[0, 1, 2], [0, 1, 2, -1]]), "face 1 names vertex -1"),
        (header() + ROWS + f"3 0 1 {10**30}\n", f"vertex {10**30}"),
        (header().replace("uchar int", "uchar float") + ROWS + "3 0 1 1.5\n", "list of whole"),
        (header().replace("list uchar int", "int") + ROWS + "3\n", "list of whole numbers"),
        (header().replace("float x", "list int float x") + ROWS, "no vertices with x"),
        (header().replace("element face 1", "element vertex 1"), "line 8: not PLY"),
        (header("binary_little_endian", vertices=10**15), "truncated"),
    ],
)
def test_refusals(content, words):
    assert words in file_refusal(content, ".ply")
