import math

import networkx as nx
import numpy as np
import pytest

import grfpp
from grfpp.estimate.deflation import deflation_of
from grfpp.options import WalkOptions
from grfpp.sampling.falling_noise import FallingNoise

W = grfpp.Graph(nx.barabasi_albert_graph(400, 4, seed=3)).normalized("sym")
ARCS = grfpp.Graph(
    nx.to_numpy_array(nx.gnp_random_graph(150, 0.05, seed=1, directed=True)), directed=True
).normalized("rw")
KERNEL = grfpp.Diffusion(2.0)


def error(graph, n_walks, **options):
    return np.mean(
        [
            float(
                grfpp.relative_error(
                    grfpp.sample(graph, KERNEL, n_walks=n_walks, seed=seed, **options),
                    KERNEL,
                    graph,
                )
            )
            for seed in range(2)
        ]
    )


@pytest.mark.parametrize(("graph", "deflate"), [(W, 0), (W, 3), (ARCS, 0)])
def test_it_falls_as_the_error_does(graph, deflate):
    options = WalkOptions.of(seed=9, n_walks=1)
    noise = FallingNoise(graph, KERNEL, options, deflation_of(graph, KERNEL, deflate))
    true = error(graph, 24, deflate=deflate) / error(graph, 4, deflate=deflate)
    assert 0.8 < noise.size(24) / noise.size(4) / true < 1.25
    assert 0.8 < noise.walks_for(4, true) / 24 < 1.25


def test_both_ways_agree():
    noise = FallingNoise(W, KERNEL, WalkOptions.of(seed=0, n_walks=1))
    for start in (1, 3, 8):
        for end in (9, 20):
            assert noise.walks_for(start, noise.size(end) / noise.size(start)) == pytest.approx(end)


def test_it_does_not_walk_far_beyond_what_there_is():
    noise = FallingNoise(W, KERNEL, WalkOptions.of(seed=0, n_walks=1))
    assert noise.walks_for(1, 1e-200) == 2.0**60
    assert noise.steps < 2 * 2 * 32 * 25 / 400 * 9 + 1  # twice, 1 + 2 + … + 32 walks of 25 rows


def test_what_it_may_cost():
    noise = FallingNoise(W, KERNEL, WalkOptions.of(seed=0, n_walks=1))
    assert noise.walks_for(1, 1e-3, 10.0) > 100
    assert noise.steps <= 10


def test_no_noise_at_all():
    pair = grfpp.Graph(nx.path_graph(2)).normalized("sym")
    noise = FallingNoise(pair, grfpp.Diffusion(0.1), WalkOptions.of(seed=0, n_walks=64))
    assert math.isfinite(noise.size(64)) and noise.walks_for(64, 0.5) >= 64
