"""Estimates in ``.npz`` files: factors by number, their order, eigenvectors and node names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from grfpp.errors import InputError
from grfpp.estimate.chain import Chain
from grfpp.estimate.deflation import Deflation
from grfpp.estimate.factor import Factor, StoredFactor
from grfpp.io.archive import opened_kind, save_arrays
from grfpp.io.matrices import check_compressed, check_node_count
from grfpp.linalg.csr import csr
from grfpp.nodes import NodeNames

FORMAT = "grfpp-estimate-1"
_PARTS = ("data", "indices", "indptr")
_DEFLATION = ("deflation_vectors", "deflation_values")
_NODE_IDS = "node_ids"
#: Largest deviation of stored eigenvectors from orthonormal ones: above rounding of all solvers.
_ORTHONORMAL = 1e-6


#: Factors of an estimate and of its replicates, other arguments of its class, and its provenance.
StoredEstimate = tuple[list[list[Factor]], dict[str, Any], dict[str, Any]]


def save(
    path: str | Path,
    chain: Chain,
    header: Callable[[], dict[str, Any]],
    deflation: Deflation | None,
    names: NodeNames,
) -> None:
    """Write the factors of a chain, whole or not at all; those that occur twice are stored once.

    The `header` is asked for when the factors are known to fit into memory.
    """
    factors = [link.factor for link in chain.links]
    unique = list(dict.fromkeys(factors))
    arrays: dict[str, Any] = {}
    for number, matrix in enumerate(Chain.by_rows(unique, chain.n_jobs).matrices()):
        arrays |= {f"{part}_{number}": getattr(matrix, part) for part in _PARTS}
    if deflation is not None:
        arrays |= dict(zip(_DEFLATION, (deflation.vectors, deflation.values), strict=True))
    if (node_ids := names.to_array()) is not None:
        arrays[_NODE_IDS] = node_ids
    order = [unique.index(factor) for factor in factors]
    save_arrays(path, FORMAT, arrays, {**header(), "order": order})


def load(path: str | Path) -> StoredEstimate:
    """Read and check a file that `save` wrote."""
    with opened_kind(path, FORMAT) as (arrays, meta):
        try:
            return _load(arrays, meta)
        except (KeyError, ValueError, TypeError, IndexError) as error:
            if isinstance(error, InputError) and str(path) in str(error):
                raise
            raise InputError(f"{path}: the stored estimate is damaged ({error})") from None


def _load(arrays: Any, meta: Mapping[str, Any]) -> StoredEstimate:
    order, n, sign, made_by = (meta[name] for name in ("order", "n_nodes", "sign", "made_by"))
    n_estimates = meta.get("n_estimates", 1)  # missing in files of single estimates
    if not isinstance(order, list) or not order or not isinstance(made_by, dict):
        raise ValueError("its header is not that of an estimate")
    for number in (*order, n, sign, n_estimates):
        if type(number) is not int:
            raise ValueError(f"{number!r} is not a whole number")
    symmetrize = meta.get("symmetrize", False)  # missing in files of plain estimates
    if min(order) < 0 or n < 1 or sign not in (1, -1) or not isinstance(symmetrize, bool):
        raise ValueError("a number of its header is out of range")
    if n_estimates < 1 or len(order) % (2 * n_estimates):
        raise ValueError(f"{len(order)} factors do not make {n_estimates} estimates")
    check_node_count(n, "its header")
    parts_of = [f"{part}_{number}" for number in sorted(set(order)) for part in _PARTS]
    arrays.require_memory([*parts_of, *_DEFLATION, _NODE_IDS], 1, "the estimate in")
    by_number = {number: StoredFactor(_checked_csr(arrays, number, n)) for number in set(order)}
    factors: list[Factor] = [by_number[number] for number in order]
    ids = arrays.get(_NODE_IDS)
    if ids is not None and (ids.shape != (n,) or ids.dtype.kind not in "iuU"):
        raise ValueError(f"names of type {ids.dtype} and shape {ids.shape} for {n} nodes")
    names = NodeNames(n, None if ids is None else ids.tolist())
    options = {"sign": sign, "symmetrize": symmetrize, "node_ids": names}
    size = len(factors) // n_estimates
    parts = [factors[start : start + size] for start in range(0, len(factors), size)]
    return parts, {**options, "deflation": _deflation(arrays, n)}, made_by


def _deflation(arrays: Mapping[str, Any], n: int) -> Deflation | None:
    """The eigenvectors that are taken exactly, if there are any."""
    if not any(name in arrays for name in _DEFLATION):
        return None
    vectors, values = (arrays[name] for name in _DEFLATION)
    if values.ndim != 1 or vectors.shape != (n, len(values)):
        raise ValueError(f"{vectors.shape} eigenvectors, {values.shape} values for {n} nodes")
    for numbers in (vectors, values):
        if numbers.dtype != np.float64 or not np.isfinite(numbers).all():
            raise ValueError("the eigenvectors are not finite real numbers")
    clipped = vectors.clip(-2, 2)  # large entries would overflow, and are refused all the same
    gram = clipped.T @ clipped
    if not np.allclose(gram, np.eye(len(values)), rtol=0, atol=_ORTHONORMAL):
        raise ValueError("the eigenvectors are not orthonormal")
    return Deflation(vectors, values)


def _checked_csr(arrays: Mapping[str, Any], number: int, n: int) -> sp.csr_array:
    data, indices, indptr = (arrays[f"{part}_{number}"] for part in _PARTS)
    if data.ndim != 1 or data.dtype not in (np.float32, np.float64) or not np.isfinite(data).all():
        raise ValueError(f"the values of factor {number} are not finite real numbers")
    for numbers in (indices, indptr):
        if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
            raise ValueError(f"the indices of factor {number} are not whole numbers")
    check_compressed(indices, indptr, len(data), (n, n), spare=False)
    return csr(data, indices.astype(np.int32, copy=False), indptr, n)
