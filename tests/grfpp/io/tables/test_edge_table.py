import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from io_helpers import QUICK

from grfpp.errors import InputError, InputWarning
from grfpp.io.tables.edge_table import EdgeTable

N = 4
NODES = st.integers(0, N - 1)
EDGES = st.lists(st.tuples(NODES, NODES, st.integers(0, 5)), min_size=1, max_size=12)
RULES = {"sum": sum, "max": max, "first": lambda weights: weights[0]}


def table_of(edges, labels=None):
    u, v, w = np.array(edges, dtype=np.int64).T
    return EdgeTable(np.stack([u, v]), w.astype(float), N, labels, "it", lambda i: f"row {i}")


def looped(edges, rule, directed):
    """Gather the weights of each edge in the plainest way."""
    gathered = {}
    for u, v, w in edges:
        gathered.setdefault((u, v) if directed else (min(u, v), max(u, v)), []).append(w)
    matrix = np.zeros((N, N))
    for (u, v), weights in gathered.items():
        matrix[u, v] = rule(weights)
        if not directed:
            matrix[v, u] = matrix[u, v]
    return matrix


@QUICK
@given(EDGES, st.sampled_from(sorted(RULES)), st.booleans())
def test_one_rule_for_both_orders(edges, rule, directed):
    found = table_of(edges).matrix(directed=directed, duplicates=rule).toarray()
    np.testing.assert_array_equal(found, looped(edges, RULES[rule], directed))


@QUICK
@given(EDGES, st.booleans())
def test_duplicates_are_refused_if_asked_for(edges, directed):
    keys = [(u, v) if directed else {u, v} for u, v, _ in edges]
    again = [i for i, key in enumerate(keys) if key in keys[:i]]
    if not again:
        table_of(edges).matrix(directed=directed, duplicates="error")
        return
    first = keys.index(keys[again[0]])
    with pytest.raises(InputError, match=rf"it, row {again[0]}: .* again, after row {first};"):
        table_of(edges).matrix(directed=directed, duplicates="error")


@QUICK
@given(EDGES, st.booleans())
def test_lists_that_are_mirrored_are_told_of_and_no_others(edges, mirror):
    edges = edges + [(v, u, w) for u, v, w in edges if u != v] if mirror else edges
    up = sorted((u, v, w) for u, v, w in edges if u < v)
    down = sorted((v, u, w) for u, v, w in edges if u > v)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = table_of(edges).matrix(directed=False, duplicates=None).toarray()
        table_of(edges).matrix(directed=True, duplicates=None)
        table_of(edges).matrix(directed=False, duplicates="sum")
    assert [each.category for each in told] == ([InputWarning] if up and up == down else [])
    np.testing.assert_array_equal(found, looped(edges, sum, directed=False))


def test_sums_are_symmetric_to_the_last_bit():
    weights = [0.1, 0.2, 0.3]
    for i in range(3):
        edges = [(0, 1), (1, 0), (0, 1)][i:] + [(0, 1), (1, 0), (0, 1)][:i]
        ends = np.array(edges).T
        table = EdgeTable(ends, np.array(weights), 2, None, "it", str)
        matrix = table.matrix(directed=False, duplicates=None).toarray()
        assert matrix[0, 1] == matrix[1, 0]


def test_nodes_are_called_by_their_names():
    with pytest.raises(InputError, match="the edge 'c' - 'a' is listed again"):
        table_of([(0, 2, 1), (2, 0, 1)], "abcd").matrix(directed=False, duplicates="error")
