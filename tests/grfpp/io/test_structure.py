"""Matrices that would end the process, were they handed to compiled code."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from io_helpers import QUICK, dense, refusal, weight_matrices

from grfpp import Graph, InputError
from grfpp.io.structure import check_compressed, checked

FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
MATRIX = np.array([[0.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 3.0]])


def altered(kind, **parts):
    """A matrix whose arrays were changed after scipy had checked them."""
    matrix = sp.coo_array(MATRIX).asformat(kind)
    for name, value in parts.items():
        setattr(matrix, name, value)
    return matrix


@QUICK
@given(weight_matrices(), st.sampled_from(FORMATS))
def test_sound_matrices_are_what_they_were(matrix, kind):
    np.testing.assert_array_equal(checked(sp.coo_array(matrix).asformat(kind)).toarray(), matrix)


BIG = np.array([0, 10**6, 10**6, 0])


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (altered("csr", indptr=BIG), "must not decrease"),
        (altered("csc", indptr=BIG), "must not decrease"),
        (altered("bsr", indptr=BIG), "must not decrease"),
        (altered("csr", indptr=np.array([0, 1, 3, 10**6])), "end at 1,000,000"),
        (altered("csr", indptr=np.array([1, 1, 3, 4])), "begin with 0"),
        (altered("csr", indptr=np.array([0, 4])), "4 row pointers, found 2"),
        (altered("csr", indptr=np.array([0.0, 1, 3, 4])), "whole numbers"),
        (altered("csr", indices=np.array([0, 1, 10**9, 2])), "names column 1,000,000,000"),
        (altered("csr", indices=np.array([0, 1, -1, 2])), "names column -1"),
        (altered("csc", indices=np.array([0, 1, 3, 2])), "names column 3"),
        (altered("csr", indices=np.array([0, 1])), "2 indices for 4 values"),
        (altered("csr", indices=np.array([[0, 1, 1, 2]])), "whole numbers"),
        (altered("csr", data=np.ones(2)), "4 indices for 2 values"),
        (altered("csr", data=np.ones((2, 2))), "numbers or blocks"),
        (altered("bsr", data=np.ones((4, 2, 2))), "do not tile"),
        (altered("bsr", data=np.ones((4, 0, 1))), "do not tile"),
        (
            altered("coo", coords=(np.array([0, 1, 1, 2]), np.array([1, 0, 9**9, 2]))),
            "names column",
        ),
        (altered("coo", coords=(np.array([0, -5, 1, 2]), np.array([1, 0, 1, 2]))), "names row -5"),
        (altered("coo", coords=(np.array([0, 1]), np.array([1, 0]))), "2 rows and 2 columns"),
        (altered("coo", data=np.ones(3)), "values of shape (3,)"),
        (altered("lil", rows=np.array([[1], [0, 1, 1, 1], [2]], dtype=object)), "as many columns"),
        (altered("lil", rows=np.array([[1], [0, 10**9], [2]], dtype=object)), "names column"),
        (altered("lil", rows=np.array([[1], [0, -1], [2]], dtype=object)), "names column -1"),
        (altered("lil", rows=np.array([[1], [0, "x"], [2]], dtype=object)), "whole numbers"),
        (altered("lil", rows=np.array([[1], [0, [1]], [2]], dtype=object)), "whole numbers"),
        (altered("lil", rows=np.array([[1], None, [2]], dtype=object)), "one list of columns"),
        (altered("lil", data=np.array([[1], [2]], dtype=object)), "one list of values"),
        (altered("lil", data=np.array([[1], [2, "x"], [2]], dtype=object)), "real numbers"),
        (altered("dia", offsets=np.array([0, 1])), "2 offsets"),
        (altered("dia", offsets=np.array([0, 0, 0])), "same offset"),
        (altered("dia", data=np.ones(3)), "diagonals of shape"),
        (altered("dok", _dict={(0, 9): 1.0}), "names column 9"),
        (altered("dok", _dict={(0, 1, 2): 1.0}), "pairs"),
        (altered("dok", _dict={(0, "x"): 1.0}), "whole numbers"),
        (altered("dok", _dict={(0, 1): "x"}), "real numbers"),
    ],
)
def test_what_is_malformed_is_refused(matrix, words):
    assert words in refusal(matrix)


def test_room_for_more_entries_is_none_of_them():
    matrix = sp.csr_array(MATRIX)
    matrix.data = np.append(matrix.data, [7.0, 7.0])
    matrix.indices = np.append(matrix.indices, [0, -9]).astype(matrix.indices.dtype)
    np.testing.assert_array_equal(dense(matrix), MATRIX)
    with pytest.raises(InputError, match="end at 4, and it has 6 values"):
        check_compressed(matrix.indices, matrix.indptr, 6, (3, 3), spare=False)


def test_offsets_beyond_the_corners_hold_nothing():
    for offset in (2**63 - 1, -(2**63), 3, -3):
        matrix = sp.dia_array((np.ones((1, 3)), [1]), shape=(3, 3))
        matrix.offsets = np.array([offset])
        assert Graph(matrix).n_edges == 0


@pytest.mark.parametrize("kind", ["coo", "csr", "csc", "bsr"])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.float32, bool])
def test_duplicates_are_summed_in_float64(kind, dtype):
    each, count = (1, 2) if dtype is bool else (100, 700)
    matrix = sp.coo_array(
        (np.full(count, each, dtype), (np.zeros(count, int), np.ones(count, int))), shape=(2, 2)
    )
    if kind == "csr":
        indptr = np.array([0, count, count])
        matrix = sp.csr_array((matrix.data, matrix.col, indptr), shape=(2, 2))
    elif kind == "csc":
        matrix = sp.csc_array((matrix.data, matrix.row, np.array([0, 0, count])), shape=(2, 2))
    elif kind == "bsr":
        blocks = matrix.data.reshape(-1, 1, 1)
        matrix = sp.bsr_array((blocks, matrix.col, np.array([0, count, count])), shape=(2, 2))
    np.testing.assert_array_equal(dense(matrix), [[0, each * count], [0, 0]])


@pytest.mark.skipif(np.finfo(np.longdouble).max == np.finfo(float).max, reason="no longer type")
def test_numbers_beyond_float64_are_infinite():
    assert "finite" in refusal(sp.csr_array(np.array([[np.longdouble("1e4000")]])))


def test_the_right_side_of_a_product(tmp_path):
    import grfpp

    K = grfpp.sample(Graph(MATRIX).normalized("sym"), grfpp.Diffusion(0.1), seed=0)
    np.testing.assert_allclose(K @ sp.csr_array(MATRIX), K.toarray() @ MATRIX)
    with pytest.raises(TypeError) as caught:  # scipy's, whatever the reason
        K @ altered("csr", indptr=BIG)
    assert isinstance(caught.value.__cause__, InputError)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.coo_array, sp.lil_array])
def test_signalling_nans_are_refused_like_others(kind):
    weights = np.zeros((3, 3), np.float32)
    weights.view(np.uint32)[[0, 1], [1, 0]] = 0x7F800001  # becoming float64 makes numpy warn
    with pytest.raises(InputError, match=r"finite|NaN"):
        Graph(kind(weights))
