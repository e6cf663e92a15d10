import numpy as np
import pytest
from io_helpers import file_refusal, read_text

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


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (BANNER + "2 2 2\n1 2 3.5\n", "truncated"),
        (BANNER + "2 2 1\n1 2 x\n", "line 3"),
        (BANNER + "2 2 1\n1 7 1\n", "line 3"),
        (BANNER + "2 3 1\n1 2 1\n", "square"),
        (BANNER + "2 2 1\n1 2 -1\n", "negative"),
        (BANNER + "2 2 1\n1 2 nan\n", "finite"),
        (BANNER.replace("real", "complex") + "2 2 1\n1 2 1 1\n", "real numbers"),
        (BANNER, "Matrix Market"),
        ("", "Matrix Market"),
        ("0 1\n1 2\n", "line 1"),
        (BANNER + f"{10**12} {10**12} 1\n1 2 1\n", "1,000,000,000,000 nodes"),
        (BANNER + f"5 5 {10**12}\n1 2 1\n", "announces 1,000,000,000,000 entries"),
        (BANNER.replace("coordinate", "array") + "100000 100000\n1\n", "announces"),
        (BANNER + f"{10**30} 5 1\n1 2 1\n", "Matrix Market"),
    ],
)
def test_refusals(content, words):
    assert words in file_refusal(content, ".mtx")
