"""Normalised weights, as numbers and as a rule."""

import numpy as np
import pytest
import scipy.sparse as sp

from grfpp import Graph
from grfpp.io.folder.save import Rows
from grfpp.normalization import normalized_rule, normalized_weights


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
    numbers = 0.7 * normalized_weights(rows, kind, directed=directed)
    rule = normalized_rule(graph.scaled, graph.indptr, graph.indices, kind, 0.7, directed=directed)
    assert (rule.base is None) == (not weighted)
    np.testing.assert_array_equal(rule.fill(graph.indptr, graph.indices), numbers)
    dense = graph.adjacency.toarray()
    out, into = dense.sum(axis=1, keepdims=True), dense.sum(axis=0)
    divisor = np.broadcast_to(out if kind == "rw" else np.sqrt(out * into), dense.shape)
    expected = 0.7 * np.divide(dense, divisor, out=np.zeros_like(dense), where=dense != 0)
    found = sp.csr_array((numbers, graph.indices, graph.indptr), dense.shape).toarray()
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_a_second_normalisation_has_no_rule():
    graph = random_graph(directed=False, weighted=False).normalized("sym")
    assert (
        normalized_rule(graph.scaled, graph.indptr, graph.indices, "sym", 1.0, directed=False)
        is None
    )
