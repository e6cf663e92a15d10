import io

import numpy as np
import pytest
import scipy.sparse as sp
from io_helpers import file_refusal, read_text

from grfpp.graph import Graph
from grfpp.io.npz import GRAPH_FORMAT

MATRIX = np.array([[0.0, 2.0], [2.0, 1.0]])


def archive(**arrays):
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def saved(**changes):
    """Make a file like one of Graph.save, but for some arrays; None leaves one out."""
    graph = Graph(MATRIX)
    arrays = {
        "meta": np.array(f'{{"format": "{GRAPH_FORMAT}"}}'),
        "indptr": graph.indptr,
        "indices": graph.indices,
        "weights": graph.weights,
    } | changes
    return archive(**{key: value for key, value in arrays.items() if value is not None})


@pytest.mark.parametrize("kind", ["bsr", "coo", "csc", "csr", "dia"])
@pytest.mark.parametrize("container", [sp.coo_array, sp.coo_matrix])
def test_what_scipy_saved(kind, container):
    stream = io.BytesIO()
    sp.save_npz(stream, container(MATRIX).asformat(kind))
    graph = read_text(stream.getvalue(), ".npz")
    np.testing.assert_array_equal(graph.adjacency.toarray(), MATRIX)
    assert graph.node_ids is None


def test_what_grfpp_saved():
    np.testing.assert_array_equal(read_text(saved(), ".npz").adjacency.toarray(), MATRIX)
    named = read_text(saved(node_ids=np.array(["x", "y"])), ".npz")
    assert named.node_ids == ["x", "y"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (saved(indptr=None), "damaged"),
        (saved(indptr=np.array(3)), "damaged"),
        (saved(indptr=np.array([0, 1])), "damaged"),
        (saved(indptr=np.array([0, 2, 1])), "damaged"),
        (saved(indices=np.array([1, 0, 9], dtype=np.int32)), "damaged"),
        (saved(weights=np.array([1.0])), "damaged"),
        (saved(weights=np.array(["a", "b", "c"])), ""),
        (saved(weights=np.array([1.0, 1.0, np.nan])), "finite"),
        (saved(node_ids=np.array(["x"])), "damaged"),
        (saved(meta=np.array('{"format": "grfpp-estimate-1"}')), "holds 'grfpp-estimate-1'"),
        (archive(a=np.arange(3)), "not written by grfpp"),
        (archive(format=np.array(b"csr"), shape=np.array([2, 2]), data=np.ones(3)), "damaged"),
        (archive(format=np.array(b"xyz"), shape=np.array([2, 2]), data=np.ones(3)), "damaged"),
        (
            archive(
                format=np.array(b"csr"),
                shape=np.array([2, 2]),
                data=np.ones(2),
                indices=np.array([0, 5]),
                indptr=np.array([0, 1, 2]),
            ),
            "malformed",
        ),
        (
            archive(
                format=np.array(b"coo"),
                shape=np.array([10**12, 10**12]),
                data=np.ones(1),
                row=np.array([0]),
                col=np.array([1]),
            ),
            "1,000,000,000,000 nodes",
        ),
    ],
)
def test_refusals(content, words):
    assert words in file_refusal(content, ".npz")


def many(**arrays):
    """A file of many entries, which compiled code would write without looking."""
    return archive(**{"data": np.ones(10**5), "indices": np.zeros(10**5, np.int32)} | arrays)


BIG = np.array([0, 10**5, 10**5, 0])


def test_row_pointers_that_end_in_zero():
    """scipy looks no further then; converting such a matrix ended the process."""
    entries = {"weights": np.ones(10**5), "indices": np.zeros(10**5, np.int32)}
    assert "must not decrease" in file_refusal(saved(indptr=BIG, **entries), ".npz")
    for kind in (b"csr", b"csc", b"bsr"):
        values = {"data": np.ones((10**5, 1, 1))} if kind == b"bsr" else {}
        content = many(format=np.array(kind), shape=np.array([3, 3]), indptr=BIG, **values)
        assert "must not decrease" in file_refusal(content, ".npz")


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"format": b"coo", "row": [0], "col": [9]}, "names column 9"),
        ({"format": b"coo", "row": [0, 1], "col": [1]}, "2 rows and 1 columns"),
        ({"format": b"dia", "offsets": [0]}, "diagonals of shape (1,)"),
        ({"format": b"csr", "indices": [0], "indptr": [0, 1, 1], "data": [[[1.0]]]}, "in csr form"),
        ({"format": b"bsr", "indices": [0], "indptr": [0, 1, 1]}, "in bsr form"),
        ({"format": b"coo", "row": [0], "col": [1], "shape": [-1, 2]}, "not the shape"),
        ({"format": b"coo", "row": [0], "col": [1], "shape": [2, 2, 2]}, "not the shape"),
        ({"format": b"coo", "row": [0], "col": [1], "shape": [2.0, 2.0]}, "not the shape"),
        ({"format": b"coo", "row": [0], "col": [1], "data": [1j]}, "real numbers"),
        ({"format": [b"coo", b"csr"], "row": [0], "col": [1]}, "is not known"),
    ],
)
def test_other_damage_to_what_scipy_saved(parts, words):
    arrays = {"shape": [2, 2], "data": [1.0]} | parts
    content = archive(**{name: np.array(value) for name, value in arrays.items()})
    assert words in file_refusal(content, ".npz")


def test_small_numbers_that_stand_twice_are_summed_in_float64():
    parts = {"row": np.zeros(3, int), "col": np.ones(3, int), "data": np.full(3, 200, np.uint8)}
    content = archive(format=np.array(b"coo"), shape=np.array([2, 2]), **parts)
    assert read_text(content, ".npz").weights.tolist() == [600.0]
