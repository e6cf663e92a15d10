"""Powers of the weights of many graphs, walked for."""

import numpy as np
import pytest
from numpy.linalg import matrix_power
from small_graphs import irregular, weighted

from grfpp import InputError
from grfpp.options import WalkOptions
from grfpp.walks.batch import GraphBatch
from grfpp.walks.by_length import BatchLengths

GRAPHS = [irregular(), weighted(), irregular()]


def powers(graphs, part, **options):
    batch = GraphBatch.of(graphs)
    walks = BatchLengths.of(batch, 3, WalkOptions(**{"seed": 1, **options}))
    return [each.toarray() for each in walks.powers(part)]


@pytest.mark.parametrize("walks", ["pooled", "independent"])
def test_means_are_the_powers(walks):
    batch = GraphBatch.of(GRAPHS)
    W = batch.graph.normalized("sym").adjacency.toarray()
    samples = np.array(
        [
            powers(GRAPHS, range(3), walks=walks, n_walks=2, termination="geometric:0.3", seed=seed)
            for seed in range(400)
        ]
    )
    wanted = np.array([matrix_power(W, k) for k in (1, 2, 3)])
    spread = samples.std(axis=0, ddof=1) / 20
    varies = spread > 1e-12
    assert varies.any()
    np.testing.assert_allclose(samples.mean(axis=0)[~varies], wanted[~varies], atol=1e-9)
    z = (samples.mean(axis=0) - wanted)[varies] / spread[varies]
    assert np.sqrt(np.mean(z**2)) < 1.3


@pytest.mark.parametrize("walks", ["pooled", "independent"])
def test_a_graph_is_walked_as_if_it_were_alone(walks):
    options = {"walks": walks, "n_walks": 2, "termination": "geometric:0.3"}
    alone = powers(GRAPHS[1:2], range(1), **options)
    beside = powers(GRAPHS, range(1, 2), **options)
    together = powers(GRAPHS, range(3), **options)
    own = slice(len(GRAPHS[0]), len(GRAPHS[0]) + len(GRAPHS[1]))
    for a, b, c in zip(alone, beside, together, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-11)
        np.testing.assert_array_equal(c[own, own], b)
        n = len(GRAPHS[0])
        np.testing.assert_array_equal(c[:n, :n], c[-n:, -n:])


def test_laws_that_end_too_early_are_refused():
    with pytest.raises(InputError, match="n_lengths is 3"):
        powers(GRAPHS, range(1), termination="fixed:2")
