"""Error bars from independent estimates of the same kind.

Estimates that differ only in their random numbers spread around the kernel as the one that is in
use does, whatever it is made of: pools, stitched factors, averages with a transpose, eigenvectors.
So their spread is its standard error, with no formula to be wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from grfpp.typing import FloatArray

Estimate = TypeVar("Estimate")

#: Estimates that are walked where none are kept.
N_REPLICATES = 16
#: Within so many standard errors lie 95 % of what is normally distributed.
_NORMAL = 1.959963984540054
#: How much wider for the square of the skewness; settled on other graphs than the studies'.
_PER_SKEWNESS = 0.1


def standard_error(
    question: Callable[[Estimate], Any], value: Any, replicates: Iterable[Estimate]
) -> Any:
    """Standard error of ``question(estimate)``, which is `value`, from replicates of the estimate.

    It is a little larger than the replicates' standard deviation, so that ``value ± 1.96 std`` is a
    95 % interval although that deviation is not known exactly: by a tenth for 16 replicates
    (Student's distribution), and by a tenth of the square of their skewness, since few replicates
    of what is rarely large mostly miss it.

    Examples
    --------
    >>> round(standard_error(float, 3.0, [1.0, 2.0, 3.0, 4.0, 5.0]), 3)
    2.24
    >>> round(standard_error(float, 0.0, [0.0, 0.0, 0.0, 0.0, 5.0]), 3)
    3.88
    """
    # Moments about the value: sums of what is small, and not of squares that nearly cancel.
    number, first, second, third = 0, 0.0, 0.0, 0.0
    for each in replicates:
        difference = question(each) - value
        square = _times(difference, difference)
        number += 1
        first, second = first + difference, second + square
        third = third + _times(square, difference)
    mean = first / number
    squares = second - _times(mean, first)
    cubes = third - 3 * _times(mean, second) + 2 * _times(_times(mean, mean), first)
    if sp.issparse(squares):
        return _sparse_error(squares.tocsr(), cubes.tocsr(), number)
    found = _error(squares, cubes, number)
    return float(found) if np.ndim(found) == 0 else found


def _error(squares: FloatArray, cubes: FloatArray, number: int) -> FloatArray:
    """From sums of the squares and of the cubes of what deviates from the mean."""
    positive = np.maximum(squares, 0.0)  # what all give alike leaves rounding
    with np.errstate(divide="ignore", invalid="ignore"):
        skewness = np.where(positive > 0, np.sqrt(number) * cubes / positive**1.5, 0.0)
    # Of so many numbers, no more than this.
    most = (number - 2) / np.sqrt(number - 1)
    skewed = 1 + _PER_SKEWNESS * np.minimum(np.abs(skewness), most) ** 2
    return np.asarray(widening(number) * skewed * np.sqrt(positive / (number - 1)))


def _sparse_error(squares: sp.csr_array, cubes: sp.csr_array, number: int) -> sp.csr_array:
    """The same where neither is stored everywhere."""
    found = squares.copy()
    found.sum_duplicates()
    rows = np.repeat(np.arange(found.shape[0]), np.diff(found.indptr))
    own = np.asarray(cubes[rows, found.indices]).ravel() if found.nnz else np.empty(0)
    found.data = _error(found.data, own, number)
    return found


@cache
def widening(number: int) -> float:
    """What makes a 95 % interval of the standard deviation of so many replicates.

    Examples
    --------
    >>> round(widening(16), 3), round(widening(4), 3)
    (1.087, 1.624)
    """
    from scipy.stats import t

    return float(t.ppf(0.975, number - 1)) / _NORMAL


def _times(a: Any, b: Any) -> Any:
    return a.multiply(b) if sp.issparse(a) else a * b
