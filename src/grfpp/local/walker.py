"""One thread's hands: the buffers that the compiled loops work in, and rows made with them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from grfpp.linalg.growing import Block
from grfpp.local.plan import LocalPlan
from grfpp.memory import require_bytes
from grfpp.typing import FloatArray, IntArray

#: Bytes of the buffers for every node: table, what was reached, movers, runs, picks, pool, targets.
_NODE_BYTES = 32 + 33 + 28 + 24 + 16 + 4 + 4
#: Beside larger ones, no others are kept.
_SMALL_ROOM = 1 << 16
#: Entries that there is room for at first.
_FIRST_OUTPUT = 1 << 20
_NO_TRACE = (np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0))


class Side(NamedTuple):
    """One side of entries: where those of each node end, places, and amounts there."""

    end: IntArray
    places: IntArray
    amounts: FloatArray


class LocalWalker:
    """Room for the pool of one row, enlarged when a row needs more; of one thread."""

    def __init__(self) -> None:
        self._buffers: dict[int, tuple[Any, ...]] = {}
        self._traces: tuple[Any, ...] | None = None

    def buffers(self, room: int) -> tuple[Any, ...]:
        """Buffers for rows that reach so many nodes, a power of two. They are free."""
        if room not in self._buffers:
            require_bytes(_NODE_BYTES * room, f"a row that reaches {room} nodes")
            if room > _SMALL_ROOM:
                self._buffers.clear()
            keys = np.zeros(4 * room, np.int64)
            keys[::2] = -1
            reached = (
                np.empty(room, np.int32),
                np.empty(room, np.int32),
                np.empty(room, np.int64),
                np.empty(room),
                np.empty(room),
                np.empty(room, np.uint8),
            )
            movers = (np.empty(room, np.int32), np.empty(room), np.empty(room), np.empty(room))
            runs = (np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room))
            picks = (np.empty(room, np.int64), np.empty(room))
            pool, targets = np.empty(room, np.int32), np.empty(room, np.int32)
            table = (keys, keys.view(np.float64))
            self._buffers[room] = (table, reached, pool, movers, runs, picks, targets)
        return self._buffers[room]

    def rows(self, plan: LocalPlan, nodes: IntArray) -> Block:
        """Rows of the kernel, columns in the order in which they were reached."""
        from grfpp.local.pools.loops import write_rows

        end, columns, values = self._filled(write_rows, plan, plan.law, nodes, np.int32, ())
        return Block(end, columns, values)

    def side(self, plan: LocalPlan, nodes: IntArray) -> Side:
        """One side of entries, for each of `nodes`."""
        from grfpp.local.pools.sides import write_side

        right = (plan.is_right,)
        side = Side(*self._filled(write_side, plan, plan.half_law, nodes, np.int64, right))
        plan.require_read()
        return side

    def _filled(
        self,
        loop: Callable[..., Any],
        plan: LocalPlan,
        law: tuple[Any, ...],
        nodes: IntArray,
        dtype: npt.DTypeLike,
        more: tuple[Any, ...],
    ) -> tuple[IntArray, npt.NDArray[Any], FloatArray]:
        """What a loop appends for each node: ends, places, amounts."""
        from grfpp.local.pools.loops import NO_BUFFER

        end = np.empty(len(nodes), np.int64)
        size = min(4 * plan.room, _FIRST_OUTPUT)
        places, amounts = np.empty(size, dtype), np.empty(size)
        done = written = 0
        while True:
            room = plan.room
            n_rows, n_places, why = loop(
                plan.read_arrays if more else plan.graph_arrays,
                law,
                plan.key,
                nodes[done:],
                self.buffers(room),
                self._trace(room, len(law[3])) if more else _NO_TRACE,
                *more,
                end[done:],
                places[written:],
                amounts[written:],
            )
            end[done : done + n_rows] += written
            done += n_rows
            written += n_places
            if done == len(nodes):
                return end, places[:written], amounts[:written]
            if why == NO_BUFFER:
                plan.enlarge_room(room)
            else:
                size = 2 * len(places)
                require_bytes(
                    size * (places.itemsize + 8) * 3 // 2, f"what {len(nodes)} rows have reached"
                )
                places, amounts = _enlarged(places, size), _enlarged(amounts, size)

    def largest(
        self, plan: LocalPlan, nodes: IntArray, k: int, include_self: bool
    ) -> tuple[IntArray, FloatArray]:
        """The `k` largest entries of rows."""
        from grfpp.local.pools.loops import select_largest

        found, values = np.empty((len(nodes), k), np.int64), np.empty((len(nodes), k))
        n_held = plan.candidates(k)
        held = (np.empty(n_held, np.int64), np.empty(n_held))
        done = 0
        while True:
            room = plan.room
            n_rows, _ = select_largest(
                plan.graph_arrays,
                plan.law,
                plan.key,
                nodes[done:],
                self.buffers(room),
                _NO_TRACE,
                include_self,
                plan.pull_edges,
                held,
                found[done:],
                values[done:],
            )
            done += n_rows
            if done == len(nodes):
                return found, values
            plan.enlarge_room(room)

    def values(self, plan: LocalPlan, nodes: IntArray, columns: IntArray) -> FloatArray:
        """Entries of each row at columns of its own, found as `largest` finds them."""
        from grfpp.local.pools.loops import write_values

        values = np.empty(columns.shape)
        done = 0
        while True:
            room = plan.room
            n_rows, _ = write_values(
                plan.graph_arrays,
                plan.law,
                plan.key,
                nodes[done:],
                self.buffers(room),
                _NO_TRACE,
                plan.pull_edges,
                columns[done:],
                values[done:],
            )
            done += n_rows
            if done == len(nodes):
                return values
            plan.enlarge_room(room)

    def _trace(self, room: int, n_steps: int) -> tuple[Any, ...]:
        """Room for what a pool holds at each step."""
        if self._traces is None or len(self._traces[0]) < 2 * room:
            self._traces = (np.empty(2 * room, np.int32), np.empty(2 * room))
        return np.empty(n_steps, np.int64), *self._traces


def walker() -> LocalWalker:
    """The walker of this thread."""
    if not hasattr(_LOCAL, "walker"):
        _LOCAL.walker = LocalWalker()
    found: LocalWalker = _LOCAL.walker
    return found


_LOCAL = threading.local()


def _enlarged(array: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    larger = np.empty(size, array.dtype)
    larger[: len(array)] = array
    return larger
