"""Compiled primitives of walks: random words, steps, prefetching, reading from files.

Random words are those of `grfpp.walks.streams`, node words those of `grfpp.walks.transition`.
"""

from __future__ import annotations

import os
from typing import Any

from llvmlite import ir
from numba import int32, int64, types, uint64
from numba.core import cgutils
from numba.extending import intrinsic

from grfpp._compiled import announce_compilation, inlined
from grfpp.walks.plan import GUIDE_BITS
from grfpp.walks.streams import GOLDEN, NODE_STRIDE, SECOND_WORD, WALK_STRIDE
from grfpp.walks.transition import DEGREE_BITS

announce_compilation()

#: Multipliers of SplitMix64's finaliser (Stafford's variant 13).
_MIX_1 = 0xBF58476D1CE4E5B9
_MIX_2 = 0x94D049BB133111EB
#: Shift that leaves the bits by which the guide table is indexed.
_GUIDE_SHIFT = 64 - GUIDE_BITS
_DEGREE_MASK = (1 << DEGREE_BITS) - 1


@inlined
def mix64(z: Any) -> Any:
    """Compiled version of `grfpp.walks.streams.mix64`."""
    z = (z ^ (z >> uint64(30))) * uint64(_MIX_1)
    z = (z ^ (z >> uint64(27))) * uint64(_MIX_2)
    return z ^ (z >> uint64(31))


@inlined
def scaled(word: Any, degree: Any) -> Any:
    """High 64 bits of ``word · degree``, for degrees below ``2^32``."""
    d = uint64(degree)
    low = ((word & uint64(0xFFFFFFFF)) * d) >> uint64(32)
    return int64(((word >> uint64(32)) * d + low) >> uint64(32))


@inlined
def draw_length(state: Any, lengths: Any) -> Any:
    """The number of steps of the walk with this stream."""
    high, low, _, guide = lengths
    word = mix64(state)
    length = int64(guide[word >> uint64(_GUIDE_SHIFT)])
    while length < len(high):
        if word > high[length]:
            break
        is_tie = word == high[length]
        if is_tie and mix64(state ^ uint64(SECOND_WORD)) >= low[length]:
            break
        length += 1
    return length


@intrinsic
def prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """Prefetch the cache line of ``array[index]``."""

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


@inlined
def row_place(more: Any, node: Any) -> Any:
    """The place of a node's first edge in ``indptr``, which is followed by the end of its edges."""
    # Numba compiles one branch, by the type of `more`.
    if more is None:
        return uint64(node)
    return uint64(2) * uint64(node)


@inlined
def degree_of(word: Any) -> Any:
    """The number of out-edges of the node of this word."""
    return word & _DEGREE_MASK


@inlined
def node_stream(key: Any, row: Any) -> Any:
    """The word from which the streams of a row's walks are derived."""
    return mix64(key + uint64(row + 1) * uint64(NODE_STRIDE))


@inlined
def walk_stream(node_key: Any, walk: Any) -> Any:
    """The state of one walk's stream."""
    return mix64(node_key + uint64(walk + 1) * uint64(WALK_STRIDE))


@inlined
def next_draw(state: Any) -> Any:
    """The state of the stream after one draw."""
    return state + uint64(GOLDEN)


@inlined
def choose_slot(word: Any, state: Any) -> Any:
    """The out-edge that a walker at this node takes, uniformly at random."""
    return (word >> DEGREE_BITS) + scaled(mix64(state), degree_of(word))


if hasattr(os, "pread"):
    _pread = types.ExternalFunction(
        "pread", types.intp(types.int32, types.intp, types.uintp, types.int64)
    )
else:  # without pread, graphs on disk are read through a memory map: `grfpp.local.plan`

    @inlined
    def _pread(file: Any, target: Any, n_bytes: Any, position: Any) -> Any:
        return int64(-1)


@inlined
def read_ends(file: Any, address: Any, first: Any, count: Any) -> None:
    """Read the neighbours of `count` edges from the graph's file; failures are counted."""
    n_bytes = 4 * count
    done = int64(0)
    while done < n_bytes:
        n_read = _pread(int32(file[0]), address + done, uint64(n_bytes - done), 4 * first + done)
        if n_read <= 0:
            file[1] += 1
            break
        done += n_read
