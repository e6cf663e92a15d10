"""Numbering of nodes and merging of edges: in DuckDB, in lists of tuples, and by plain loops."""

import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from io_helpers import refusal

from grfpp import Graph, InputError
from grfpp.errors import InputWarning
from grfpp.io.table_sql import Database

N = 4
NODES = st.integers(0, N - 1)
EDGES = st.lists(st.tuples(NODES, NODES, st.integers(0, 5)), min_size=1, max_size=12)
FEW = settings(deadline=None, max_examples=12)
RULES = {"sum": sum, "max": max, "first": lambda weights: weights[0]}


def table(edges):
    columns = zip(*edges, strict=True)
    return pa.table(dict(zip(("source", "target", "weight"), map(list, columns), strict=False)))


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


@FEW
@given(EDGES, st.sampled_from(sorted(RULES)), st.booleans())
def test_one_rule_for_both_orders(edges, rule, directed):
    for source in (edges, table(edges)):
        graph = Graph(source, n_nodes=N, directed=directed or None, duplicates=rule)
        expected = looped(edges, RULES[rule], directed)
        np.testing.assert_array_equal(graph.adjacency.toarray(), expected)


@FEW
@given(EDGES, st.booleans())
def test_duplicates_are_refused_if_asked_for(edges, directed):
    keys = [(u, v) if directed else {u, v} for u, v, _ in edges]
    again = [i for i, key in enumerate(keys) if key in keys[:i]]
    options = {"n_nodes": N, "directed": directed or None, "duplicates": "error"}
    for source, entry in ((edges, "number"), (table(edges), "row")):
        if not again:
            Graph(source, **options)
            continue
        message = refusal(source, **options)
        u, v, _ = edges[again[0]]
        assert f"{entry} {again[0]}: the edge {u} - {v} " in message
        assert message.partition(";")[0].endswith(f"{entry} {keys.index(keys[again[0]])}")


@FEW
@given(EDGES, st.booleans())
def test_a_warning_where_every_edge_is_listed_in_both_orders(edges, mirror):
    edges = edges + [(v, u, w) for u, v, w in edges if u != v] if mirror else edges
    up = sorted((u, v, w) for u, v, w in edges if u < v)
    down = sorted((v, u, w) for u, v, w in edges if u > v)
    for source in (edges, table(edges)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = Graph(source, n_nodes=N).adjacency.toarray()
        assert [each.category for each in caught] == ([InputWarning] if up and up == down else [])
        np.testing.assert_array_equal(found, looped(edges, sum, directed=False))


def test_sums_are_made_in_the_order_of_the_list():
    weights = np.random.default_rng(0).random((2000, 3))
    edges = [(i, i + 1, w) for i, row in enumerate(weights.tolist()) for w in row]
    for source in (edges, table(edges)):
        graph = Graph(source, directed=True, n_nodes=2001)
        np.testing.assert_array_equal(graph.weights, weights[:, 0] + weights[:, 1] + weights[:, 2])


@pytest.mark.parametrize("make", [list, table])
def test_the_order_of_nodes(make):
    assert Graph(make([("zoë", "adam"), ("adam", "02139")])).node_ids == ["zoë", "adam", "02139"]
    assert Graph(make([(10, -3), (7, 10**12)])).node_ids == [-3, 7, 10, 10**12]
    assert Graph(make([(2, 0), (1, 2)])).node_ids is None
    assert Graph(make([(0, 3)]), n_nodes=9).n_nodes == 9
    assert "names node 3, but 2 nodes are 0 to 1" in refusal(make([(1, 3)]), n_nodes=2)
    assert "names node -1" in refusal(make([(1, -1)]), n_nodes=2)
    assert "has 2 nodes" in refusal(make([("a", "b")]), n_nodes=5)
    assert "finite" in refusal(make([(0, 1, 1e308), (0, 1, 1e308)]))


def test_errors_of_the_database(tmp_path: Path):
    with Database(tmp_path, memory=10**8, purpose="it") as database:
        with pytest.raises(InputError, match=r"^it: .*nothing"):
            database.run("SELECT * FROM nothing")
        with pytest.raises(InputError, match=r"^it needs more than 100000000 bytes of memory"):
            database.run("SET temp_directory = ''")
            database.run("SELECT list(i ORDER BY -i) FROM range(100000000) AS t(i)")
