"""Random numbers as a pure function of ``(seed, factor, node, index)``, in plain Python.

The index is the number of the walk for independent walkers, of the step for pools, and of the
sample for pools of a geometric series. A 64-bit state is the hash of those four numbers; draw ``t``
is the hash of ``state + t · GOLDEN`` (the generator SplitMix64): of a walk, draw 0 decides the
length and draw ``t`` the ``t``-th step. Nothing depends on threads, blocks or the order of work.
`grfpp.walks.steps` has compiled versions.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from grfpp.typing import WordArray

Words = TypeVar("Words", int, WordArray)

#: Keeps the low 64 bits of Python's integers.
MASK = (1 << 64) - 1
#: SplitMix64's increment: ``2^64`` over the golden ratio, rounded to an odd number.
GOLDEN = 0x9E3779B97F4A7C15
#: Odd constants that separate the streams of nodes ...
NODE_STRIDE = 0xD1B54A32D192ED03
#: ... of walks, ...
WALK_STRIDE = 0x8CB92BA72F3D8DD7
#: ... and of the two words of the length draw.
SECOND_WORD = 0xA0761D6478BD642F


def mix64(z: Words) -> Words:
    """SplitMix64's finaliser: a bijection of 64-bit words (or arrays of them) that scatters."""
    word: Any = z
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & MASK
    mixed: Words = word ^ (word >> 31)
    return mixed


def factor_key(seed: int, factor: int) -> int:
    """Hash the seed, a whole number of any size, and the factor's number into one word."""
    return int(np.random.SeedSequence(seed, spawn_key=(factor,)).generate_state(1, np.uint64)[0])


def walk_state(key: int, node: int, walk: int) -> int:
    """The state of one walk's stream."""
    node_key = mix64((key + (node + 1) * NODE_STRIDE) & MASK)
    return mix64((node_key + (walk + 1) * WALK_STRIDE) & MASK)


def length_words(state: int) -> tuple[int, int]:
    """The 128 random bits that decide a walk's length, high word first."""
    return mix64(state), mix64(state ^ SECOND_WORD)


def step_choice(state: int, step: int, degree: int) -> int:
    """Index (below `degree`) of the out-edge that a walk takes at its `step`-th step (1, 2, …)."""
    word = mix64((state + step * GOLDEN) & MASK)
    return (word * degree) >> 64


def uniform(state: int) -> float:
    """A number in (0, 1) from one stream, such as that of a step of a pool."""
    return ((mix64(state) >> 11) + 0.5) * 2.0**-53
