"""Kernels as operators of the package ``linear_operator``, on which gpytorch is built.

`KernelLinearOperator` is a chain of sparse matrices (features of walks), `PolynomialLinearOperator`
a polynomial of the weight matrix. Neither is formed: both only multiply.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import numpy as np
import torch
from torch import Tensor

from grfpp._checks import instance_of
from grfpp._imports import require
from grfpp.errors import InputError
from grfpp.estimate import KernelEstimate
from grfpp.linalg.chebyshev import ChebyshevTerms
from grfpp.linalg.tensors import from_scipy
from grfpp.torch.kernels.chain import FactorChain, Link, SparsePattern, chain_entries
from grfpp.typing import FloatArray, IntArray

require("linear_operator")
# Below the check, so that a missing package is named.
from linear_operator.operators import LinearOperator  # noqa: E402 - below the check above


def _require_symmetry(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of ``linear_operator`` that refuses operators on which it would be wrong."""

    @wraps(method)
    def checked(self: KernelLinearOperator, *args: Any, **options: Any) -> Any:
        if not self.is_symmetric:
            problem = f"{method.__name__.strip('_')} needs a symmetric operator, found another one"
            raise InputError(problem, advice="use the operator of a GRFKernel, or to_dense()")
        return method(self, *args, **options)

    return checked


class KernelLinearOperator(LinearOperator):  # type: ignore[misc]  # untyped base
    """A chain of sparse matrices as a linear operator, without forming the ``N × N`` product.

    Usually made by `of`, or by `grfpp.torch.GRFKernel`. Most of ``linear_operator`` (solves,
    determinants, eigenvalues, Gaussian processes) is for symmetric, positive semidefinite matrices.
    Estimates from independent walks are neither: `is_symmetric` is False, and these methods raise.

    Parameters
    ----------
    values
        The values of the sparse matrices, which may have gradients.
    chain
        Their positions and their order.
    batch
        The shape of a batch of copies of the operator.

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

    References
    ----------
    Gardner et al., "GPyTorch: blackbox matrix-matrix Gaussian process inference with GPU
    acceleration", 2018. Choromanski et al., "Computationally-efficient graph modeling with refined
    graph random features", 2026, eq. (3) and Option III.
    """

    def __init__(self, *values: Tensor, chain: FactorChain, batch: tuple[int, ...] = ()) -> None:
        super().__init__(*values, chain=chain, batch=tuple(batch))
        self._values, self._chain, self._batch = values, chain, torch.Size(batch)

    @classmethod
    def of(
        cls,
        estimate: KernelEstimate,
        *,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> KernelLinearOperator:
        """The operator of an estimate of `grfpp.sample`.

        Parameters
        ----------
        estimate
            With stored factors.
        dtype, device
            Of its values; as they are, on the CPU, if not given.
        """
        *first, last = instance_of(estimate, "estimate", KernelEstimate).matrices()
        # The last is stored by columns, so that some of them can be selected.
        matrices = (*first, last.T.tocsr())
        tensors = [from_scipy(m, dtype=dtype, device=device, sort=False) for m in matrices]
        *links, end = (Link(SparsePattern.of(t), index) for index, t in enumerate(tensors))
        return cls(*(t.values() for t in tensors), chain=FactorChain((*links, end.T)))

    @property
    def is_symmetric(self) -> bool:
        """Whether this is ``X Xᵀ``: symmetric and positive semidefinite."""
        return self._chain.is_symmetric

    def _size(self) -> torch.Size:
        return torch.Size((*self._batch, *self._chain.shape))

    def _transpose_nonbatch(self) -> KernelLinearOperator:
        if self.is_symmetric:
            return self
        return type(self)(*self._values, chain=self._chain.T, batch=self._batch)

    def _expand_batch(self, batch_shape: Any) -> KernelLinearOperator:
        return type(self)(*self._values, chain=self._chain, batch=batch_shape)

    def _unsqueeze_batch(self, dim: int) -> KernelLinearOperator:
        return self._expand_batch((*self._batch[:dim], 1, *self._batch[dim:]))

    def _permute_batch(self, *dims: int) -> KernelLinearOperator:
        return self._expand_batch([self._batch[dim] for dim in dims])

    def _matmul(self, rhs: Tensor) -> Tensor:
        product = _side_by_side(partial(self._chain.matmat, self._values), rhs)
        batch = torch.broadcast_shapes(self._batch, rhs.shape[:-2])
        return product.expand(*batch, *product.shape[-2:])

    def to_dense(self) -> Tensor:
        """The matrix itself; from ``X`` where it is ``X Xᵀ``, which is half the products."""
        if not self.is_symmetric:
            return super().to_dense()
        X = self._chain.halves()[0].to_dense(self._values)
        return (X @ X.T).expand(*self._batch, -1, -1)

    def _get_indices(self, row_index: Tensor, col_index: Tensor, *batch_indices: Tensor) -> Tensor:
        rows, columns, *_ = torch.broadcast_tensors(row_index, col_index, *batch_indices)
        entries = chain_entries(self._chain, self._values, rows.reshape(-1), columns.reshape(-1))
        return entries.reshape(rows.shape)

    def _getitem(self, row_index: Any, col_index: Any, *batch_indices: Any) -> Any:
        indices = zip((row_index, col_index), self._chain.shape, strict=True)
        rows, columns = (_selection(index, size, self.device) for index, size in indices)
        batch = torch.empty(self._batch, device="meta")[batch_indices].shape
        chain, values = self._chain.select(self._values, rows, columns)
        return type(self)(*values, chain=chain, batch=batch)

    # Silently wrong without symmetry.
    _cholesky = _require_symmetry(LinearOperator._cholesky)
    _solve = _require_symmetry(LinearOperator._solve)
    _symeig = _require_symmetry(LinearOperator._symeig)
    _root_decomposition = _require_symmetry(LinearOperator._root_decomposition)
    _root_inv_decomposition = _require_symmetry(LinearOperator._root_inv_decomposition)
    diagonalization = _require_symmetry(LinearOperator.diagonalization)
    sqrt_inv_matmul = _require_symmetry(LinearOperator.sqrt_inv_matmul)
    pivoted_cholesky = _require_symmetry(LinearOperator.pivoted_cholesky)


def _selection(index: Tensor | slice, size: int, device: torch.device) -> Tensor | None:
    """Rows of an index of linear_operator; ``None`` for all."""
    if isinstance(index, slice):
        return None if index == slice(None) else torch.arange(size, device=device)[index]
    return torch.nonzero(index)[:, 0] if index.dtype == torch.bool else index


def _side_by_side(product: Callable[[Tensor], Tensor], rhs: Tensor) -> Tensor:
    """The product with a vector or a batch of blocks, as one product with all of their columns."""
    if rhs.dim() == 1:
        return product(rhs[:, None])[:, 0]
    columns = rhs.movedim(-2, 0)
    result = product(columns.reshape(len(columns), columns.shape[1:].numel()))
    return result.reshape(len(result), *columns.shape[1:]).movedim(0, -2)


class PolynomialLinearOperator(LinearOperator):  # type: ignore[misc]  # untyped base
    """``Σ c_k T_k(W / ρ)`` between two lists of nodes, with exact products.

    Parameters
    ----------
    coefficients
        The numbers ``c_k`` in float64, which may have gradients.
    terms
        The Chebyshev polynomials of the weight matrix.
    rows, columns
        The nodes, which may repeat.

    Examples
    --------
    >>> from grfpp import Graph
    >>> terms = ChebyshevTerms(Graph([[0, 1], [1, 0]]).normalized("sym"))
    >>> nodes = {"rows": np.array([0]), "columns": np.array([0, 1])}
    >>> coefficients = torch.tensor([2.0, 1.0], dtype=torch.float64)
    >>> PolynomialLinearOperator(coefficients, terms=terms, **nodes).to_dense().round(decimals=4)
    tensor([[2., 1.]], dtype=torch.float64)
    """

    def __init__(
        self, coefficients: Tensor, *, terms: ChebyshevTerms, rows: Any, columns: Any
    ) -> None:
        super().__init__(coefficients, terms=terms, rows=rows, columns=columns)
        self._coefficients, self._terms = coefficients, terms
        self._rows, self._columns = rows, columns

    def _size(self) -> torch.Size:
        return torch.Size((len(self._rows), len(self._columns)))

    @property
    def n_multiplications(self) -> int:
        """Multiplications of a product with one vector."""
        return len(self._coefficients) * int(self._terms.graph.adjacency.nnz)

    def _with(self, rows: IntArray, columns: IntArray) -> PolynomialLinearOperator:
        return type(self)(self._coefficients, terms=self._terms, rows=rows, columns=columns)

    def _transpose_nonbatch(self) -> PolynomialLinearOperator:
        return self._with(self._columns, self._rows)

    def _matmul(self, rhs: Tensor) -> Tensor:
        def product(block: Tensor) -> Tensor:
            vectors = self._spread(self._columns, block)
            result = self._terms.product(_numbers(self._coefficients), vectors)[self._rows]
            return torch.from_numpy(result).to(rhs)

        return _side_by_side(product, rhs)

    def _bilinear_derivative(self, left_vecs: Tensor, right_vecs: Tensor) -> Any:
        left, right = (v[:, None] if v.dim() == 1 else v for v in (left_vecs, right_vecs))
        sides = self._spread(self._rows, left), self._spread(self._columns, right)
        pairings = self._terms.pairings(*sides, len(self._coefficients))
        return (torch.from_numpy(pairings).to(self._coefficients),)

    def _spread(self, nodes: IntArray, block: Tensor) -> FloatArray:
        """Vectors at all nodes, from values at some, which may repeat."""
        everywhere = np.zeros((self._terms.graph.n_nodes, block.shape[1]))
        np.add.at(everywhere, nodes, _numbers(block))
        return everywhere

    def _diagonal(self) -> Tensor:
        if not np.array_equal(self._rows, self._columns):
            return self.to_dense().diagonal()
        every_term = self._terms.diagonals(np.eye(len(self._coefficients)), self._rows)
        return self._coefficients @ torch.from_numpy(every_term).to(self._coefficients)

    def to_dense(self) -> Tensor:
        """The matrix itself."""
        if torch.is_grad_enabled() and self._coefficients.requires_grad:
            return super().to_dense()
        coefficients = _numbers(self._coefficients)[None]
        entries = self._terms.entries(coefficients, self._rows, self._columns)[0]
        return torch.from_numpy(np.ascontiguousarray(entries)).to(self._coefficients)

    def _getitem(self, row_index: Any, col_index: Any, *batch_indices: Any) -> Any:
        rows, columns = (
            index if isinstance(index, slice) else index.cpu().numpy()
            for index in (row_index, col_index)
        )
        return self._with(self._rows[rows], self._columns[columns])

    def _get_indices(self, row_index: Tensor, col_index: Tensor, *batch_indices: Tensor) -> Tensor:
        rows, columns = torch.broadcast_tensors(row_index, col_index)
        chosen, position = torch.unique(columns, return_inverse=True)
        return self._getitem(slice(None), chosen).to_dense()[rows, position]

    def _expand_batch(self, batch_shape: Any) -> Any:
        return super()._expand_batch(batch_shape) if len(batch_shape) else self


def _numbers(tensor: Tensor) -> FloatArray:
    numbers: FloatArray = tensor.detach().double().cpu().numpy()
    return numbers
