"""Many estimates in one call."""

import numpy as np
from independent_walks import sample

import grfpp
from grfpp_lab.experiments import copies, graphs


def test_copies_are_independent_estimates():
    graph = graphs.load("er-20")
    many = copies.copies(graph, 50).normalized("sym")
    K = sample(many, grfpp.Diffusion(1.0), 2, 4, seed=0)
    found, dense = copies.blocks(K.chain, 20), K.toarray()
    for number in (0, 7, 49):
        block = slice(20 * number, 20 * (number + 1))
        np.testing.assert_allclose(found[number], dense[block, block], atol=1e-12)
    assert len(np.unique(found.reshape(50, -1), axis=0)) == 50
