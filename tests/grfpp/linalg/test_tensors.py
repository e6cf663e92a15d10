"""Estimates as torch tensors."""

import networkx as nx
import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed")

import scipy.sparse as sp
import torch
from torch.testing import assert_close

import grfpp
from grfpp import InputError
from grfpp.linalg.tensors import from_scipy

W = grfpp.Graph(nx.karate_club_graph()).normalized("sym")
ESTIMATE = grfpp.sample(W, grfpp.Diffusion(1.0), degree=2, seed=0, symmetrize=False)


def test_factors_keep_their_numbers():
    pairs = ESTIMATE.to_torch()
    assert len(pairs) == 2
    product = torch.eye(34, dtype=torch.float64)
    for (left, right), wanted in zip(pairs, ESTIMATE.factors, strict=True):
        for tensor, matrix in zip((left, right), wanted, strict=True):
            assert tensor.layout == torch.sparse_csr
            assert_close(tensor.to_dense().numpy(), matrix.toarray())
        product = product @ left.to_dense() @ right.to_dense().T
    assert_close(product.numpy(), ESTIMATE.toarray())


def test_sorted_tensors_keep_the_rules_of_torch():
    for pair in ESTIMATE.to_torch():
        for each in pair:
            torch.sparse_csr_tensor(
                each.crow_indices(),
                each.col_indices(),
                each.values(),
                size=each.shape,
                check_invariants=True,
            )


def test_nothing_is_copied_where_nothing_must_be():
    ((left, _), _), factors = ESTIMATE.to_torch(sort=False), ESTIMATE.factors
    matrix = factors[0][0]
    for tensor, array in (
        (left.values(), matrix.data),
        (left.col_indices(), matrix.indices),
        (left.crow_indices(), matrix.indptr),
    ):
        assert np.shares_memory(tensor.numpy(), array)
    assert_close(left.to_dense().numpy(), matrix.toarray())


def test_sorting_leaves_the_estimate_alone():
    before = [part.copy() for pair in ESTIMATE.factors for part in (pair[0].indices, pair[0].data)]
    ESTIMATE.to_torch()
    after = [part for pair in ESTIMATE.factors for part in (pair[0].indices, pair[0].data)]
    assert all(np.array_equal(*pair) for pair in zip(before, after, strict=True))


def test_number_type():
    (left, _), _ = ESTIMATE.to_torch(dtype=torch.float32)
    assert left.dtype == torch.float32
    single = grfpp.sample(W, grfpp.Diffusion(1.0), seed=0, dtype="float32")
    assert single.to_torch()[0][0].dtype == torch.float32


@pytest.mark.parametrize("dtype", [torch.int32, torch.bool, "float32"])
def test_types_that_are_no_real_numbers_are_refused(dtype):
    with pytest.raises(InputError, match="dtype must be one of real numbers"):
        ESTIMATE.to_torch(dtype=dtype)


def test_factors_that_share_walks_share_tensors():
    reused = grfpp.sample(W, grfpp.Diffusion(1.0), seed=0, reuse_walks=True).to_torch()
    assert all(each is reused[0][0] for pair in reused for each in pair)


def test_rectangular_and_empty_matrices():
    assert_close(from_scipy(sp.csr_array((2, 5))).to_dense(), torch.zeros(2, 5).double())
