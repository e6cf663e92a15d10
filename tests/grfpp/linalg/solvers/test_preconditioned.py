"""Conjugate gradients with preconditioners."""

import numpy as np

from grfpp.linalg.solvers.preconditioned import solve_columns

RNG = np.random.default_rng(0)
ROOT = RNG.standard_normal((30, 30))
A = ROOT @ ROOT.T + np.eye(30)


def test_every_column_has_a_matrix_of_its_own():
    right, more = RNG.standard_normal((30, 4)), RNG.uniform(0, 50, (30, 4))
    found = solve_columns(
        lambda block: A @ block + more * block, np.diag(A)[:, None] + more, right, 1e-12, 500
    )
    assert found.converged
    for column in range(4):
        expected = np.linalg.solve(A + np.diag(more[:, column]), right[:, column])
        np.testing.assert_allclose(found.solution[:, column], expected, rtol=1e-8)


def test_zeros_stay_zeros_and_a_start_leads_to_the_same():
    right = np.column_stack([np.zeros(30), RNG.standard_normal(30)])
    ones = np.ones((30, 1))
    found = solve_columns(lambda block: A @ block, ones, right, 1e-10, 500)
    np.testing.assert_array_equal(found.solution[:, 0], 0.0)
    near = found.solution + 1e-3
    again = solve_columns(lambda block: A @ block, ones, right, 1e-6, 500, near)
    np.testing.assert_allclose(again.solution, found.solution, atol=1e-6)


def test_too_few_steps_are_told():
    found = solve_columns(lambda block: A @ block, np.ones((30, 1)), np.ones((30, 1)), 1e-12, 2)
    assert not found.converged
    assert found.n_steps == 2


def test_preconditioning_saves_steps():
    sizes = np.geomspace(1, 1e6, 30)
    right = np.ones((30, 1))
    steps = [
        solve_columns(lambda block: sizes[:, None] * block, own, right, 1e-10, 500).n_steps
        for own in (np.ones((30, 1)), sizes[:, None])
    ]
    assert steps[1] == 1 < steps[0]
