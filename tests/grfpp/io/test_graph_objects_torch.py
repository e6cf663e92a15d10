import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from io_helpers import QUICK, dense, refusal, weight_matrices

from grfpp.graph import Graph

torch = pytest.importorskip("torch", reason="needs grfpp[torch]")


def quietly(make):
    """Call what torch warns about, such as layouts that it calls beta."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make()


@pytest.fixture(scope="module")
def data_class():
    return quietly(lambda: pytest.importorskip("torch_geometric.data", reason="needs grfpp[torch]"))


@QUICK
@given(weight_matrices())
def test_every_layout(matrix):
    tensor = torch.from_numpy(matrix)
    np.testing.assert_array_equal(dense(tensor), matrix)
    np.testing.assert_array_equal(dense(tensor.to_sparse()), matrix)
    for layout in (torch.sparse_csr, torch.sparse_csc):
        sparse = quietly(lambda layout=layout: tensor.to_sparse(layout=layout))
        np.testing.assert_array_equal(dense(sparse), matrix)


@pytest.mark.parametrize("layout", ["sparse_bsr", "sparse_bsc"])
def test_block_layouts(layout):
    matrix = np.arange(36.0).reshape(6, 6)
    matrix[:2, :3] = 0
    sparse = quietly(
        lambda: torch.from_numpy(matrix).to_sparse(layout=getattr(torch, layout), blocksize=(2, 3))
    )
    np.testing.assert_array_equal(dense(sparse), matrix)


def test_duplicate_entries_are_summed():
    tensor = quietly(lambda: torch.sparse_coo_tensor([[0, 0], [1, 1]], [1.0, 2.0], (2, 2)))
    np.testing.assert_array_equal(dense(tensor), [[0, 3], [0, 0]])


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "int32", "bool"])
def test_every_dtype(dtype):
    tensor = torch.tensor([[0, 1], [1, 0]], dtype=getattr(torch, dtype))
    np.testing.assert_array_equal(dense(tensor), [[0, 1], [1, 0]])
    np.testing.assert_array_equal(dense(tensor.to_sparse()), [[0, 1], [1, 0]])


def test_tensors_with_gradients():
    tensor = torch.eye(2, requires_grad=True)
    np.testing.assert_array_equal(dense(tensor), np.eye(2))
    np.testing.assert_array_equal(dense(tensor.to_sparse()), np.eye(2))
    index = torch.tensor([[0, 1], [1, 0]])
    np.testing.assert_array_equal(dense((index, tensor.sum(0))), [[0, 1], [1, 0]])


@QUICK
@given(weight_matrices(with_edge=True), st.booleans())
def test_edge_index_pairs(matrix, as_torch):
    index = np.stack(np.nonzero(matrix))
    weights = matrix[tuple(index)]
    pair = (torch.from_numpy(index), torch.from_numpy(weights)) if as_torch else (index, weights)
    np.testing.assert_array_equal(dense(pair, n_nodes=len(matrix)), matrix)


def test_refusals():
    assert "square" in refusal(torch.ones(2, 3))
    assert "(edge_index, None)" in refusal(torch.zeros(2, 3, dtype=torch.long))
    assert "two dimensions" in refusal(torch.ones(3))
    assert "real numbers" in refusal(torch.eye(2, dtype=torch.complex64))
    assert "real numbers" in refusal(torch.eye(2, dtype=torch.complex64).to_sparse())
    assert "sparse dimensions" in refusal(torch.ones(2, 2, 2).to_sparse())
    assert "dense dimensions" in refusal(torch.ones(2, 2, 2).to_sparse(2))
    assert "square" in refusal(torch.ones(2, 3).to_sparse())
    assert "whole numbers" in refusal((torch.ones(2, 3), None))
    assert "cannot be read" in refusal((torch.tensor([[0], [1]]), torch.ones(1).to_sparse()))
    assert "cannot be read" in refusal(torch.ones(2, 2, device="meta"))
    assert "finite" in refusal(torch.full((2, 2), torch.nan).to_sparse())


def test_pyg_data(data_class):
    index = torch.tensor([[0, 1, 1], [1, 0, 2]])
    data = data_class.Data(edge_index=index)
    np.testing.assert_array_equal(dense(data), [[0, 1, 0], [1, 0, 1], [0, 0, 0]])
    data.edge_attr = torch.tensor([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(dense(data), [[0, 1, 0], [2, 0, 3], [0, 0, 0]])
    data.edge_weight = torch.tensor([4.0, 5.0, 6.0])
    assert dense(data)[0, 1] == 4
    data.num_nodes = 5
    assert Graph(data).n_nodes == 5
    assert Graph(data, n_nodes=5).n_nodes == 5


def test_pyg_counts_nodes_by_their_features(data_class):
    data = data_class.Data(x=torch.ones(4, 2), edge_index=torch.tensor([[0], [1]]))
    assert Graph(data).n_nodes == 4


def test_pyg_features_of_edges_are_no_weights(data_class):
    index = torch.tensor([[0, 1], [1, 0]])
    data = data_class.Data(edge_index=index, edge_attr=torch.full((2, 3), 7.0))
    np.testing.assert_array_equal(dense(data), [[0, 1], [1, 0]])


def test_pyg_batches_and_subclasses(data_class):
    class Mine(data_class.Data):
        pass

    one = Mine(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=3)
    batch = data_class.Batch.from_data_list([one, one])
    graph = Graph(batch)
    assert (graph.n_nodes, graph.n_edges) == (6, 2)


def test_pyg_refusals(data_class):
    assert "no edge_index" in refusal(data_class.Data(x=torch.ones(2, 2)))
    hetero = data_class.HeteroData()
    hetero["a"].x = torch.ones(2, 2)
    hetero["a", "to", "a"].edge_index = torch.tensor([[0], [1]])
    assert "to_homogeneous" in refusal(hetero)
    wrong = data_class.Data(edge_index=torch.tensor([[0], [5]]), num_nodes=2)
    assert "names node 5" in refusal(wrong)
    short = data_class.Data(edge_index=torch.tensor([[0], [1]]), edge_weight=torch.ones(3))
    assert "one number for each" in refusal(short)


def unchecked(layout, *parts, **options):
    """A tensor whose structure torch has not looked at."""
    make = getattr(torch, f"sparse_{layout}_tensor")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that these layouts are new
        return make(*(torch.tensor(part) for part in parts), check_invariants=False, **options)


@pytest.mark.parametrize(
    ("tensor", "words"),
    [
        (unchecked("coo", [[0], [10**9]], [1.0], size=(3, 3)), "names column 1,000,000,000"),
        (unchecked("coo", [[-7], [0]], [1.0], size=(3, 3)), "names row -7"),
        (unchecked("csr", [0, 10**6, 10**6, 0], [0], [1.0], size=(3, 3)), "must not decrease"),
        (unchecked("csr", [0, 1, 1, 1], [10**9], [1.0], size=(3, 3)), "names column"),
        (unchecked("csc", [0, 9, 9, 9], [0], [1.0], size=(3, 3)), "end at 9"),
        (unchecked("bsr", [0, 1, 0], [0], [[[1.0] * 2] * 2], size=(4, 4)), "must not decrease"),
        (unchecked("bsc", [0, 1, 1], [5], [[[1.0] * 2] * 2], size=(4, 4)), "names column 5"),
    ],
)
def test_tensors_that_were_not_checked(tensor, words):
    assert words in refusal(tensor)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.bool])
def test_small_numbers_that_stand_twice_are_summed_in_float64(dtype):
    value = 1 if dtype is torch.bool else 100
    entries = torch.full((5,), value, dtype=dtype)
    index = torch.tensor([[0] * 5, [1] * 5])
    tensor = torch.sparse_coo_tensor(index, entries, (2, 2))
    assert dense(tensor).tolist() == [[0, 5 * value], [0, 0]]
