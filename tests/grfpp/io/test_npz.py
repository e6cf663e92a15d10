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
