import io

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given
from io_helpers import QUICK, file_refusal, read_text, weight_matrices

BANNER = "%%MatrixMarket matrix coordinate real general\n"


@pytest.mark.parametrize(
    ("content", "matrix"),
    [
        (BANNER + "2 2 1\n1 2 3.5\n", [[0, 3.5], [0, 0]]),
        (BANNER.replace("general", "symmetric") + "2 2 1\n2 1 3\n", [[0, 3], [3, 0]]),
        (
            BANNER.replace("real general", "pattern symmetric") + "% words\n2 2 2\n2 1\n1 1\n",
            [[1, 1], [1, 0]],
        ),
        (BANNER.replace("real", "integer") + "2 2 2\n1 2 1\n1 2 2\n", [[0, 3], [0, 0]]),
        (BANNER.replace("coordinate", "array") + "2 2\n0\n1\n2\n0\n", [[0, 2], [1, 0]]),
        (
            "%%MatrixMarket matrix array real symmetric\n3 3\n0\n1\n2\n0\n3\n0\n",
            [[0, 1, 2], [1, 0, 3], [2, 3, 0]],
        ),
    ],
)
def test_headers_say_what_the_matrix_is(content, matrix):
    graph = read_text(content, ".mtx")
    np.testing.assert_array_equal(graph.adjacency.toarray(), matrix)
    assert graph.node_ids is None


@pytest.mark.parametrize("kind", ["coordinate", "array"])
@QUICK
@given(matrix=weight_matrices())
def test_against_scipy(kind, matrix):
    stream = io.BytesIO()
    scipy.io.mmwrite(stream, sp.coo_array(matrix) if kind == "coordinate" else matrix)
    graph = read_text(stream.getvalue(), ".mtx")
    peer = scipy.io.mmread(io.BytesIO(stream.getvalue()))
    peer = peer.toarray() if kind == "coordinate" else peer
    np.testing.assert_array_equal(graph.adjacency.toarray(), peer)
    np.testing.assert_array_equal(peer, matrix)


def test_graphs_without_edges():
    assert read_text(BANNER + "3 3 0\n", ".mtx").n_nodes == 3
    assert read_text(BANNER + "3 3 0", ".mtx").n_nodes == 3


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (BANNER + "2 2 2\n1 2 3.5\n", "line 3: the file ends after 1 entries"),
        (BANNER + "2 2 1\n1 2 3.5\n2 1 3.5\n", "line 4: the file ends after 2 entries"),
        (BANNER + "2 2 1\n", "the file ends after 0 entries"),
        (BANNER + "% c\n2 2 2\n% c\n1 2 1\n1 2 x\n", "line 6: expected a row and a column and a"),
        (BANNER + "2 2 1\n1 2\n", "line 3: expected a row and a column and a weight"),
        (BANNER + "2 2 1\n1.5 2 1\n", "line 3: expected a row"),
        (BANNER + '2 2 1\n1 2 3"', "line 3: expected a row"),
        (BANNER + "2 2 1\n1 7 1\n", "entry 1 is at (1, 7), outside of the 2 x 2"),
        (BANNER + "2 2 1\n0 1 1\n", "entry 1 is at (0, 1), outside"),
        (BANNER + "2 3 1\n1 2 1\n", "square"),
        (BANNER.replace("general", "symmetric") + "2 3 1\n1 2 1\n", "line 2: a symmetric matrix"),
        (BANNER + "2 2 1\n1 2 -1\n", "negative"),
        (BANNER + "2 2 1\n1 2 nan\n", "finite"),
        (BANNER.replace("real", "complex") + "2 2 1\n1 2 1 1\n", "line 1: weights must be real"),
        (BANNER.replace("general", "skew-symmetric") + "2 2 0\n", "line 1: the matrix must be"),
        (BANNER.replace("coordinate real", "array pattern"), "line 1"),
        (BANNER, "line 1: the file ends before the size"),
        (BANNER + "2 2\n", "line 2: expected the size (rows, columns, entries), found '2 2'"),
        (BANNER + "2 2 -1\n", "line 2: expected the size"),
        (BANNER.replace("coordinate", "array") + "2 2\n1\n2\n3\n", "ends after 3 entries"),
        ("", "line 1: not Matrix Market"),
        ("0 1\n1 2\n", "line 1: not Matrix Market"),
        (BANNER + "0 0 0\n", "no nodes"),
        (BANNER + f"{10**12} {10**12} 1\n1 2 1\n", "1,000,000,000,000 nodes"),
        (BANNER + f"5 5 {10**12}\n1 2 1\n", "announces 1,000,000,000,000 entries"),
        (BANNER.replace("coordinate", "array") + "100000 100000\n1\n", "announces"),
        (BANNER + f"{10**30} 5 1\n1 2 1\n", "nodes"),
        (BANNER + "9" * 5000 + " 5 1\n", "nodes"),
    ],
)
def test_refusals(content, words):
    assert words in file_refusal(content, ".mtx")
