"""From scipy's sparse matrices to torch's, without copying where that can be."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import scipy.sparse as sp
import torch

from grfpp.errors import InputError

if TYPE_CHECKING:
    from grfpp.estimate import KernelEstimate

_BETA = "Sparse CSR tensor support is in beta state"


def csr_tensor(
    crow: torch.Tensor, columns: torch.Tensor, values: torch.Tensor, shape: tuple[int, int]
) -> torch.Tensor:
    """A sparse CSR tensor on these tensors, without torch's notice about its state."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=_BETA, category=UserWarning)
        return torch.sparse_csr_tensor(crow, columns, values, size=shape, check_invariants=False)


def from_scipy(
    matrix: sp.csr_array,
    *,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
    sort: bool = True,
) -> torch.Tensor:
    """Turn a scipy CSR array into a torch CSR tensor.

    Parameters
    ----------
    matrix
        The array. It must not be changed while the tensor is in use: they share memory wherever
        nothing has to be converted, sorted or moved.
    dtype, device
        Of the tensor; by default those of the array and the CPU.
    sort
        Put the columns of every row in order, as torch asks for (a copy, unless they are). Products
        do not need it.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from_scipy(sp.csr_array([[0.0, 2.0], [1.0, 0.0]])).to_dense()
    tensor([[0., 2.],
            [1., 0.]], dtype=torch.float64)
    """
    if sort and not matrix.has_sorted_indices:
        matrix = matrix.sorted_indices()
    crow, columns, values = (
        torch.from_numpy(array).to(device) for array in (matrix.indptr, matrix.indices, matrix.data)
    )
    rows, width = (int(size) for size in matrix.shape)
    return csr_tensor(crow, columns, values.to(dtype), (rows, width))


def factors_to_torch(
    estimate: KernelEstimate,
    *,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
    sort: bool = True,
) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """The factors of an estimate as pairs of CSR tensors; see `KernelEstimate.to_torch`."""
    if not (dtype is None or (isinstance(dtype, torch.dtype) and dtype.is_floating_point)):
        raise InputError(f"dtype must be one of real numbers, such as torch.float32, not {dtype!r}")
    done: dict[int, Any] = {}  # factors that share walks share tensors

    def converted(matrix: sp.csr_array) -> torch.Tensor:
        if id(matrix) not in done:
            done[id(matrix)] = from_scipy(matrix, dtype=dtype, device=device, sort=sort)
        tensor: torch.Tensor = done[id(matrix)]
        return tensor

    factors = estimate.factors  # kept: ids are of living objects only
    return [(converted(left), converted(right)) for left, right in factors]
