"""Checks of arguments, made once, in constructors and at public functions."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar

import numpy as np

from grfpp.errors import InputError, shown
from grfpp.typing import IntArray

#: Largest accepted whole number: the range of the seeds that numpy draws, and beyond all counts.
_MAX_WHOLE = 2**128 - 1


class CheckedFields:
    """Base of frozen dataclasses whose fields are checked when one is made."""

    #: Checks by field, called with its value and name; they return the value to store.
    _checks: ClassVar[Mapping[str, Callable[[Any, str], Any]]] = {}

    def __post_init__(self) -> None:
        for name, check in self._checks.items():
            object.__setattr__(self, name, check(getattr(self, name), name))


def finite(value: Any, name: str) -> float:
    """Check that an argument is a finite real number."""
    return _real(value, name, "a finite number", math.isfinite)


def positive(value: Any, name: str) -> float:
    """Check that an argument is a positive, finite real number."""
    return _real(value, name, "a positive, finite number", lambda x: 0 < x < math.inf)


def between(value: Any, name: str, low: float, high: float) -> float:
    """Check that an argument is a real number within bounds."""
    return _real(value, name, f"a number from {low:g} to {high:g}", lambda x: low <= x <= high)


def probability(
    value: Any, name: str, *, above_zero: bool = False, below_one: bool = False
) -> float:
    """Check that an argument is a probability, and not 0 or 1 where these are excluded."""
    interval = f"{'(' if above_zero else '['}0, 1{')' if below_one else ']'}"

    def is_valid(x: float) -> bool:
        return 0 <= x <= 1 and not (above_zero and x == 0) and not (below_one and x == 1)

    return _real(value, name, f"a number in {interval}", is_valid)


def whole(value: Any, name: str, low: int, high: int | None = None) -> int:
    """Check that an argument is a whole number from `low` to `high`."""
    try:
        number = operator.index(value)
    except TypeError:
        number = low - 1
    if isinstance(value, bool | np.bool_) or number < low:
        raise InputError(f"must be a whole number >= {low}, found {shown(value)}", argument=name)
    if high is not None and number > high:
        raise InputError(f"must be at most {high}, found {shown(value)}", argument=name)
    if number > _MAX_WHOLE:
        raise InputError(f"must be below 2^128, found {shown(value)}", argument=name)
    return number


def truth(value: Any, name: str) -> bool:
    """Check that an argument is ``True`` or ``False``, or 1 or 0."""
    if not isinstance(value, bool | np.bool_ | int) or value not in (0, 1):
        raise InputError(f"must be True or False, found {shown(value)}", argument=name)
    return bool(value)


def one_of(value: Any, name: str, known: Sequence[Any]) -> Any:
    """Check that an argument is one of the known values."""
    if not any(value is item or (isinstance(value, str) and value == item) for item in known):
        *first, last = map(repr, known)
        raise InputError(f"must be {', '.join(first)} or {last}, not {shown(value)}", argument=name)
    return value


def instance_of(value: Any, name: str, *kinds: type) -> Any:
    """Check that an argument is an instance of one of several classes."""
    if not isinstance(value, kinds):
        words = " or ".join(kind.__name__ for kind in kinds)
        raise InputError(f"must be a {words}, found {shown(value)}", argument=name)
    return value


def listed(values: Any, name: str) -> list[Any]:
    """Check that an argument is a list or another iterable, but no text; return a list."""
    if not isinstance(values, str | bytes):
        with suppress(TypeError):
            return list(values)
    raise InputError(f"must be a list, found {shown(values)}", argument=name)


def array_of(values: Any, name: str) -> Any:
    """Check that an argument can be converted to an array: its lists have equal lengths."""
    try:
        return np.array(values)
    except ValueError:
        problem = f"must be an array, found lists of different lengths: {shown(values)}"
        raise InputError(problem, argument=name) from None


def node_numbers(nodes: Any, n_nodes: int, name: str = "nodes") -> IntArray:
    """Check that an argument is a list of node numbers, or a single one."""
    try:
        indices = np.atleast_1d(np.asarray(nodes))
    except ValueError:  # lists of different lengths
        indices = np.array([None])
    if indices.size == 0:
        return np.zeros(0, np.int64)
    if indices.ndim != 1 or indices.dtype.kind not in "iu":
        raise InputError(f"must be whole numbers in a list, found {shown(nodes)}", argument=name)
    if indices.min() < 0 or indices.max() >= n_nodes:
        problem = f"must lie between 0 and {n_nodes - 1}, found {indices.min()} to {indices.max()}"
        raise InputError(problem, argument=name)
    return indices.astype(np.int64)


def _real(value: Any, name: str, expected: str, is_valid: Callable[[float], bool]) -> float:
    """The value as a float. Text is refused, even if it spells a number."""
    number = math.nan
    # `float` also takes arrays of one number, complex numbers, times and masked values, with a
    # warning or without one.
    kind = getattr(getattr(value, "dtype", None), "kind", "f")
    is_list = isinstance(value, np.ndarray) and (value.ndim or isinstance(value, np.ma.MaskedArray))
    if kind in "iuf" and not is_list and not isinstance(value, str | bytes | bytearray | bool):
        with suppress(TypeError, ValueError, OverflowError):
            number = float(value)
    if not is_valid(number):
        raise InputError(f"must be {expected}, found {shown(value)}", argument=name)
    return number


def is_auto(value: Any) -> bool:
    """Whether a parameter of any type is ``"auto"``."""
    return isinstance(value, str) and value == "auto"
