"""The graphs of pooled walks: what they are called is what they are."""

import numpy as np
import pytest

import grfpp
from grfpp_lab.experiments.measuring import seeds
from grfpp_lab.experiments.refined import measuring


def test_log_normal_weights_stand_on_the_same_edges_both_ways():
    plain, weighted = measuring.load("karate"), measuring.load(f"karate{measuring.LOG_NORMAL}")
    assert not weighted.is_directed
    np.testing.assert_array_equal(plain.indices, weighted.indices)
    logs = np.log(weighted.weights)
    assert abs(logs.std() - measuring.SIGMA) < 0.3
    assert measuring.title_of(f"karate{measuring.LOG_NORMAL}") == "Karate, log-normal"


@pytest.mark.parametrize(
    "name", [measuring.SCALE_FREE, measuring.GRID, measuring.RANDOM, measuring.DENSE]
)
def test_sizes_are_known_before(name):
    assert measuring.load(name).n_nodes == measuring.n_nodes_of(name)


def test_points_are_joined_by_gaussian_weights():
    few = measuring.nearest_neighbours(60)
    assert not few.is_directed
    assert few.out_degree.min() >= measuring.N_NEIGHBOURS
    points = np.random.default_rng(0).standard_normal((60, 5))
    i, j = few.adjacency.nonzero()
    distance = np.linalg.norm(points[i] - points[j], axis=1)
    np.testing.assert_allclose(few.adjacency.toarray()[i, j], np.exp(-((distance / 0.3) ** 2)))
    all_pairs = measuring.dense(30)
    assert all_pairs.n_edges == 30 * 29 / 2
    # The same generator, and so the same first points.
    weight = np.exp(-(np.linalg.norm(points[0] - points[1]) ** 2) / 0.5)
    assert all_pairs.adjacency.toarray()[0, 1] == pytest.approx(weight)


def test_what_is_not_at_hand(no_data):
    assert "is not at hand" in measuring.why_not(measuring.MESH + measuring.LOG_NORMAL)
    assert "is not at hand" in measuring.why_not(measuring.CORA)
    assert measuring.why_not(measuring.LARGE_REGULAR) is None
    assert measuring.why_not("er-20") is None


CELL = {
    "graph": "karate",
    "termination": "geometric:0.1",
    "seed": 3,
    "kernel": "diffusion:1",
    "scale": 1.0,
    "name": "exp(W)",
    "repeats": 2,
    "columns": 34,
    "budgets": [144],
    "method": measuring.POOLED,
    "degree": 2,
}
W = measuring.load("karate").normalized("sym")
KERNEL = grfpp.Diffusion(1.0)


def test_errors_with_and_without_the_diagonal():
    exact = KERNEL.exact(W)
    truth = measuring.truth("karate", 1.0, "diffusion:1", 34)
    np.testing.assert_allclose(truth.exact, exact, atol=1e-11)
    some = measuring.truth("karate", 1.0, "diffusion:1", 5)
    np.testing.assert_allclose(some.exact, exact[:, some.nodes], atol=1e-11)
    assert truth.errors(exact + np.eye(34))[1] == pytest.approx(0, abs=1e-10)
    ones = truth.errors(exact + 1)
    assert ones[0] == pytest.approx(34 / np.linalg.norm(exact))
    off = exact - np.diag(np.diag(exact))
    assert ones[1] == pytest.approx(np.sqrt(34 * 33) / np.linalg.norm(off))


def test_walks_have_the_errors_of_their_estimates():
    plain, averaged = measuring.rows_of(CELL)
    assert [plain["method"], averaged["method"]] == [measuring.POOLED, measuring.AVERAGED]
    identity = {name: each for name, each in CELL.items() if name not in ("repeats", "budgets")}
    estimates = [
        grfpp.sample(W, KERNEL, 2, 4, seed=seed, symmetrize=False)
        for seed in seeds(2, **identity, budget=144)
    ]
    errors = [grfpp.relative_error(K, KERNEL, W) for K in estimates]
    assert plain["error"] == pytest.approx(np.mean(errors), rel=1e-6)
    assert plain["steps_per_node"] == pytest.approx(144)
    stored = sum(factor.nnz for pair in estimates[-1].factors for factor in pair) / 34
    assert plain["entries"] == averaged["entries"] == pytest.approx(stored)
    assert averaged["error"] < plain["error"]
    (paper,) = measuring.rows_of({**CELL, "method": measuring.INDEPENDENT})
    assert paper["steps_per_node"] == pytest.approx(144, rel=1e-3)
    assert paper["error"] > 10 * plain["error"]


def test_polynomials_are_better_and_take_no_less_time_with_a_smaller_tolerance():
    rows = measuring.rows_of({**CELL, "method": measuring.CHEBYSHEV, "degree": None})
    errors, seconds = ([row[name] for row in rows] for name in ("error", "seconds"))
    assert errors == sorted(errors, reverse=True)
    assert seconds == sorted(seconds)
    assert errors[-1] < 1e-7


def test_the_largest_entries():
    rows = measuring.rows_of(
        {**CELL, "method": measuring.LARGEST, "degree": None, "entries": [3, 34, 99]}
    )
    assert [row["entries"] for row in rows] == [3, 34]
    exact = KERNEL.exact(W)
    left = np.sort(np.abs(exact), axis=0)[:-3]
    assert rows[0]["error"] == pytest.approx(np.linalg.norm(left) / np.linalg.norm(exact), rel=1e-6)
    assert rows[1]["error"] == 0
