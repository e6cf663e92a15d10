"""Diagonals of powers."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from grfpp.linalg.spectra.returns import _fill, power_diagonals


@pytest.mark.parametrize("n_lengths", [1, 2, 5, 8])
def test_they_are_the_diagonals_of_the_powers(n_lengths):
    # More nodes than columns are made together.
    sizes = (1, 100, 3, 70)
    rng = np.random.default_rng(0)
    blocks = []
    for n in sizes:
        A = nx.to_numpy_array(nx.gnp_random_graph(n, 0.1, seed=n))
        blocks.append(A * np.add.outer(weights := rng.uniform(0.1, 0.3, n), weights))
    starts = np.concatenate([[0], np.cumsum(sizes)])
    found = power_diagonals(sp.csr_array(sp.block_diag(blocks)), starts, n_lengths)
    for block, start, stop in zip(blocks, starts, starts[1:], strict=False):
        powers = [np.linalg.matrix_power(block, k + 1).diagonal() for k in range(n_lengths)]
        assert np.allclose(found[start:stop].T, powers, rtol=1e-12, atol=1e-14)


def test_arrays_that_may_be_written_to_are_not_compiled_for_apart():
    """`warmup` has read-only ones, encodings have others."""
    power_diagonals(sp.eye_array(3, format="csr"), np.array([0, 3]), 2)
    assert not any(each.mutable for types in _fill.signatures for each in types[:4])
