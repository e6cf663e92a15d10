import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from fresh_python import imported_by
from hypothesis import given
from io_helpers import QUICK, dense, refusal, weight_matrices

from grfpp.graph import Graph
from grfpp.io import read_adjacency

FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
PAIR = np.array([[0.0, 2.0], [2.0, 0.0]])


@QUICK
@given(weight_matrices())
def test_every_sparse_format(matrix):
    for kind in FORMATS:
        for container in (sp.coo_array, sp.coo_matrix):
            np.testing.assert_array_equal(dense(container(matrix).asformat(kind)), matrix)


@QUICK
@given(weight_matrices())
def test_dense_arrays_and_lists(matrix):
    np.testing.assert_array_equal(dense(matrix), matrix)
    np.testing.assert_array_equal(dense(np.asfortranarray(matrix)), matrix)
    np.testing.assert_array_equal(dense(matrix.tolist()), matrix)


def test_duplicates_are_summed_and_zeros_dropped():
    matrix = sp.coo_array(([1.0, 2.0, 0.0], ([0, 0, 1], [1, 1, 1])), shape=(2, 2))
    graph = Graph(matrix)
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 3], [0, 0]])
    assert graph.adjacency.nnz == 1


def test_the_source_is_not_changed():
    matrix = sp.csr_array(PAIR)
    graph = Graph(matrix)
    matrix.data[:] = 7
    np.testing.assert_array_equal(graph.weights, [2, 2])
    array = PAIR.copy()
    Graph(array)
    array[0, 1] = 5  # still writeable


def test_subclasses_are_known_by_their_bases():
    class Mine(nx.DiGraph):
        pass

    assert Graph(Mine([(0, 1)])).is_directed


def test_edge_index_with_weights():
    index = np.array([[0, 1, 1], [1, 0, 0]])
    np.testing.assert_array_equal(dense((index, [1.0, 2.0, 3.0])), [[0, 1], [5, 0]])
    np.testing.assert_array_equal(dense(([[0, 1], [1, 0]], None)), [[0, 1], [1, 0]])


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (np.array([["a", "b"], ["c", "d"]]), "real numbers"),
        (np.array([[0, 1], [1, None]], dtype=object), "real numbers"),
        ([[0, "x"], ["x", 0]], "real numbers"),
        (np.eye(2) * 1j, "real numbers"),
        (sp.csr_array(np.eye(2) * 1j), "real numbers"),
        (np.array(["2020-01-01"], dtype="M8[D]").reshape(1, 1), "real numbers"),
        ([[1, 2], [3]], "not an array of numbers"),
        ([], "two dimensions"),
        (np.ones(3), "two dimensions"),
        (np.float64(3.0), "two dimensions"),
        (np.ones((2, 2, 2)), "two dimensions"),
        (sp.coo_array(np.ones(3)), "two dimensions"),
        (np.ones((2, 3)), "square"),
        (sp.csr_array((2, 3)), "square"),
        (np.ones((2, 3), dtype=int), "(edge_index, None)"),
        (np.zeros((0, 0)), "no nodes"),
        (None, "NoneType"),
        (7, "int"),
        ({0: [1]}, "dict"),
        (object(), "object"),
        (b"graph.txt", "bytes"),
        ((np.eye(3), np.eye(3)), "edge_index"),
        ((np.array([[0, 1], [1, 2], [2, 0]]), None), "transpose"),
        ((np.array([[0.0, 1.0], [1.0, 0.0]]), None), "whole numbers"),
        ((np.array([[True, False], [True, False]]), None), "whole numbers"),
        ((np.array([[0, -1], [1, 0]]), None), "negative"),
        (([[0, 1], [1, 0]], [1.0]), "one number for each of the 2 edges"),
        (([[0, 1], [1, 0]], [[1.0], [1.0]]), "shape (2, 1)"),
        (([[0, 1], [1, 0]], ["a", "b"]), "real numbers"),
        (([[0, 1], [1]], None), "edge_index"),
        (([[], []], None), "no nodes"),
        (([[0], [10**18]], None), "more than this version can number"),
        ((np.array([[0], [2**64 - 1]], dtype=np.uint64), None), "18,446,744,073,709,551,616"),
        (sp.coo_array(([1.0], ([0], [1])), shape=(10**12, 10**12)), "1,000,000,000,000 nodes"),
    ],
)
def test_refusals(source, words):
    assert words in refusal(source)


def test_malformed_indices_never_reach_compiled_code():
    matrix = sp.csr_array(np.eye(3))
    matrix.indices[1] = 1000
    assert "malformed" in refusal(matrix)


def test_n_nodes_adds_isolated_nodes_to_an_edge_index():
    assert Graph(([[0], [1]], None), n_nodes=4).n_nodes == 4
    assert Graph(([[], []], None), n_nodes=4).n_edges == 0
    assert "numbered from 0" in refusal(([[0], [4]], None), n_nodes=4)


def test_n_nodes_must_agree_with_other_sources():
    assert Graph(PAIR, n_nodes=2).n_nodes == 2
    assert "the source has 2 nodes" in refusal(PAIR, n_nodes=3)
    assert "whole number" in refusal(PAIR, n_nodes=2.5)
    assert ">= 1" in refusal(PAIR, n_nodes=0)
    assert "can number" in refusal(PAIR, n_nodes=10**12)


def test_directed_false_refuses_a_directed_source():
    assert not Graph(PAIR, directed=False).is_directed
    assert "from 0 to 1 is 1" in refusal(np.array([[0, 1], [0, 0]], dtype=np.uint8), directed=False)
    assert "square" in refusal(np.ones((3, 2)), directed=False)
    assert Graph(PAIR, directed=True).n_edges == 1
    assert "True, False or None" in refusal(PAIR, directed="yes")


def test_labels_come_with_the_matrix():
    matrix, labels = read_adjacency(nx.path_graph(["x", "y"]))
    assert matrix.shape == (2, 2)
    assert labels == ["x", "y"]
    assert read_adjacency(PAIR)[1] is None


def test_reading_a_matrix_imports_nothing_heavy():
    code = "import grfpp.graph; grfpp.graph.Graph([[0, 1], [1, 0]])"
    assert imported_by(code, ["networkx", "torch", "matplotlib", "trimesh", "igraph"]) == []
