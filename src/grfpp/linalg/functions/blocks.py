"""Whole functions of large sparse weight matrices by polynomials, some columns at a time."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from grfpp.errors import InputError
from grfpp.linalg.functions import chebyshev, taylor
from grfpp.linalg.functions.shared import ScalarFunction, WeightMatrix, finite
from grfpp.memory import require_bytes
from grfpp.typing import FloatArray

#: Errors are at most this share of the largest singular value, or of a column's largest entry.
ACCURACY = 1e-12
#: Up to so many nodes dense algebra takes next to no time.
SMALL = 500
#: Columns that are computed between two chances to interrupt.
_COLUMNS = 128

Multiply = Callable[[FloatArray], FloatArray]


def symmetric_by_blocks(graph: WeightMatrix, function: ScalarFunction) -> FloatArray | None:
    """``function(W)`` of an undirected graph, by Chebyshev polynomials.

    ``None`` where dense algebra is faster, or where the accuracy cannot be warranted: a polynomial
    is as accurate as the function's largest value between ``±ρ`` allows, which says nothing where
    the eigenvalues leave that out, as those of a complete graph do for ``exp(-20 x)``.
    """
    radius = graph.spectral_radius() * (1 + chebyshev.MARGIN)
    if graph.n_nodes <= SMALL or radius == 0:
        return None
    try:
        coefficients = chebyshev.coefficients_of(function, radius, 1e-15)
    except InputError:  # too near to a singularity
        return None
    if not _pays(graph, len(coefficients)):
        return None
    # Rounding in the values, in the coefficients and in every product.
    rounding = 8 * np.finfo(np.float64).eps * math.sqrt(4 * len(coefficients))
    ends = np.abs(finite(function(np.array([radius]))))
    error = rounding * float(np.abs(coefficients).sum())
    kernel = _by_columns(
        graph,
        lambda block: chebyshev.combined(graph, coefficients, radius, block),
        # The spectral radius is an eigenvalue: no column tells more of what the norm is.
        lambda first: error <= ACCURACY * max(ends[0], np.linalg.norm(first, axis=0).max()),
    )
    if kernel is not None:
        kernel += kernel.T
        kernel *= 0.5
    return kernel


def directed_by_blocks(
    graph: WeightMatrix, coefficients: taylor.Coefficients, radius: float
) -> FloatArray | None:
    """``Σ α_k W^k`` of any graph, by its power series; ``None`` as above."""
    if graph.n_nodes <= SMALL:
        return None
    try:
        n_products = taylor.most_terms(graph, coefficients, radius)
        if not _pays(graph, n_products):
            return None
        return _by_columns(
            graph, lambda block: taylor.apply(graph, coefficients, radius, block, ACCURACY / 10)
        )
    except InputError:  # terms that cancel, or too many of them
        return None


def _pays(graph: WeightMatrix, n_products: int) -> bool:
    """Whether so many products with all columns take less time than dense algebra.

    Eigenvectors take 1.1 ns times ``n³``; a product takes 0.5 ns for each entry of the weights and
    1.1 ns for each node, times ``n`` (measured on scale-free graphs of 1,000 and 2,000 nodes).
    """
    n = graph.n_nodes
    return bool(n_products * (0.5 * graph.adjacency.nnz + n) < n * n)


def _by_columns(
    graph: WeightMatrix,
    multiply: Multiply,
    is_right: Callable[[FloatArray], bool] = lambda first: True,
) -> FloatArray | None:
    """Multiply all unit vectors; ``None`` when the first of them say that it is not right."""
    n = graph.n_nodes
    # The result, its transpose for a while, and what a block has on its way.
    require_bytes(16 * n * n + 48 * n * _COLUMNS, f"a dense kernel of {n} nodes")
    kernel = np.empty((n, n))
    for start in range(0, n, _COLUMNS):
        chosen = np.arange(start, min(start + _COLUMNS, n))
        units = np.zeros((n, len(chosen)))
        units[chosen, chosen - start] = 1.0
        block = finite(multiply(units))
        if start == 0 and not is_right(block):
            return None
        kernel[:, chosen[0] : chosen[-1] + 1] = block
    return kernel
