"""Chebyshev series block by block."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.polynomial import chebyshev

from grfpp.linalg.functions.block_series import _column, _columns, block_products

SIZES = (5, 1, 30, 8)
RADIUS = 1.5


@pytest.fixture(scope="module")
def blocks():
    """Random symmetric matrices, one of them without an entry."""
    rng = np.random.default_rng(0)
    found = []
    for n in SIZES:
        matrix = np.where(rng.random((n, n)) < 0.3, rng.random((n, n)), 0.0)
        matrix = matrix + matrix.T
        found.append(matrix / max(1.0, np.abs(np.linalg.eigvalsh(matrix)).max()))
    return found


def joined(blocks):
    starts = np.concatenate([[0], np.cumsum([len(each) for each in blocks])])
    return sp.csr_array(sp.block_diag(blocks)), starts


@pytest.mark.parametrize("width", [1, 2, 9, 64, 65, 130])
def test_products_are_those_of_dense_matrices(blocks, width):
    rng = np.random.default_rng(width)
    matrix, starts = joined(blocks)
    vectors = rng.standard_normal((matrix.shape[0], width))
    coefficients = rng.standard_normal((3, 12))
    coefficients[1, 6:] = 0
    coefficients[2] = 0
    found = block_products(matrix, starts, RADIUS, coefficients, vectors)
    values, basis = np.linalg.eigh(matrix.toarray())
    for row, product in zip(coefficients, found, strict=True):
        exact = basis * chebyshev.chebval(values / RADIUS, row) @ basis.T @ vectors
        np.testing.assert_allclose(product, exact, atol=1e-12)


@pytest.mark.parametrize("width", [1, 9])
def test_a_block_has_the_same_bits_alone(blocks, width):
    rng = np.random.default_rng(1)
    matrix, starts = joined(blocks)
    vectors = rng.standard_normal((matrix.shape[0], width))
    coefficients = rng.standard_normal((2, 20))
    together = block_products(matrix, starts, RADIUS, coefficients, vectors)
    for number, each in enumerate(blocks):
        nodes = slice(starts[number], starts[number + 1])
        alone = block_products(*joined([each]), RADIUS, coefficients, vectors[nodes])
        assert (together[:, nodes] == alone).all()


def test_columns_need_not_lie_together(blocks):
    matrix, starts = joined(blocks)
    vectors = np.asfortranarray(np.random.default_rng(2).standard_normal((matrix.shape[0], 3)))
    series = np.ones((1, 4))
    every = block_products(matrix, starts, RADIUS, series, vectors)
    for column in range(3):
        one = block_products(matrix, starts, RADIUS, series, vectors[:, column : column + 1])
        np.testing.assert_allclose(every[:, :, column], one[:, :, 0], rtol=1e-12)


@pytest.mark.parametrize(("width", "loop"), [(1, _column), (2, _columns)])
def test_arrays_that_may_be_written_to_are_not_compiled_for_apart(width, loop):
    """`warmup` has read-only ones, encodings have others."""
    block_products(
        sp.eye_array(3, format="csr"), np.array([0, 3]), 1.0, np.eye(2), np.ones((3, width))
    )
    assert not any(each.mutable for types in loop.signatures for each in types[:4])
