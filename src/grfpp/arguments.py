"""Checks of arguments, made once, in constructors and at public functions."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from grfpp.errors import InputError


def finite(value: Any, name: str) -> float:
    """Check that an argument is a finite real number."""
    number = _real(value)
    if not math.isfinite(number):
        raise InputError(f"{name} must be a finite number, found {value!r}")
    return number


def positive(value: Any, name: str) -> float:
    """Check that an argument is a positive, finite real number."""
    number = _real(value)
    if not (math.isfinite(number) and number > 0):
        raise InputError(f"{name} must be a positive, finite number, found {value!r}")
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
        raise InputError(f"{name} must be a number in {interval}, found {value!r}")
    return number


def whole(value: Any, name: str, least: int) -> int:
    """Check that an argument is a whole number and large enough."""
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, bool | np.bool_) or number < least:
        raise InputError(f"{name} must be a whole number >= {least}, found {value!r}")
    return number


def _real(value: Any) -> float:
    """The value as a number, NaN if it is none. Text is none, even where it spells one."""
    if isinstance(value, str | bytes | bytearray | bool | np.bool_):
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan
