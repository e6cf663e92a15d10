"""A polynomial of the weight matrix between some nodes, as a linear operator."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from grfpp.imports.optional import require
from grfpp.torch.gp.node_block import NodeBlock
from grfpp.typing import FloatArray

require("gpytorch")
from linear_operator import LinearOperator  # noqa: E402 - gpytorch's own package


class PolynomialLinearOperator(LinearOperator):  # type: ignore[misc]  # untyped base
    """``Σ c_k T_k(W / ρ)`` between lists of nodes: exact products, never formed.

    Parameters
    ----------
    coefficients
        The numbers ``c_k`` in float64, which gradients reach.
    block
        Rows and columns.

    Examples
    --------
    >>> from grfpp import Graph
    >>> from grfpp.linalg.functions.chebyshev_terms import ChebyshevTerms
    >>> terms = ChebyshevTerms(Graph([[0, 1], [1, 0]]).normalized("sym"))
    >>> block = NodeBlock(terms, np.array([0]), np.array([0, 1]))
    >>> K = PolynomialLinearOperator(torch.tensor([2.0, 1.0], dtype=torch.float64), block=block)
    >>> K.to_dense().round(decimals=4)
    tensor([[2., 1.]], dtype=torch.float64)
    """

    def __init__(self, coefficients: torch.Tensor, *, block: NodeBlock) -> None:
        super().__init__(coefficients, block=block)
        self._coefficients, self._block = coefficients, block

    def _size(self) -> torch.Size:
        return torch.Size((len(self._block.rows), len(self._block.columns)))

    def _transpose_nonbatch(self) -> PolynomialLinearOperator:
        return PolynomialLinearOperator(self._coefficients, block=self._block.T)

    def _matmul(self, rhs: torch.Tensor) -> torch.Tensor:
        block = rhs[:, None] if rhs.dim() == 1 else rhs
        # Batches of blocks side by side.
        side_by_side = block.detach().movedim(-2, 0)
        flat = side_by_side.reshape(len(side_by_side), -1).double().cpu().numpy()
        product = self._block.product(self._numbers(), flat)
        found = torch.from_numpy(product).reshape(len(product), *side_by_side.shape[1:])
        found = found.movedim(0, -2).to(rhs)
        return found[:, 0] if rhs.dim() == 1 else found

    def _bilinear_derivative(self, left_vecs: torch.Tensor, right_vecs: torch.Tensor) -> Any:
        sides = [each[:, None] if each.dim() == 1 else each for each in (left_vecs, right_vecs)]
        left, right = (each.detach().double().cpu().numpy() for each in sides)
        numbers = self._block.pairings(left, right, len(self._coefficients))
        return (torch.from_numpy(numbers).to(self._coefficients),)

    def _numbers(self) -> FloatArray:
        numbers: FloatArray = self._coefficients.detach().double().cpu().numpy()
        return numbers

    def _diagonal(self) -> torch.Tensor:
        # Entries of a square block, of which rows and columns need not be the same nodes.
        rows, columns = self._block.rows, self._block.columns
        if np.array_equal(rows, columns):
            every = self._block.terms.diagonals(np.eye(len(self._coefficients)), rows)
            return self._coefficients @ torch.from_numpy(every).to(self._coefficients)
        return self.to_dense().diagonal()

    def to_dense(self) -> torch.Tensor:
        """The matrix itself; all columns that either side asks for."""
        if torch.is_grad_enabled() and self._coefficients.requires_grad:
            dense: torch.Tensor = super().to_dense()
            return dense
        found = self._block.terms.entries(
            self._numbers()[None], self._block.rows, self._block.columns
        )
        return torch.from_numpy(np.ascontiguousarray(found[0])).to(self._coefficients)

    def _getitem(self, row_index: Any, col_index: Any, *batch_indices: Any) -> Any:
        chosen = [
            index if isinstance(index, slice) else index.cpu().numpy()
            for index in (row_index, col_index)
        ]
        return PolynomialLinearOperator(self._coefficients, block=self._block.select(*chosen))

    def _get_indices(
        self, row_index: torch.Tensor, col_index: torch.Tensor, *batch_indices: torch.Tensor
    ) -> torch.Tensor:
        rows, columns = torch.broadcast_tensors(row_index, col_index)
        chosen, place = torch.unique(columns, return_inverse=True)
        return self._getitem(slice(None), chosen).to_dense()[rows, place]

    def _expand_batch(self, batch_shape: Any) -> Any:
        if len(batch_shape) == 0:
            return self
        return super()._expand_batch(batch_shape)
