"""A directed weight matrix -> an undirected one."""

from __future__ import annotations

from typing import Literal

import numpy as np
import scipy.sparse as sp

from grfpp._checks import one_of
from grfpp.errors import InputError
from grfpp.typing import FloatArray

Symmetrize = Literal["max", "mean", "sum", "mutual"]


#: Largest relative difference of the weights of both directions that counts as rounding.
_ROUNDING = 1e-12
#: The same of numbers in single precision: some tens of units in the last place.
_ROUNDING_OF_SINGLES = 2e-6


def rounding(weights: FloatArray) -> float:
    """Relative difference of ``W[i, j]`` and ``W[j, i]`` that counts as rounding.

    It is larger where all weights are numbers in single precision, and not all whole.

    Examples
    --------
    >>> rounding(np.array([0.1, 2.0])), rounding(np.float32([0.1, 2.0]).astype(float))
    (1e-12, 2e-06)
    """
    with np.errstate(over="ignore", under="ignore"):
        single = weights.astype(np.float32) == weights
    return _ROUNDING_OF_SINGLES if single.all() and (weights % 1).any() else _ROUNDING


def without_rounding(matrix: sp.csr_array) -> sp.csr_array:
    """The same matrix, symmetric to the last bit where it is so but for rounding.

    Products such as kernel matrices and hand-made normalisations often are.

    Examples
    --------
    >>> matrix = sp.csr_array([[0.0, 0.3], [0.1 + 0.2, 0.0]])
    >>> bool((matrix != matrix.T).nnz), bool((without_rounding(matrix) != matrix.T).nnz)
    (True, True)
    >>> fixed = without_rounding(matrix)
    >>> bool((fixed != fixed.T).nnz)
    False
    """
    transposed = matrix.T.tocsr()
    transposed.sort_indices()
    pairs = [(getattr(transposed, name), getattr(matrix, name)) for name in ("indptr", "indices")]
    if not all(np.array_equal(*pair) for pair in pairs):
        return matrix
    difference = np.abs(transposed.data - matrix.data)
    if not difference.any():
        return matrix
    if (difference > rounding(matrix.data) * np.maximum(transposed.data, matrix.data)).any():
        return matrix
    result = matrix.copy()
    result.data = 0.5 * matrix.data + 0.5 * transposed.data
    return result


def symmetrized(matrix: sp.csr_array, how: Symmetrize) -> sp.csr_array:
    """Give both directions of every edge one weight; the result is symmetric to the last bit.

    Parameters
    ----------
    matrix
        Weights that are not negative; those of arcs that are not there are 0.
    how
        ``"max"`` for the larger of both weights, ``"mean"`` for their mean, ``"sum"`` for their sum
        (self-loops, which have one direction only, are left as they are), ``"mutual"`` for the
        smaller, which keeps only edges that are there in both directions.

    Examples
    --------
    >>> arcs = sp.csr_array([[0.0, 1.0, 2.0], [3.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    >>> for how in ("max", "mean", "sum", "mutual"):
    ...     print(symmetrized(arcs, how).toarray()[0])
    [0. 3. 2.]
    [0. 2. 1.]
    [0. 4. 2.]
    [0. 1. 0.]
    """
    one_of(how, "symmetrize", ("max", "mean", "sum", "mutual"))
    transposed = matrix.T.tocsr()
    if how in ("max", "mutual"):
        both = (matrix.maximum if how == "max" else matrix.minimum)(transposed)
    elif how == "mean":
        both = 0.5 * matrix + 0.5 * transposed  # half of the sum could exceed float64
    else:
        with np.errstate(over="ignore"):
            both = matrix + transposed
        both = both - sp.diags_array(matrix.diagonal(), format="csr")
        if not np.isfinite(both.data).all():
            problem = "symmetrize='sum' leaves the range of float64"
            raise InputError(problem, advice="use symmetrize='mean'")
    result = sp.csr_array(both)
    result.eliminate_zeros()
    result.sort_indices()
    return result
