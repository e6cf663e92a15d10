"""The torch chain against dense matrices, and against the chain of scipy's matrices."""

import numpy as np
import pytest
import scipy.sparse as sp

torch = pytest.importorskip("torch")

from grfpp.chain import Chain  # noqa: E402 - below the check above
from grfpp.factors import StoredFactor  # noqa: E402
from grfpp.linalg.tensors import from_scipy  # noqa: E402
from grfpp.torch.kernels.chain import FactorChain, Link  # noqa: E402
from grfpp.torch.kernels.entries import chain_entries  # noqa: E402
from grfpp.torch.kernels.pattern import SparsePattern  # noqa: E402

N = 11


def matrices(n, seed=0):
    rng = np.random.default_rng(seed)
    return [sp.random_array((N, N), density=0.4, rng=rng, format="csr") for _ in range(n)]


def chain_of(arrays):
    """``A Bᵀ C Dᵀ …`` and the values of its links."""
    tensors = [from_scipy(each) for each in arrays]
    links = [Link(SparsePattern.of(t), i, bool(i % 2)) for i, t in enumerate(tensors)]
    return FactorChain(tuple(links)), [t.values().clone() for t in tensors]


@pytest.fixture(params=[2, 4])
def case(request):
    arrays = matrices(request.param)
    dense = Chain.stitched([StoredFactor(each) for each in arrays]) @ np.eye(N)
    return (*chain_of(arrays), torch.from_numpy(dense))


def test_products(case):
    chain, values, dense = case
    block = torch.randn(N, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(chain.matmat(values, block), dense @ block)
    torch.testing.assert_close(chain.T.matmat(values, block), dense.T @ block)
    torch.testing.assert_close(chain.multiplier(values)(block), dense @ block)


def test_rows_entries_and_halves(case):
    chain, values, dense = case
    nodes, others = torch.tensor([4, 0, 4]), torch.tensor([1, 10, 4])
    torch.testing.assert_close(chain.rows(values, nodes).to_dense(), dense[nodes])
    torch.testing.assert_close(chain.rows(values).to_dense(), dense)
    torch.testing.assert_close(chain_entries(chain, values, nodes, others), dense[nodes, others])
    X, Y = chain.halves()
    torch.testing.assert_close(X.rows(values).to_dense() @ Y.rows(values).to_dense().T, dense)


@pytest.mark.parametrize("rows", [None, [3, 1]])
@pytest.mark.parametrize("columns", [None, [0, 5, 5]])
def test_chosen_rows_and_columns(case, rows, columns):
    chain, values, dense = case
    chosen = [None if each is None else torch.tensor(each) for each in (rows, columns)]
    part, numbers = chain.select(values, *chosen)
    wanted = dense if rows is None else dense[rows]
    wanted = wanted if columns is None else wanted[:, columns]
    assert part.shape == tuple(wanted.shape)
    unit = torch.eye(wanted.shape[1], dtype=torch.float64)
    torch.testing.assert_close(part.matmat(numbers, unit), wanted)


def test_gradients_reach_the_values():
    chain, values = chain_of(matrices(2))
    leaves = [each.requires_grad_() for each in values]
    block = torch.ones(N, 2, dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda *v: chain.matmat(v, block), leaves)
    nodes = torch.tensor([2, 7])
    assert torch.autograd.gradcheck(
        lambda *v: chain_entries(chain, v, nodes, nodes.flip(0)), leaves
    )


def test_a_palindrome_is_symmetric():
    chain, _ = chain_of(matrices(2))
    first = chain.links[0]
    assert FactorChain((first, first.turn())).is_symmetric
    assert not chain.is_symmetric
