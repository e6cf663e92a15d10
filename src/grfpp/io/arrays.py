"""Array-likes (numpy, torch, lists) -> numpy arrays of real numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from grfpp.errors import InputError
from grfpp.typing import FloatArray


def packages(source: Any) -> set[str]:
    """Name the packages that the type of `source` and its bases come from.

    Telling types by name keeps heavy packages from being imported just to ask.
    """
    return {base.__module__.partition(".")[0] for base in type(source).__mro__}


def as_array(source: Any, what: str) -> npt.NDArray[Any]:
    """Bring an array-like to numpy; `what` names it in errors."""
    if "torch" in packages(source):
        return tensor_to_numpy(source)
    if isinstance(source, np.ma.MaskedArray):
        return np.asarray(source.filled(0))  # what is masked is not an edge, as in scipy
    try:
        return np.asarray(source)
    except (ValueError, TypeError) as error:
        raise InputError(f"{what} is not an array of numbers ({error})") from None


def tensor_to_numpy(tensor: Any) -> npt.NDArray[Any]:
    """Copy a dense torch tensor to numpy, from any device, with any floating type."""
    try:
        tensor = tensor.detach().cpu()
        if tensor.is_floating_point():
            tensor = tensor.double()  # bfloat16 and float8 are unknown to numpy
        array: npt.NDArray[Any] = tensor.resolve_conj().resolve_neg().numpy()
    except (TypeError, RuntimeError) as error:  # sparse ones, those on the meta device
        raise InputError(f"the torch tensor cannot be read: {error}") from None
    return array


def require_real(dtype: np.dtype[Any], what: str = "weights") -> None:
    """Raise unless `dtype` holds real numbers."""
    if dtype.kind not in "buif":
        raise InputError(f"{what} must be real numbers, found dtype {dtype}")


def real_numbers(values: Sequence[Any], name_of: Callable[[int], str]) -> FloatArray:
    """Turn Python objects into floats; `name_of(i)` says in errors whose value the i-th is."""
    try:
        array = np.asarray(values)
    except ValueError:  # lists of several lengths among them
        array = np.empty(0, dtype=object)
    if array.ndim == 1 and array.dtype.kind in "buif":
        return array.astype(np.float64)
    for position, value in enumerate(values):
        if not isinstance(value, Real | np.bool_):  # numpy's integers and floats are Real
            raise InputError(
                f"weights must be real numbers, found {value!r} for {name_of(position)}"
            )
    try:
        return np.array([float(value) for value in values])
    except OverflowError:
        raise InputError("a weight is too large for a 64-bit float") from None
