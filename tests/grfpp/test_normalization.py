"""Weights over degrees: as numbers, and as a rule, to the last bit."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from io_helpers import QUICK

from grfpp import Graph
from grfpp.normalization import (
    Rows,
    ScaledWeights,
    common_weight,
    normalized_formula,
    normalized_weights,
    row_blocks,
)

A = sp.csr_array(np.array([[0, 2, 1.0], [3, 0, 0], [0, 5, 4]]))


def random_graph(*, directed, weighted):
    rng = np.random.default_rng(3)
    matrix = (rng.random((40, 40)) < 0.15) * (rng.random((40, 40)) if weighted else 0.25)
    return Graph(matrix if directed else np.triu(matrix, 1) + np.triu(matrix, 1).T)


@pytest.mark.parametrize("kind", ["sym", "rw"])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_rule_and_numbers_are_the_same_to_the_last_bit(kind, directed, weighted):
    graph = random_graph(directed=directed, weighted=weighted)
    assert graph.is_directed == directed
    rows = Rows(graph.indptr, graph.indices, graph.weights)
    numbers = normalized_weights(rows, kind, 0.7, directed=directed)
    plain = Rows(graph.indptr, graph.indices, graph.scaled.base)
    rule = normalized_formula(graph.scaled, plain, kind, 0.7, directed=directed)
    assert (rule.base is None) == (not weighted)
    np.testing.assert_array_equal(rule.fill(graph.indptr, graph.indices), numbers)
    dense = graph.adjacency.toarray()
    out, into = dense.sum(axis=1, keepdims=True), dense.sum(axis=0)
    divisor = np.broadcast_to(out if kind == "rw" else np.sqrt(out * into), dense.shape)
    expected = 0.7 * np.divide(dense, divisor, out=np.zeros_like(dense), where=dense != 0)
    found = sp.csr_array((numbers, graph.indices, graph.indptr), dense.shape).toarray()
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def dense(rule, matrix):
    values = rule.fill(matrix.indptr.astype(np.int64), matrix.indices)
    return sp.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape).toarray()


@pytest.mark.parametrize("weighted", [True, False])
def test_every_kind_and_its_transpose(weighted):
    matrix = A if weighted else sp.csr_array((A != 0).astype(float))
    out, into = matrix.sum(axis=1), matrix.sum(axis=0)
    base = matrix.data if weighted else None
    plain = matrix.toarray()
    expected = {
        None: plain,
        "rw": plain / out[:, None],
        "rw_reversed": plain / into,
        "sym": plain / np.sqrt(out[:, None] * into),
    }
    turned = matrix.T.tocsr()
    for kind, weights in expected.items():
        rule = ScaledWeights(kind, 0.5, base, out, into)
        np.testing.assert_array_equal(dense(rule, matrix), 0.5 * weights)
        back = rule.reversed(turned.data if weighted else None)
        np.testing.assert_array_equal(dense(back, turned), 0.5 * weights.T)
    # Strengths are degrees where none are given.
    matrix = sp.csr_array(np.array([[0, 1, 1.0], [1, 0, 0], [1, 0, 1]]))
    wanted = matrix.toarray() / np.sqrt(np.outer(degree := matrix.sum(axis=1), degree))
    np.testing.assert_array_equal(dense(ScaledWeights("sym", 1.0), matrix), wanted)


@QUICK
@given(st.lists(st.integers(0, 5), min_size=1, max_size=20), st.integers(1, 9))
def test_blocks_cover_all_rows_once(degrees, n_edges):
    indptr = np.concatenate([[0], np.cumsum(degrees)])
    blocks = row_blocks(indptr, n_edges)
    rows = [row for first, last in blocks for row in range(first, last)]
    assert rows == list(range(len(degrees)))
    for first, last in blocks:
        assert last == first + 1 or indptr[last] - indptr[first] <= n_edges


@pytest.mark.parametrize(
    ("weights", "value"),
    [([], 1.0), ([1, 1], 1.0), ([0.25, 0.25], 0.25), ([3, 3], None), ([1, 2], None), ([0.1], None)],
)
def test_one_weight_for_all(weights, value):
    assert common_weight(np.array(weights, float)) == value


def test_what_no_rule_can_say():
    plain = ScaledWeights(None, 1.0)
    assert plain.normalized("sym", 2.0).value == 2.0
    assert plain.normalized("sym", 2.0).normalized("sym", 1.0) is None  # a second normalisation
    assert plain.normalized(None, 0.3).normalized("sym", 1.0) is None  # sums of 0.3 are rounded
    assert plain.normalized(None, 0.3).normalized(None, 2.0).value == 0.6
    weighted = ScaledWeights(None, 1.0, A.data, A.sum(axis=1))
    assert weighted.normalized("rw", 1.0, in_safe_range=False) is None
    assert weighted.normalized(None, 0.3).normalized(None, 2.0) is None
    assert plain.normalized("sym", 1e-300) is None
