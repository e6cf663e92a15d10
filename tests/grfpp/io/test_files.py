import gzip
import io
import zipfile
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from io_helpers import FUZZ, QUICK, dense, file_holding, file_refusal, refusal, weight_matrices

from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.io.files import load_mesh, read_attribute


def gml(matrix):
    return "\n".join(nx.generate_gml(as_networkx(matrix))).encode()


def graphml(matrix):
    return "\n".join(nx.generate_graphml(as_networkx(matrix))).encode()


def as_networkx(matrix):
    kind = nx.Graph if (matrix == matrix.T).all() else nx.DiGraph
    return nx.from_numpy_array(matrix, create_using=kind)


def mtx(matrix):
    stream = io.BytesIO()
    scipy.io.mmwrite(stream, sp.coo_array(matrix))
    return stream.getvalue()


def scipy_npz(matrix):
    stream = io.BytesIO()
    sp.save_npz(stream, sp.csr_array(matrix))
    return stream.getvalue()


def grfpp_npz(matrix):
    with file_holding(b"", ".npz") as path:
        Graph(matrix).save(path)
        return path.read_bytes()


def zipped(content, member):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(member, content)
    return stream.getvalue()


WRITERS = {".gml": gml, ".graphml": graphml, ".mtx": mtx}
ARCHIVES = [scipy_npz, grfpp_npz]
TRIANGLE = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 3.0, 0.0]])

OFF = b"OFF\n4 2 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2\n3 0 1 3\n"
OBJ = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1/1/1 2//1 4\n"
PLY_HEADER = (
    b"ply\nformat %s 1.0\nelement vertex 4\nproperty float x\nproperty float y\n"
    b"property float z\nelement face 2\nproperty list uchar int vertex_indices\nend_header\n"
)
PLY_ASCII = PLY_HEADER % b"ascii" + b"0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2\n3 0 1 3\n"
PLY_BINARY = (
    PLY_HEADER % b"binary_little_endian"
    + np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype="<f4").tobytes()
    + np.array([(3, [0, 1, 2]), (3, [0, 1, 3])], dtype=[("n", "u1"), ("v", "<i4", 3)]).tobytes()
)
STL_ASCII = (
    b"solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n"
    b"endloop\nendfacet\nfacet normal 0 1 0\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n"
    b"vertex 0 0 1\nendloop\nendfacet\nendsolid s\n"
)
STL_BINARY = (
    bytes(80)
    + (2).to_bytes(4, "little")
    + b"".join(
        np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0], last], dtype="<f4").tobytes() + b"\0\0"
        for last in ([0, 1, 0], [0, 0, 1])
    )
)
MESHES = [
    (".off", OFF),
    (".obj", OBJ),
    (".ply", PLY_ASCII),
    (".ply", PLY_BINARY),
    (".stl", STL_ASCII),
    (".stl", STL_BINARY),
]
WHOLE_FILES = [
    *((suffix, write(TRIANGLE)) for suffix, write in WRITERS.items()),
    *((".npz", write(TRIANGLE)) for write in ARCHIVES),
    *MESHES,
    (".txt", b"# c\n0 1 1.0\n0 2 2.0\n1 2 3.0\n"),
    (".csv", b"source,target,weight\na,b,1.0\na,c,2.0\nb,c,3.0\n"),
    (".tsv.gz", gzip.compress(b"a\tb\t1.0\na\tc\t2.0\nb\tc\t3.0\n", mtime=0)),
    (".stl.zip", zipped(STL_BINARY, "part.stl")),
]
TWO_TRIANGLES = np.array([[0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 0], [1, 1, 0, 0]])


@QUICK
@given(weight_matrices(), st.sampled_from(sorted(WRITERS)), st.booleans())
def test_round_trip(matrix, suffix, gzipped):
    content = WRITERS[suffix](matrix)
    if gzipped:
        suffix, content = suffix + ".gz", gzip.compress(content)
    with file_holding(content, suffix) as path:
        np.testing.assert_array_equal(dense(path), matrix)


@QUICK
@given(weight_matrices(), st.sampled_from(ARCHIVES))
def test_archives_round_trip(matrix, write):
    with file_holding(write(matrix), ".npz") as path:
        np.testing.assert_array_equal(dense(path), matrix)


@pytest.mark.parametrize(("suffix", "content"), MESHES)
def test_meshes_plain_and_packed(suffix, content):
    for packed, data in (
        ("", content),
        (".gz", gzip.compress(content)),
        (".zip", zipped(content, f"folder/part{suffix}")),
    ):
        with file_holding(data, suffix + packed) as path:
            np.testing.assert_array_equal(dense(path), TWO_TRIANGLES)
            assert load_mesh(path).vertices.shape == (4, 3)


def only_input_errors(content, suffix):
    """Read what may be no graph at all: there is one, or an `InputError` that names the file."""
    with file_holding(content, suffix) as path:
        try:
            assert Graph(path).n_nodes > 0
        except InputError as error:
            assert str(path) in str(error)


@pytest.mark.parametrize(("suffix", "whole"), WHOLE_FILES)
@FUZZ
@given(data=st.data())
def test_damaged_files(suffix, whole, data):
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(whole))] * 2)))
    patch = data.draw(
        st.one_of(
            st.binary(max_size=8),
            st.sampled_from(
                [b"999999999999999999999", b"-1", b"\n", b"nan", b"1e400", b'"', b"[["]
            ),
        )
    )
    only_input_errors(whole[:start] + patch + whole[end:], suffix)


@pytest.mark.parametrize(("suffix", "content"), [f for f in WHOLE_FILES if f[0] != ".obj"])
def test_half_a_file_is_refused(suffix, content):
    # Half a line is cut off too, so that lists that might end anywhere show it. An OBJ file may
    # end after any line.
    half = content[: len(content) // 2].rstrip(b"0123456789. \n")
    file_refusal(half + b" 1 2 3 4", suffix)


@pytest.mark.parametrize("wrong", sorted({suffix for suffix, _ in WHOLE_FILES}))
@pytest.mark.parametrize(("suffix", "content"), WHOLE_FILES)
def test_files_under_another_suffix(suffix, content, wrong):
    if wrong.split(".")[1] != suffix.split(".")[1]:
        only_input_errors(content, wrong)
        if wrong not in (".txt", ".csv"):  # a few words a line are an edge list
            file_refusal(content, wrong)


def test_missing_files_folders_and_suffixes(tmp_path):
    assert "there is no file" in refusal(tmp_path / "none.txt")
    assert "there is no file" in refusal("none.txt")
    assert "is a folder" in refusal(tmp_path)
    assert "'' is a folder" in refusal("")
    assert "names of files have no zero bytes" in refusal("a\0b.txt")
    message = file_refusal(b"", ".docx")
    assert ".docx is unknown" in message
    assert all(suffix in message for suffix in (".txt", ".edgelist", ".gml", ".npz", ".ply"))
    assert "(none)" in file_refusal(b"", "")
    assert "unknown" in file_refusal(b"", ".npz.gz")
    assert "unknown" in file_refusal(b"", ".gz")


def test_paths_of_every_kind(tmp_path, monkeypatch):
    path = tmp_path / "Graph.Name.TXT"
    path.write_text("0 1\n")
    assert Graph(path).n_edges == Graph(str(path)).n_edges == 1
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Graph(Path("~/Graph.Name.TXT")).n_edges == 1


def test_zip_files_must_hold_one_such_file():
    assert "one .stl file, found 0" in file_refusal(zipped(b"", "a.txt"), ".stl.zip")
    both = io.BytesIO()
    with zipfile.ZipFile(both, "w") as archive:
        archive.writestr("a.stl", STL_BINARY)
        archive.writestr("__MACOSX/a.stl", b"")
        archive.writestr("readme.txt", b"hello")
    with file_holding(both.getvalue(), ".stl.zip") as path:
        assert Graph(path).n_nodes == 4


def test_bad_weights_in_files_name_the_file():
    assert "negative" in file_refusal(mtx(-TRIANGLE), ".mtx")
    assert "finite" in file_refusal(scipy_npz(np.diag([np.inf, 1])), ".npz")
    assert "real numbers" in file_refusal(mtx(TRIANGLE * 1j), ".mtx")
    assert "square" in file_refusal(mtx(np.ones((2, 3))), ".mtx")
    assert "directed=False, but FILE" in file_refusal(
        mtx(np.triu(TRIANGLE)), ".mtx", directed=False
    )


def test_load_mesh_wants_a_mesh():
    with file_holding("0 1\n", ".txt") as path, pytest.raises(InputError, match="not a mesh file"):
        load_mesh(path)


@pytest.fixture
def graph():
    graph = nx.Graph()
    for node, kind in (("d", "x"), ("a", "y"), ("c", "x"), ("b", "z")):
        graph.add_node(node, kind=kind, rank=len(graph))
    graph.add_edges_from([("a", "b"), ("c", "d"), ("a", "c")])
    return graph


@pytest.mark.parametrize(
    ("suffix", "write"), [("gml", nx.write_gml), ("graphml", nx.write_graphml)]
)
def test_attributes_in_the_order_of_the_rows(graph, tmp_path, suffix, write):
    path = tmp_path / f"graph.{suffix}"
    write(graph, path)
    assert Graph(path).node_ids == ["d", "a", "c", "b"]
    assert read_attribute(path, "kind") == ["x", "y", "x", "z"]
    assert read_attribute(path, "rank") == [0, 1, 2, 3]


def test_attributes_of_packed_files(graph, tmp_path):
    path = tmp_path / "graph.gml.gz"
    path.write_bytes(gzip.compress("\n".join(nx.generate_gml(graph)).encode()))
    assert read_attribute(path, "kind") == ["x", "y", "x", "z"]


def test_unknown_attributes(graph, tmp_path):
    path = tmp_path / "graph.gml"
    nx.write_gml(graph, path)
    with pytest.raises(InputError, match="no node has an attribute 'kinds'; there are kind"):
        read_attribute(path, "kinds")


def test_attributes_of_nodes_that_have_none(tmp_path):
    path = tmp_path / "graph.graphml"
    nx.write_graphml(nx.path_graph(3), path)
    with pytest.raises(InputError, match="nodes have none at all"):
        read_attribute(path, "kind")


def test_attributes_missing_at_some_nodes(graph, tmp_path):
    path = tmp_path / "graph.graphml"
    del graph.nodes["c"]["kind"]
    graph.nodes["a"]["kind"] = " "
    nx.write_graphml(graph, path)
    assert read_attribute(path, "kind") == ["x", None, None, "z"]


def test_no_number_is_none(tmp_path):
    path = tmp_path / "graph.graphml"
    numbers = nx.path_graph(2)
    numbers.nodes[0]["rank"], numbers.nodes[1]["rank"] = 0.0, float("nan")
    nx.write_graphml(numbers, path)
    assert read_attribute(path, "rank") == [0.0, None]


def test_formats_without_attributes(graph, tmp_path):
    path = tmp_path / "graph.txt"
    nx.write_edgelist(graph, path, data=False)
    with pytest.raises(InputError, match="has no attributes of nodes"):
        read_attribute(path, "kind")


@pytest.mark.parametrize("suffix", ["gml", "graphml"])
def test_attributes_of_junk(tmp_path, suffix):
    path = tmp_path / f"graph.{suffix}"
    path.write_text("this is no graph")
    with pytest.raises(InputError, match="not"):
        read_attribute(path, "kind")
