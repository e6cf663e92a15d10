"""Both kinds of processes, beside dense algebra."""

import networkx as nx
import numpy as np
import pytest

import grfpp
from grfpp.tasks.nodes.kriging.build import process_of
from grfpp.tasks.nodes.kriging.planned import PlannedProcess
from grfpp.tasks.nodes.kriging.smooth import SmoothProcess

GRAPH = grfpp.Graph(nx.les_miserables_graph())
N = GRAPH.n_nodes
RNG = np.random.default_rng(2)
KNOWN = np.sort(RNG.choice(N, size=25, replace=False))
VALUES = RNG.standard_normal((N, 2))
KERNELS = [
    (grfpp.RegularizedLaplacian(1, sigma2=3.0), SmoothProcess),
    (grfpp.RegularizedLaplacian(3, sigma2=3.0), SmoothProcess),
    (grfpp.RegularizedLaplacian(2.5, sigma2=3.0), PlannedProcess),
    (grfpp.Diffusion(4.0), PlannedProcess),
]


def covariance(kernel, normalization, scale=1.0):
    K = kernel.exact(GRAPH.normalized(None if normalization is None else "sym", scale))
    if normalization != "rw":
        return K
    strength = GRAPH.adjacency.sum(axis=1)
    roots = np.sqrt(strength / strength.mean())
    return K / np.outer(roots, roots)


def masks(*left_out):
    mask = np.zeros((N, max(1, len(left_out))))
    mask[KNOWN] = 1.0
    for column, place in enumerate(left_out):
        mask[place, column] = 0.0
    return mask


@pytest.mark.parametrize(("kernel", "kind"), KERNELS, ids=str)
@pytest.mark.parametrize("normalization", ["rw", "sym"])
def test_means_and_variances_are_those_of_the_process(kernel, kind, normalization):
    process = process_of(GRAPH, kernel, normalization)
    assert isinstance(process, kind)
    K, noise = covariance(kernel, normalization), 0.05
    inverse = np.linalg.inv(K[np.ix_(KNOWN, KNOWN)] + noise * np.eye(len(KNOWN)))
    expected = K[:, KNOWN] @ inverse @ VALUES[KNOWN]
    found = process.mean(masks(), VALUES, noise, 1e-10).field
    np.testing.assert_allclose(found, expected, atol=1e-6)
    nodes = np.array([0, 5, 40])
    told = np.diag(K[:, KNOWN] @ inverse @ K[KNOWN])
    np.testing.assert_allclose(
        process.variances(nodes, masks(), noise), (np.diag(K) - told)[nodes], rtol=1e-3
    )
    assert process.prior_variance(0) == pytest.approx(np.diag(K).mean(), rel=0.2)


@pytest.mark.parametrize("kernel", [grfpp.RegularizedLaplacian(2), grfpp.Diffusion(3.0)])
def test_every_column_may_have_known_nodes_of_its_own(kernel):
    process = process_of(GRAPH, kernel)
    together = process.mean(masks(KNOWN[0], KNOWN[7]), VALUES, 0.1, 1e-10).field
    for column, left_out in enumerate((KNOWN[0], KNOWN[7])):
        alone = process.mean(masks(left_out), VALUES[:, [column]], 0.1, 1e-10).field
        np.testing.assert_allclose(together[:, [column]], alone, atol=1e-7)


@pytest.mark.parametrize("power", [1, 2, 3])
def test_draws_spread_as_the_variances_say(power):
    process = process_of(GRAPH, grfpp.RegularizedLaplacian(power, sigma2=2.0))
    nodes = np.arange(N)
    exact = process.variances(nodes, masks(), 0.1)
    drawn = process.draws(2000, masks(), 0.1, seed=0)
    # The variance of 2,000 normal draws has a relative deviation of 3.2 %.
    np.testing.assert_allclose(np.square(drawn).mean(axis=1) / exact, 1.0, atol=0.16)


def test_constants_are_the_smoothest_fields_of_the_random_walk():
    kernel = grfpp.RegularizedLaplacian(3, sigma2=1e4)
    ones = np.ones((N, 1))
    by_walk = process_of(GRAPH, kernel, "rw").mean(masks(), ones, 1.0, 1e-10).field
    symmetric = process_of(GRAPH, kernel, "sym").mean(masks(), ones, 1.0, 1e-10).field
    assert np.abs(by_walk - 1).max() < 1e-3
    assert np.abs(symmetric - 1).max() > 0.1


def test_methods_of_the_planner_and_what_is_refused():
    asked = process_of(GRAPH, grfpp.RegularizedLaplacian(2), method="dense")
    assert isinstance(asked, PlannedProcess)
    plain = process_of(GRAPH, grfpp.RegularizedLaplacian(2))
    np.testing.assert_allclose(
        asked.mean(masks(), VALUES, 0.1, 1e-9).field,
        plain.mean(masks(), VALUES, 0.1, 1e-9).field,
        atol=1e-6,
    )
    with pytest.raises(grfpp.InputError, match="this graph is directed: use how='mean'"):
        process_of(grfpp.Graph([[0, 1], [0, 0]]), grfpp.Diffusion())
    with pytest.raises(grfpp.InputError, match="converges"):
        process_of(GRAPH, grfpp.InversePower(2))
