"""Solutions of ``A X = B`` for symmetric positive matrices, with a bound on the error."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from grfpp.linalg.functions.krylov import KrylovProduct
from grfpp.linalg.norms import column_products, frobenius
from grfpp.typing import FloatArray

_EPS = float(np.finfo(np.float64).eps)


def inverse_times(
    multiply: Callable[[FloatArray], FloatArray],
    smallest: float,
    block: FloatArray,
    tol: float,
    most: int,
) -> KrylovProduct:
    """``A^-1 @ block`` by conjugate gradients, to a relative error in Frobenius' norm.

    The error is at most the residual over the smallest eigenvalue; the residual is computed anew
    before that is believed.

    Parameters
    ----------
    multiply
        Products with ``A``.
    smallest
        No eigenvalue of ``A`` is smaller; positive.
    tol
        Of the error over the norm of the product.
    most
        Steps at most; without the product where these do not reach `tol`.

    Examples
    --------
    >>> A = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> inverse_times(lambda v: A @ v, 1.0, np.array([[3.0], [3.0]]), 1e-9, 5).product.ravel()
    array([1., 1.])
    """
    product = np.zeros_like(block)
    residual = block.copy()
    direction = residual.copy()
    squares = column_products(residual, residual)
    scratch = np.empty_like(block)
    error = norm = np.inf
    for step in range(1, most + 1):
        turned = multiply(direction)
        curvature = column_products(direction, turned)
        length = np.divide(squares, curvature, out=np.zeros_like(squares), where=curvature > 0)
        np.multiply(direction, length, out=scratch)
        product += scratch
        turned *= length
        residual -= turned
        before, squares = squares, column_products(residual, residual)
        error = float(np.sqrt(squares.sum())) / smallest
        norm = float(np.sqrt(column_products(product, product).sum()))
        if error <= tol * norm:
            error = frobenius(block - multiply(product)) / smallest
            if error <= tol * norm:
                return KrylovProduct(product, error, norm, step)
            if error <= 64 * _EPS * norm / smallest:  # rounding, which no step takes away
                break
        share = np.divide(squares, before, out=np.zeros_like(squares), where=before > 0)
        direction *= share
        direction += residual
    return KrylovProduct(None, error, norm, most)
