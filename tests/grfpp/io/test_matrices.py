"""Matrices from arrays and files; those that would end the process in compiled code are refused."""

import io
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from io_helpers import QUICK, dense, file_refusal, read_text, refusal

import grfpp
from grfpp import Graph, InputError
from grfpp.io.matrices import (
    GRAPH_FORMAT,
    arcs,
    check_compressed,
    check_node_count,
    real_numbers,
    undirected,
    unweighted,
)

FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
MATRIX = np.array([[0.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 3.0]])
BIG = np.array([0, 10**6, 10**6, 0])


# --- arrays of numbers ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtype", [bool, np.int8, np.uint64, np.int64, np.float16, np.float32, np.longdouble]
)
def test_every_real_dtype(dtype):
    np.testing.assert_array_equal(dense(np.array([[0, 1], [1, 0]], dtype=dtype)), [[0, 1], [1, 0]])
    assert Graph(np.eye(2, dtype=dtype)).weights.dtype == np.float64


def test_masked_entries_are_no_edges_and_objects_may_be_real_numbers():
    masked = np.ma.masked_equal(np.array([[-1.0, 3.0], [3.0, -1.0]]), -1.0)
    np.testing.assert_array_equal(dense(masked), [[0, 3], [3, 0]])
    values = [1, 2.5, True, np.float32(0.5), Fraction(1, 4)]
    np.testing.assert_array_equal(real_numbers(values, str), [1, 2.5, 1, 0.5, 0.25])
    for wrong in ("1", None, 1j, [1.0]):
        with pytest.raises(InputError, match="for edge 1"):
            real_numbers([1, wrong], lambda i: f"edge {i}")
    with pytest.raises(InputError):
        real_numbers([10**400], str)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.coo_array, sp.lil_array])
def test_signalling_nans_are_refused_like_others(kind):
    weights = np.zeros((3, 3), np.float32)
    weights.view(np.uint32)[[0, 1], [1, 0]] = 0x7F800001  # becoming float64 makes numpy warn
    refusal(kind(weights))


# --- sparse matrices ------------------------------------------------------------------------------


def altered(kind, **parts):
    """A matrix whose arrays were changed after scipy had checked them."""
    matrix = sp.coo_array(MATRIX).asformat(kind)
    for name, value in parts.items():
        setattr(matrix, name, value)
    return matrix


def lists(*rows):
    array = np.empty(len(rows), dtype=object)
    array[:] = rows
    return array


@pytest.mark.parametrize(
    "matrix",
    [
        altered("csr", indptr=BIG),
        altered("bsr", indptr=BIG),
        altered("csr", indptr=np.array([0, 1, 3, 10**6])),
        altered("csr", indptr=np.array([1, 1, 3, 4])),
        altered("csr", indptr=np.array([0.0, 1, 3, 4])),
        altered("csr", indices=np.array([0, 1, 10**9, 2])),
        altered("csc", indices=np.array([0, 1, 3, 2])),
        altered("csr", indices=np.array([0, 1])),
        altered("csr", indices=np.array([[0, 1, 1, 2]])),
        altered("csr", data=np.ones(2)),
        altered("bsr", data=np.ones((4, 2, 2))),
        altered("bsr", data=np.ones((4, 0, 1))),
        altered("coo", coords=(np.array([0, 1, 1, 2]), np.array([1, 0, 9**9, 2]))),
        altered("coo", coords=(np.array([0, -5, 1, 2]), np.array([1, 0, 1, 2]))),
        altered("coo", data=np.ones(3)),
        altered("lil", rows=lists([1], [0, 1, 1, 1], [2])),
        altered("lil", rows=lists([1], [0, 10**9], [2])),
        altered("lil", rows=lists([1], [0, "x"], [2])),
        altered("lil", rows=lists([1], None, [2])),
        altered("lil", data=lists([1], [2, "x"], [2])),
        altered("dia", offsets=np.array([0, 1])),
        altered("dia", offsets=np.array([0, 0, 0])),
        altered("dia", data=np.ones(3)),
        altered("dok", _dict={(0, 9): 1.0}),
        altered("dok", _dict={(0, 1, 2): 1.0}),
        altered("dok", _dict={(0, 1): "x"}),
    ],
)
def test_malformed_matrices(matrix):
    assert any(word in refusal(matrix) for word in ("malformed", "must be real numbers"))


def test_room_for_more_entries():
    matrix = sp.csr_array(MATRIX)
    matrix.data = np.append(matrix.data, [7.0, 7.0])
    matrix.indices = np.append(matrix.indices, [0, -9]).astype(matrix.indices.dtype)
    np.testing.assert_array_equal(dense(matrix), MATRIX)
    with pytest.raises(InputError):
        check_compressed(matrix.indices, matrix.indptr, 6, (3, 3), spare=False)


def test_offsets_beyond_the_corners_hold_nothing():
    for offset in (2**63 - 1, -(2**63), 3, -3):
        matrix = sp.dia_array((np.ones((1, 3)), [1]), shape=(3, 3))
        matrix.offsets = np.array([offset])
        assert Graph(matrix).n_edges == 0


@pytest.mark.parametrize("kind", ["coo", "csr", "csc", "bsr"])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, bool])
def test_duplicates_are_summed_in_float64(kind, dtype):
    value, count = (1, 2) if dtype is bool else (100, 700)
    values, zeros, ones = np.full(count, value, dtype), np.zeros(count, int), np.ones(count, int)
    indptr = np.array([0, count, count])
    matrix = {
        "coo": lambda: sp.coo_array((values, (zeros, ones)), shape=(2, 2)),
        "csr": lambda: sp.csr_array((values, ones, indptr), shape=(2, 2)),
        "csc": lambda: sp.csc_array((values, zeros, [0, 0, count]), shape=(2, 2)),
        "bsr": lambda: sp.bsr_array((values.reshape(-1, 1, 1), ones, indptr), shape=(2, 2)),
    }[kind]()
    np.testing.assert_array_equal(dense(matrix), [[0, value * count], [0, 0]])


@pytest.mark.skipif(np.finfo(np.longdouble).max == np.finfo(float).max, reason="no longer type")
def test_numbers_beyond_float64_are_infinite():
    assert "finite" in refusal(sp.csr_array(np.array([[np.longdouble("1e4000")]])))


def test_the_right_side_of_a_product():
    K = grfpp.sample(Graph(MATRIX).normalized("sym"), grfpp.Diffusion(0.1), seed=0)
    np.testing.assert_allclose(K @ sp.csr_array(MATRIX), K.toarray() @ MATRIX)
    with pytest.raises(TypeError) as caught:  # scipy's, whatever the reason
        K @ altered("csr", indptr=BIG)
    assert isinstance(caught.value.__cause__, InputError)


# --- edges ----------------------------------------------------------------------------------------

N = 4
EDGES = st.lists(
    st.tuples(st.integers(0, N - 1), st.integers(0, N - 1), st.integers(0, 5)), max_size=12
)


@QUICK
@given(EDGES)
def test_edges_as_matrices(edges):
    u, v, w = np.array(edges, dtype=np.int64).reshape(-1, 3).T
    summed, present = np.zeros((N, N)), np.zeros((N, N))
    for i, j, weight in edges:
        summed[i, j] += weight
        present[i, j] = present[j, i] = 1
    np.testing.assert_array_equal(arcs(u, v, w.astype(float), N).toarray(), summed)
    both = summed + summed.T - np.diag(np.diag(summed))
    np.testing.assert_array_equal(undirected(u, v, w.astype(float), N).toarray(), both)
    np.testing.assert_array_equal(unweighted(np.stack([u, v], axis=1), N).toarray(), present)


def test_sizes_beyond_memory_are_refused_before_allocation(monkeypatch):
    monkeypatch.setattr("grfpp._memory.available_bytes", lambda: 10**8)
    assert "bytes" in refusal(([[0], [10**9]], None))
    assert "bytes" in refusal(([[0], [1]], None), n_nodes=10**9)
    assert "bytes" in refusal(sp.coo_array((10**9, 10**9)))
    with pytest.raises(InputError, match=r"someone asks for 2,147,483,648 nodes"):
        check_node_count(2**31, "someone")


# --- Matrix Market --------------------------------------------------------------------------------

BANNER = "%%MatrixMarket matrix coordinate real general\n"
SYMMETRIC, ARRAY = BANNER.replace("general", "symmetric"), BANNER.replace("coordinate", "array")
ARRAY_SYMMETRIC = ARRAY.replace("general", "symmetric")


@pytest.mark.parametrize(
    ("content", "matrix"),
    [
        (BANNER + "2 2 1\n1 2 3.5\n", [[0, 3.5], [0, 0]]),
        ("\ufeff" + BANNER + "2 2 1\r\n1 2 3.5", [[0, 3.5], [0, 0]]),
        (SYMMETRIC + "2 2 1\n2 1 3\n", [[0, 3], [3, 0]]),
        (SYMMETRIC.replace("real", "pattern") + "% c\n2 2 2\n2 1\n1 1\n", [[1, 1], [1, 0]]),
        (BANNER.replace("real", "integer") + "2 2 2\n1 2 1\n1 2 2\n", [[0, 3], [0, 0]]),
        (ARRAY + "2 2\n0\n1\n2\n0\n", [[0, 2], [1, 0]]),
        (ARRAY_SYMMETRIC + "3 3\n0\n1\n2\n0\n3\n0\n", [[0, 1, 2], [1, 0, 3], [2, 3, 0]]),
        (BANNER + "3 3 0\n", np.zeros((3, 3))),
    ],
)
def test_matrix_market(content, matrix):
    np.testing.assert_array_equal(read_text(content, ".mtx").adjacency.toarray(), matrix)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (BANNER + "2 2 2\n1 2 3.5\n", "announces 2 entries, found 1"),
        (BANNER + "2 2 1\n1 2 3.5\n2 1 3.5\n", "announces 1 entries, found 2"),
        (BANNER + "% c\n2 2 2\n% c\n1 2 1\n1 2 x\n", "row 1, column 3"),
        (BANNER + "2 2 1\n1 2\n", "3 numbers an entry"),
        (BANNER + "2 2 1\n1.5 2 1\n", "1.5"),
        (BANNER + "2 2 1\n1 7 1\n", "exceeds"),
        (BANNER + "2 2 1\n0 1 1\n", "negative"),
        (BANNER + "2 3 1\n1 2 1\n", "square"),
        (SYMMETRIC + "2 3 1\n1 2 1\n", "line 2"),
        (BANNER + "2 2 1\n1 2 -1\n", "negative"),
        (BANNER.replace("real", "complex") + "2 2 1\n1 2 1 1\n", "line 1"),
        (BANNER.replace("general", "skew-symmetric") + "2 2 0\n", "line 1"),
        (ARRAY.replace("real", "pattern"), "line 1"),
        (BANNER, "line 1"),
        (BANNER + "2 2\n", "line 2"),
        (ARRAY + "2 2\n1\n2\n3\n", "found 3"),
        ("", "line 1"),
        (BANNER + "0 0 0\n", "no nodes"),
        (BANNER + f"{10**12} {10**12} 1\n1 2 1\n", "1,000,000,000,000 nodes"),
        (ARRAY + "100000 100000\n1\n", "announces"),
        (BANNER + "9" * 5000 + " 5 1\n", "nodes"),
    ],
)
def test_damaged_matrix_market(content, words):
    assert words in file_refusal(content, ".mtx")


# --- .npz -----------------------------------------------------------------------------------------


def archive(**arrays):
    stream = io.BytesIO()
    np.savez(stream, **{name: np.array(value) for name, value in arrays.items()})
    return stream.getvalue()


def saved(**changes):
    """A file like one of Graph.save, but for some arrays; None leaves one out."""
    graph = Graph(MATRIX)
    arrays = {part: getattr(graph, part) for part in ("indptr", "indices", "weights")}
    arrays |= {"meta": f'{{"format": "{GRAPH_FORMAT}"}}'} | changes
    return archive(**{key: value for key, value in arrays.items() if value is not None})


@pytest.mark.parametrize("kind", FORMATS[:5])
@pytest.mark.parametrize("container", [sp.coo_array, sp.coo_matrix])
def test_what_scipy_saved(kind, container):
    stream = io.BytesIO()
    sp.save_npz(stream, container(MATRIX).asformat(kind))
    graph = read_text(stream.getvalue(), ".npz")
    np.testing.assert_array_equal(graph.adjacency.toarray(), MATRIX)
    assert graph.node_ids is None


def test_what_grfpp_saved():
    np.testing.assert_array_equal(read_text(saved(), ".npz").adjacency.toarray(), MATRIX)
    assert read_text(saved(node_ids=["x", "y", "z"]), ".npz").node_ids == ["x", "y", "z"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"indptr": None}, "damaged"),
        ({"indptr": 3}, "damaged"),
        ({"indptr": [0, 2, 1, 4]}, "damaged"),
        ({"indptr": BIG, "weights": np.ones(10**5), "indices": np.zeros(10**5, int)}, "damaged"),
        ({"indices": [1, 0, 9, 2]}, "damaged"),
        ({"weights": ["a", "b", "c", "d"]}, "damaged"),
        ({"weights": [1.0, 1.0, 1.0, np.nan]}, "finite"),
        ({"node_ids": ["x"]}, "damaged"),
        ({"meta": '{"format": "grfpp-estimate-1"}'}, "holds 'grfpp-estimate-1'"),
    ],
)
def test_damage_to_what_grfpp_saved(changes, words):
    assert words in file_refusal(saved(**changes), ".npz")


@pytest.mark.parametrize(
    "parts",
    [
        {"format": b"csr"},
        {"format": b"xyz", "row": [0], "col": [1]},
        {"format": b"csr", "indices": [5], "indptr": [0, 1, 1]},
        {"format": b"csr", "indices": [0] * 99, "indptr": [0, 99, 0], "data": [1.0] * 99},
        {"format": b"csr", "indices": [0], "indptr": [0, 1, 1], "data": [[[1.0]]]},
        {"format": b"bsr", "indices": [0], "indptr": [0, 1, 1]},
        {"format": b"coo", "row": [0], "col": [1], "shape": [10**12, 10**12]},
        {"format": b"coo", "row": [0, 1], "col": [1]},
        {"format": b"dia", "offsets": [0, 0]},
        {"format": b"coo", "row": [0], "col": [1], "shape": [2, 2, 2]},
        {"format": b"coo", "row": [0], "col": [1], "data": [1j]},
        {"format": [b"coo", b"csr"], "row": [0], "col": [1]},
    ],
)
def test_damage_to_what_scipy_saved(parts):
    content = archive(**{"shape": [2, 2], "data": [1.0]} | parts)
    assert "the stored matrix is damaged" in file_refusal(content, ".npz")
