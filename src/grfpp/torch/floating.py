"""Types of floating-point numbers, checked at the door."""

from __future__ import annotations

from typing import Any

import torch

from grfpp.errors import InputError


def floating(dtype: Any) -> torch.dtype:
    """Check that an argument is a floating-point type of torch.

    Examples
    --------
    >>> floating(torch.float32)
    torch.float32
    """
    if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point:
        raise InputError(f"dtype must be a floating-point type of torch, found {dtype!r}")
    return dtype


def floating_or_default(dtype: torch.dtype | None) -> torch.dtype:
    """The same, with torch's default where there is none.

    Examples
    --------
    >>> floating_or_default(None) == torch.get_default_dtype()
    True
    """
    return floating(torch.get_default_dtype() if dtype is None else dtype)
