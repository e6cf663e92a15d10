"""Checks of arguments that are node lists, number types and devices of torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from grfpp import _checks
from grfpp.errors import InputError, shown
from grfpp.nodes import NodeNames

#: The engine indexes nodes by int32.
_MAX_NODES = 1 << 31


def node_indices(nodes: Any, names: NodeNames | int = _MAX_NODES) -> Tensor:
    """Indices of nodes, given as integers, integral floats or names, as a tensor.

    Without names, `names` is the number of nodes.

    Examples
    --------
    >>> node_indices(torch.tensor([0.0, 2.0]), 3)
    tensor([0, 2])
    """
    if isinstance(nodes, Tensor):
        array = (nodes.double() if nodes.is_floating_point() else nodes).detach().cpu().numpy()
    else:
        try:
            array = np.asarray(nodes)
        except ValueError:  # rows of different lengths
            array = np.array(None)
    if array.dtype.kind == "f" and (np.abs(array) < 2.0**53).all() and (array % 1 == 0).all():
        array = array.astype(np.int64)
    if isinstance(names, int):
        return torch.from_numpy(_checks.node_numbers(array, names))
    # A list with names is passed on unchanged: numpy would turn its numbers into text.
    is_list = isinstance(nodes, list | tuple) and array.dtype.kind not in "iu"
    return torch.from_numpy(names.numbers(nodes if is_list else array))


def floating(dtype: Any = None) -> torch.dtype:
    """Check that an argument is a floating-point type of torch; torch's default for ``None``.

    Examples
    --------
    >>> floating(torch.float64), floating() == torch.get_default_dtype()
    (torch.float64, True)
    """
    chosen = torch.get_default_dtype() if dtype is None else dtype
    if not isinstance(chosen, torch.dtype) or not chosen.is_floating_point:
        problem = f"must be a floating-point type of torch, found {shown(dtype)}"
        raise InputError(problem, argument="dtype")
    return chosen


def device_of(device: Any) -> torch.device | None:
    """Check that an argument is a device of this machine, by name or index.

    Examples
    --------
    >>> device_of("cpu"), device_of(None)
    (device(type='cpu'), None)
    """
    if device is None:
        return None
    try:
        return torch.empty(0, device=device).device
    except Exception as error:  # torch raises errors of many classes here
        reason = str(error).partition("\n")[0]
        problem = f"must be a device such as 'cpu', found {shown(device)} ({reason})"
        raise InputError(problem, argument="device") from None
