"""Exponentials, logarithms and powers that are the same to the last bit on every processor.

numpy has instructions of its own for these where a processor offers them (AVX-512), and its results
then differ in the last bit from those of the C library. What walks are made of must not depend on
the machine. These are for tables, a number for each length of a walk.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from grfpp.typing import FloatArray


def exp(x: FloatArray) -> FloatArray:
    """``e^x``, for numbers that do not overflow."""
    return _each(math.exp, x)


def log(x: FloatArray) -> FloatArray:
    """The natural logarithm of numbers that are not negative; minus infinity of 0.

    Examples
    --------
    >>> log(np.array([0.0, 1.0]))
    array([-inf,   0.])
    """
    return _each(lambda number: math.log(number) if number > 0 else -math.inf, x)


def power(base: float, exponents: FloatArray) -> FloatArray:
    """``base^k`` of a positive base; infinity where that overflows.

    Examples
    --------
    >>> power(0.5, np.arange(3.0)), power(10.0, np.array([400.0]))
    (array([1.  , 0.5 , 0.25]), array([inf]))
    """

    def one(exponent: float) -> float:
        try:
            return math.pow(base, exponent)
        except OverflowError:
            return math.inf

    return _each(one, exponents)


def _each(function: Callable[[float], float], x: FloatArray) -> FloatArray:
    numbers = np.asarray(x, dtype=np.float64)
    found = np.fromiter(map(function, numbers.ravel().tolist()), np.float64, numbers.size)
    return found.reshape(numbers.shape)
