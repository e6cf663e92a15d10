"""Systems with a power of ``I − c W``."""

import networkx as nx
import numpy as np
import pytest

from grfpp import Graph
from grfpp.linalg.solvers import shifted_powers
from grfpp.linalg.solvers.shifted_powers import solve_shifted

RNG = np.random.default_rng(0)
W = Graph(nx.les_miserables_graph()).normalized("sym").adjacency
RIGHT = RNG.standard_normal((77, 3))
ONES = np.ones((77, 1))


@pytest.mark.parametrize("power", [1, 2, 3, 4])
@pytest.mark.parametrize("columns", [1, 3])
def test_dense_algebra_gives_the_same(power, columns):
    pull = RNG.uniform(0, 5, (77, columns)) * (RNG.random((77, columns)) < 0.3)
    right = RIGHT[:, :columns]
    E = np.linalg.matrix_power(np.eye(77) - 0.9 * W.toarray(), power)
    for start in (None, RNG.standard_normal(right.shape)):
        found = solve_shifted(W, 0.9, power, pull, ONES, right, start, 1e-12, 5000)
        assert found.converged
        for j in range(columns):
            expected = np.linalg.solve(E + np.diag(pull[:, j]), right[:, j])
            np.testing.assert_allclose(found.solution[:, j], expected, rtol=1e-6, atol=1e-7)


def test_one_pull_for_all_columns_and_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(shifted_powers, "_PART", 30)  # many parts
    one, two, full = (
        solve_shifted(W, 0.9, 3, pull, ONES, RIGHT, None, 1e-8, 500, n_jobs).solution
        for pull, n_jobs in ((ONES, 1), (ONES, 2), (np.ones((77, 3)), 1))
    )
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one, full)


def test_too_few_steps_are_told():
    found = solve_shifted(W, 0.99, 3, 0 * ONES, ONES, RIGHT, None, 1e-12, 3)
    assert (found.converged, found.n_steps) == (False, 3)
