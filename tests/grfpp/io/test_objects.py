"""Whatever holds a graph: matrices, arrays, networkx, igraph, torch and PyG objects."""

import warnings
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from io_helpers import QUICK, dense, refusal, weight_matrices

from grfpp.graph import Graph

torch = pytest.importorskip("torch", reason="needs grfpp[torch]")
FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
PAIR = np.array([[0.0, 2.0], [2.0, 0.0]])


def quietly(make):
    """Call what torch warns about, such as layouts that it calls beta."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make()


@pytest.fixture(scope="module")
def pyg():
    return quietly(lambda: pytest.importorskip("torch_geometric.data", reason="needs grfpp[torch]"))


def edges_of(matrix, directed):
    rows, cols = np.nonzero(matrix if directed else np.triu(matrix))
    return list(zip(rows.tolist(), cols.tolist(), strict=True)), matrix[rows, cols].tolist()


@QUICK
@given(weight_matrices())
def test_all_forms_of_a_matrix(matrix):
    directed = not (matrix == matrix.T).all()
    edges, weights = edges_of(matrix, directed)
    graph = nx.DiGraph() if directed else nx.Graph()
    graph.add_nodes_from(range(len(matrix)))
    graph.add_weighted_edges_from((u, v, w) for (u, v), w in zip(edges, weights, strict=True))
    tensor, index = torch.from_numpy(matrix), np.stack(np.nonzero(matrix))
    pair = (index, matrix[tuple(index)])
    sources = [matrix, np.asfortranarray(matrix), matrix.tolist(), graph, tensor]
    sources += [IGraphLike(len(matrix), edges, directed, weights), tensor.to_sparse()]
    sources += [c(matrix).asformat(k) for k in FORMATS for c in (sp.coo_array, sp.coo_matrix)]
    for layout in (torch.sparse_csr, torch.sparse_csc):
        sources.append(quietly(lambda layout=layout: tensor.to_sparse(layout=layout)))
    for source in sources:
        np.testing.assert_array_equal(dense(source), matrix)
    for pairs in (pair, tuple(map(torch.from_numpy, pair))):
        np.testing.assert_array_equal(dense(pairs, n_nodes=len(matrix)), matrix)


def test_the_source_is_not_changed():
    for source in (sp.csr_array(PAIR), PAIR.copy()):
        graph = Graph(source)
        source[0, 1] = 7  # still writeable
        np.testing.assert_array_equal(graph.weights, [2, 2])


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (np.array([["a", "b"], ["c", "d"]]), "real numbers"),
        (np.array([[0, 1], [1, None]], dtype=object), "real numbers"),
        (np.eye(2) * 1j, "real numbers"),
        (np.array(["2020-01-01"], dtype="M8[D]").reshape(1, 1), "real numbers"),
        ([[1, 2], [3]], "not an array of numbers"),
        ([], "no nodes"),
        ([["ann", "bob"], ["bob", "cy"]], "list of tuples"),
        (np.array([["ann", "bob", 3]] * 2, object), "list of tuples"),
        (np.array([[0, 1], [1, 2], [2, 3]]), "list of tuples"),
        (np.array([[0, 1, 2], [1, 2, 3]]), "(edge_index, None)"),
        (np.ones((2, 2, 2)), "two dimensions"),
        (sp.coo_array(np.ones(3)), "two dimensions"),
        (np.ones((2, 3)), "square"),
        (np.ones((2, 3), dtype=int), "(edge_index, None)"),
        (np.zeros((0, 0)), "no nodes"),
        (None, "NoneType"),
        (b"graph.txt", "bytes"),
        ((np.eye(3), np.eye(3)), "edge_index"),
        ((np.array([[0, 1], [1, 2], [2, 0]]), None), "transpose"),
        ((np.array([[0.0, 1.0], [1.0, 0.0]]), None), "whole numbers"),
        ((np.array([[0, -1], [1, 0]]), None), "names node -1"),
        (([[0, 1], [1, 0]], [1.0]), "one number for each of the 2 edges"),
        (([[0, 1], [1, 0]], ["a", "b"]), "real numbers"),
        (([[0, 1], [1]], None), "edge_index"),
        (((0, 1), (1, 2), (2, 0)), "ambiguous"),
        (([[0], [10**18]], None), "more than this version can number"),
        ((np.array([[0], [2**64 - 1]], dtype=np.uint64), None), "18,446,744,073,709,551,616"),
        (sp.coo_array(([1.0], ([0], [1])), shape=(10**12, 10**12)), "1,000,000,000,000 nodes"),
    ],
)
def test_refusals(source, words):
    assert words in refusal(source)


def test_n_nodes():
    assert Graph(([[0], [1]], None), n_nodes=4).n_nodes == 4
    assert Graph(([[], []], None), n_nodes=4).n_edges == 0
    assert "names node 4" in refusal(([[0], [4]], None), n_nodes=4)
    assert Graph(PAIR, n_nodes=2).n_nodes == 2
    for wrong in (3, 2.5, 0, 10**12):
        assert "n_nodes" in refusal(PAIR, n_nodes=wrong)


def test_directed_false_refuses_a_directed_source():
    assert not Graph(PAIR, directed=False).is_directed
    assert "from 0 to 1 is 1" in refusal(np.array([[0, 1], [0, 0]], dtype=np.uint8), directed=False)
    assert "square" in refusal(np.ones((3, 2)), directed=False)
    assert Graph(PAIR, directed=True).n_edges == 1
    assert "True, False or None" in refusal(PAIR, directed="yes")


# --- networkx and igraph --------------------------------------------------------------------------


class Attributes:
    """Stands in for igraph's edge and vertex sequences."""

    def __init__(self, **values):
        self._values = values

    def attributes(self):
        return list(self._values)

    def __getitem__(self, name):
        return self._values[name]


class IGraphLike:
    """Stands in for igraph.Graph, which the tests must not depend on (it is GPL)."""

    def __init__(self, n, edges, directed=False, weight=None, name=None):
        self._n, self._edges, self._directed = n, edges, directed
        self.es = Attributes(**({} if weight is None else {"weight": weight}))
        self.vs = Attributes(**({} if name is None else {"name": name}))

    def is_directed(self):
        return self._directed

    def get_edgelist(self):
        return self._edges

    def vcount(self):
        return self._n


def test_any_names_keep_their_order():
    graph = nx.Graph()
    names = ["b", 7, (1, 2), True, frozenset({3})]
    graph.add_nodes_from(names)
    graph.add_edge((1, 2), "b", weight=3)
    read = Graph(graph)
    assert read.node_ids == names and read.adjacency[0, 2] == read.adjacency[2, 0] == 3
    assert Graph(nx.path_graph(3)).node_ids == [0, 1, 2]


def test_weights_of_networkx():
    graph = nx.Graph([(0, 1)])
    graph.add_edge(1, 2, weight=Fraction(1, 4))
    graph.add_edge(2, 3, weight=10**20)
    assert Graph(graph).weights.tolist() == [1, 1, 0.25, 0.25, 1e20, 1e20]
    for weight in ("2", None, 1j, [1.0], [[1], [2, 3]], 10**400, -2.0, np.nan):
        graph.add_edge(2, 3, weight=weight)
        refusal(graph)
    assert Graph(nx.empty_graph(3)).n_edges == 0


@pytest.mark.parametrize("kind", [nx.MultiGraph, nx.MultiDiGraph])
def test_parallel_edges_are_summed(kind):
    graph = kind()
    for u, v, weight in (("a", "b", 1.5), ("a", "b", 2), ("b", "b", 4)):
        graph.add_edge(u, v, weight=weight)
    back = 3.5 if kind is nx.MultiGraph else 0
    np.testing.assert_array_equal(dense(graph), [[0, 3.5], [back, 4]])


def test_views_and_subclasses():
    graph = type("Mine", (nx.DiGraph,), {})([(0, 1), (1, 2)])
    assert Graph(graph).is_directed
    np.testing.assert_array_equal(dense(graph.reverse(copy=False)), nx.to_numpy_array(graph).T)
    assert Graph(graph.subgraph([1, 2])).node_ids == [1, 2]


def test_igraph():
    assert Graph(IGraphLike(3, [(0, 1)], name=["x", "y", "z"])).node_ids == ["x", "y", "z"]
    assert Graph(IGraphLike(2, [(0, 1)], name=["x", "x"])).node_ids is None
    np.testing.assert_array_equal(
        dense(IGraphLike(2, [(0, 1), (0, 1), (1, 1)], directed=True)), [[0, 2], [0, 1]]
    )
    assert "real numbers" in refusal(IGraphLike(2, [(0, 1)], weight=["x"]))
    igraph = pytest.importorskip("igraph", reason="igraph is GPL and no dependency")
    graph = igraph.Graph.TupleList([("a", "b", 2.0), ("b", "c", 0.5)], weights=True, directed=True)
    read = Graph(graph)
    assert read.node_ids == ["a", "b", "c"]
    np.testing.assert_array_equal(read.adjacency.toarray(), [[0, 2, 0], [0, 0, 0.5], [0, 0, 0]])


# --- torch ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", ["sparse_bsr", "sparse_bsc"])
def test_block_layouts(layout):
    matrix = np.arange(36.0).reshape(6, 6)
    matrix[:2, :3] = 0
    options = {"layout": getattr(torch, layout), "blocksize": (2, 3)}
    sparse = quietly(lambda: torch.from_numpy(matrix).to_sparse(**options))
    np.testing.assert_array_equal(dense(sparse), matrix)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "int32", "bool", "uint8"])
def test_every_dtype(dtype):
    tensor = torch.tensor([[0, 1], [1, 0]], dtype=getattr(torch, dtype))
    np.testing.assert_array_equal(dense(tensor), [[0, 1], [1, 0]])
    np.testing.assert_array_equal(dense(tensor.to_sparse()), [[0, 1], [1, 0]])
    value = 1 if dtype == "bool" else 100
    entries = torch.full((5,), value, dtype=getattr(torch, dtype))
    index = torch.tensor([[0] * 5, [1] * 5])
    twice = quietly(lambda: torch.sparse_coo_tensor(index, entries, (2, 2)))
    assert dense(twice).tolist() == [[0, 5 * value], [0, 0]]  # summed in float64


def test_tensors_with_gradients():
    tensor = torch.eye(2, requires_grad=True)
    for source in (tensor, tensor.to_sparse()):
        np.testing.assert_array_equal(dense(source), np.eye(2))
    index = torch.tensor([[0, 1], [1, 0]])
    np.testing.assert_array_equal(dense((index, tensor.sum(0))), [[0, 1], [1, 0]])


def unchecked(layout, *parts, **options):
    """A tensor whose structure torch has not looked at."""
    make = getattr(torch, f"sparse_{layout}_tensor")
    tensors = [torch.tensor(part) for part in parts]
    return quietly(lambda: make(*tensors, check_invariants=False, **options))


@pytest.mark.parametrize(
    ("tensor", "words"),
    [
        (torch.zeros(2, 3, dtype=torch.long), "(edge_index, None)"),
        (torch.eye(2, dtype=torch.complex64), "real numbers"),
        (torch.eye(2, dtype=torch.complex64).to_sparse(), "real numbers"),
        (torch.ones(2, 2, 2).to_sparse(), "sparse dimensions"),
        (torch.ones(2, 2, 2).to_sparse(2), "dense dimensions"),
        ((torch.tensor([[0], [1]]), torch.ones(1).to_sparse()), "cannot be read"),
        (torch.ones(2, 2, device="meta"), "cannot be read"),
        (torch.full((2, 2), torch.nan).to_sparse(), "finite"),
        (unchecked("coo", [[0], [10**9]], [1.0], size=(3, 3)), "malformed"),
        (unchecked("coo", [[-7], [0]], [1.0], size=(3, 3)), "malformed"),
        (unchecked("csr", [0, 10**6, 10**6, 0], [0], [1.0], size=(3, 3)), "malformed"),
        (unchecked("csr", [0, 1, 1, 1], [10**9], [1.0], size=(3, 3)), "malformed"),
        (unchecked("csc", [0, 9, 9, 9], [0], [1.0], size=(3, 3)), "malformed"),
        (unchecked("bsr", [0, 1, 0], [0], [[[1.0] * 2] * 2], size=(4, 4)), "malformed"),
        (unchecked("bsc", [0, 1, 1], [5], [[[1.0] * 2] * 2], size=(4, 4)), "malformed"),
    ],
)
def test_tensors_that_are_refused(tensor, words):
    assert words in refusal(tensor)


def test_pyg_data(pyg):
    data = type("Mine", (pyg.Data,), {})(edge_index=torch.tensor([[0, 1, 1], [1, 0, 2]]))
    np.testing.assert_array_equal(dense(data), [[0, 1, 0], [1, 0, 1], [0, 0, 0]])
    data.edge_attr = torch.full((3, 3), 7.0)  # features, not weights
    assert dense(data)[0, 1] == 1
    data.edge_attr = torch.tensor([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(dense(data), [[0, 1, 0], [2, 0, 3], [0, 0, 0]])
    data.edge_weight = torch.tensor([4.0, 5.0, 6.0])
    assert dense(data)[0, 1] == 4
    data.num_nodes = 5
    assert Graph(data).n_nodes == Graph(data, n_nodes=5).n_nodes == 5
    featured = pyg.Data(x=torch.ones(4, 2), edge_index=torch.tensor([[0], [1]]))
    assert Graph(featured).n_nodes == 4
    assert Graph(pyg.Batch.from_data_list([featured, featured])).n_nodes == 8


def test_pyg_refusals(pyg):
    assert "no edge_index" in refusal(pyg.Data(x=torch.ones(2, 2)))
    hetero = pyg.HeteroData()
    hetero["a"].x = torch.ones(2, 2)
    hetero["a", "to", "a"].edge_index = torch.tensor([[0], [1]])
    assert "to_homogeneous" in refusal(hetero)
    wrong = pyg.Data(edge_index=torch.tensor([[0], [5]]), num_nodes=2)
    assert "names node 5" in refusal(wrong)
    short = pyg.Data(edge_index=torch.tensor([[0], [1]]), edge_weight=torch.ones(3))
    assert "one number for each" in refusal(short)
