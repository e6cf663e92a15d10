"""Sparse patterns, chains and their entries, against dense matrices and scipy's chain."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from grfpp.estimate.chain import Chain
from grfpp.estimate.factor import StoredFactor
from grfpp.linalg.tensors import from_scipy
from grfpp.torch.kernels.chain import FactorChain, Link, SparsePattern, chain_entries

N = 11
DENSE = torch.tensor([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0], [0.0, 0.0, 0.0], [4.0, 0.0, 5.0]]).double()


@pytest.fixture
def pattern():
    return SparsePattern(torch.tensor([0, 1, 3, 3, 5]), torch.tensor([1, 0, 2, 0, 2]), 3)


@pytest.fixture
def values():
    return torch.tensor([2.0, 1.0, 3.0, 4.0, 5.0]).double()


@pytest.mark.parametrize("transposed", [False, True])
def test_pattern_products_and_their_gradients(pattern, values, transposed):
    expected = DENSE.T if transposed else DENSE
    assert torch.equal(pattern.matrix(values, transposed).to_dense(), expected)
    assert torch.equal(Link(pattern, 0, transposed).to_coo([values]).to_dense(), expected)
    block = torch.arange(2.0 * expected.shape[1]).double().reshape(-1, 2)
    torch.testing.assert_close(pattern.multiply(values, block, transposed), expected @ block)
    leaves = (values.requires_grad_(), block.requires_grad_())
    assert torch.autograd.gradcheck(lambda v, b: pattern.multiply(v, b, transposed), leaves)


def test_pattern_samples_products_at_its_positions(pattern):
    left, right = torch.randn(4, 2).double(), torch.randn(3, 2).double()
    sampled = pattern.matrix(pattern.sample(left, right)).to_dense()
    torch.testing.assert_close(sampled, (left @ right.T) * (DENSE != 0))


def test_pattern_caches_selected_rows(pattern, values):
    nodes = torch.tensor([3, 1, 3])
    chosen, entries = pattern.take_rows(nodes)
    assert torch.equal(chosen.matrix(values[entries]).to_dense(), DENSE[nodes])
    assert pattern.take_rows(nodes.clone())[0] is chosen
    assert pattern.take_rows(torch.tensor([0]))[0] is not chosen


def matrices(n, seed=0):
    rng = np.random.default_rng(seed)
    return [sp.random_array((N, N), density=0.4, rng=rng, format="csr") for _ in range(n)]


def links_of(arrays):
    tensors = [from_scipy(array) for array in arrays]
    links = tuple(Link(SparsePattern.of(t), i) for i, t in enumerate(tensors))
    return links, [t.values().clone() for t in tensors]


def palindrome(half, symmetric):
    """``A B … (C D …)ᵀ``, or twice the same half, and the values of its links."""
    links, values = links_of(matrices(half if symmetric else 2 * half))
    return FactorChain(links[:half] + FactorChain(links[-half:]).T.links), values


@pytest.fixture(params=[2, 4])
def case(request):
    """``A Bᵀ C Dᵀ …``, its values and its dense product."""
    arrays = matrices(request.param)
    links, values = links_of(arrays)
    dense = Chain.stitched([StoredFactor(array) for array in arrays]) @ np.eye(N)
    chain = FactorChain(tuple(link.T if i % 2 else link for i, link in enumerate(links)))
    return chain, values, torch.from_numpy(dense)


def test_chain_products_rows_and_halves(case):
    chain, values, dense = case
    block = torch.randn(N, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(chain.matmat(values, block), dense @ block)
    torch.testing.assert_close(chain.T.matmat(values, block), dense.T @ block)
    nodes, others = torch.tensor([4, 0, 4]), torch.tensor([1, 10, 4])
    part = chain.take_rows(values, nodes)
    for found in (FactorChain.to_coo(*part).to_dense(), FactorChain.to_dense(*part)):
        torch.testing.assert_close(found, dense[nodes])
    torch.testing.assert_close(chain_entries(chain, values, nodes, others), dense[nodes, others])
    X, Y = chain.halves()
    torch.testing.assert_close(X.to_coo(values).to_dense() @ Y.to_dense(values).T, dense)
    leaves = [v.requires_grad_() for v in values]
    assert torch.autograd.gradcheck(lambda *v: chain.matmat(v, block), leaves, fast_mode=True)


@pytest.mark.parametrize("rows", [None, [3, 1]])
@pytest.mark.parametrize("columns", [None, [0, 5, 5]])
def test_chain_selects_rows_and_columns(case, rows, columns):
    chain, values, dense = case
    chosen = [None if index is None else torch.tensor(index) for index in (rows, columns)]
    part, numbers = chain.select(values, *chosen)
    expected = dense if rows is None else dense[rows]
    expected = expected if columns is None else expected[:, columns]
    assert part.shape == tuple(expected.shape)
    unit = torch.eye(expected.shape[1], dtype=torch.float64)
    torch.testing.assert_close(part.matmat(numbers, unit), expected)


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("half", [1, 2])
def test_entries_by_blocks(half, symmetric, monkeypatch):
    monkeypatch.setattr("grfpp.torch.kernels.chain._MAX_PAIRS", 3)
    chain, values = palindrome(half, symmetric)
    assert chain.is_symmetric is symmetric
    dense = chain.matmat(values, torch.eye(N, dtype=torch.float64))
    nodes = torch.arange(N)
    for rows, columns in ((nodes, nodes), (nodes, nodes.flip(0))):

        def entries(*numbers, at=(rows, columns)):
            return chain_entries(chain, numbers, *at)

        torch.testing.assert_close(entries(*(v.detach() for v in values)), dense[rows, columns])
        inputs = [v.requires_grad_() for v in values]
        torch.testing.assert_close(entries(*inputs), dense[rows, columns])
        assert torch.autograd.gradcheck(entries, inputs, fast_mode=True)
        assert torch.autograd.gradgradcheck(entries, inputs, fast_mode=True)


def test_entries_with_gradients_of_some_values():
    chain, values = palindrome(2, symmetric=False)
    values[1].requires_grad_()
    nodes = torch.arange(N)
    chain_entries(chain, values, nodes, nodes).sum().backward()
    gradient = values[1].grad.clone()
    values[1].grad = None
    chain.matmat(values, torch.eye(N, dtype=torch.float64)).trace().backward()
    torch.testing.assert_close(gradient, values[1].grad)
