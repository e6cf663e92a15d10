"""Checks of arguments, made once, in constructors and at public functions."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from grfpp.errors import InputError
from grfpp.typing import IntArray


def finite(value: Any, name: str) -> float:
    """Check that an argument is a finite real number."""
    number = _real(value)
    if not math.isfinite(number):
        raise InputError(f"must be a finite number, found {value!r}", argument=name)
    return number


def positive(value: Any, name: str) -> float:
    """Check that an argument is a positive, finite real number."""
    number = _real(value)
    if not (math.isfinite(number) and number > 0):
        raise InputError(f"must be a positive, finite number, found {value!r}", argument=name)
    return number


def probability(
    value: Any, name: str, *, above_zero: bool = False, below_one: bool = False
) -> float:
    """Check that an argument is a probability, without 0 or 1 where those make no sense."""
    number = _real(value)
    low_fits = number > 0 if above_zero else number >= 0
    high_fits = number < 1 if below_one else number <= 1
    if not (low_fits and high_fits):
        interval = f"{'(' if above_zero else '['}0, 1{')' if below_one else ']'}"
        raise InputError(f"must be a number in {interval}, found {value!r}", argument=name)
    return number


def whole(value: Any, name: str, least: int) -> int:
    """Check that an argument is a whole number and large enough."""
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, bool | np.bool_) or number < least:
        raise InputError(f"must be a whole number >= {least}, found {value!r}", argument=name)
    return number


def one_of(value: Any, name: str, known: Sequence[Any]) -> Any:
    """Check that an argument is one of the known values."""
    if not any(value is each or (isinstance(value, str) and value == each) for each in known):
        *first, last = map(repr, known)
        raise InputError(f"must be {', '.join(first)} or {last}, not {value!r}", argument=name)
    return value


def node_numbers(nodes: Any, n_nodes: int, name: str = "nodes") -> IntArray:
    """Check that an argument is a list of node numbers, or a single one."""
    chosen = np.atleast_1d(np.asarray(nodes))
    if chosen.size == 0:
        return np.zeros(0, np.int64)
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu":
        raise InputError(f"must be whole numbers in a list, found {nodes!r}", argument=name)
    if chosen.min() < 0 or chosen.max() >= n_nodes:
        raise InputError(
            f"must lie between 0 and {n_nodes - 1}, found {chosen.min()} to {chosen.max()}",
            argument=name,
        )
    return chosen.astype(np.int64)


def _real(value: Any) -> float:
    """The value as a number, NaN if it is none. Text is none, even where it spells one."""
    if isinstance(value, str | bytes | bytearray | bool | np.bool_):
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan
