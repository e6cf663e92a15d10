"""How the error behaves: its rate in the walks, its size by formula, its fall with the degree."""

import networkx as nx
import numpy as np
import pytest
from independent_walks import sample
from io_helpers import real_data
from statistics_helpers import blocks, copies, estimates

import grfpp

DIFFUSION = grfpp.Diffusion(1.0)
KARATE = grfpp.Graph(nx.to_numpy_array(nx.karate_club_graph(), weight=None)).normalized("sym")


def test_the_error_falls_as_one_over_the_root_of_the_number_of_walks():
    exact = DIFFUSION.exact(KARATE)
    graph = copies(KARATE.adjacency, 40)
    walks = 2 ** np.arange(2, 10)
    errors = []
    for n_walks in walks.tolist():
        samples = estimates(sample(graph, DIFFUSION, 2, n_walks, seed=0), KARATE.n_nodes)
        errors.append(np.linalg.norm(samples - exact, axis=(1, 2)).mean())
    slope = np.polyfit(np.log(walks), np.log(errors), 1)[0]
    assert abs(slope + 0.5) < 0.05


def test_the_error_of_degree_two_is_that_of_the_papers_lemma():
    """MSE = ||E[X1' X1]||² - ||K||², X1 = K1 K2' of degree two."""
    n = KARATE.n_nodes
    exact = DIFFUSION.exact(KARATE)
    estimate = sample(copies(KARATE.adjacency, 4000), DIFFUSION, 2, 4, seed=0)
    first, second = (
        blocks(left, n) @ blocks(right, n).transpose(0, 2, 1) for left, right in estimate.factors
    )
    measured = np.mean(np.linalg.norm(first @ second - exact, axis=(1, 2)) ** 2)
    # The squared norm of a mean is estimated without bias by two independent means.
    moment_a = np.mean(first.transpose(0, 2, 1) @ first, axis=0)
    moment_b = np.mean(second @ second.transpose(0, 2, 1), axis=0)
    formula = np.sum(moment_a * moment_b) - np.linalg.norm(exact) ** 2
    assert abs(measured / formula - 1) < 0.05


def _paper_graph(name):
    made = {
        "erdos-renyi 20": nx.gnp_random_graph(20, 0.2, seed=0),
        "erdos-renyi 100": nx.gnp_random_graph(100, 0.04, seed=0),
        "binary tree": nx.balanced_tree(2, 6),
        "10-regular": nx.random_regular_graph(10, 100, seed=0),
        "karate": nx.to_numpy_array(nx.karate_club_graph(), weight=None),
    }
    return grfpp.Graph(made[name] if name in made else real_data("graphs", f"{name}.gml"))


OTHERS = ("erdos-renyi 100", "binary tree", "10-regular", "dolphins", "football")


@pytest.mark.parametrize(
    ("name", "n_copies"),
    [("erdos-renyi 20", 400), ("karate", 200), *((name, 100) for name in OTHERS)],
)
def test_the_error_does_not_grow_with_the_degree_at_equal_walks(name, n_copies):
    """The paper's theorem: MSE(1) >= MSE(2) >= MSE(4)."""
    graph = _paper_graph(name).normalized("sym")
    exact = DIFFUSION.exact(graph)
    many = copies(graph.adjacency, n_copies)
    mse, error = {}, {}
    for degree in (1, 2, 4):
        samples = estimates(sample(many, DIFFUSION, degree, 8, seed=0), graph.n_nodes)
        squares = np.linalg.norm(samples - exact, axis=(1, 2)) ** 2
        mse[degree] = squares.mean()
        error[degree] = squares.std(ddof=1) / np.sqrt(n_copies)
    for low, high in ((1, 2), (2, 4)):
        assert mse[high] < mse[low] + 2 * np.hypot(error[low], error[high])
    assert mse[4] < mse[1]
