"""What an estimate is in a file: its factors by number, their order, and what comes beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from grfpp.deflation import Deflation
from grfpp.factors import Factor, StoredFactor

FORMAT = "grfpp-estimate-1"
_PARTS = ("data", "indices", "indptr")
_DEFLATION = ("deflation_vectors", "deflation_values")


def numbered(factors: Sequence[Factor]) -> tuple[list[Factor], list[int]]:
    """The factors without repetition, and the number of each: those that stand twice are one."""
    unique: list[Factor] = []
    for factor in factors:
        if factor not in unique:
            unique.append(factor)
    return unique, [unique.index(factor) for factor in factors]


def to_arrays(
    factors: Sequence[Factor], deflation: Deflation | None, n_jobs: int
) -> dict[str, Any]:
    """Named arrays, one factor at a time as it is walked or stored."""
    arrays: dict[str, Any] = {}
    for number, factor in enumerate(factors):
        matrix = factor.to_csr(n_jobs)
        arrays |= {f"{part}_{number}": getattr(matrix, part) for part in _PARTS}
    if deflation is not None:
        arrays |= dict(zip(_DEFLATION, (deflation.vectors, deflation.values), strict=True))
    return arrays


def factors_of(arrays: Mapping[str, Any], order: Sequence[int], n: int) -> list[Factor]:
    """The factors in their order; anything that is wrong with them is an error."""
    if min(order) < 0:
        raise ValueError("a factor has a negative number")
    factors = [StoredFactor(_checked_csr(arrays, number, n)) for number in range(max(order) + 1)]
    return [factors[number] for number in order]


def deflation_in(arrays: Mapping[str, Any], n: int) -> Deflation | None:
    """The eigenvectors that are taken exactly, if there are any."""
    if not any(name in arrays for name in _DEFLATION):
        return None
    vectors, values = (arrays[name] for name in _DEFLATION)
    if values.ndim != 1 or vectors.shape != (n, len(values)):
        raise ValueError(f"{vectors.shape} eigenvectors, {values.shape} values for {n} nodes")
    for each in (vectors, values):
        if each.dtype != np.float64 or not np.isfinite(each).all():
            raise ValueError("the eigenvectors are not finite real numbers")
    return Deflation(vectors, values)


def names_in(arrays: Mapping[str, Any], n: int) -> list[Any] | None:
    """The names of the nodes, if they have any."""
    names = arrays.get("node_ids")
    if names is None:
        return None
    if names.shape != (n,) or names.dtype.kind not in "iuU":
        raise ValueError(f"names of type {names.dtype} and shape {names.shape} for {n} nodes")
    found: list[Any] = names.tolist()
    return found


def _checked_csr(arrays: Mapping[str, Any], number: int, n: int) -> sp.csr_array:
    matrix = sp.csr_array(tuple(arrays[f"{part}_{number}"] for part in _PARTS), shape=(n, n))
    matrix.check_format(full_check=True)
    if matrix.nnz != len(arrays[f"data_{number}"]):
        raise ValueError(f"the rows of factor {number} do not hold all of its values")
    if matrix.dtype not in (np.float32, np.float64) or not np.isfinite(matrix.data).all():
        raise ValueError(f"the values of factor {number} are not finite real numbers")
    return matrix
