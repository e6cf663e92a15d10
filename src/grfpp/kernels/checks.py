"""Checks of parameters, made once, in constructors and at public methods."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from grfpp.errors import InputError


def finite(value: Any, name: str) -> float:
    """Check that a parameter is a finite real number."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} must be a number, found {value!r}") from None
    if isinstance(value, str | bool | np.bool_) or not math.isfinite(number):
        raise InputError(f"{name} must be a finite number, found {value!r}")
    return number


def positive(value: Any, name: str) -> float:
    """Check that a parameter is a positive, finite real number."""
    number = finite(value, name)
    if number <= 0:
        raise InputError(f"{name} must be positive, found {value!r}")
    return number


def whole(value: Any, name: str, least: int) -> int:
    """Check that a parameter is a whole number and large enough."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InputError(f"{name} must be a whole number, found {value!r}") from None
    if isinstance(value, bool | np.bool_) or number < least:
        raise InputError(f"{name} must be a whole number of at least {least}, found {value!r}")
    return number
