"""Lists of nodes, checked."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from grfpp.errors import InputError


def node_numbers(nodes: Any, n_nodes: int | None = None) -> torch.Tensor:
    """Numbers of nodes as a tensor of whole numbers.

    Parameters
    ----------
    nodes
        A list, a range, an array or a tensor; numbers such as ``3.0`` are taken for whole ones.
    n_nodes
        How many nodes there are, where that is known.

    Examples
    --------
    >>> node_numbers(range(3))
    tensor([0, 1, 2])
    """
    given = nodes.detach() if isinstance(nodes, torch.Tensor) else _tensor_of(nodes)
    if given.dim() != 1:
        raise InputError(
            f"nodes must be whole numbers in a list, found an array of shape {tuple(given.shape)}"
        )
    if given.dtype == torch.bool or given.is_complex():
        raise InputError(f"nodes must be whole numbers in a list, found numbers of {given.dtype}")
    chosen = given.long()
    others = given[chosen.to(given.dtype) != given]
    if len(others):
        raise InputError(f"nodes must be whole numbers in a list, found {others[0].item()} in it")
    low, high = (int(chosen.min()), int(chosen.max())) if len(chosen) else (0, 0)
    if low < 0 or (n_nodes is not None and len(chosen) and high >= n_nodes):
        known = ">= 0" if n_nodes is None else f"between 0 and {n_nodes - 1}"
        raise InputError(f"nodes must be {known}, found {low} to {high}")
    return chosen


def _tensor_of(nodes: Any) -> torch.Tensor:
    try:
        array = np.array(nodes if hasattr(nodes, "__array__") else list(nodes), order="C")
    except (TypeError, ValueError):  # not iterable; rows of different lengths
        array = np.array(None)
    if array.dtype.kind not in "iuf":
        raise InputError(f"nodes must be whole numbers in a list, found {nodes!r}")
    return torch.from_numpy(array.astype(np.int64) if array.dtype.kind == "u" else array)
