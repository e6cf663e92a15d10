import numpy as np
import pytest
import scipy.sparse as sp
from numpy.linalg import matrix_power

from grfpp.tasks.graphs.powers import ExactPowers, WalkedPowers


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("n_lengths", [1, 2, 5, 6])
def test_both_kinds_are_powers(n_lengths, symmetric):
    rng = np.random.default_rng(0)
    W = rng.normal(size=(7, 7)) * (rng.random((7, 7)) < 0.5)
    W, Y = W + W.T if symmetric else W, rng.normal(size=(7, 2))
    powers = [matrix_power(W, k) for k in range(1, n_lengths + 1)]
    for found in (
        ExactPowers(sp.csr_array(W), n_lengths),
        WalkedPowers([sp.csr_array(each) for each in powers]),
    ):
        np.testing.assert_allclose(list(found.spread(Y)), [each @ Y for each in powers], atol=1e-9)
        wanted = [each.diagonal() for each in powers]
        np.testing.assert_allclose(found.diagonals(), wanted, atol=1e-9)
