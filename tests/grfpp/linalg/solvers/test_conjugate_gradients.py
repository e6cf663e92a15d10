import numpy as np
import pytest

from grfpp.linalg.solvers.conjugate_gradients import inverse_times


@pytest.mark.parametrize("tol", [1e-2, 1e-8])
def test_the_error_is_below_the_bound(tol):
    rng = np.random.default_rng(0)
    Q, _ = np.linalg.qr(rng.normal(size=(40, 40)))
    values = np.geomspace(0.05, 2.0, 40)
    A = (Q * values) @ Q.T
    B = rng.normal(size=(40, 3))
    B[:, 1] = 0.0
    found = inverse_times(lambda v: A @ v, 0.05, B, tol, 200)
    error = np.linalg.norm(found.product - np.linalg.solve(A, B))
    assert error <= found.error * (1 + 1e-9)
    assert found.error <= tol * found.norm
    assert inverse_times(lambda v: A @ v, 0.05, B, tol, 1).product is None


def test_what_rounding_leaves_is_not_iterated_upon():
    A = np.diag(np.geomspace(1e-9, 1, 20))
    found = inverse_times(lambda v: A @ v, 1e-9, np.ones((20, 1)), 1e-14, 10_000)
    assert found.product is None or found.error <= 1e-14 * found.norm
