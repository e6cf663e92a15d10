"""From scipy's sparse matrices to torch's, sharing memory where possible."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

import scipy.sparse as sp

from grfpp._imports import require
from grfpp.errors import InputError

require("torch")
import torch  # noqa: E402 - below the check, so that a missing package is named

_BETA = "Sparse CSR tensor support is in beta state"


def csr_tensor(
    crow: torch.Tensor, columns: torch.Tensor, values: torch.Tensor, shape: tuple[int, int]
) -> torch.Tensor:
    """A sparse CSR tensor of these arrays, without torch's warning about its beta state."""
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

    They share memory unless numbers are converted, sorted or moved. With `sort`, columns are
    sorted, as torch requires; its products do not need it.

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


def pairs_from_scipy(
    pairs: Iterable[tuple[sp.csr_array, sp.csr_array]],
    *,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
    sort: bool = True,
) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Pairs of arrays as pairs of tensors; arrays that are the same become the same tensor."""
    if not (dtype is None or (isinstance(dtype, torch.dtype) and dtype.is_floating_point)):
        problem = f"must be a real floating-point type, found {dtype!r}"
        raise InputError(problem, argument="dtype", advice="use dtype=torch.float32")
    arrays = list(pairs)  # which keeps them alive, so that ids are unique
    tensors = {
        id(matrix): from_scipy(matrix, dtype=dtype, device=device, sort=sort)
        for matrix in {id(matrix): matrix for pair in arrays for matrix in pair}.values()
    }
    return [(tensors[id(left)], tensors[id(right)]) for left, right in arrays]
