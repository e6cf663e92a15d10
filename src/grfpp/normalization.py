"""Weights over (weighted) degrees: as numbers, and as a rule that needs none of them stored."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from grfpp.linalg.csr import csr
from grfpp.typing import AnyInts, FloatArray, IntArray

#: ``D_out^-1/2 A D_in^-1/2``, ``D_out^-1 A``, or ``A`` itself.
Normalization = Literal["sym", "rw"] | None
#: ``"rw_reversed"`` is the transpose of ``"rw"``: divided by the strength of the column.
Kind = Literal["sym", "rw", "rw_reversed"] | None

#: Edges whose weights are computed at a time.
BLOCK_EDGES = 1 << 22
#: Bounds of weights and strengths between which no product of two strengths leaves the range of
#: float64, nor does a weight over one.
MIN_WEIGHT, MAX_STRENGTH = 1e-100, 1e100
#: Bounds of factors with which such numbers stay in the range of float64.
_MIN_FACTOR, _MAX_FACTOR = 1e-50, 1e300
_REVERSED: dict[Kind, Kind] = {"rw": "rw_reversed", "rw_reversed": "rw"}


@dataclass(frozen=True, eq=False)
class ScaledWeights:
    """``W[i, j] = a[i, j] / s · value`` with a divisor ``s`` that the `kind` tells.

    ======================  ==========================
    `kind`                  ``s``
    ======================  ==========================
    ``None``                1
    ``"rw"``                ``out[i]``
    ``"rw_reversed"``       ``into[j]``
    ``"sym"``               ``sqrt(out[i] · into[j])``
    ======================  ==========================

    Numbers are divided first and multiplied then: that is how `Graph.normalized` rounds, and so the
    results are the same to the last bit.

    Parameters
    ----------
    kind, value
        As above.
    base
        ``a`` of every edge, in the order of the edges; ``None`` where each is 1.
    out_strength, in_strength
        ``out`` and ``into`` of every node. `out_strength` may be ``None`` where `base` is: then it
        is the number of out-neighbours. `in_strength` is ``None`` where it is the same as ``out``.

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
        # At the end of the range of float64, which `Graph.normalized` refuses.
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
        # One product under one root: the result is symmetric to the last bit.
        rows *= columns
        return np.asarray(np.sqrt(rows, out=rows))

    def fill(self, indptr: IntArray, indices: AnyInts) -> FloatArray:
        """All weights, some rows at a time, so that little else is held in memory."""
        result = np.empty(len(indices))
        for first, last in row_blocks(indptr, BLOCK_EDGES):
            weights = self.of_rows(indptr, indices, first, last)
            result[int(indptr[first]) : int(indptr[last])] = weights
        return result

    def normalized(
        self, kind: Literal["sym", "rw"] | None, factor: float, *, in_safe_range: bool = True
    ) -> ScaledWeights | None:
        """The rule of the normalised weights, where it is one and gives the same bits.

        ``None`` where it does not: a second normalisation, a second factor, or numbers that are not
        `tame`, so that products of strengths may leave the range of float64.
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
        """The rule of the transpose, with `base` in its order of edges."""
        transpose = replace(self, kind=_REVERSED.get(self.kind, self.kind), base=base)
        if self.in_strength is None:
            return transpose
        return replace(transpose, out_strength=self.in_strength, in_strength=self.out_strength)


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a matrix; without weights each entry is 1."""

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
        """Whether both have entries at the same places."""
        return _equal(self.indptr, other.indptr) and _equal(self.indices, other.indices)

    def strengths(self) -> FloatArray:
        """Sums of rows, from left to right: as `Graph.normalized` rounds them."""
        if self.weights is None:
            return np.diff(self.indptr).astype(np.float64)
        blocks = [block for _, block in self.blocks()]  # views
        sums = [np.bincount(b.sources(), b.weights, len(b.indptr) - 1) for b in blocks]
        return np.concatenate(sums)

    def sources(self) -> IntArray:
        """The row of each entry."""
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))

    def blocks(self) -> Iterator[tuple[int, Rows]]:
        """Runs of rows with about `BLOCK_EDGES` entries each, and the first row of each run."""
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
    """Whether no product of strengths leaves the range of float64."""
    if weights is None or not len(weights):
        return True
    return bool(float(np.min(weights)) > MIN_WEIGHT and float(np.max(strength)) < MAX_STRENGTH)


def normalized_weights(rows: Rows, kind: Normalization, *, directed: bool) -> FloatArray:
    """The weights of a matrix in memory over its degrees.

    Examples
    --------
    >>> star = Rows(np.array([0, 2, 3, 4]), np.array([1, 2, 0, 0], np.int32), np.ones(4))
    >>> normalized_weights(star, "rw", directed=False)
    array([0.5, 0.5, 1. , 1. ])
    """
    weights = rows.weights
    assert weights is not None
    if kind is None or not len(weights):
        return weights
    # In units of the largest weight no sum or product of degrees overflows. The unit is a power of
    # two, so that it rounds nothing.
    weights = np.ldexp(weights, -int(np.frexp(weights.max())[1]))
    out = Rows(rows.indptr, rows.indices, weights).strengths()
    into = _column_sums(rows.indices, weights, len(out)) if directed else None
    return ScaledWeights(kind, 1.0, weights, out, into).of_rows(rows.indptr, rows.indices)


def normalized_rule(
    scaled: ScaledWeights, rows: Rows, kind: Normalization, factor: float, *, directed: bool
) -> ScaledWeights | None:
    """The rule of the normalised weights, if it is one; `rows` are those of ``scaled.base``."""
    equal = scaled.base is None
    if scaled.kind is not None or (kind is None and not equal):
        return None
    out = rows.strengths()
    rule = scaled.normalized(kind, factor, in_safe_range=is_in_safe_range(rows.weights, out))
    if rule is None or kind is None or (equal and not directed):
        return rule
    into = _column_sums(rows.indices, rows.weights, len(out)) if directed else None
    return replace(rule, out_strength=out, in_strength=into)


def _column_sums(indices: AnyInts, weights: FloatArray | None, n_nodes: int) -> FloatArray:
    return np.bincount(indices, weights, minlength=n_nodes).astype(np.float64)


def common_weight(weights: FloatArray) -> float | None:
    """The one weight of all edges, if it is a power of two; 1 where there are no edges.

    Sums of such weights are numbers of edges, to the last bit.

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
    """Runs of rows with about so many edges each, and one row at least.

    Examples
    --------
    >>> row_blocks(np.array([0, 2, 3, 4]), 2)
    [(0, 1), (1, 3)]
    """
    n, blocks, first = len(indptr) - 1, [], 0
    while first < n:
        # Nor too many rows where they are empty: what is made of rows is held as well.
        last = int(np.searchsorted(indptr, indptr[first] + n_edges, side="right")) - 1
        last = min(max(first + 1, last), n, first + n_edges)
        blocks.append((first, last))
        first = last
    return blocks
