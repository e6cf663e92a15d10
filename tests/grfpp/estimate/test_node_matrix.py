"""``K[…]`` is what it is for ``K.toarray()``, and by name as by number."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from little_memory import only

import grfpp
from grfpp.errors import InputError
from grfpp.estimate import node_matrix as indexing
from grfpp.operators import KernelOperator

N = 12
QUICK = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


def named_graph(directed=False):
    rng = np.random.default_rng(0)
    graph = nx.gnp_random_graph(N, 0.35, seed=1, directed=directed)
    for _, _, data in graph.edges(data=True):
        data["weight"] = rng.uniform(0.5, 2)
    return grfpp.Graph(nx.relabel_nodes(graph, {i: f"n{i}" for i in range(N)}))


UNDIRECTED, DIRECTED = named_graph(), named_graph(directed=True)
OPTIONS = {"degree": 2, "n_walks": 6, "seed": 0}
MATRICES = {
    "symmetrised": grfpp.sample(UNDIRECTED.normalized(), grfpp.Diffusion(1.0), **OPTIONS),
    "directed": grfpp.sample(DIRECTED.normalized(), grfpp.Diffusion(1.0), **OPTIONS),
    "deflated": grfpp.sample(UNDIRECTED.normalized(), grfpp.Diffusion(3.0), deflate=2, **OPTIONS),
    "exact": KernelOperator.exact(DIRECTED.normalized(), grfpp.Diffusion(1.0)),
}
WHOLE = {name: K.toarray() for name, K in MATRICES.items()}

NUMBERS = st.integers(-N, N - 1)
LISTS = st.lists(NUMBERS, max_size=20)
SLICES = st.slices(N)
MASKS = hnp.arrays(bool, N)
ARRAYS = hnp.arrays(np.int16, hnp.array_shapes(max_dims=2, max_side=4), elements=NUMBERS)
SIDES = st.one_of(NUMBERS, LISTS, SLICES, MASKS, MASKS.map(list), ARRAYS)


def check(name, key):
    try:
        expected = WHOLE[name][key]
    except IndexError:
        with pytest.raises(InputError, match="do not make pairs"):
            MATRICES[name][key]
        return
    found = MATRICES[name][key]
    assert np.shape(found) == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def numeric(part):
    """An empty list is one of whole numbers, which numpy cannot know."""
    return np.zeros(0, int) if isinstance(part, list) and not part else part


KEYS = st.one_of(
    st.tuples(SIDES.map(numeric), SIDES.map(numeric)),
    st.tuples(LISTS.map(numeric), LISTS.map(numeric)).map(lambda lists: np.ix_(*lists)),
    st.lists(st.tuples(NUMBERS, NUMBERS), max_size=30).map(
        lambda pairs: tuple(np.array(pairs, int).reshape(-1, 2).T)
    ),
)


@settings(QUICK, max_examples=120)
@given(st.sampled_from(list(MATRICES)), KEYS)
def test_rows_and_columns(name, key):
    check(name, key)


@QUICK
@given(st.sampled_from(list(MATRICES)), st.lists(st.integers(0, N - 1)), st.integers(0, N - 1))
def test_names_stand_for_numbers(name, rows, column):
    K = MATRICES[name]
    names = [K.node_ids[row] for row in rows]
    np.testing.assert_array_equal(K[names], K[numeric(rows)])
    np.testing.assert_array_equal(K[names, K.node_ids[column]], K[numeric(rows), column])
    np.testing.assert_array_equal(K[np.ix_(names, names)], K[np.ix_(rows, rows)])
    np.testing.assert_array_equal(K.rows(names), K.rows(rows))
    np.testing.assert_allclose(K.diagonal(names), WHOLE[name].diagonal()[rows], rtol=1e-9)


@pytest.mark.parametrize("name", MATRICES)
def test_in_several_blocks(monkeypatch, name):
    monkeypatch.setattr(indexing, "_BLOCK_ROWS", 2)
    rng = np.random.default_rng(0)
    check(name, np.ix_([7, 1, 5], [0, 2, 4, 6]))
    check(name, (rng.integers(0, N, 40), rng.integers(0, N, 40)))


def test_entries_and_iteration():
    for K in MATRICES.values():
        assert len(list(K)) == N
        with pytest.raises(IndexError):
            K[N]
        found = K["n3", "n7"]
        assert isinstance(found, float)
        i, j = K.index(["n3", "n7"])
        assert found == K[i, j] == K.entry("n3", "n7") == K.entry(i, j)
        assert K[0, -1] == K[0, N - 1]


def test_only_what_is_asked_for_is_walked():
    """A column of a large kernel takes the walks to it, not all rows."""
    W = grfpp.Graph(nx.cycle_graph(20_000)).normalized()
    K = grfpp.sample(W, grfpp.Diffusion(1.0), n_walks=4, seed=0)
    column = K[:, 17]
    assert column.shape == (20_000,) and 1 < np.count_nonzero(column) < 100
    assert K[[3, 4, 19_999], [3, 5, 0]].shape == (3,)


@pytest.mark.parametrize("name", MATRICES)
def test_as_an_array(monkeypatch, name):
    K = MATRICES[name]
    np.testing.assert_array_equal(np.asarray(K), WHOLE[name])
    np.testing.assert_array_equal(np.array(K, copy=True), WHOLE[name])
    assert np.asarray(K, dtype=np.float32).dtype == np.float32
    assert np.linalg.norm(K) == np.linalg.norm(WHOLE[name])
    with pytest.raises(ValueError, match="no array that could be shared"):
        np.asarray(K, copy=False)
    only(monkeypatch, 1000)
    with pytest.raises(InputError, match="a dense matrix of 12 x 12 numbers"):
        np.asarray(MATRICES["symmetrised"])


def test_still_an_operator():
    """Numpy and scipy do not form the matrix where it multiplies."""
    K, whole = MATRICES["directed"], WHOLE["directed"]
    K.toarray, keep = None, K.toarray
    try:
        ones = np.ones((3, N))
        for left in (ones, sp.csr_array(ones)):
            found = left @ K
            found = found.toarray() if sp.issparse(found) else found
            np.testing.assert_allclose(found, ones @ whole)
        np.testing.assert_allclose(K @ ones.T, whole @ ones.T)
        scaled = np.float64(2.0) * K
        np.testing.assert_allclose(scaled @ ones.T, 2 * whole @ ones.T)
    finally:
        K.toarray = keep


@pytest.mark.parametrize(
    ("key", "argument"),
    [
        *((N, "rows"), (-N - 1, "rows"), ((0, N), "columns"), ((0, "n99"), "columns")),
        *(("n1x", "rows"), ([True, False], "rows"), (0.5, "rows"), (slice("n0", "n3"), None)),
        *(((0, 0, 0), None), (..., None), (None, None), (([0, 1], [0, 1, 2]), None)),
    ],
)
def test_refused(key, argument):
    for K in MATRICES.values():
        with pytest.raises(InputError) as caught:
            K[key]
        assert argument is None or caught.value.argument == argument


def test_names_go_with_the_matrix(tmp_path):
    for name in ("symmetrised", "directed", "deflated"):
        K = MATRICES[name]
        assert K.T.node_ids == K.node_ids == list(UNDIRECTED.node_ids)
        K.save(tmp_path / "k.npz")
        again = grfpp.KernelEstimate.load(tmp_path / "k.npz")
        assert again.node_ids == K.node_ids
        assert again["n3", "n7"] == pytest.approx(K["n3", "n7"], rel=1e-12)
    assert grfpp.sample([[0, 1], [1, 0]], grfpp.Diffusion(1.0), seed=0).node_ids is None


def test_right_sides_of_another_length_are_refused_with_both_numbers():
    W = grfpp.Graph(nx.cycle_graph(9)).normalized("sym")
    for K in (grfpp.sample(W, "diffusion", seed=0), grfpp.kernel_operator(W, "diffusion")):
        for wrong in (np.ones(5), np.ones((10, 2)), [1.0]):
            with pytest.raises(InputError, match=r"each of 9 nodes, found shape \((5,|10, 2|1,)\)"):
                K @ wrong
        assert (K @ np.ones((9, 1))).shape == (9, 1)
