"""Weights over (weighted) degrees: as numbers, and as a rule that needs none of them stored."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from grfpp.io.folder.save import Rows, is_tame
from grfpp.scaled_weights import ScaledWeights
from grfpp.typing import FloatArray, IntArray

#: ``D_out^-1/2 A D_in^-1/2``, ``D_out^-1 A``, or ``A`` itself.
Normalization = Literal["sym", "rw"] | None


def normalized_weights(rows: Rows, kind: Normalization, *, directed: bool) -> FloatArray:
    """The weights of a matrix in memory over its degrees.

    Examples
    --------
    >>> star = Rows(np.array([0, 2, 3, 4]), np.array([1, 2, 0, 0], np.int32), np.ones(4))
    >>> normalized_weights(star, "rw", directed=False)
    array([0.5, 0.5, 1. , 1. ])
    """
    indptr, indices, weights = rows.indptr, rows.indices, rows.weights
    assert weights is not None
    if kind is None or not len(weights):
        return weights
    # In units of the largest weight no sum or product of degrees overflows. The unit is a power of
    # two, so that it rounds nothing.
    weights = np.ldexp(weights, -int(np.frexp(weights.max())[1]))
    n_nodes = len(indptr) - 1
    sources = np.repeat(np.arange(n_nodes), np.diff(indptr))
    out_strength = np.bincount(sources, weights, minlength=n_nodes)
    if kind == "rw":
        return np.asarray(weights / out_strength[sources])
    in_strength = _column_sums(indices, weights, n_nodes) if directed else out_strength
    # One product under one root: the result is symmetric to the last bit.
    return np.asarray(weights / np.sqrt(out_strength[sources] * in_strength[indices]))


def normalized_rule(
    scaled: ScaledWeights,
    indptr: IntArray,
    indices: npt.NDArray[np.int32],
    kind: Normalization,
    factor: float,
    *,
    directed: bool,
) -> ScaledWeights | None:
    """The rule of the normalised weights, if it is one."""
    equal = scaled.base is None
    if scaled.kind is not None or (kind is None and not equal):
        return None
    rows = Rows(indptr, indices, scaled.base)
    out = rows.strengths()
    rule = scaled.normalized(kind, factor, tame=is_tame(rows.weights, out))
    if rule is None or kind is None or (equal and not directed):
        return rule
    into = _column_sums(indices, rows.weights, len(indptr) - 1) if directed else None
    return replace(rule, out_strength=out, in_strength=into)


def _column_sums(
    indices: npt.NDArray[np.int32], weights: FloatArray | None, n_nodes: int
) -> FloatArray:
    return np.bincount(indices, weights, minlength=n_nodes).astype(np.float64)
