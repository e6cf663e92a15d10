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
PARTS = {"crow_indices": "indptr", "col_indices": "indices", "values": "data"}


def test_factors_keep_their_numbers_and_the_rules_of_torch():
    before = [[each.copy() for each in pair] for pair in ESTIMATE.factors]
    pairs = ESTIMATE.to_torch()
    product = torch.eye(34, dtype=torch.float64)
    for tensors, matrices, copies in zip(pairs, ESTIMATE.factors, before, strict=True):
        for tensor, matrix, copy in zip(tensors, matrices, copies, strict=True):
            assert_close(tensor.to_dense().numpy(), matrix.toarray())
            parts = [getattr(tensor, part)() for part in PARTS]
            torch.sparse_csr_tensor(*parts, size=tensor.shape, check_invariants=True)
            for part in PARTS.values():  # sorting leaves the estimate alone
                assert np.array_equal(getattr(matrix, part), getattr(copy, part))
        product = product @ tensors[0].to_dense() @ tensors[1].to_dense().T
    assert_close(product.numpy(), ESTIMATE.toarray())


def test_nothing_is_copied_where_nothing_must_be():
    tensor, matrix = ESTIMATE.to_torch(sort=False)[0][0], ESTIMATE.factors[0][0]
    for part, name in PARTS.items():
        assert np.shares_memory(getattr(tensor, part)().numpy(), getattr(matrix, name))
    assert_close(tensor.to_dense().numpy(), matrix.toarray())
    reused = grfpp.sample(W, grfpp.Diffusion(1.0), seed=0, reuse_walks=True).to_torch()
    assert all(each is reused[0][0] for pair in reused for each in pair)


def test_types():
    single = grfpp.sample(W, grfpp.Diffusion(1.0), seed=0, dtype="float32")
    for pairs in (ESTIMATE.to_torch(dtype=torch.float32), single.to_torch()):
        assert pairs[0][0].dtype == torch.float32
    for dtype in (torch.int32, torch.bool, "float32"):
        with pytest.raises(InputError, match="dtype must be a real"):
            ESTIMATE.to_torch(dtype=dtype)


def test_rectangular_and_empty_matrices():
    assert_close(from_scipy(sp.csr_array((2, 5))).to_dense(), torch.zeros(2, 5).double())
