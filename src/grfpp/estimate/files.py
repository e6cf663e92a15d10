"""What an estimate is in a file: its factors by number, their order, and what comes beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from grfpp.errors import InputError
from grfpp.estimate.deflation import Deflation
from grfpp.factors import Factor, StoredFactor
from grfpp.io.edges import check_node_count
from grfpp.io.structure import check_compressed
from grfpp.linalg.sparse import csr

FORMAT = "grfpp-estimate-1"
_PARTS = ("data", "indices", "indptr")
_DEFLATION = ("deflation_vectors", "deflation_values")
NODE_IDS = "node_ids"
_ORTHONORMAL = 1e-6


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


@contextmanager
def damage_explained(path: str | Path) -> Iterator[None]:
    """Make one error, which names the file, of whatever is wrong with what it holds."""
    try:
        yield
    except (KeyError, ValueError, TypeError, IndexError) as error:
        if isinstance(error, InputError) and str(path) in str(error):
            raise
        raise InputError(f"{path}: the stored estimate is damaged ({error})") from None


def checked_meta(meta: Mapping[str, Any]) -> tuple[list[int], int, int, dict[str, Any]]:
    """Order of the factors, number of nodes, sign, and what made the estimate."""
    order, n, sign, made_by = (meta[name] for name in ("order", "n_nodes", "sign", "made_by"))
    if not isinstance(order, list) or not order or not isinstance(made_by, dict):
        raise ValueError("its header is not that of an estimate")
    for number in (*order, n, sign):
        if type(number) is not int:
            raise ValueError(f"{number!r} is not a whole number")
    if min(order) < 0 or n < 1:
        raise ValueError("a factor has a negative number, or there are no nodes")
    check_node_count(n, "its header")
    return order, n, sign, made_by


def estimate_count(meta: Mapping[str, Any], n_factors: int) -> int:
    """How many estimates the factors are of: the first, and its replicates."""
    number = meta.get("n_estimates", 1)  # not in files from before there was more than one
    if type(number) is not int or number < 1 or n_factors % (2 * number):
        raise ValueError(f"{n_factors} factors do not make {number!r} estimates")
    return number


def arrays_of(order: Sequence[int]) -> list[str]:
    """The arrays that an estimate with these factors is made of, where it is deflated too."""
    factors = [f"{part}_{number}" for number in sorted(set(order)) for part in _PARTS]
    return [*factors, *_DEFLATION, NODE_IDS]


def factors_of(arrays: Mapping[str, Any], order: Sequence[int], n: int) -> list[Factor]:
    """The factors in their order; anything that is wrong with them is an error."""
    factors = {number: StoredFactor(_checked_csr(arrays, number, n)) for number in set(order)}
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
    # Large ones first, whose products would overflow.
    if vectors.size and np.abs(vectors).max() > 1 + _ORTHONORMAL:
        raise ValueError("the eigenvectors are not orthonormal")
    if not np.allclose(vectors.T @ vectors, np.eye(len(values)), rtol=0, atol=_ORTHONORMAL):
        raise ValueError("the eigenvectors are not orthonormal")
    return Deflation(vectors, values)


def node_ids_in(arrays: Mapping[str, Any], n: int) -> list[Any] | None:
    """The names of the nodes, if they have any."""
    names = arrays.get(NODE_IDS)
    if names is None:
        return None
    if names.shape != (n,) or names.dtype.kind not in "iuU":
        raise ValueError(f"names of type {names.dtype} and shape {names.shape} for {n} nodes")
    found: list[Any] = names.tolist()
    return found


def _checked_csr(arrays: Mapping[str, Any], number: int, n: int) -> sp.csr_array:
    data, indices, indptr = (arrays[f"{part}_{number}"] for part in _PARTS)
    if data.ndim != 1 or data.dtype not in (np.float32, np.float64) or not np.isfinite(data).all():
        raise ValueError(f"the values of factor {number} are not finite real numbers")
    for each in (indices, indptr):
        if each.ndim != 1 or each.dtype.kind not in "iu":
            raise ValueError(f"the places of factor {number} are not whole numbers")
    check_compressed(indices, indptr, len(data), (n, n), spare=False)
    return csr(data, indices.astype(np.int32, copy=False), indptr, n)
