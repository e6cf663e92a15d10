"""Where neighbours come from, in compiled form: arrays, or a file that is read in pieces.

A graph on disk is mapped, and every page of the map that was looked at counts as memory of the
process; Linux adds the fifteen around it. Pools look everywhere, so soon that is all of the map.
What is read from the file instead, a few bytes at a time, goes to a buffer and leaves nothing
behind; but each read takes as long as some ten looks at a map.

`graph` ends with where neighbours are: the file's descriptor, below zero for the array that is at
hand; and how many reads have failed.
"""

from __future__ import annotations

import os
from typing import Any

from numba import int32, int64, njit, types, uint64

#: Bytes of a neighbour's number.
_BYTES = 4

if hasattr(os, "pread"):
    _pread = types.ExternalFunction(
        "pread", types.intp(types.int32, types.voidptr, types.uintp, types.int64)
    )
else:  # nobody has a descriptor here: `grfpp.local.plan`

    @njit(inline="always")
    def _pread(file: Any, target: Any, n_bytes: Any, position: Any) -> Any:
        return int64(-1)


@njit
def _read(source: Any, first: Any, count: Any, targets: Any, at: Any) -> None:
    """Read neighbours from the file; where that fails they are 0, and the failure is counted."""
    n_bytes = int64(_BYTES) * count
    place = targets.ctypes.data + int64(_BYTES) * at
    done = int64(0)
    while done < n_bytes:
        got = _pread(int32(source[0]), place + done, n_bytes - done, int64(_BYTES) * first + done)
        if got <= 0:
            source[1] += 1
            targets[uint64(at) : uint64(at + count)] = 0
            break
        done += got


@njit(inline="always")
def fetch(graph: Any, runs: Any, n_runs: Any, picks: Any, n_picks: Any, targets: Any) -> Any:
    """Bring the neighbours at the ends of the listed edges to `targets`; gives their number."""
    indices, source = graph[1], graph[5]
    run_first, run_end, _ = runs
    pick_edge, _ = picks
    n = 0
    if source[0] >= 0:
        for a in range(n_runs):
            first = run_first[uint64(a)]
            count = run_end[uint64(a)] - first
            _read(source, first, count, targets, n)
            n += count
        for a in range(n_picks):
            _read(source, pick_edge[uint64(a)], 1, targets, n)
            n += 1
        return n
    for a in range(n_runs):
        for slot in range(run_first[uint64(a)], run_end[uint64(a)]):
            targets[uint64(n)] = indices[uint64(slot)]
            n += 1
    for a in range(n_picks):
        targets[uint64(n)] = indices[uint64(pick_edge[uint64(a)])]
        n += 1
    return n
