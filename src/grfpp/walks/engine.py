"""The compiled inner loops. They take plain arrays and trust them.

Walkers of a batch of rows advance in lock-step, in short separate passes (choose the edge; fetch
the neighbour; grow the load; log and compact), so that the processor overlaps many cache misses.
Lengths are drawn first, hence every walker knows where in the log its deposits go, and the log of a
row is contiguous. A small hash table per row then sums the deposits by column.
"""

from __future__ import annotations

from typing import Any

from numba import int64, njit, uint64

from grfpp.walks import streams
from grfpp.walks.plan import GUIDE_BITS

_MIX_1 = 0xBF58476D1CE4E5B9
_MIX_2 = 0x94D049BB133111EB
_GUIDE_SHIFT = 64 - GUIDE_BITS
_GOLDEN = streams.GOLDEN
_NODE_STRIDE = streams.NODE_STRIDE
_WALK_STRIDE = streams.WALK_STRIDE
_SECOND_WORD = streams.SECOND_WORD
_HASH = 0x9E3779B1
_NO_NODE = -1


@njit(inline="always")
def _mix64(z: Any) -> Any:
    z = (z ^ (z >> uint64(30))) * uint64(_MIX_1)
    z = (z ^ (z >> uint64(27))) * uint64(_MIX_2)
    return z ^ (z >> uint64(31))


@njit(inline="always")
def _scaled(word: Any, degree: Any) -> Any:
    """High 64 bits of ``word · degree``, for degrees below ``2^32``."""
    d = uint64(degree)
    low = ((word & uint64(0xFFFFFFFF)) * d) >> uint64(32)
    return int64(((word >> uint64(32)) * d + low) >> uint64(32))


@njit(inline="always")
def _draw_length(state: Any, high: Any, low: Any, guide: Any) -> Any:
    word = _mix64(state)
    length = int64(guide[word >> uint64(_GUIDE_SHIFT)])
    while length < len(high):
        if word > high[length]:
            break
        if word == high[length] and _mix64(state ^ uint64(_SECOND_WORD)) >= low[length]:
            break
        length += 1
    return length


@njit(nogil=True, cache=True)
def sample_block(
    indptr: Any,
    indices: Any,
    per_edge: Any,
    potential: Any,
    deposits: Any,
    high: Any,
    low: Any,
    guide: Any,
    dead_ends: bool,
    key: Any,
    n_walks: int,
    rows: Any,
    state: Any,
    node: Any,
    place: Any,
    last: Any,
    edge: Any,
    load: Any,
    length: Any,
    log_end: Any,
    log_node: Any,
    log_load: Any,
    table: Any,
    sums: Any,
    out_end: Any,
    out_index: Any,
    out_value: Any,
) -> tuple[int, int, int, int, int]:
    """Walk from `rows` until they are done or a buffer is too small for the next one.

    Returns the number of rows done, of entries written, of steps walked; and, where the next row
    did not fit, the log entries and the output entries that it alone may need (else zero).
    """
    weighted = len(per_edge) > 0
    n_out = 0
    steps = 0
    done = 0
    while done < len(rows):
        # Draw the lengths of as many rows as fit into the buffers.
        first = done
        n_walkers = 0
        fill = 0
        need_log = 0
        need_out = 0
        while done < len(rows):
            row = rows[done]
            before_walkers = n_walkers
            before_fill = fill
            if indptr[row + 1] > indptr[row]:
                if n_walkers + n_walks > len(node):
                    break
                node_key = _mix64(key + uint64(row + 1) * uint64(_NODE_STRIDE))
                for walk in range(n_walks):
                    walk_state = _mix64(node_key + uint64(walk + 1) * uint64(_WALK_STRIDE))
                    n_steps = _draw_length(walk_state, high, low, guide)
                    if n_steps > 0:
                        state[n_walkers] = walk_state
                        node[n_walkers] = row
                        place[n_walkers] = fill
                        last[n_walkers] = fill + n_steps
                        length[n_walkers] = n_steps
                        n_walkers += 1
                        fill += n_steps
            too_long = fill > len(log_node)
            too_many = n_out + fill + (done - first + 1) > len(out_index)
            if too_long or too_many or done - first >= len(log_end):
                need_log = fill - before_fill
                need_out = fill - before_fill + 1
                n_walkers = before_walkers
                fill = before_fill
                break
            log_end[done - first] = fill
            done += 1
        if done == first:
            return done, n_out, steps, need_log, need_out

        # Walk.
        active = n_walkers
        if weighted:
            for a in range(active):
                load[a] = 1.0
        while active > 0:
            for a in range(active):
                walk_state = state[a] + uint64(_GOLDEN)
                state[a] = walk_state
                start = indptr[node[a]]
                degree = indptr[node[a] + 1] - start
                edge[a] = start + _scaled(_mix64(walk_state), degree)
            for a in range(active):
                node[a] = indices[edge[a]]
            if weighted:
                for a in range(active):
                    load[a] *= per_edge[edge[a]]
                for a in range(active):
                    log_load[place[a]] = load[a]
            kept = 0
            for a in range(active):
                here = node[a]
                following = place[a] + 1
                log_node[following - 1] = here
                goes_on = following < last[a]
                if dead_ends and goes_on and indptr[here + 1] == indptr[here]:
                    goes_on = False
                    for rest in range(following, last[a]):
                        log_node[rest] = _NO_NODE
                state[kept] = state[a]
                node[kept] = here
                place[kept] = following
                last[kept] = last[a]
                if weighted:
                    load[kept] = load[a]
                kept += goes_on
            steps += active
            active = kept

        # Sum the deposits of each row by column, in the order of walks and steps.
        position = 0
        walker = 0
        for b in range(first, done):
            row = rows[b]
            end = log_end[b - first]
            bits = 4
            while (1 << bits) < 2 * (end - position + 1):
                bits += 1
            mask = (1 << bits) - 1
            shift = uint64(32 - bits)
            for slot in range(mask + 1):
                table[slot] = -1
            home = int64(((uint64(row) * uint64(_HASH)) & uint64(0xFFFFFFFF)) >> shift)
            table[home] = 0
            out_index[n_out] = row
            sums[0] = deposits[0] * n_walks
            found = 1
            while position < end:
                stop = position + length[walker]
                walker += 1
                k = 0
                while position < stop:
                    k += 1
                    column = log_node[position]
                    if column < 0:
                        position = stop
                        break
                    amount = deposits[k]
                    if weighted:
                        amount *= log_load[position]
                    position += 1
                    slot = int64(((uint64(column) * uint64(_HASH)) & uint64(0xFFFFFFFF)) >> shift)
                    while True:
                        entry = table[slot]
                        if entry < 0:
                            table[slot] = found
                            out_index[n_out + found] = column
                            sums[found] = amount
                            found += 1
                            break
                        if out_index[n_out + entry] == column:
                            sums[entry] += amount
                            break
                        slot = (slot + 1) & mask
            if weighted:
                for entry in range(found):
                    out_value[n_out + entry] = sums[entry]
            else:
                scale = potential[row]
                for entry in range(found):
                    column = out_index[n_out + entry]
                    out_value[n_out + entry] = sums[entry] * (scale / potential[column])
            n_out += found
            out_end[b] = n_out
    return done, n_out, steps, 0, 0
