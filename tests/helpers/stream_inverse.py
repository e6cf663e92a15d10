"""The inverse of the streams' hash, with which tests choose what a walk will draw."""

from grfpp.walks.streams import MASK

_INVERSE_1 = pow(0xBF58476D1CE4E5B9, -1, 1 << 64)
_INVERSE_2 = pow(0x94D049BB133111EB, -1, 1 << 64)


def unmix64(word):
    """The number that `mix64` turns into `word`."""
    word = _unshift(word, 31)
    word = _unshift((word * _INVERSE_2) & MASK, 27)
    return _unshift((word * _INVERSE_1) & MASK, 30)


def _unshift(word, bits):
    """Undo ``z ^ (z >> bits)``."""
    result = word
    for _ in range(64 // bits):
        result = word ^ (result >> bits)
    return result
