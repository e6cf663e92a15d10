"""A chain with a sign, alone and averaged with its transpose, against dense algebra."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from grfpp.chain import Chain
from grfpp.estimate.signed_chain import SignedChain
from grfpp.factors import StoredFactor

N = 11


@pytest.fixture(params=[2, 4, 6], ids=lambda n: f"{n} factors")
def chain(request):
    rng = np.random.default_rng(0)
    matrices = [
        sp.random_array((N, N), density=0.3, rng=rng, format="csr") for _ in range(request.param)
    ]
    return Chain.stitched([StoredFactor(matrix) for matrix in matrices], 1)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("symmetrized", [False, True])
def test_all_ways_to_ask_agree(chain, sign, symmetrized):
    made = SignedChain(chain, sign, symmetrized)
    plain = sign * (chain @ np.eye(N))
    wanted = (plain + plain.T) / 2 if symmetrized else plain
    close = {"rtol": 1e-10, "atol": 1e-12}
    assert_allclose(made @ np.eye(N), wanted, **close)
    assert_allclose(made.T @ np.eye(N), wanted.T, **close)
    between = np.diag(np.arange(1.0, N + 1))
    X, Y = (half @ np.eye(N) for half in chain.halves())
    inner = sign * X @ between @ Y.T
    inner = (inner + inner.T) / 2 if symmetrized else inner
    assert_allclose(made.times(np.eye(N), lambda block: between @ block), inner, **close)
    for found, half in zip(made.halves_times(np.eye(N)), (sign * X, Y), strict=True):
        assert_allclose(found, half, **close)
    assert_allclose(made.plain @ np.eye(N), plain, **close)
    assert (made.T is made) is symmetrized
    assert_allclose(made.rows(np.array([3, 0, 3])).toarray(), wanted[[3, 0, 3]], **close)
    assert_allclose([[made.entry(i, j) for j in range(N)] for i in range(N)], wanted, **close)
    assert_allclose(made.diagonal(), wanted.diagonal(), **close)
    X, Y = made.features()
    assert_allclose((X @ Y.T).toarray(), wanted, **close)
    for side, feature in (("left", X), ("right", Y)):
        assert_allclose(made.feature_side(side).toarray(), feature.toarray(), **close)
    product = np.eye(N)
    for matrix in made.matrices():
        product = product @ matrix.toarray()
    assert_allclose(product, wanted, **close)


@pytest.mark.parametrize("where", ["middle", "pairs"])
@pytest.mark.parametrize("width", [2, 5])
def test_both_orders_have_one_half_of_the_weight(chain, where, width):
    draws = np.random.default_rng(1).normal(size=(N, width))
    plain = SignedChain(chain, -1).project(lambda: draws, where)
    x, y = (part / np.sqrt(width) for part in plain)
    X, Y = SignedChain(chain, -1, symmetrized=True).project(lambda: draws, where)
    n_first = width - width // 2
    first, others = (np.s_[:, :n_first], np.s_[:, n_first:])
    wanted = (
        width
        / 2
        * (
            x[first] @ y[first].T * width / n_first
            + y[others] @ x[others].T * width / (width - n_first)
        )
    )
    assert_allclose(X @ Y.T, wanted, rtol=1e-10)
