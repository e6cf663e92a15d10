"""Formats that end badly, to see that the fuzzer notices."""

import os
import time

from fuzz import formats


def _fails(path):
    raise KeyError("not an InputError")


def _format(read):
    return formats.Format(".txt", lambda: [b"0 1\n"], (), None, read)


FORMATS = {
    "crash": _format(lambda path: os.abort()),
    "hang": _format(lambda path: time.sleep(1000)),
    "hunger": _format(lambda path: bytes(2**40)),
    "error": _format(_fails),
}


def mutant(name, number):
    """As `formats.mutant`, of these formats too."""
    return b"0 1\n" if name in FORMATS else formats.mutant(name, number)
