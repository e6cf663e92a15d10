"""The compiled inner loops. They take plain arrays and trust them.

Walkers of a batch of rows advance in lock-step, in short separate passes (choose the slot; fetch
the next word; grow the load; log and compact), so that the processor overlaps many cache misses.
Lengths are drawn first, hence every walker knows where in the log its deposits go, and the log of a
row is contiguous. A small hash table per row then sums the deposits by column.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import int64, njit, types, uint64
from numba.core import cgutils
from numba.extending import intrinsic

from grfpp.walks import streams
from grfpp.walks.layout import DEGREE_BITS
from grfpp.walks.lengths import GUIDE_BITS
from grfpp.walks.notice import announce_compilation

announce_compilation()

_MIX_1 = 0xBF58476D1CE4E5B9
_MIX_2 = 0x94D049BB133111EB
_GUIDE_SHIFT = 64 - GUIDE_BITS
_GOLDEN = streams.GOLDEN
_NODE_STRIDE = streams.NODE_STRIDE
_WALK_STRIDE = streams.WALK_STRIDE
_SECOND_WORD = streams.SECOND_WORD
_HASH = 0x9E3779B1
_DEGREE_MASK = (1 << DEGREE_BITS) - 1
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


@intrinsic
def _prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """Ask for ``array[index]`` to be brought near, to be read a little later."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array_type = signature.args[0]
        struct = context.make_array(array_type)(context, builder, args[0])
        pointer = cgutils.get_item_pointer(
            context, builder, array_type, struct, [args[1]], wraparound=False, boundscheck=False
        )
        byte_pointer, int32 = ir.IntType(8).as_pointer(), ir.IntType(32)
        function = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(ir.VoidType(), [byte_pointer, int32, int32, int32]),
            "llvm.prefetch.p0i8",
        )
        read, keep, data = int32(0), int32(3), int32(1)
        builder.call(function, [builder.bitcast(pointer, byte_pointer), read, keep, data])
        return context.get_dummy_value()

    return types.void(array, types.intp), codegen


@njit(inline="always")
def _home(word: Any, shift: Any) -> Any:
    """Where in a hash table the node of this word is looked for first."""
    first_slot = uint64(word) >> uint64(DEGREE_BITS)
    return int64(((first_slot * uint64(_HASH)) & uint64(0xFFFFFFFF)) >> shift)


@njit(nogil=True, cache=True)
def sample_block(
    words: Any,
    slots: Any,
    factors: Any,
    stride: int,
    nodes: Any,
    potential: Any,
    inverse_potential: Any,
    deposits: Any,
    high: Any,
    low: Any,
    guide: Any,
    key: Any,
    n_walks: int,
    rows: Any,
    state: Any,
    here: Any,
    place: Any,
    last: Any,
    slot: Any,
    load: Any,
    length: Any,
    log_end: Any,
    log_word: Any,
    log_load: Any,
    table: Any,
    found_word: Any,
    sums: Any,
    out_end: Any,
    out_column: Any,
    out_value: Any,
) -> tuple[int, int, int, int]:
    """Walk from `rows` until they are done or a buffer is too small for the next one.

    Returns the number of rows done and of entries written; and, where the next row did not fit,
    the log entries and the output entries that it alone may need (else zero).
    """
    weighted = len(factors) > 0
    n_out = 0
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
            word = words[row]
            if word & _DEGREE_MASK:
                if n_walkers + n_walks > len(here):
                    break
                node_key = _mix64(key + uint64(row + 1) * uint64(_NODE_STRIDE))
                for walk in range(n_walks):
                    walk_state = _mix64(node_key + uint64(walk + 1) * uint64(_WALK_STRIDE))
                    n_steps = _draw_length(walk_state, high, low, guide)
                    if n_steps > 0:
                        state[n_walkers] = walk_state
                        here[n_walkers] = word
                        place[n_walkers] = fill
                        last[n_walkers] = fill + n_steps
                        length[n_walkers] = n_steps
                        n_walkers += 1
                        fill += n_steps
            too_long = fill > len(log_word)
            too_many = n_out + fill + (done - first + 1) > len(out_column)
            if too_long or too_many or done - first >= len(log_end):
                need_log = fill - before_fill
                need_out = fill - before_fill + 1
                n_walkers = before_walkers
                fill = before_fill
                break
            log_end[done - first] = fill
            done += 1
        if done == first:
            return done, n_out, need_log, need_out

        # Walk.
        active = n_walkers
        if weighted:
            for a in range(active):
                load[a] = 1.0
        while active > 0:
            for a in range(active):
                walk_state = state[a] + uint64(_GOLDEN)
                state[a] = walk_state
                word = here[a]
                choice = _scaled(_mix64(walk_state), word & _DEGREE_MASK)
                slot[a] = (word >> DEGREE_BITS) + choice
            if weighted:
                for a in range(active):
                    here[a] = slots[2 * slot[a]]
                    load[a] *= factors[2 * slot[a] + 1]
                for a in range(active):
                    log_load[place[a]] = load[a]
            else:
                for a in range(active):
                    here[a] = slots[slot[a]]
            kept = 0
            for a in range(active):
                word = here[a]
                following = place[a] + 1
                end = last[a]
                log_word[following - 1] = word
                goes_on = following < end
                if goes_on and (word & _DEGREE_MASK) == 0:
                    goes_on = False
                    for rest in range(following, end):
                        log_word[rest] = _NO_NODE
                state[kept] = state[a]
                here[kept] = word
                place[kept] = following
                last[kept] = end
                if weighted:
                    load[kept] = load[a]
                kept += goes_on
            active = kept

        # Sum the deposits of each row by node, in the order of walks and steps.
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
            for cell in range(mask + 1):
                table[cell] = -1
            table[_home(words[row], shift)] = 0
            found_word[0] = words[row]
            sums[0] = deposits[0] * n_walks
            found = 1
            while position < end:
                stop = position + length[walker]
                walker += 1
                k = 0
                while position < stop:
                    k += 1
                    word = log_word[position]
                    if word == _NO_NODE:
                        position = stop
                        break
                    amount = deposits[k]
                    if weighted:
                        amount *= log_load[position]
                    position += 1
                    cell = _home(word, shift)
                    while True:
                        entry = table[cell]
                        if entry < 0:
                            table[cell] = found
                            found_word[found] = word
                            _prefetch(nodes, word >> DEGREE_BITS)
                            sums[found] = amount
                            found += 1
                            break
                        if found_word[entry] == word:
                            sums[entry] += amount
                            break
                        cell = (cell + 1) & mask
            for entry in range(found):
                out_column[n_out + entry] = nodes[found_word[entry] >> DEGREE_BITS]
            if weighted:
                for entry in range(found):
                    out_value[n_out + entry] = sums[entry]
            else:
                scale = potential[row]
                for entry in range(found):
                    degree = found_word[entry] & _DEGREE_MASK
                    out_value[n_out + entry] = sums[entry] * (scale * inverse_potential[degree])
            n_out += found
            out_end[b] = n_out
    return done, n_out, 0, 0
