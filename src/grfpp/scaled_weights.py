"""`ScaledWeights`: the weights of edges as a rule, of which none need be stored."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from grfpp.typing import FloatArray, IntArray

#: ``"rw_reversed"`` is the transpose of ``"rw"``: divided by the strength of the column.
Kind = Literal["sym", "rw", "rw_reversed"] | None

#: Edges whose weights are computed at a time.
BLOCK_EDGES = 1 << 22
#: Between these bounds no product of two strengths leaves the range of float64, nor does a weight
#: over one, nor that times a factor between the others.
LEAST, LARGEST = 1e-100, 1e100
_LEAST_FACTOR, _LARGEST_FACTOR = 1e-50, 1e300
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

    @property
    def bound(self) -> float | None:
        """No absolute eigenvalue is larger, directed or not; ``None`` where only `base` tells.

        The rows of ``"rw"`` add up to `value`, or to nothing; so do the columns of its transpose;
        and ``"sym"`` has no larger singular value, by Schur's test with the roots of the strengths.
        """
        return None if self.kind is None else self.value

    def of_rows(
        self,
        indptr: IntArray,
        indices: npt.NDArray[np.int32],
        first: int = 0,
        last: int | None = None,
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

    def _divisor(
        self, indptr: IntArray, targets: npt.NDArray[np.int32], first: int, last: int
    ) -> FloatArray:
        degree = np.diff(indptr[first : last + 1])
        out = degree if self.out_strength is None else self.out_strength[first:last]
        rows = np.repeat(np.asarray(out, np.float64), degree)
        if self.kind == "rw":
            return rows
        into = self.out_strength if self.in_strength is None else self.in_strength
        columns = (
            (indptr[targets.astype(np.int64) + 1] - indptr[targets]).astype(np.float64)
            if into is None
            else into[targets]
        )
        if self.kind == "rw_reversed":
            return np.asarray(columns)
        # One product under one root: the result is symmetric to the last bit.
        rows *= columns
        return np.asarray(np.sqrt(rows, out=rows))

    def fill(
        self, indptr: IntArray, indices: npt.NDArray[np.int32], out: FloatArray | None = None
    ) -> FloatArray:
        """All weights, some rows at a time, so that hardly anything is held beside them."""
        result = np.empty(len(indices)) if out is None else out
        for first, last in row_blocks(indptr, BLOCK_EDGES):
            result[int(indptr[first]) : int(indptr[last])] = self.of_rows(
                indptr, indices, first, last
            )
        return result

    def normalized(
        self, kind: Literal["sym", "rw"] | None, factor: float, *, tame: bool = True
    ) -> ScaledWeights | None:
        """The rule of the normalised weights, where it is one and gives the same bits.

        ``None`` where it does not: a second normalisation, a second factor, or numbers that are not
        `tame`, so that products of strengths may leave the range of float64.
        """
        if self.kind is not None or (self.base is not None and self.value != 1.0):
            return None
        if not (tame and _LEAST_FACTOR < factor < _LARGEST_FACTOR):
            return None
        if kind is None:
            value = self.value * factor
            return replace(self, value=value) if 0 < value < math.inf else None
        return replace(self, kind=kind, value=factor) if _is_power_of_two(self.value) else None

    def reversed(self, base: FloatArray | None) -> ScaledWeights:
        """The rule of the transpose, with `base` in its order of edges."""
        into = self.out_strength if self.in_strength is None else self.in_strength
        same = self.in_strength is None
        return ScaledWeights(
            _REVERSED.get(self.kind, self.kind),
            self.value,
            base,
            into,
            None if same else self.out_strength,
        )


def one_for_all(weights: FloatArray) -> float | None:
    """The one weight of all edges, if it is a power of two; 1 where there are no edges.

    Sums of such weights are numbers of edges, to the last bit.

    Examples
    --------
    >>> one_for_all(np.array([1.0, 1.0])), one_for_all(np.array([0.3, 0.3])) is None
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
