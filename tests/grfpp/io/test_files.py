"""Files by their suffixes: plain, packed, damaged, under another name; attributes of nodes."""

import gzip
import io
import zipfile

import networkx as nx
import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from fuzz.formats import FORMATS
from hypothesis import given
from hypothesis import strategies as st
from io_helpers import QUICK, dense, file_holding, file_refusal, read_text, refusal, weight_matrices

from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.io.files import load_mesh, read_attribute


def as_networkx(matrix):
    kind = nx.Graph if (matrix == matrix.T).all() else nx.DiGraph
    return nx.from_numpy_array(matrix, create_using=kind)


def mtx(matrix, make=sp.coo_array):
    stream = io.BytesIO()
    scipy.io.mmwrite(stream, make(matrix))
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


WRITERS = [
    (".gml", lambda matrix: "\n".join(nx.generate_gml(as_networkx(matrix))).encode()),
    (".graphml", lambda matrix: "\n".join(nx.generate_graphml(as_networkx(matrix))).encode()),
    (".mtx", mtx),
    (".mtx", lambda matrix: mtx(matrix, np.asarray)),
    (".npz", scipy_npz),
    (".npz", grfpp_npz),
]
TRIANGLE = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 3.0, 0.0]])
MESHES = ("off", "obj", "ply-ascii", "ply-binary", "stl-ascii", "stl-binary")
WHOLE_FILES = {
    name: (FORMATS[name].suffix, FORMATS[name].seeds()[1 if name in ("txt", "csv") else 0])
    for name in ("txt", "csv", "gz", "npz-graph", "npz-scipy", "mtx", "gml", "graphml", *MESHES)
}


@QUICK
@given(weight_matrices(), st.sampled_from(WRITERS), st.booleans())
def test_round_trip(matrix, writer, gzipped):
    suffix, write = writer
    content = write(matrix)
    if gzipped and suffix != ".npz":
        suffix, content = suffix + ".gz", gzip.compress(content)
    with file_holding(content, suffix) as path:
        np.testing.assert_array_equal(dense(path), matrix)


@pytest.mark.parametrize("name", MESHES)
def test_meshes_plain_and_packed(name):
    suffix, content = WHOLE_FILES[name]  # an octahedron
    for packed, data in (
        ("", content),
        (".gz", gzip.compress(content)),
        (".zip", zipped(content, f"folder/part{suffix}")),
    ):
        with file_holding(data, suffix + packed) as path:
            graph = Graph(path)
            assert (graph.n_nodes, graph.n_edges, graph.node_ids) == (6, 12, None)
            assert load_mesh(path).vertices.shape == (6, 3)


@pytest.mark.parametrize("name", [name for name in WHOLE_FILES if name != "obj"])
def test_half_a_file_is_refused(name):
    # Half a line is cut off too, so that lists that might end anywhere show it. An OBJ file may
    # end after any line.
    suffix, content = WHOLE_FILES[name]
    half = content[: len(content) // 2].rstrip(b"0123456789. \n")
    file_refusal(half + b" 1 2 3 4", suffix)


@pytest.mark.parametrize("wrong", sorted({suffix for suffix, _ in WHOLE_FILES.values()}))
@pytest.mark.parametrize("name", WHOLE_FILES)
def test_files_under_another_suffix(name, wrong):
    suffix, content = WHOLE_FILES[name]
    if wrong.split(".")[1] != suffix.split(".")[1] and wrong not in (".txt", ".csv"):
        file_refusal(content, wrong)  # a few words a line are an edge list


def test_suffixes():
    assert read_text("0 1\n", ".Name.TXT").n_edges == 1
    assert "'' is a folder" in refusal("")
    message = file_refusal(b"", ".docx")
    assert ".docx is unknown" in message
    assert all(suffix in message for suffix in (".txt", ".edgelist", ".gml", ".npz", ".ply"))
    assert "(none)" in file_refusal(b"", "")
    assert "unknown" in file_refusal(b"", ".npz.gz")
    assert "unknown" in file_refusal(b"", ".gz")
    with file_holding("0 1\n", ".txt") as path, pytest.raises(InputError, match="not a mesh file"):
        load_mesh(path)


def test_zip_files_must_hold_one_such_file():
    assert "one .stl file, found 0" in file_refusal(zipped(b"", "a.txt"), ".stl.zip")
    both = io.BytesIO()
    with zipfile.ZipFile(both, "w") as archive:
        archive.writestr("a.stl", WHOLE_FILES["stl-binary"][1])
        archive.writestr("__MACOSX/a.stl", b"")
        archive.writestr("readme.txt", b"hello")
    with file_holding(both.getvalue(), ".stl.zip") as path:
        assert Graph(path).n_nodes == 6


def test_bad_weights_in_files_name_the_file():
    assert "negative" in file_refusal(mtx(-TRIANGLE), ".mtx")
    assert "finite" in file_refusal(scipy_npz(np.diag([np.inf, 1])), ".npz")
    assert "real numbers" in file_refusal(mtx(TRIANGLE * 1j), ".mtx")
    assert "square" in file_refusal(mtx(np.ones((2, 3))), ".mtx")
    assert "directed=False, but FILE" in file_refusal(
        mtx(np.triu(TRIANGLE)), ".mtx", directed=False
    )


@pytest.fixture
def graph():
    graph = nx.Graph()
    for node, kind in (("d", "x"), ("a", "y"), ("c", "x"), ("b", "z")):
        graph.add_node(node, kind=kind, rank=len(graph))
    graph.add_edges_from([("a", "b"), ("c", "d"), ("a", "c")])
    return graph


@pytest.mark.parametrize("suffix", ["gml", "graphml", "gml.gz"])
def test_attributes_in_the_order_of_the_rows(graph, tmp_path, suffix):
    path = tmp_path / f"graph.{suffix}"
    (nx.write_graphml if suffix == "graphml" else nx.write_gml)(graph, path)
    assert Graph(path).node_ids == ["d", "a", "c", "b"]
    assert read_attribute(path, "kind") == ["x", "y", "x", "z"]
    assert read_attribute(path, "rank") == [0, 1, 2, 3]


def test_attributes_that_are_missing_empty_or_no_number(graph, tmp_path):
    path = tmp_path / "graph.graphml"
    del graph.nodes["c"]["kind"]
    graph.nodes["a"]["kind"] = " "
    graph.nodes["a"]["size"], graph.nodes["c"]["size"] = 0.0, float("nan")
    nx.write_graphml(graph, path)
    assert read_attribute(path, "kind") == ["x", None, None, "z"]
    assert read_attribute(path, "size") == [None, 0.0, None, None]


def test_attributes_that_cannot_be_read(graph, tmp_path):
    nx.write_gml(graph, tmp_path / "graph.gml")
    nx.write_graphml(nx.path_graph(3), tmp_path / "none.graphml")
    (tmp_path / "graph.txt").write_text("0 1\n")
    (tmp_path / "junk.gml").write_text("this is no graph")
    for name, attribute, problem in (
        ("graph.gml", "kinds", "no node has an attribute 'kinds', found"),
        ("none.graphml", "kind", "found none"),
        ("graph.txt", "kind", "has no attributes of nodes"),
        ("junk.gml", "kind", "not"),
    ):
        with pytest.raises(InputError, match=problem):
            read_attribute(tmp_path / name, attribute)
