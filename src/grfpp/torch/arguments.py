"""Arguments of torch modules, checked at the door."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from grfpp import arguments
from grfpp.errors import InputError, shown
from grfpp.nodes import NodeNames

#: The engine numbers no more nodes.
_MOST_NODES = 1 << 31


def node_numbers(nodes: Any, names: NodeNames | int = _MOST_NODES) -> torch.Tensor:
    """Numbers of nodes, given so or by name, as a tensor; ``3.0`` and the like count as whole ones.

    Without names, `names` is the number of nodes.

    Examples
    --------
    >>> node_numbers(torch.tensor([0.0, 2.0]), 3)
    tensor([0, 2])
    """
    if isinstance(nodes, torch.Tensor):
        array = (nodes.double() if nodes.is_floating_point() else nodes).detach().cpu().numpy()
    else:
        try:
            array = np.asarray(nodes)
        except ValueError:  # rows of different lengths
            array = np.array(None)
    if array.dtype.kind == "f" and (np.abs(array) < 2.0**53).all() and (array % 1 == 0).all():
        array = array.astype(np.int64)
    if isinstance(names, int):
        return torch.from_numpy(arguments.node_numbers(array, names))
    # The list itself where it holds names: numpy would make text of the numbers beside them.
    is_list = isinstance(nodes, list | tuple) and array.dtype.kind not in "iu"
    return torch.from_numpy(names.numbers(nodes if is_list else array))


def floating(dtype: Any = None) -> torch.dtype:
    """Check that an argument is a floating-point type of torch; its default where there is none.

    Examples
    --------
    >>> floating(torch.float64), floating() == torch.get_default_dtype()
    (torch.float64, True)
    """
    kind = torch.get_default_dtype() if dtype is None else dtype
    if not isinstance(kind, torch.dtype) or not kind.is_floating_point:
        raise InputError(f"dtype must be a floating-point type of torch, found {shown(dtype)}")
    return kind


def device_of(device: Any) -> torch.device | None:
    """Check that an argument is a device that this machine has, by its name or number.

    Examples
    --------
    >>> device_of("cpu"), device_of(None)
    (device(type='cpu'), None)
    """
    if device is None:
        return None
    try:
        return torch.empty(0, device=device).device
    except Exception as error:  # torch has many ways to say so
        why = str(error).partition("\n")[0]
        raise InputError(
            f"must be a device such as 'cpu', found {shown(device)} ({why})", argument="device"
        ) from None
