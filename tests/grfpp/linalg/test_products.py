import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from small_graphs import QUICK

from grfpp.errors import InputError
from grfpp.linalg import products
from grfpp.linalg.products import matmat, transposed_matmat


def random_csr(shape, seed=0, density=0.3, dtype=np.float64, shuffled=True):
    rng = np.random.default_rng(seed)
    matrix = sp.random_array(shape, density=density, rng=rng, format="csr").astype(dtype)
    if shuffled:  # factors hold their columns in the order of first visit
        for start, stop in zip(matrix.indptr, matrix.indptr[1:], strict=False):
            order = start + rng.permutation(stop - start)
            matrix.indices[start:stop] = matrix.indices[order]
            matrix.data[start:stop] = matrix.data[order]
        matrix.has_sorted_indices = False
    return matrix


@QUICK
@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 5), st.integers(0, 99), st.booleans())
def test_products_equal_dense_ones(n_rows, n_columns, width, seed, single):
    dtype = np.float32 if single else np.float64
    matrix = random_csr((n_rows, n_columns), seed, dtype=dtype)
    whole = matrix.toarray().astype(np.float64)
    right = np.random.default_rng(seed).normal(size=(n_columns, width))
    left = np.random.default_rng(seed).normal(size=(n_rows, width))
    for n_jobs in (1, 3):
        assert_allclose(matmat(matrix, right, n_jobs), whole @ right, rtol=1e-12, atol=1e-12)
        found = transposed_matmat(matrix, left, n_jobs)
        assert_allclose(found, whole.T @ left, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("width", [1, 4])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("product", [matmat, transposed_matmat])
def test_same_bits_for_any_number_of_threads(monkeypatch, product, dtype, width):
    monkeypatch.setattr(products, "_WORTH_THREADS", 0)
    matrix = random_csr((101, 101), density=0.4, dtype=dtype)
    dense = np.random.default_rng(1).normal(size=(101, width))
    single = product(matrix, dense, 1)
    for n_jobs in (2, 5, 200):
        assert_array_equal(product(matrix, dense, n_jobs), single)


def test_threads_are_used_where_they_are_worth_it(monkeypatch):
    used = []
    in_order = products.in_order

    def spy(work, tasks, n_threads):
        used.append((n_threads, len(tasks)))
        return in_order(work, tasks, n_threads)

    monkeypatch.setattr(products, "in_order", spy)
    matrix = random_csr((400, 400), density=0.5)
    matmat(matrix, np.ones((400, 1)), 3)
    matmat(matrix, np.ones((400, 8)), 3)
    assert used == [(3, 3)]  # small products are not worth them


def test_wide_index_types():
    matrix = random_csr((30, 20))
    wide = sp.csr_array(
        (matrix.data, matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)),
        shape=matrix.shape,
    )
    dense = np.random.default_rng(0).normal(size=(20, 3))
    assert_array_equal(matmat(wide, dense), matmat(matrix, dense))


def test_sums_are_made_in_float64_for_float32_factors():
    n = 4000
    matrix = sp.csr_array(np.full((1, n), 0.1, dtype=np.float32))
    exact = n * float(np.float32(0.1))
    assert matmat(matrix, np.ones((n, 1)))[0, 0] == pytest.approx(exact, rel=1e-12)
    column = sp.csr_array(np.full((n, 1), 0.1, dtype=np.float32))
    assert transposed_matmat(column, np.ones((n, 2)))[0, 1] == pytest.approx(exact, rel=1e-12)


def test_bad_number_of_threads_is_refused(monkeypatch):
    monkeypatch.setattr(products, "_WORTH_THREADS", 0)
    with pytest.raises(InputError, match="n_jobs"):
        matmat(random_csr((5, 5)), np.ones((5, 1)), 0)
