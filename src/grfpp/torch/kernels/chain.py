"""`FactorChain`: the twin of `grfpp.chain.Chain` whose values are tensors that gradients reach."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import scipy.sparse as sp
import torch

from grfpp.chain import Chain
from grfpp.factors import StoredFactor
from grfpp.torch.kernels.pattern import SparsePattern, no_autocast

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

    def sample(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        """``left @ right.T`` at the positions of the matrix only, in the order of its values."""
        return self.pattern.sample(*((right, left) if self.transposed else (left, right)))

    def to_csr(self, values: Values) -> torch.Tensor:
        """The matrix as a sparse CSR tensor."""
        return self.pattern.matrix(values[self.value], self.transposed)

    def to_coo(self, values: Values, nodes: torch.Tensor | None = None) -> torch.Tensor:
        """The matrix as a sparse COO tensor, or chosen rows of one that is not transposed."""
        pattern, numbers = self._taken(values, nodes)
        matrix = pattern.coo(numbers)
        return matrix.t() if self.transposed else matrix

    def to_dense(self, values: Values, nodes: torch.Tensor | None = None) -> torch.Tensor:
        """The matrix, dense, or chosen rows of one that is not transposed."""
        pattern, numbers = self._taken(values, nodes)
        rows, columns = pattern.positions()
        matrix = numbers.new_zeros(pattern.shape).index_put((rows, columns), numbers)
        return matrix.T if self.transposed else matrix

    def _taken(
        self, values: Values, nodes: torch.Tensor | None
    ) -> tuple[SparsePattern, torch.Tensor]:
        """The pattern and its values, or those of chosen rows."""
        if nodes is None:
            return self.pattern, values[self.value]
        pattern, entries = self.pattern.take_rows(nodes)
        return pattern, values[self.value][entries]


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

    def matrices(self, values: Values) -> list[torch.Tensor]:
        """The links as sparse CSR tensors, for many products without gradients."""
        return [link.to_csr(values) for link in self.links]

    def multiplier(self, values: Values) -> Callable[[torch.Tensor], torch.Tensor]:
        """`matmat` for many products without gradients: transposes are made once."""
        return partial(product_of, self.matrices(values))

    def rows(self, values: Values, nodes: torch.Tensor | None = None) -> torch.Tensor:
        """Rows of the product as a sparse COO tensor; all rows if none are chosen."""
        first, *others = self.links
        product = first.to_coo(values, nodes)
        with no_autocast(product.device):
            for link in others:
                product = torch.sparse.mm(product, link.to_coo(values))
        return product.coalesce()

    def to_dense(self, values: Values, nodes: torch.Tensor | None = None) -> torch.Tensor:
        """The product, or chosen rows of it, as a dense matrix."""
        first, *others = self.links
        product = first.to_dense(values, nodes).T
        for link in others:
            product = link.turn().matmat(values, product)
        return product.T

    def dense_rows_maker(self, values: Values) -> Callable[[torch.Tensor], torch.Tensor]:
        """Chosen rows as columns of a dense matrix, again and again, without gradients."""
        first, *others = self.links
        turned = [link.turn().to_csr(values) for link in reversed(others)]
        return lambda nodes: product_of(turned, first.to_dense(values, nodes).T.contiguous())

    def to_numpy(self, values: Values) -> Chain:
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


def product_of(matrices: Sequence[torch.Tensor], dense: torch.Tensor) -> torch.Tensor:
    """The product of sparse matrices and a dense one, from the right."""
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
