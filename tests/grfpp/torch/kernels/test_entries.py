"""Entries of a chain by blocks of pairs, against dense matrices."""

import numpy as np
import pytest
import scipy.sparse as sp

torch = pytest.importorskip("torch")

from grfpp.linalg.tensors import from_scipy  # noqa: E402 - below the check above
from grfpp.torch.kernels.chain import FactorChain, Link  # noqa: E402
from grfpp.torch.kernels.entries import chain_entries  # noqa: E402
from grfpp.torch.kernels.pattern import SparsePattern  # noqa: E402

N = 11


def chain_of(half, symmetric):
    """``A B … (C D …)ᵀ``, or twice the same half, and the values of its links."""
    rng = np.random.default_rng(0)
    arrays = [
        sp.random_array((N, N), density=0.4, rng=rng, format="csr")
        for _ in range(half if symmetric else 2 * half)
    ]
    tensors = [from_scipy(each) for each in arrays]
    links = tuple(Link(SparsePattern.of(each), i) for i, each in enumerate(tensors))
    right = FactorChain(links[-half:]).T
    return FactorChain(links[:half] + right.links), [each.values().clone() for each in tensors]


@pytest.mark.parametrize("full", [0.0, 2.0])  # all rows count as full, or none does
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("half", [1, 2])
def test_entries_by_blocks(half, full, symmetric, monkeypatch):
    monkeypatch.setattr("grfpp.torch.kernels.entries._MOST_PAIRS", 3)
    monkeypatch.setattr("grfpp.torch.kernels.entries._FULL", full)
    chain, values = chain_of(half, symmetric)
    dense = chain.matmat(values, torch.eye(N, dtype=torch.float64))
    every = torch.arange(N)
    inputs = [each.requires_grad_() for each in values]
    for rows, columns in ((every, every), (every, every.flip(0))):

        def numbers_at(*numbers, at=(rows, columns)):
            return chain_entries(chain, numbers, *at)

        torch.testing.assert_close(numbers_at(*values), dense[rows, columns])
        assert torch.autograd.gradcheck(numbers_at, inputs, fast_mode=True)
        if full == 0.0:  # torch differentiates products of sparse matrices but once
            assert torch.autograd.gradgradcheck(numbers_at, inputs, fast_mode=True)


@pytest.mark.parametrize("full", [0.0, 2.0])
def test_gradients_of_some_values_only(full, monkeypatch):
    monkeypatch.setattr("grfpp.torch.kernels.entries._FULL", full)
    chain, values = chain_of(2, symmetric=False)
    values[1].requires_grad_()
    unused = torch.ones(3, dtype=torch.float64, requires_grad=True)
    every = torch.arange(N)
    chain_entries(chain, [*values, unused], every, every).sum().backward()
    found = values[1].grad.clone()
    values[1].grad = None
    chain.matmat(values, torch.eye(N, dtype=torch.float64)).trace().backward()
    torch.testing.assert_close(found, values[1].grad)
    assert not unused.grad.any()
