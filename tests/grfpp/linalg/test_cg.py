"""Conjugate gradients: every column its matrix, preconditioners, bounds, powers of ``I − c W``."""

import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from grfpp import Graph
from grfpp.linalg.cg import inverse_times, solve

RNG = np.random.default_rng(0)
ROOT = RNG.standard_normal((30, 30))
A = ROOT @ ROOT.T + np.eye(30)
W = Graph(nx.les_miserables_graph()).normalized("sym").adjacency
RIGHT = RNG.standard_normal((77, 3))
ONES = np.ones((77, 1))


def test_every_column_has_a_matrix_of_its_own():
    right, more = RNG.standard_normal((30, 4)), RNG.uniform(0, 50, (30, 4))
    diagonal = np.diag(A)[:, None] + more
    options = {"tol": 1e-12, "max_steps": 500, "diagonal": diagonal}
    found = solve(lambda block: A @ block + more * block, np.asfortranarray(right), **options)
    assert found.converged
    for column in range(4):
        expected = np.linalg.solve(A + np.diag(more[:, column]), right[:, column])
        assert_allclose(found.solution[:, column], expected, rtol=1e-8)


def test_zeros_starts_too_few_steps_and_numbers_that_are_not_finite():
    right = np.column_stack([np.zeros(30), RNG.standard_normal(30)])
    found = solve(lambda block: A @ block, right, tol=1e-10, max_steps=500)
    assert_array_equal(found.solution[:, 0], 0.0)
    start = found.solution + 1e-3
    again = solve(lambda block: A @ block, right, tol=1e-6, max_steps=500, start=start)
    assert_allclose(again.solution, found.solution, atol=1e-6)
    found = solve(lambda block: A @ block, np.ones((30, 1)), tol=1e-12, max_steps=2)
    assert (found.converged, found.n_steps) == (False, 2)
    found = solve(lambda block: A @ block, np.full((30, 1), 1e200), tol=1e-12, max_steps=9)
    assert (found.converged, found.n_steps) == (False, 0)


def test_preconditioning_saves_steps():
    sizes = np.geomspace(1, 1e6, 30)[:, None]
    steps = [
        solve(lambda v: sizes * v, np.ones((30, 1)), tol=1e-10, max_steps=500, diagonal=d).n_steps
        for d in (None, sizes)
    ]
    assert steps[1] == 1 < steps[0]


def test_torch_tensors_have_the_same_solution():
    torch = pytest.importorskip("torch")
    right, steps = RNG.standard_normal((30, 3)), []
    options = {"tol": 1e-10, "max_steps": 500}
    wanted = solve(lambda v: A @ v, right, **options)
    found = solve(
        lambda v: torch.from_numpy(A) @ v,
        torch.from_numpy(right),
        on_step=lambda *step: steps.append(step),
        **options,
    )
    assert found.n_steps == wanted.n_steps == len(steps)
    assert_allclose(found.solution.numpy(), wanted.solution, rtol=1e-8)


@pytest.mark.parametrize("tol", [1e-2, 1e-8])
def test_the_error_is_below_the_bound(tol):
    Q, _ = np.linalg.qr(RNG.normal(size=(40, 40)))
    matrix = (Q * np.geomspace(0.05, 2.0, 40)) @ Q.T
    B = RNG.normal(size=(40, 3))
    B[:, 1] = 0.0
    found = inverse_times(lambda v: matrix @ v, 0.05, B, tol, 200)
    error = np.linalg.norm(found.product - np.linalg.solve(matrix, B))
    assert error <= found.error * (1 + 1e-9)
    assert found.error <= tol * found.norm
    assert inverse_times(lambda v: matrix @ v, 0.05, B, tol, 1).product is None
    # Rounding is not iterated upon.
    matrix = np.diag(np.geomspace(1e-9, 1, 20))
    found = inverse_times(lambda v: matrix @ v, 1e-9, np.ones((20, 1)), 1e-14, 10_000)
    assert found.product is None or found.error <= 1e-14 * found.norm
