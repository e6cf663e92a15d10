"""Types of floating-point numbers, checked at the door."""

from __future__ import annotations

from typing import Any

import torch

from grfpp.errors import InputError


def floating(dtype: Any = None) -> torch.dtype:
    """Check that an argument is a floating-point type of torch; its default where there is none.

    Examples
    --------
    >>> floating(torch.float64), floating() == torch.get_default_dtype()
    (torch.float64, True)
    """
    kind = torch.get_default_dtype() if dtype is None else dtype
    if not isinstance(kind, torch.dtype) or not kind.is_floating_point:
        raise InputError(f"dtype must be a floating-point type of torch, found {dtype!r}")
    return kind
