"""Sparse matrices whose positions and values are apart, against dense ones."""

import pytest

torch = pytest.importorskip("torch")

from grfpp.torch.kernels.pattern import SparsePattern  # noqa: E402 - below the check above

DENSE = torch.tensor([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0], [0.0, 0.0, 0.0], [4.0, 0.0, 5.0]]).double()


@pytest.fixture
def pattern():
    return SparsePattern(torch.tensor([0, 1, 3, 3, 5]), torch.tensor([1, 0, 2, 0, 2]), 3)


@pytest.fixture
def values():
    return torch.tensor([2.0, 1.0, 3.0, 4.0, 5.0]).double()


def test_forms_of_the_matrix(pattern, values):
    assert pattern.n_entries == 5 and pattern.shape == (4, 3)
    assert torch.equal(pattern.matrix(values).to_dense(), DENSE)
    assert torch.equal(pattern.matrix(values, transposed=True).to_dense(), DENSE.T)
    assert torch.equal(pattern.coo(values).to_dense(), DENSE)


@pytest.mark.parametrize("transposed", [False, True])
def test_products_and_their_gradients(pattern, values, transposed):
    wanted = DENSE.T if transposed else DENSE
    block = torch.arange(2.0 * wanted.shape[1]).double().reshape(-1, 2)
    torch.testing.assert_close(pattern.multiply(values, block, transposed), wanted @ block)
    leaves = (values.requires_grad_(), block.requires_grad_())
    assert torch.autograd.gradcheck(lambda v, b: pattern.multiply(v, b, transposed), leaves)


def test_products_at_the_positions_only(pattern):
    left, right = torch.randn(4, 2).double(), torch.randn(3, 2).double()
    found = pattern.matrix(pattern.sample(left, right)).to_dense()
    torch.testing.assert_close(found, (left @ right.T) * (DENSE != 0))


def test_chosen_rows_are_remembered(pattern, values):
    nodes = torch.tensor([3, 1, 3])
    chosen, entries = pattern.take_rows(nodes)
    assert torch.equal(chosen.matrix(values[entries]).to_dense(), DENSE[nodes])
    assert pattern.take_rows(nodes.clone())[0] is chosen
    assert pattern.take_rows(nodes.flip(0))[0] is chosen  # the same nodes in the same order
    assert pattern.take_rows(torch.tensor([0]))[0] is not chosen
