"""Inputs of gpytorch kernels that are nodes."""

from __future__ import annotations

import torch

from grfpp.errors import InputError


def node_column(x: torch.Tensor) -> torch.Tensor:
    """The numbers of nodes in inputs of gpytorch, of shape ``(n, 1)``.

    Examples
    --------
    >>> node_column(torch.tensor([[3], [5]]))
    tensor([3, 5])
    """
    if x.dim() != 2 or x.shape[1] != 1:
        raise InputError(
            f"a graph kernel takes one number of a node a row, found inputs of shape "
            f"{tuple(x.shape)}"
        )
    return x[:, 0]
