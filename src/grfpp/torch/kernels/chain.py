"""`FactorChain`: the twin of `grfpp.chain.Chain` whose values are tensors that gradients reach."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
from torch.utils.checkpoint import checkpoint

from grfpp.chain import Chain
from grfpp.factors import StoredFactor
from grfpp.torch.kernels.pattern import SparsePattern, no_autocast

#: Pairs whose rows are held at a time.
_BLOCK_PAIRS = 256
#: Rows that tell how full the others are, and how full they must be for dense ones to be faster.
_PILOT_ROWS, _FULL = 8, 1 / 20

Values = Sequence[torch.Tensor]


class Link(NamedTuple):
    """One matrix of the chain: its positions, which values it takes, whether it is transposed."""

    pattern: SparsePattern
    value: int
    transposed: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        rows, columns = self.pattern.shape
        return (columns, rows) if self.transposed else (rows, columns)

    def turn(self) -> Link:
        """The transpose."""
        return self._replace(transposed=not self.transposed)

    def matmat(self, values: Values, dense: torch.Tensor) -> torch.Tensor:
        """``link @ dense``."""
        return self.pattern.multiply(values[self.value], dense, self.transposed)

    def to_csr(self, values: Values) -> torch.Tensor:
        """The matrix as a sparse CSR tensor."""
        return self.pattern.matrix(values[self.value], self.transposed)

    def to_coo(self, values: Values, nodes: torch.Tensor | None = None) -> torch.Tensor:
        """The matrix as a sparse COO tensor, or chosen rows of one that is not transposed."""
        pattern, numbers = self.pattern, values[self.value]
        if nodes is not None:
            pattern, entries = pattern.take_rows(nodes)
            numbers = numbers[entries]
        matrix = pattern.coo(numbers)
        return matrix.t() if self.transposed else matrix


@dataclass(frozen=True)
class FactorChain:
    """``L_1 L_2 … L_2l``: the positions of the matrices; their values come with every call.

    A palindrome, ``X Xᵀ`` with ``X`` the first half, is symmetric and positive semidefinite. Rows
    are taken of chains whose first link is not transposed, columns of those whose last one is.
    """

    links: tuple[Link, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.links[0].shape[0], self.links[-1].shape[1]

    @property
    def is_symmetric(self) -> bool:
        """Whether the chain reads the same from both ends."""
        return self == self.T

    @property
    def T(self) -> FactorChain:
        """The transpose."""
        return FactorChain(tuple(link.turn() for link in reversed(self.links)))

    def halves(self) -> tuple[FactorChain, FactorChain]:
        """Chains ``X`` and ``Y`` with ``self = X Yᵀ``."""
        middle = len(self.links) // 2
        return FactorChain(self.links[:middle]), FactorChain(self.links[middle:]).T

    def matmat(self, values: Values, dense: torch.Tensor) -> torch.Tensor:
        """The chain times a dense matrix."""
        for link in reversed(self.links):
            dense = link.matmat(values, dense)
        return dense

    def multiplier(self, values: Values) -> Callable[[torch.Tensor], torch.Tensor]:
        """`matmat` for many products without gradients: transposes are made once."""
        return partial(_product, [link.to_csr(values) for link in self.links])

    def rows(self, values: Values, nodes: torch.Tensor | None = None) -> torch.Tensor:
        """Rows of the product as a sparse COO tensor; all rows if none are chosen."""
        first, *others = self.links
        product = first.to_coo(values, nodes)
        with no_autocast(product.device):
            for link in others:
                product = torch.sparse.mm(product, link.to_coo(values))
        return product.coalesce()

    def entries(self, values: Values, rows: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
        """The numbers at ``(rows[p], columns[p])``, from rows of both halves.

        Rows are made for a block of pairs at a time, and made again for gradients.
        """
        if len(rows) == 0:
            return values[0].new_zeros(0)
        left, right = (half._to_numpy(values) for half in self.halves())
        pilots = left.rows(rows[:: 1 + len(rows) // _PILOT_ROWS].cpu().numpy())
        full = pilots.nnz > _FULL * np.prod(pilots.shape)
        differentiable = torch.is_grad_enabled() and any(each.requires_grad for each in values)
        parts = []
        for i, j in zip(rows.split(_BLOCK_PAIRS), columns.split(_BLOCK_PAIRS), strict=True):
            if full or differentiable:
                # What torch would keep for the gradient is made again when it is needed.
                part = checkpoint(
                    *(self._torch_entries, full, i, j, *values),
                    use_reentrant=False,
                    preserve_rng_state=False,
                )
            else:
                numbers = left.rows(i.cpu().numpy()).multiply(right.rows(j.cpu().numpy()))
                part = torch.from_numpy(numbers.sum(axis=1)).to(values[0])
            parts.append(part)
        return torch.cat(parts)

    def _torch_entries(
        self, full: bool, rows: torch.Tensor, columns: torch.Tensor, *values: torch.Tensor
    ) -> torch.Tensor:
        left, right = self.halves()
        same = left == right and torch.equal(rows, columns)
        if full:
            X = left.to_dense(values, rows)
            return (X * (X if same else right.to_dense(values, columns))).sum(1)
        X = left.rows(values, rows)
        Y = X if same else right.rows(values, columns)
        total: torch.Tensor = torch.sparse.sum(X * Y, dim=1).to_dense()
        return total

    def to_dense(self, values: Values, nodes: torch.Tensor | None = None) -> torch.Tensor:
        """The product, or chosen rows of it, as a dense matrix."""
        first, *others = self.links
        pattern, numbers = first.pattern, values[first.value]
        if nodes is not None:
            pattern, entries = pattern.take_rows(nodes)
            numbers = numbers[entries]
        rows, columns = pattern.positions()
        product = numbers.new_zeros(pattern.shape).index_put((rows, columns), numbers).T
        for link in others:
            product = link.turn().matmat(values, product)
        return product.T

    def _to_numpy(self, values: Values) -> Chain:
        """The same product of scipy's matrices, which is computed on all cores."""
        numbers, factors = [each.detach().double() for each in values], []
        for link in self.links:
            matrix = link.to_csr(numbers).cpu()
            parts = (matrix.values(), matrix.col_indices(), matrix.crow_indices())
            arrays = tuple(part.numpy() for part in parts)
            factors.append(StoredFactor(sp.csr_array(arrays, shape=tuple(matrix.shape))))
        return Chain.by_rows(factors)

    def select(
        self, values: Values, rows: torch.Tensor | None, columns: torch.Tensor | None
    ) -> tuple[FactorChain, list[torch.Tensor]]:
        """The chain of chosen rows and columns (``None``: all of them), and its values."""
        first, *inner, last = self.links
        chosen = list(values)
        same = rows is columns or (
            rows is not None and columns is not None and torch.equal(rows, columns)
        )
        first = _with_rows(first, chosen, rows)
        if self.is_symmetric and same:
            last = first.turn()
        else:
            last = _with_rows(last.turn(), chosen, columns).turn()
        return _without_unused((first, *inner, last), chosen)


def _product(matrices: Sequence[torch.Tensor], dense: torch.Tensor) -> torch.Tensor:
    with no_autocast(dense.device):
        for matrix in reversed(matrices):
            dense = matrix @ dense
    return dense


def _with_rows(link: Link, values: list[torch.Tensor], rows: torch.Tensor | None) -> Link:
    """The link with chosen rows; its values are added to the list."""
    if rows is None:
        return link
    pattern, entries = link.pattern.take_rows(rows)
    values.append(values[link.value][entries])
    return Link(pattern, len(values) - 1, link.transposed)


def _without_unused(
    links: tuple[Link, ...], values: list[torch.Tensor]
) -> tuple[FactorChain, list[torch.Tensor]]:
    """Leave out values that no link takes."""
    used = sorted({link.value for link in links})
    renumbered = tuple(link._replace(value=used.index(link.value)) for link in links)
    return FactorChain(renumbered), [values[value] for value in used]
