"""Weights divided by (weighted) degrees: as numbers, and as a formula that stores no weights."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from grfpp.errors import InputError
from grfpp.linalg.csr import csr
from grfpp.typing import AnyInts, FloatArray, IntArray

#: ``D_out^-1/2 A D_in^-1/2``, ``D_out^-1 A``, or ``A`` itself.
Normalization = Literal["sym", "rw"] | None
#: ``"rw_reversed"`` is the transpose of ``"rw"``: divided by the strength of the column.
Kind = Literal["sym", "rw", "rw_reversed"] | None

#: Edges whose weights are computed at a time: 32 MB.
BLOCK_EDGES = 1 << 22
#: Weights above this and strengths below `MAX_STRENGTH` have products of two strengths, and weights
#: divided by them, within the range of float64.
MIN_WEIGHT = 1e-100
#: See `MIN_WEIGHT`.
MAX_STRENGTH = 1e100
#: Smallest factor that keeps normalised weights within the range of float64, after `MIN_WEIGHT`.
_MIN_FACTOR = 1e-50
#: Largest factor that keeps normalised weights, which are at most 1, within the range of float64.
_MAX_FACTOR = 1e300
#: Kind of the transpose, where it differs.
_REVERSED: dict[Kind, Kind] = {"rw": "rw_reversed", "rw_reversed": "rw"}


@dataclass(frozen=True, eq=False)
class ScaledWeights:
    """``W[i, j] = a[i, j] / s · value`` with a divisor ``s`` determined by `kind`.

    ======================  ==========================
    `kind`                  ``s``
    ======================  ==========================
    ``None``                1
    ``"rw"``                ``out[i]``
    ``"rw_reversed"``       ``into[j]``
    ``"sym"``               ``sqrt(out[i] · into[j])``
    ======================  ==========================

    Weights are divided before they are multiplied, as by `Graph.normalized`, so that both round to
    the same bits.

    Parameters
    ----------
    kind, value
        As above.
    base
        ``a`` of every edge, in the order of the edges; ``None`` where all are 1.
    out_strength, in_strength
        ``out`` and ``into`` of every node. `out_strength` may be ``None`` where `base` is ``None``:
        then ``out`` is the number of out-neighbours. `in_strength` is ``None`` where it equals
        ``out``.

    Examples
    --------
    >>> indptr, indices = np.array([0, 2, 3, 4]), np.array([1, 2, 0, 0], np.int32)
    >>> ScaledWeights("sym", 1.0).of_rows(indptr, indices).round(3)
    array([0.707, 0.707, 0.707, 0.707])
    >>> ScaledWeights("rw", 2.0).of_rows(indptr, indices, 1, 3)
    array([2., 2.])
    """

    kind: Kind
    value: float
    base: FloatArray | None = None
    out_strength: FloatArray | None = None
    in_strength: FloatArray | None = None

    def of_rows(
        self, indptr: IntArray, indices: AnyInts, first: int = 0, last: int | None = None
    ) -> FloatArray:
        """The weights of rows `first` to ``last - 1``, by default of all."""
        last = len(indptr) - 1 if last is None else last
        ends = indptr[first : last + 1]
        edges = slice(int(ends[0]), int(ends[-1]))
        if self.kind is None:
            if self.base is None:
                return np.full(edges.stop - edges.start, self.value)
            return np.asarray(self.base[edges] * self.value)
        divisor = self._divisor(indptr, indices[edges], first, last)
        # `Graph.normalized` refuses weights that leave the range of float64.
        with np.errstate(over="ignore", under="ignore"):
            weights = np.divide(1.0 if self.base is None else self.base[edges], divisor)
            weights *= self.value
        return np.asarray(weights)

    def _divisor(self, indptr: IntArray, targets: AnyInts, first: int, last: int) -> FloatArray:
        degree = np.diff(indptr[first : last + 1])
        out = degree if self.out_strength is None else self.out_strength[first:last]
        rows = np.repeat(np.asarray(out, np.float64), degree)
        if self.kind == "rw":
            return rows
        into = self.out_strength if self.in_strength is None else self.in_strength
        if into is None:
            columns = (indptr[targets.astype(np.int64) + 1] - indptr[targets]).astype(np.float64)
        else:
            columns = into[targets]
        if self.kind == "rw_reversed":
            return np.asarray(columns)
        # One root of the product, so that the result is symmetric to the last bit.
        rows *= columns
        return np.asarray(np.sqrt(rows, out=rows))

    def fill(self, indptr: IntArray, indices: AnyInts) -> FloatArray:
        """All weights, computed in blocks of rows to save memory."""
        result = np.empty(len(indices))
        for first, last in row_blocks(indptr, BLOCK_EDGES):
            weights = self.of_rows(indptr, indices, first, last)
            result[int(indptr[first]) : int(indptr[last])] = weights
        return result

    def normalized(
        self, kind: Literal["sym", "rw"] | None, factor: float, *, in_safe_range: bool = True
    ) -> ScaledWeights | None:
        """The formula of the normalised weights, if there is one that gives the same bits.

        ``None`` for a second normalisation, for a second factor, and for strengths whose products
        may leave the range of float64 (not `in_safe_range`).
        """
        if self.kind is not None or (self.base is not None and self.value != 1.0):
            return None
        if not (in_safe_range and _MIN_FACTOR < factor < _MAX_FACTOR):
            return None
        if kind is None:
            value = self.value * factor
            return replace(self, value=value) if 0 < value < math.inf else None
        return replace(self, kind=kind, value=factor) if _is_power_of_two(self.value) else None

    def reversed(self, base: FloatArray | None) -> ScaledWeights:
        """The formula of the transpose, with `base` in its order of edges."""
        transpose = replace(self, kind=_REVERSED.get(self.kind, self.kind), base=base)
        if self.in_strength is None:
            return transpose
        return replace(transpose, out_strength=self.in_strength, in_strength=self.out_strength)


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a sparse matrix; without weights all entries are 1."""

    indptr: IntArray
    indices: npt.NDArray[np.int32]
    weights: FloatArray | None = None

    def transposed(self) -> Rows:
        """The columns as rows, made in memory."""
        n = len(self.indptr) - 1
        values: Any = np.ones(len(self.indices), np.int8) if self.weights is None else self.weights
        transpose = csr(values, self.indices, self.indptr, n).T.tocsr()
        transpose.sort_indices()
        weights = None if self.weights is None else transpose.data
        return Rows(transpose.indptr.astype(np.int64), transpose.indices.astype(np.int32), weights)

    def equals(self, other: Rows) -> bool:
        """Whether both are the same matrix."""
        return self.has_pattern_of(other) and (
            self.weights is None or other.weights is None or _equal(self.weights, other.weights)
        )

    def has_pattern_of(self, other: Rows) -> bool:
        """Whether both have the same sparsity pattern."""
        return _equal(self.indptr, other.indptr) and _equal(self.indices, other.indices)

    def strengths(self) -> FloatArray:
        """Row sums, from left to right, as `Graph.normalized` rounds them."""
        if self.weights is None:
            return np.diff(self.indptr).astype(np.float64)
        blocks = [block for _, block in self.blocks()]  # views
        sums = [np.bincount(b.sources(), b.weights, len(b.indptr) - 1) for b in blocks]
        return np.concatenate(sums)

    def sources(self) -> IntArray:
        """The row of each entry."""
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))

    def blocks(self) -> Iterator[tuple[int, Rows]]:
        """Blocks of rows with about `BLOCK_EDGES` entries, each with the index of its first row."""
        for first, last in row_blocks(self.indptr, BLOCK_EDGES):
            ends = self.indptr[first : last + 1]
            entries = slice(int(ends[0]), int(ends[-1]))
            weights = None if self.weights is None else self.weights[entries]
            yield first, Rows(ends - ends[0], self.indices[entries], weights)


def _equal(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> bool:
    """Whether two arrays are equal, compared in blocks."""
    return len(one) == len(other) and all(
        np.array_equal(one[begin : begin + BLOCK_EDGES], other[begin : begin + BLOCK_EDGES])
        for begin in range(0, len(one), BLOCK_EDGES)
    )


def is_in_safe_range(weights: FloatArray | None, strength: FloatArray) -> bool:
    """Whether no product of two strengths leaves the range of float64."""
    if weights is None or not len(weights):
        return True
    return bool(float(np.min(weights)) > MIN_WEIGHT and float(np.max(strength)) < MAX_STRENGTH)


def normalized_weights(
    rows: Rows, kind: Normalization, factor: float, *, directed: bool
) -> FloatArray:
    """The weights of a matrix in memory, divided by its (weighted) degrees, times a factor.

    Examples
    --------
    >>> star = Rows(np.array([0, 2, 3, 4]), np.array([1, 2, 0, 0], np.int32), np.ones(4))
    >>> normalized_weights(star, "rw", 1.0, directed=False)
    array([0.5, 0.5, 1. , 1. ])
    """
    weights = rows.weights
    assert weights is not None
    with np.errstate(all="ignore"):
        if kind is not None and len(weights):
            # In units of about the largest weight, no sum or product of degrees overflows. The
            # unit is a power of two, which is exact.
            weights = np.ldexp(weights, -int(np.frexp(weights.max())[1]))
            out = Rows(rows.indptr, rows.indices, weights).strengths()
            into = _column_sums(rows.indices, weights, len(out)) if directed else None
            formula = ScaledWeights(kind, 1.0, weights, out, into)
            weights = formula.of_rows(rows.indptr, rows.indices)
        weights = weights * factor
    if not (np.isfinite(weights) & (weights > 0)).all():
        problem = "normalized weights leave the range of floating point: the weights, or scale"
        raise InputError(f"{problem} {factor:g}, are too large, too small or too far apart")
    return weights


def normalized_formula(
    scaled: ScaledWeights, rows: Rows, kind: Normalization, factor: float, *, directed: bool
) -> ScaledWeights | None:
    """The formula of the normalised weights, if any; `rows` have the weights ``scaled.base``."""
    is_equal = scaled.base is None
    if scaled.kind is not None or (kind is None and not is_equal):
        return None
    out = rows.strengths()
    formula = scaled.normalized(kind, factor, in_safe_range=is_in_safe_range(rows.weights, out))
    if formula is None or kind is None or (is_equal and not directed):
        return formula
    into = _column_sums(rows.indices, rows.weights, len(out)) if directed else None
    return replace(formula, out_strength=out, in_strength=into)


def _column_sums(indices: AnyInts, weights: FloatArray | None, n_nodes: int) -> FloatArray:
    return np.bincount(indices, weights, minlength=n_nodes).astype(np.float64)


def common_weight(weights: FloatArray) -> float | None:
    """The common weight of all edges, if there is one and it is a power of two; 1 without edges.

    Sums of such weights are exact multiples of it.

    Examples
    --------
    >>> common_weight(np.array([1.0, 1.0])), common_weight(np.array([0.3, 0.3])) is None
    (1.0, True)
    """
    if not len(weights):
        return 1.0
    first = float(weights[0])
    return first if _is_power_of_two(first) and bool((weights == first).all()) else None


def _is_power_of_two(number: float) -> bool:
    return math.frexp(number)[0] == 0.5


def row_blocks(indptr: IntArray, n_edges: int) -> list[tuple[int, int]]:
    """Ranges of rows with about `n_edges` edges each, and at least one row.

    Examples
    --------
    >>> row_blocks(np.array([0, 2, 3, 4]), 2)
    [(0, 1), (1, 3)]
    """
    n, blocks, first = len(indptr) - 1, [], 0
    while first < n:
        # The number of empty rows is bounded too, since callers allocate arrays of rows.
        last = int(np.searchsorted(indptr, indptr[first] + n_edges, side="right")) - 1
        last = min(max(first + 1, last), n, first + n_edges)
        blocks.append((first, last))
        first = last
    return blocks
