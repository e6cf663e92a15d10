import copy
import pickle

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from io_helpers import QUICK, refusal
from sklearn.metrics.pairwise import rbf_kernel

from grfpp.errors import InputError, InputWarning
from grfpp.estimate.sampling import sample
from grfpp.graph import Graph, as_graph
from grfpp.kernels import Diffusion
from grfpp.operators.kernel_choice import KernelChoice

WEIGHTS = st.one_of(st.just(0.0), st.floats(1e-3, 1e3))
MATRICES = st.integers(1, 7).flatmap(lambda n: hnp.arrays(float, (n, n), elements=WEIGHTS))
SYMMETRIC = MATRICES.map(lambda matrix: np.triu(matrix) + np.triu(matrix, 1).T)

ARC = np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
# Self-loop at 0, an edge 0 - 1, node 2 isolated, a pair 3 - 4 apart.
MIXED = np.zeros((5, 5))
MIXED[0, :2], MIXED[1, 0], MIXED[3, 4], MIXED[4, 3] = (3.0, 2.0), 2.0, 0.5, 0.5


def inverse(values):
    """Invert what is not zero: nodes without an edge stay without."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)


def normalized_by_hand(matrix, kind):
    out_strength, in_strength = matrix.sum(axis=1), matrix.sum(axis=0)
    if kind != "sym":
        return np.diag(inverse(out_strength)) @ matrix if kind == "rw" else matrix
    return np.diag(np.sqrt(inverse(out_strength))) @ matrix @ np.diag(np.sqrt(inverse(in_strength)))


@QUICK
@given(MATRICES)
def test_arrays_are_canonical(matrix):
    graph = Graph(matrix)
    csr = sp.csr_array(matrix)
    np.testing.assert_array_equal(graph.indptr, csr.indptr)
    np.testing.assert_array_equal(graph.indices, csr.indices)
    np.testing.assert_array_equal(graph.weights, csr.data)
    assert graph.indptr.dtype == np.int64
    assert graph.indices.dtype == np.int32
    assert graph.weights.dtype == np.float64
    assert graph.adjacency.has_canonical_format
    np.testing.assert_array_equal(graph.adjacency.toarray(), matrix)
    symmetric = (matrix == matrix.T).all()
    assert graph.n_nodes == len(matrix) and graph.is_directed == (not symmetric)
    assert graph.n_edges == np.count_nonzero(np.triu(matrix) if symmetric else matrix)
    np.testing.assert_array_equal(graph.out_degree, np.count_nonzero(matrix, axis=1))


def test_conventions_and_read_only_arrays():
    mixed, arc = Graph(MIXED), Graph(ARC)
    assert repr(mixed) == "Graph(n_nodes=5, n_edges=3, undirected)"
    assert repr(arc) == "Graph(n_nodes=3, n_edges=2, directed)"
    assert mixed.out_degree.tolist() == [2, 1, 0, 1, 1]
    assert mixed.node_ids is None
    assert Graph([[0, 0], [0, 0]]).n_edges == 0
    assert not Graph([[0.0]]).is_directed
    # The same pattern in both directions is not enough.
    assert Graph([[0, 1], [2, 0]]).is_directed
    parts = mixed.indptr, mixed.indices, mixed.weights, mixed.out_degree, mixed.adjacency.data
    for array in parts:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    assert np.shares_memory(mixed.adjacency.data, mixed.weights)


def test_a_graph_of_a_graph():
    graph = Graph(nx.path_graph(["a", "b"]))
    again = Graph(graph)
    assert again.node_ids == ["a", "b"]
    np.testing.assert_array_equal(again.adjacency.toarray(), graph.adjacency.toarray())
    assert as_graph(graph) is graph
    assert isinstance(as_graph(MIXED), Graph)


@pytest.mark.parametrize("kind", ["sym", "rw", None])
@QUICK
@given(matrix=st.one_of(MATRICES, SYMMETRIC), scale=st.floats(1e-3, 1e3))
def test_normalized(kind, matrix, scale):
    source = Graph(matrix)
    graph = source.normalized(kind, scale)
    np.testing.assert_array_equal(source.adjacency.toarray(), matrix)  # it never changes
    if kind == "sym" and not source.is_directed:
        assert not graph.is_directed  # symmetric to the last bit
        assert graph.spectral_radius() == (scale if matrix.any() else 0)
    expected = scale * normalized_by_hand(matrix, kind)
    np.testing.assert_allclose(graph.adjacency.toarray(), expected, rtol=1e-12)
    radius = np.abs(np.linalg.eigvals(expected)).max()
    assert graph.spectral_radius() == pytest.approx(radius, rel=1e-6, abs=0.1 * scale)


def test_names_go_with_the_nodes():
    graph = Graph(nx.DiGraph([("b", "a"), ("a", "c")]))
    pickled = pickle.loads(pickle.dumps(graph))
    for same in (graph, graph.normalized("rw"), graph.reversed(), pickled):
        assert same.node_ids == ["b", "a", "c"]
        assert same.index("a") == 1 and same.index(["c", "b"]).tolist() == [2, 0]
    assert graph.normalized("rw").names is graph.names  # one dictionary for all


def test_symmetrize(tmp_path):
    arcs = np.array([[0, 1.0, 2.0], [3.0, 0, 0], [0, 0, 5.0]])
    graph = Graph(arcs, symmetrize="mutual")
    assert graph.adjacency.toarray()[0].tolist() == [0, 1, 0] and not graph.is_directed
    named = Graph(nx.DiGraph([("a", "b")]), symmetrize="max")
    assert named.node_ids == ["a", "b"] and named.n_edges == 1
    assert not Graph(Graph(arcs), symmetrize="max").is_directed
    with pytest.raises(InputError, match="symmetrize must be"):
        Graph(arcs, symmetrize=True)
    # Lines of a file are read as arcs.
    path = tmp_path / "edges.txt"
    path.write_text("0 1 2.0\n1 0 4.0\n1 2 1.0\n")
    assert Graph(path).adjacency.toarray()[1].tolist() == [6, 0, 1]  # one edge, listed twice
    assert Graph(path, symmetrize="mean").adjacency.toarray()[1].tolist() == [3, 0, 0.5]


@pytest.mark.parametrize("unit", [1e-320, 1e-200, 1e200, 1e308])
@pytest.mark.parametrize("kind", ["sym", "rw"])
def test_units_of_the_weights_do_not_matter(unit, kind):
    matrix = np.array([[1.0, 1.0], [1.0, 0.0]])
    graph = Graph(matrix * unit).normalized(kind)
    np.testing.assert_allclose(graph.adjacency.toarray(), normalized_by_hand(matrix, kind))


@pytest.mark.parametrize("matrix", [MIXED + MIXED.T, 1e300 * (MIXED + MIXED.T)])
def test_roots_of_degrees_are_kept_by_symmetric_normalisation(matrix):
    graph = Graph(matrix)
    assert len(graph.perron_candidates()) == 2  # of any graph: equal weights, equal degrees
    for W in (graph.normalized("sym", 0.7), graph.normalized("sym").normalized(None, 0.7)):
        vector = W.perron_candidates()[0]
        np.testing.assert_allclose(W.adjacency @ vector, 0.7 * vector, rtol=1e-12)
    for W in (graph.normalized("rw"), graph.normalized(None, 2.0), Graph(ARC).normalized("sym")):
        assert len(W.perron_candidates()) == 2


def test_normalized_refusals():
    graph = Graph(MIXED)
    with pytest.raises(InputError, match="'sym', 'rw' or None, not 'laplacian'"):
        graph.normalized("laplacian")
    for scale in (0, -1, np.nan, np.inf):
        with pytest.raises(InputError, match="positive, finite"):
            graph.normalized("sym", scale)
    for scale in (1e308, 1e-323):
        with pytest.raises(InputError, match="range of floating point"):
            Graph(MIXED * (1e300 if scale > 1 else 1e-300)).normalized(None, scale)
    far_apart = sp.block_diag([MIXED, MIXED * 1e-300])
    with pytest.raises(InputError, match="too far apart"):
        Graph(far_apart).normalized("sym")


@QUICK
@given(st.one_of(MATRICES, SYMMETRIC))
def test_spectral_radius(matrix):
    expected = np.abs(np.linalg.eigvals(matrix)).max()
    root = Graph(matrix).spectral_radius()
    # A matrix without cycles has radius 0, which eigvals may miss by the n-th root of rounding.
    assert root == pytest.approx(expected, rel=1e-6, abs=0.1 if root == 0 else 1e-6)


def test_reversals_and_a_spectral_radius_that_is_computed_once(monkeypatch):
    np.testing.assert_array_equal(Graph(ARC).reversed().adjacency.toarray(), ARC.T)
    assert Graph(ARC).reversed().adjacency.has_canonical_format
    graph = Graph(MIXED)
    assert graph.reversed() is graph
    first = graph.spectral_radius()
    monkeypatch.setattr("grfpp.linalg.spectra.perron_root", None)
    assert graph.spectral_radius() == first


@pytest.mark.parametrize(
    ("labels", "kept"),
    [
        (None, None),
        (["x", "yë", ""], ["x", "yë", ""]),
        ([5, -3, 2**62], [5, -3, 2**62]),
        ([1, 2, 2**63], ["1", "2", "9223372036854775808"]),
        ([1, 2, 10**30], ["1", "2", "1" + "0" * 30]),
        ([(1, 2), 3, None], ["(1, 2)", "3", "None"]),
        ([True, 1.5, "z"], ["True", "1.5", "z"]),
    ],
)
def test_save_and_load(tmp_path, labels, kept):
    graph = Graph(ARC)
    graph.node_ids, path = labels, tmp_path / "graph.npz"
    graph.save(path)
    for loaded in (Graph.load(path), Graph.load(str(path)), Graph(path)):
        np.testing.assert_array_equal(loaded.adjacency.toarray(), ARC)
        assert [str(x) for x in loaded.node_ids or []] == [str(x) for x in kept or []]
        assert not loaded.weights.flags.writeable


@QUICK
@given(MATRICES)
def test_pickles_and_copies(matrix):
    graph = Graph(matrix)
    graph.node_ids = list(range(len(matrix)))
    for twin in (pickle.loads(pickle.dumps(graph)), copy.copy(graph), copy.deepcopy(graph)):
        np.testing.assert_array_equal(twin.adjacency.toarray(), matrix)
        assert twin.node_ids == graph.node_ids
        assert not twin.weights.flags.writeable
        assert repr(twin) == repr(graph)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_weights_must_be_finite(value):
    matrix = MIXED.copy()
    matrix[3, 4] = value
    message = refusal(matrix)
    assert f"{value} at (3, 4)" in message
    assert "finite" in message
    assert "and 1 more" in refusal(np.array([[value, value], [0, 0]]))
    assert "negative, found -2.0 at (0, 1)" in refusal([[0, -2], [-2, 0]])


@pytest.mark.parametrize("kind", ["coo", "csr", "csc"])
def test_the_weight_of_an_edge_is_the_sum_of_its_entries(kind):
    def edge(*weights):
        index = [0] * len(weights), [1] * len(weights), [0, len(weights), len(weights)]
        if kind == "coo":
            return sp.coo_array((weights, index[:2]), shape=(2, 2))
        make = sp.csr_array if kind == "csr" else sp.csc_array
        return make((weights, index[1], index[2]), shape=(2, 2))

    assert Graph(edge(3.0, -1.0)).weights.tolist() == [2]
    assert Graph(edge(3.0, -3.0)).n_edges == 0
    assert "negative, found -1.0" in refusal(edge(2.0, -3.0))
    assert "finite, found inf" in refusal(edge(1e308, 1e308))
    assert "finite, found nan" in refusal(edge(np.inf, -np.inf))


def test_a_pickled_graph_walks_to_the_last_bit():
    graph = Graph(nx.karate_club_graph()).normalized("sym")
    again = pickle.loads(pickle.dumps(graph))
    assert again.spectral_radius() == graph.spectral_radius() == 1.0
    options = {"seed": 0, "deflate": 1, "n_walks": 2}
    first, second = (sample(each, Diffusion(2.0), **options).toarray() for each in (graph, again))
    np.testing.assert_array_equal(first, second)


def test_what_is_symmetric_but_for_rounding_is_undirected():
    S = rbf_kernel(np.random.default_rng(0).normal(size=(30, 2)))
    assert (S != S.T).any()
    for directed in (None, False):
        graph = Graph(S, directed=directed)
        assert not graph.is_directed
        np.testing.assert_allclose(graph.adjacency.toarray(), S, rtol=1e-14)
    assert Graph(S, directed=True).is_directed
    S[3, 5] *= 1 + 1e-9
    assert Graph(S).is_directed
    with pytest.raises(InputError, match="symmetrize='max'"):
        Graph(S, directed=False)


def test_paths_and_options_of_folders(tmp_path):
    for path in (None, 3):
        with pytest.raises(InputError, match="cannot read"):
            Graph.open(path)
    Graph([(0, 1)]).save(tmp_path / "x.grf")
    with pytest.raises(InputError) as caught:
        Graph.open(tmp_path / "x.grf", verify="x")
    assert caught.value.argument == "verify"


def test_normalised_graphs_say_so():
    """The edges of an undirected graph count once, also where weights of both directions differ."""
    path = Graph(nx.path_graph(4))
    text = "Graph(n_nodes=4, n_edges=3, "
    assert repr(path.normalized("sym")) == f"{text}undirected, normalized='sym', scale=1)"
    walk, said = path.normalized("rw", 0.5), f"{text}from an undirected graph, normalized="
    assert repr(walk) == f"{said}'rw', scale=0.5)"
    assert repr(walk.reversed()) == f"{said}'rw_reversed', scale=0.5)"
    assert repr(walk.reversed().reversed()) == repr(pickle.loads(pickle.dumps(walk))) == repr(walk)
    assert repr(walk.normalized(None, 3)) == f"{said}'rw', scale=1.5)"
    assert walk.n_edges == 6  # arcs
    arcs = Graph([[0, 1], [0, 0]], directed=True).normalized("sym", 2.0)
    assert repr(arcs) == "Graph(n_nodes=2, n_edges=1, directed, normalized='sym', scale=2)"


@pytest.mark.parametrize("kind", ["sym", "rw"])
def test_weights_that_are_normalised_again_warn_and_scaled_ones_do_not(kind, tmp_path):
    W = Graph(nx.path_graph(5)).normalized(kind)
    W.save(tmp_path / "club.grf")
    for graph in (W, W.normalized(None, 0.5), Graph.open(tmp_path / "club.grf")):
        with pytest.warns(InputWarning, match="weights are normalised twice") as caught:
            graph.normalized("sym")
            KernelChoice.of(estimate="exact").operator(graph)
        assert [each.message.details["normalized"] for each in caught] == [kind, kind]
        KernelChoice.of(estimate="exact", normalization=None, scale=0.5).operator(graph)
