"""Functions of a symmetric weight matrix by Chebyshev polynomials."""

from __future__ import annotations

import math

import numpy as np

from grfpp.errors import InputError
from grfpp.linalg.functions.shared import MAX_DEGREE, ScalarFunction, WeightMatrix, finite
from grfpp.typing import FloatArray

# The interval is this much wider than the spectral radius, which is known to about nine digits.
MARGIN = 1e-8


def coefficients_of(function: ScalarFunction, radius: float, tol: float) -> FloatArray:
    """Coefficients ``c`` of ``function(x) ≈ Σ c_j T_j(x / radius)`` on ``[−radius, radius]``.

    Sampled at 32, 64, 128 … Chebyshev points until the coefficients have fallen far enough; then
    cut so that those left out add up to at most ``tol`` times the largest value of the function.

    Examples
    --------
    >>> len(coefficients_of(np.exp, 1.0, 1e-10))
    11
    """
    from scipy.fft import dct

    n_points = 32
    while n_points <= 2 * MAX_DEGREE:
        angles = (np.arange(n_points) + 0.5) * (math.pi / n_points)
        values = finite(function(radius * np.cos(angles)))
        coefficients: FloatArray = dct(values, type=2) / n_points
        coefficients[0] /= 2
        tails = np.cumsum(np.abs(coefficients[::-1]))[::-1]
        # Rounding in the samples leaves about this much in the sum, however many are taken.
        floor = 4 * np.finfo(np.float64).eps * math.sqrt(n_points)
        n_kept = int(np.count_nonzero(tails > max(tol, floor) * np.abs(values).max()))
        if n_kept <= 3 * n_points // 4 and n_kept <= MAX_DEGREE + 1:
            return coefficients[: max(n_kept, 1)]
        n_points *= 2
    raise InputError(
        f"a polynomial of degree {MAX_DEGREE} does not reach tol={tol:g} on the spectral interval "
        f"[-{radius:.6g}, {radius:.6g}]: the kernel varies too fast on it, or is singular too near "
        "its ends; scale the graph down or raise tol"
    )


def apply(
    graph: WeightMatrix, function: ScalarFunction, vectors: FloatArray, tol: float
) -> FloatArray:
    """``function(W) @ vectors`` for an undirected graph, by Chebyshev polynomials of ``W``.

    The error of each column ``v`` is at most ``tol · max |function| · ‖v‖``, the maximum over
    ``[−ρ, ρ]`` with ``ρ`` the spectral radius.
    """
    radius = graph.spectral_radius() * (1 + MARGIN)
    if radius == 0:
        constant: FloatArray = finite(function(np.zeros(1)))[0] * vectors
        return constant
    return combined(graph, coefficients_of(function, radius, tol), radius, vectors)


def combined(
    graph: WeightMatrix, coefficients: FloatArray, radius: float, vectors: FloatArray
) -> FloatArray:
    """``Σ c_j T_j(W / radius) @ vectors``."""
    weights = graph.adjacency
    result: FloatArray = coefficients[0] * vectors
    if len(coefficients) == 1:
        return result
    previous, current = vectors, (weights @ vectors) * (1 / radius)
    result += coefficients[1] * current
    scratch = np.empty_like(result)
    for coefficient in coefficients[2:]:
        # T_{j+1} = 2 x T_j − T_{j−1}, without temporary arrays beside the product's own.
        following = weights @ current
        following *= 2 / radius
        following -= previous
        np.multiply(following, coefficient, out=scratch)
        result += scratch
        previous, current = current, following
    return result
