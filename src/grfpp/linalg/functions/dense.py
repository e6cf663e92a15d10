"""Dense functions of a weight matrix: what estimates are measured against."""

from __future__ import annotations

import numpy as np

from grfpp.linalg.functions.shared import ScalarFunction, WeightMatrix, finite
from grfpp.memory import require_bytes
from grfpp.typing import FloatArray


def dense_weights(graph: WeightMatrix) -> FloatArray:
    """Return the weight matrix as a dense array, if there is room to work with such arrays."""
    n, arrays = graph.n_nodes, 12 if graph.is_directed else 5
    require_bytes(arrays * 8 * n * n, f"a dense kernel of {n} nodes, with room to compute it,")
    dense: FloatArray = graph.adjacency.toarray()
    return dense


def dense_symmetric(weights: FloatArray, function: ScalarFunction) -> FloatArray:
    """``function(W)`` of a symmetric matrix from all its eigenvalues and eigenvectors.

    Examples
    --------
    >>> dense_symmetric(np.array([[0.0, 1.0], [1.0, 0.0]]), lambda x: (2 + x) ** 2)
    array([[5., 4.],
           [4., 5.]])
    """
    eigenvalues, vectors = np.linalg.eigh(weights)
    kernel: FloatArray = (vectors * finite(function(eigenvalues))) @ vectors.T
    kernel *= 0.5  # first: the sum of two large numbers could leave the range of float64
    kernel += kernel.T
    return kernel
