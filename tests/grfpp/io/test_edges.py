import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from io_helpers import QUICK, refusal

from grfpp.errors import InputError
from grfpp.io.edges import arcs, check_node_count, undirected, unweighted

N = 4
EDGES = st.lists(
    st.tuples(st.integers(0, N - 1), st.integers(0, N - 1), st.integers(0, 5)), max_size=12
)


def columns(edges):
    u, v, w = np.array(edges, dtype=np.int64).reshape(-1, 3).T
    return u, v, w.astype(float)


def looped(edges):
    """Sum arcs in the plainest way."""
    matrix = np.zeros((N, N))
    for u, v, w in edges:
        matrix[u, v] += w
    return matrix


@QUICK
@given(EDGES)
def test_arcs_are_kept_and_summed(edges):
    np.testing.assert_array_equal(arcs(*columns(edges), N).toarray(), looped(edges))


@QUICK
@given(EDGES)
def test_undirected_edges_count_in_both_directions(edges):
    both = looped(edges)
    both = both + both.T - np.diag(np.diag(both))
    np.testing.assert_array_equal(undirected(*columns(edges), N).toarray(), both)


def test_sizes_beyond_memory_are_refused_before_allocation(monkeypatch):
    monkeypatch.setattr("grfpp.memory.available_bytes", lambda: 10**8)
    assert "bytes" in refusal(([[0], [10**9]], None))
    assert "bytes" in refusal(([[0], [1]], None), n_nodes=10**9)
    assert "bytes" in refusal(sp.coo_array((10**9, 10**9)))


def test_graphs_that_cannot_be_numbered():
    check_node_count(2**20, "someone")
    with pytest.raises(InputError, match=r"someone asks for 2,147,483,648 nodes, more than"):
        check_node_count(2**31, "someone")


@QUICK
@given(EDGES)
def test_unweighted_edges(edges):
    u, v, _ = columns(edges)
    expected = np.zeros((N, N))
    expected[u, v] = expected[v, u] = 1
    matrix = unweighted(np.stack([u, v], axis=1), N)
    np.testing.assert_array_equal(matrix.toarray(), expected)
    assert set(matrix.data.tolist()) <= {1.0}
