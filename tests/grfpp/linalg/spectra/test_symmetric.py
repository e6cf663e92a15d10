"""Eigenvalues with equal rows taken together."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from small_graphs import QUICK

from grfpp.linalg.spectra.symmetric import symmetric_eigenvalues


@QUICK
@given(st.integers(1, 12), st.integers(0, 10**6), st.booleans())
def test_nodes_with_equal_rows_do_not_change_eigenvalues(n, seed, with_loops):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) < 0.4, 0 if with_loops else 1) * rng.lognormal(size=(n, n))
    small = upper + upper.T
    groups = rng.integers(0, n, 3 * n)
    twins = small[groups][:, groups]
    found = np.sort(symmetric_eigenvalues(sp.csr_array(twins)))
    np.testing.assert_allclose(found, np.linalg.eigvalsh(twins), atol=1e-10)
