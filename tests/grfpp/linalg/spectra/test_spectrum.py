import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from grfpp.linalg.spectra import spectrum
from grfpp.linalg.spectra.spectrum import perron_root


def by_numpy(matrix):
    return float(np.abs(np.linalg.eigvals(matrix)).max())


def cycle(weights):
    n = len(weights)
    return sp.csr_array((weights, (np.arange(n), (np.arange(n) + 1) % n)), shape=(n, n))


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.floats(0.0, 0.5), st.booleans())
def test_small_random_matrices(seed, n, density, symmetric):
    rng = np.random.default_rng(seed)
    matrix = rng.random((n, n)) * (rng.random((n, n)) < density)
    matrix = matrix + matrix.T if symmetric else matrix
    root = perron_root(sp.csr_array(matrix), symmetric=symmetric)
    # A numerically defective zero of the whole matrix is only known to about 1e-16^(1/n).
    assert root == pytest.approx(by_numpy(matrix), rel=1e-6, abs=1e-1 if root == 0 else 1e-9)


@pytest.mark.parametrize("n", [150, 600])
@pytest.mark.parametrize("symmetric", [True, False])
def test_random_matrices_on_both_sides_of_the_dense_limit(n, symmetric):
    matrix = sp.random_array((n, n), density=4 / n, rng=np.random.default_rng(n)).tocsr()
    matrix = (matrix + matrix.T).tocsr() if symmetric else matrix
    expected = by_numpy(matrix.toarray())
    assert perron_root(matrix, symmetric=symmetric) == pytest.approx(expected, rel=1e-9)


def test_matrices_without_cycles_have_none():
    dag = sp.triu(sp.random_array((500, 500), density=0.02, rng=np.random.default_rng(0)), 1)
    assert perron_root(dag.tocsr(), symmetric=False) == 0
    assert perron_root(sp.csr_array((5, 5)), symmetric=True) == 0


@pytest.mark.parametrize("n", [3, 199, 201, 500])
def test_periodic_matrices(n):
    # All eigenvalues of a weighted cycle lie on one circle: the geometric mean of its weights.
    weights = np.random.default_rng(n).random(n) + 0.5
    expected = np.exp(np.log(weights).mean())
    assert perron_root(cycle(weights), symmetric=False) == pytest.approx(expected, rel=1e-9)
    grid = np.kron(np.eye(2)[::-1], np.ones((150, 150)))  # complete and bipartite
    assert perron_root(sp.csr_array(grid), symmetric=True) == pytest.approx(150, rel=1e-9)


def test_the_largest_of_several_components():
    rng = np.random.default_rng(1)
    weights = [rng.random(n) + 0.5 for n in (220, 250, 230)]
    expected = max(np.exp(np.log(w).mean()) for w in weights)
    matrix = sp.block_diag([cycle(w) for w in weights], format="csr")
    assert perron_root(matrix, symmetric=False) == pytest.approx(expected, rel=1e-9)


def test_paths_have_eigenvalues_side_by_side():
    n = 3000
    path = sp.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1]).tocsr()
    expected = 2 * np.cos(np.pi / (n + 1))
    assert perron_root(path, symmetric=True) == pytest.approx(expected, rel=1e-9)


def test_noda_iteration_brackets_from_above(monkeypatch):
    rng = np.random.default_rng(2)
    matrix = sp.csr_array(rng.random((40, 40)) + 0.01)
    expected = by_numpy(matrix.toarray())
    assert spectrum._noda_iteration(matrix) == pytest.approx(expected, rel=1e-12)
    assert spectrum._noda_iteration(matrix, rounds=1) >= expected
    assert spectrum._noda_iteration(sp.csr_array(np.ones((3, 3)))) == pytest.approx(3, rel=1e-12)


@pytest.mark.parametrize("unit", [1e-320, 1e-200, 1e200, 1e307])
def test_units_do_not_matter(unit):
    matrix = sp.csr_array(np.array([[1.0, 1.0], [1.0, 0.0]]) * unit)
    golden = (1 + np.sqrt(5)) / 2
    assert perron_root(matrix, symmetric=True) == pytest.approx(golden * unit, rel=1e-3)
