"""The arrays that pools work on: the graph, the series, and the work buffers of one thread.

`grfpp.walks.pool` has the compiled loops, which take these named tuples and trust them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from grfpp._memory import require_bytes
from grfpp.errors import InputError
from grfpp.linalg.csr import readonly
from grfpp.normalization import BLOCK_EDGES, row_blocks
from grfpp.typing import FloatArray, IntArray
from grfpp.walks.transition import ProportionalSteps

#: Formula of ``W`` in terms of weights ``a`` and node strengths, in this order: ``a[v, w]``,
#: ``a[v, w] / out(v)``, ``a[v, w] / √(out(v) in(w))`` and ``a[v, w] / in(w)``.
PLAIN, RW, SYM, RW_REVERSED = range(4)
#: Exit codes of compiled loops: all rows done, output too small, or work buffers too small.
DONE, NO_OUTPUT, NO_ROOM = 0, -1, -2
#: A cell of the hash table that holds no key.
FREE = -1
#: Largest degree; degrees are stored in four bytes.
_MAX_DEGREE = np.iinfo(np.int32).max
#: Largest buffers, in nodes, that are cached together (10 MB each); larger ones are cached alone.
_SMALL_ROOM = 1 << 16

#: Cells of a table of keys alone, and of one that holds a number with each key.
_KEY = np.dtype([("key", "i8")])
_CELL = np.dtype([("key", "i8"), ("value", "f8")], align=True)
#: A reached node: its degree and first edge; the mass on an edge of weight one per unit of the
#: node's mass (`share`); its mass in the pool and its deposits (`total`); in local queries its
#: deposits one step ahead, or its residual (`ahead`, `has_residual`); its cell in the hash table.
_REACHED = np.dtype(
    [
        ("node", "i4"),
        ("degree", "i4"),
        ("first", "i8"),
        ("share", "f8"),
        ("mass", "f8"),
        ("total", "f8"),
        ("ahead", "f8"),
        ("cell", "i4"),
        ("has_residual", "i4"),
    ],
    align=True,
)
_RUN = np.dtype([("first", "i8"), ("end", "i8"), ("mass", "f8")], align=True)
_LIGHT = np.dtype([*_RUN.descr, ("sum", "f8"), ("heaviest", "f8"), ("n_heavy", "i8")], align=True)
_TRACE = np.dtype([("number", "i8"), ("mass", "f8")], align=True)
_INT32 = np.dtype("i4")
_TYPES = (_REACHED, _INT32, _RUN, _LIGHT, np.dtype("i8"), _INT32)
#: Bytes of the work buffers for each node that a row may reach, two table cells included.
NODE_BYTES = 2 * _KEY.itemsize + sum(dtype.itemsize for dtype in _TYPES)

_NOTHING = readonly(np.empty(0))


class PoolLayout(NamedTuple):
    """A graph laid out for pools: CSR arrays, and how the weights are scaled.

    A step moves the mass ``x_v · share(v) · weights[v, w]`` to each neighbour ``w``, where
    ``share(v)`` is ``1 / rate`` or, in the measure of the walk, the inverse of a strength.

    Of graphs that were updated (`grfpp.updates`), `more` has the neighbours and weights of rows
    that have changed, whose edges are numbered from ``len(indices)`` on; the edges of node ``v``
    then begin at ``indptr[2 v]`` and end at ``indptr[2 v + 1]``.
    """

    indptr: IntArray
    indices: npt.NDArray[np.int32]
    #: Edge weights; empty where all are equal.
    weights: FloatArray = _NOTHING
    #: Sum of the weights from each edge to the end of its row, where rows are sorted by decreasing
    #: weight; else empty.
    tails: FloatArray = _NOTHING
    #: Node strengths; empty where they equal the degrees or, for `in_strength`, `out_strength`.
    out_strength: FloatArray = _NOTHING
    in_strength: FloatArray = _NOTHING
    #: The measure of masses, by node; empty where `kind` determines it.
    measure: FloatArray = _NOTHING
    #: The descriptor of the file that neighbours are read from, and the number of failed reads.
    file: IntArray | None = None
    more: tuple[npt.NDArray[np.int32], FloatArray] | None = None
    kind: int = PLAIN
    #: A further factor of every step, which keeps masses in the range of float64.
    rate: float = 1.0

    @classmethod
    def of(cls, steps: ProportionalSteps) -> PoolLayout:
        """A graph for pools that start everywhere: rows of unequal weights are sorted once."""
        from grfpp.linalg.loops import row_tails

        graph = steps.graph
        indptr, indices = readonly(graph.indptr), readonly(graph.indices)
        if graph.out_degree.max() > _MAX_DEGREE:
            raise InputError(f"a node has {graph.out_degree.max()} neighbours, too many for pools")
        if steps.telescopes:
            kind = SYM if np.any(steps.potential != 1.0) else RW
            return cls(indptr, indices, kind=kind, rate=steps.rate)
        # A power of two, so that it rounds nothing.
        rate = float(2.0 ** np.round(np.log2(graph.spectral_radius() or 1.0)))
        targets, weights = _sorted_rows(indptr, indices, steps.weights())
        tails = readonly(row_tails(weights, indptr))
        measure = readonly(steps.measure)
        return cls(indptr, readonly(targets), readonly(weights), tails, measure=measure, rate=rate)

    @property
    def arrays(self) -> tuple[npt.NDArray[Any], ...]:
        """All arrays, without those of updates."""
        return tuple(array for array in self[:-3] if array is not None)

    @property
    def potential(self) -> FloatArray:
        """The measure of masses, by node; empty for ones."""
        if self.kind != SYM or len(self.measure):
            return self.measure
        return np.sqrt(np.maximum(np.diff(self.indptr), 1))


def _sorted_rows(
    indptr: IntArray, indices: npt.NDArray[np.int32], weights: FloatArray
) -> tuple[npt.NDArray[np.int32], FloatArray]:
    """Sort every row by decreasing weight; weights equal up to rounding keep their order."""
    targets, falling = np.empty_like(indices), np.empty_like(weights)
    for first, last in row_blocks(indptr, BLOCK_EDGES):
        edges = slice(int(indptr[first]), int(indptr[last]))
        sources = np.repeat(np.arange(first, last), np.diff(indptr[first : last + 1]))
        mantissa, exponent = np.frexp(weights[edges])
        rounded = np.ldexp(np.round(np.ldexp(mantissa, 40)), exponent - 40)
        order = np.lexsort((-rounded, sources))
        targets[edges], falling[edges] = indices[edges][order], weights[edges][order]
    return targets, falling


class PoolSeries(NamedTuple):
    """The deposits of a pool, ``Σ_k deposits[k] x_k``, and its budget."""

    #: Coefficients of the steps, followed by a zero.
    deposits: FloatArray
    #: Share of the remaining budget for each step, and the fraction left for later ones (`Budget`).
    share: FloatArray
    rest: FloatArray
    #: Expected number of edges that may be followed.
    budget: float
    #: Whether ``Σ_k deposits[k + 1] x_k`` is stored too.
    with_ahead: bool = False
    #: `StepOptions`, or ``None`` while these have no field: numba looks up the class of each named
    #: tuple at each call, a tenth of the time of an entry on a grid.
    options: Any = None


def hash_table(n_cells: int, dtype: np.dtype[Any] = _CELL) -> tuple[Any, np.uint64]:
    """An empty hash table of `n_cells`, a power of two, and the shift that hashes to a cell."""
    cells = np.zeros(n_cells, dtype)
    cells["key"] = FREE
    return cells, np.uint64(65 - n_cells.bit_length())


class PoolResidual(NamedTuple):
    """A geometric series ``Σ_k ratio^k x_k``, sampled by one pool for all steps."""

    ratio: float
    #: Expected number of edges that may be followed.
    budget: float
    max_rounds: int


class PoolBuffers(NamedTuple):
    """Work buffers of one thread; the hash table is empty between rows."""

    #: Hash table of keys: a node and its number in the order of arrival.
    cells: Any
    #: ``64 - log2(len(cells))``, for hashing.
    shift: Any
    #: Reached nodes, by number.
    reached: Any
    #: Numbers of the nodes that hold mass, in the order of arrival.
    pool: npt.NDArray[np.int32]
    #: Runs of consecutive edges of a node to follow, and the mass on an edge of weight one.
    runs: Any
    #: Runs with edges below the threshold and, for unequal weights, sums over these.
    light: Any
    #: Single edges to follow, for equal weights.
    picks: IntArray
    #: Neighbours of a run that were read from a file, and the address of this buffer.
    ends: npt.NDArray[np.int32]
    ends_address: int
    #: Masses of the pool at every step, and the end of each step; empty if not recorded.
    trace: Any
    trace_end: IntArray
    #: One number: the largest amount that one more pick could have deposited at a node, in the
    #: measure of the masses; zero where all edges were followed.
    resolution: FloatArray

    @classmethod
    def of(cls, room: int) -> PoolBuffers:
        """Buffers for `room` nodes, a power of two."""
        buffers: list[Any] = [np.zeros(room, dtype) for dtype in _TYPES]
        no_trace: list[Any] = [np.zeros(0, _TRACE), np.zeros(0, np.int64)]
        address, buffers[-1] = buffers[-1].ctypes.data, readonly(buffers[-1])
        return cls._make([*hash_table(2 * room, _KEY), *buffers, address, *no_trace, np.zeros(1)])

    def with_trace(self, trace: Any, n_steps: int) -> PoolBuffers:
        """The same buffers, with room for the masses of every step."""
        return self._replace(trace=trace, trace_end=np.zeros(n_steps, np.int64))


class WorkBuffers:
    """The work buffers of one thread, by size."""

    def __init__(self) -> None:
        self._buffers: dict[int, PoolBuffers] = {}
        self._trace = np.zeros(0, _TRACE)

    def of(self, room: int, n_steps: int = 0) -> PoolBuffers:
        """Buffers for `room` nodes, a power of two, with a trace of `n_steps` steps."""
        if room not in self._buffers:
            require_bytes(NODE_BYTES * room, f"a row that reaches {room} nodes")
            if room > _SMALL_ROOM:
                self._buffers.clear()
            self._buffers[room] = PoolBuffers.of(room)
        if not n_steps:
            return self._buffers[room]
        if len(self._trace) < 2 * room:
            self._trace = np.zeros(2 * room, _TRACE)
        return self._buffers[room].with_trace(self._trace, n_steps)
