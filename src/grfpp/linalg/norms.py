"""Norms without BLAS, whose threads cost more than they bring to one pass over an array."""

from __future__ import annotations

import math

import numpy as np

from grfpp.typing import FloatArray


def frobenius(block: FloatArray) -> float:
    """Frobenius' norm of an array of any shape.

    Examples
    --------
    >>> frobenius(np.array([[3.0], [4.0]]))
    5.0
    """
    flat = np.ascontiguousarray(block).reshape(-1)
    return math.sqrt(float(np.einsum("i,i->", flat, flat)))


def column_products(a: FloatArray, b: FloatArray) -> FloatArray:
    """Inner products of the columns of two blocks.

    Examples
    --------
    >>> column_products(np.array([[3.0], [4.0]]), np.array([[1.0], [2.0]]))
    array([11.])
    """
    if a.shape[1] == 1:
        return np.atleast_1d(np.einsum("i,i->", a[:, 0], b[:, 0]))
    return np.asarray(np.einsum("ij,ij->j", a, b))
