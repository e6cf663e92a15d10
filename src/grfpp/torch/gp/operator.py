"""Kernel estimates as operators of the package ``linear_operator``, on which gpytorch is built."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch

from grfpp.errors import InputError, shown
from grfpp.estimate import KernelEstimate
from grfpp.imports.optional import require
from grfpp.linalg.tensors import from_scipy
from grfpp.torch.kernels.chain import FactorChain, Link, product_of
from grfpp.torch.kernels.entries import chain_entries
from grfpp.torch.kernels.pattern import SparsePattern

require("linear_operator")
# Below the check, so that a missing package is named.
from linear_operator.operators import LinearOperator  # noqa: E402 - below the check above


def _of_symmetric(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of ``linear_operator`` that would answer wrongly where there is no symmetry."""

    @wraps(method)
    def checked(self: KernelLinearOperator, *args: Any, **options: Any) -> Any:
        if not self.is_symmetric:
            raise InputError(
                f"{method.__name__.strip('_')} needs a symmetric operator, and this is an estimate "
                "from independent walks, or other rows than columns; take the operator of a "
                "GRFKernel, or the dense matrix, to_dense()"
            )
        return method(self, *args, **options)

    return checked


class KernelLinearOperator(LinearOperator):  # type: ignore[misc]  # untyped base
    """A chain of sparse matrices as a linear operator: nothing is ever formed that is ``N × N``.

    Usually made by `of`, or by `grfpp.torch.GRFKernel`. Most of ``linear_operator`` (solves,
    determinants, eigenvalues, Gaussian processes) is for symmetric, positive semidefinite matrices.
    Estimates from independent walks are neither; `is_symmetric` tells, and these methods raise.

    Parameters
    ----------
    values
        The values of the sparse matrices, which gradients reach.
    chain
        Their positions and their order.
    batch
        The same operator so many times, where others want one for each of a batch.

    Examples
    --------
    >>> import grfpp, networkx as nx, numpy as np
    >>> W = grfpp.Graph(nx.karate_club_graph()).normalized("sym")
    >>> estimate = grfpp.sample(W, grfpp.Diffusion(1.0), seed=0)
    >>> K = KernelLinearOperator.of(estimate)
    >>> K.shape, K.is_symmetric
    (torch.Size([34, 34]), False)
    >>> product = K @ torch.ones(34, 1, dtype=torch.float64)
    >>> bool(np.allclose(product[:, 0].numpy(), estimate @ np.ones(34)))
    True
    """

    def __init__(
        self, *values: torch.Tensor, chain: FactorChain, batch: tuple[int, ...] = ()
    ) -> None:
        super().__init__(*values, chain=chain, batch=tuple(batch))
        self._values = values
        self._chain = chain
        self._batch = torch.Size(batch)
        self._made: list[torch.Tensor] | None = None

    @classmethod
    def of(
        cls,
        estimate: KernelEstimate,
        *,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> KernelLinearOperator:
        """The operator of an estimate that `grfpp.sample` made.

        Parameters
        ----------
        estimate
            With stored factors.
        dtype, device
            Of its values; as they are, on the CPU, if not given.
        """
        if not isinstance(estimate, KernelEstimate):
            raise InputError(f"estimate must be what grfpp.sample returns, not {shown(estimate)}")
        *first, last = estimate.matrices()
        # The last is kept by columns, since chains are asked for some of them.
        tensors = [
            from_scipy(matrix, dtype=dtype, device=device, sort=False)
            for matrix in (*first, last.T.tocsr())
        ]
        *links, end = (Link(SparsePattern.of(each), number) for number, each in enumerate(tensors))
        return cls(*(each.values() for each in tensors), chain=FactorChain((*links, end.turn())))

    @property
    def is_symmetric(self) -> bool:
        """Whether this is ``X Xᵀ``: symmetric and positive semidefinite."""
        return self._chain.is_symmetric

    def _size(self) -> torch.Size:
        return torch.Size((*self._batch, *self._chain.shape))

    def _with(self, chain: FactorChain, values: Any, batch: Any) -> KernelLinearOperator:
        return type(self)(*values, chain=chain, batch=tuple(batch))

    def _transpose_nonbatch(self) -> KernelLinearOperator:
        if self.is_symmetric:
            return self
        return self._with(self._chain.T, self._values, self._batch)

    def _expand_batch(self, batch_shape: Any) -> KernelLinearOperator:
        return self._with(self._chain, self._values, batch_shape)

    def _unsqueeze_batch(self, dim: int) -> KernelLinearOperator:
        return self._with(self._chain, self._values, (*self._batch[:dim], 1, *self._batch[dim:]))

    def _permute_batch(self, *dims: int) -> KernelLinearOperator:
        return self._with(self._chain, self._values, [self._batch[dim] for dim in dims])

    def _matmul(self, rhs: torch.Tensor) -> torch.Tensor:
        if rhs.dim() == 1:
            return self._product(rhs[:, None])[:, 0].expand(*self._batch, -1)
        # Batches of blocks side by side: the matrices have no batches of their own.
        side_by_side = rhs.movedim(-2, 0)
        others = side_by_side.shape[1:]
        product = self._product(side_by_side.reshape(len(side_by_side), others.numel()))
        product = product.reshape(len(product), *others).movedim(0, -2)
        batch = torch.broadcast_shapes(self._batch, rhs.shape[:-2])
        return product.expand(*batch, *product.shape[-2:])

    def _product(self, block: torch.Tensor) -> torch.Tensor:
        if torch.is_grad_enabled():
            return self._chain.matmat(self._values, block)
        return product_of(self._matrices(), block)

    def _matrices(self) -> list[torch.Tensor]:
        """The links, without gradients: conjugate gradients need them again and again."""
        if self._made is None:
            with torch.no_grad():
                self._made = self._chain.matrices(self._values)
        return self._made

    def _mul_constant(self, other: Any) -> Any:
        if not self.is_symmetric or not torch.is_tensor(other) or other.dim() or not other > 0:
            return super()._mul_constant(other)
        # Into the first matrix, and so into the last: all stays one chain.
        first = self._chain.links[0].value
        values = [v * other.sqrt() if i == first else v for i, v in enumerate(self._values)]
        return self._with(self._chain, values, self._batch)

    def _bilinear_derivative(self, left_vecs: torch.Tensor, right_vecs: torch.Tensor) -> Any:
        if not self.is_symmetric or left_vecs.dim() != 2 or right_vecs.dim() != 2:
            return super()._bilinear_derivative(left_vecs, right_vecs)
        # uᵀ X Xᵀ v is the product of Xᵀ u with Xᵀ v: half the chain, for both side by side.
        links, matrices = self._chain.halves()[0].links, self._matrices()
        gradients: list[torch.Tensor | None] = [None] * len(self._values)
        with torch.no_grad():
            blocks = [torch.cat([left_vecs, right_vecs], dim=1)]
            for turned in matrices[: len(links) - 1 : -1]:
                blocks.append(product_of([turned], blocks[-1]))
            # Back again, from the derivative by these products: each other.
            back = torch.cat(blocks.pop().chunk(2, dim=1)[::-1], dim=1)
            for link, matrix in zip(links[::-1], matrices[len(links) - 1 :: -1], strict=True):
                block = blocks.pop()
                if self._values[link.value].requires_grad:
                    gradient = link.sample(block, back)
                    known = gradients[link.value]
                    gradients[link.value] = gradient if known is None else known + gradient
                if blocks:
                    back = product_of([matrix], back)
        return tuple(gradients)

    def to_dense(self) -> torch.Tensor:
        """The matrix itself; from ``X`` where it is ``X Xᵀ``, which is half the products."""
        if not self.is_symmetric:
            return super().to_dense()
        X = self._chain.halves()[0].to_dense(self._values)
        return (X @ X.T).expand(*self._batch, -1, -1)

    def _diagonal(self) -> torch.Tensor:
        every = torch.arange(min(self._chain.shape), device=self.device)
        return chain_entries(self._chain, self._values, every, every).expand(*self._batch, -1)

    def _get_indices(
        self, row_index: torch.Tensor, col_index: torch.Tensor, *batch_indices: torch.Tensor
    ) -> torch.Tensor:
        rows, columns, *_ = torch.broadcast_tensors(row_index, col_index, *batch_indices)
        numbers = chain_entries(self._chain, self._values, rows.reshape(-1), columns.reshape(-1))
        return numbers.reshape(rows.shape)

    def _getitem(self, row_index: Any, col_index: Any, *batch_indices: Any) -> Any:
        rows, columns = (
            _positions(index, size, self.device)
            for index, size in zip((row_index, col_index), self._chain.shape, strict=True)
        )
        batch = torch.empty(self._batch, device="meta")[batch_indices].shape
        return self._with(*self._chain.select(self._values, rows, columns), batch)

    # What solves, determinants, samples and eigenvalues come down to.
    _cholesky = _of_symmetric(LinearOperator._cholesky)
    _solve = _of_symmetric(LinearOperator._solve)
    _symeig = _of_symmetric(LinearOperator._symeig)
    _root_decomposition = _of_symmetric(LinearOperator._root_decomposition)
    _root_inv_decomposition = _of_symmetric(LinearOperator._root_inv_decomposition)
    diagonalization = _of_symmetric(LinearOperator.diagonalization)
    sqrt_inv_matmul = _of_symmetric(LinearOperator.sqrt_inv_matmul)
    pivoted_cholesky = _of_symmetric(LinearOperator.pivoted_cholesky)


def _positions(index: torch.Tensor | slice, size: int, device: torch.device) -> torch.Tensor | None:
    """Rows that an index of linear_operator means; ``None`` for all."""
    if isinstance(index, slice):
        return None if index == slice(None) else torch.arange(size, device=device)[index]
    if index.dtype == torch.bool:
        return torch.nonzero(index)[:, 0]
    return index
