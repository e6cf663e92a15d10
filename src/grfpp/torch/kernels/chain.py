"""Products of sparse matrices, some transposed: what every estimate of a kernel is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch

from grfpp.linalg.products import sparse_product
from grfpp.torch.kernels.pattern import SparsePattern

#: Pairs whose sparse rows are held at a time.
_BLOCK_PAIRS = 1024

Values = Sequence[torch.Tensor]


class Link(NamedTuple):
    """One matrix of the chain: its positions, which values it takes, whether it is transposed."""

    pattern: SparsePattern
    value: int
    transposed: bool

    def turned(self) -> Link:
        """The transpose."""
        return Link(self.pattern, self.value, not self.transposed)


@dataclass(frozen=True)
class FactorChain:
    """``L_1 L_2 … L_2l``: the positions of the matrices; their values come with every call.

    A palindrome, ``X Xᵀ`` with ``X`` the first half, is symmetric and positive semidefinite.
    The first link is not transposed, and the last one is.
    """

    links: tuple[Link, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.links[0].pattern.shape[0], self.links[-1].pattern.shape[0]

    @property
    def is_symmetric(self) -> bool:
        """Whether the chain reads the same from both ends."""
        return self.links == self.turned().links

    def turned(self) -> FactorChain:
        """The chain of the transpose."""
        return FactorChain(tuple(link.turned() for link in reversed(self.links)))

    def halves(self) -> tuple[tuple[Link, ...], tuple[Link, ...]]:
        """The links of ``X`` and of ``Y``, where the chain is ``X Yᵀ``."""
        middle = len(self.links) // 2
        return self.links[:middle], self.turned().links[: len(self.links) - middle]

    def multiply(self, values: Values, dense: torch.Tensor) -> torch.Tensor:
        """The chain times a dense matrix."""
        return multiply(self.links, values, dense)

    def matrices(self, values: Values) -> list[torch.Tensor]:
        """The links as sparse CSR tensors, for many products that need no gradients."""
        return [link.pattern.matrix(values[link.value], link.transposed) for link in self.links]

    def entries(self, values: Values, rows: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
        """The numbers at ``(rows[p], columns[p])``, from sparse rows of both halves."""
        if not (torch.is_grad_enabled() and any(each.requires_grad for each in values)):
            return pair_products(*self.halves(), values, rows, columns)
        left, right = self.halves()
        X = sparse_rows(left, values, rows)
        same = left == right and torch.equal(rows, columns)
        Y = X if same else sparse_rows(right, values, columns)
        total: torch.Tensor = torch.sparse.sum(X * Y, dim=1).to_dense()
        return total

    def select(
        self, values: Values, rows: torch.Tensor | None, columns: torch.Tensor | None
    ) -> tuple[FactorChain, list[torch.Tensor]]:
        """The chain of chosen rows and columns (``None``: all of them), and its values."""
        first, *inner, last = self.links
        chosen = list(values)
        symmetric = self.is_symmetric and (
            rows is columns
            or (rows is not None and columns is not None and torch.equal(rows, columns))
        )
        first = _with_rows(first, chosen, rows)
        last = first.turned() if symmetric else _with_rows(last.turned(), chosen, columns).turned()
        return _compact((first, *inner, last), chosen)


def multiply(links: Sequence[Link], values: Values, dense: torch.Tensor) -> torch.Tensor:
    """The product of links times a dense matrix."""
    for pattern, value, transposed in reversed(links):
        step = pattern.multiply_transposed if transposed else pattern.multiply
        dense = step(values[value], dense)
    return dense


def sparse_rows(
    links: Sequence[Link], values: Values, nodes: torch.Tensor | None = None
) -> torch.Tensor:
    """Rows of the product of links as a sparse COO tensor; all rows if none are chosen."""
    product = None
    for pattern, value, transposed in links:
        positions, numbers = pattern, values[value]
        if product is None and nodes is not None:
            positions, which = pattern.take_rows(nodes)
            numbers = numbers[which]
        matrix = positions.coo(numbers)
        matrix = matrix.t() if transposed else matrix
        with torch.autocast(numbers.device.type, enabled=False):
            product = matrix if product is None else torch.sparse.mm(product, matrix)
    assert product is not None
    return product.coalesce()


def pair_products(
    left: Sequence[Link],
    right: Sequence[Link],
    values: Values,
    rows: torch.Tensor,
    columns: torch.Tensor,
) -> torch.Tensor:
    """``X[rows[p]] · Y[columns[p]]`` without gradients, a block of pairs at a time."""
    X, Y = (_scipy_chain(links, values) for links in (left, right))
    blocks = [
        _row_products(X, i.cpu().numpy()).multiply(_row_products(Y, j.cpu().numpy())).sum(axis=1)
        for i, j in zip(rows.split(_BLOCK_PAIRS), columns.split(_BLOCK_PAIRS), strict=True)
    ]
    return torch.from_numpy(np.concatenate(blocks or [np.zeros(0)])).to(values[0])


def _scipy_chain(links: Sequence[Link], values: Values) -> list[sp.csr_array]:
    """Links as scipy's matrices, in which sparse products run on all cores."""
    found = []
    for link in links:
        matrix = link.pattern.matrix(values[link.value].detach(), link.transposed)
        parts = (matrix.values(), matrix.col_indices(), matrix.crow_indices())
        found.append(
            sp.csr_array(tuple(part.cpu().numpy() for part in parts), shape=tuple(matrix.shape))
        )
    return found


def _row_products(chain: list[sp.csr_array], rows: npt.NDArray[np.int64]) -> sp.csr_array:
    """Chosen rows of a product of sparse matrices."""
    product = chain[0][rows].astype(np.float64)
    for matrix in chain[1:]:
        product = sparse_product(product, matrix)
    return product


def _with_rows(link: Link, values: list[torch.Tensor], rows: torch.Tensor | None) -> Link:
    """The link with chosen rows; its values are added to the list."""
    if rows is None:
        return link
    pattern, which = link.pattern.take_rows(rows)
    values.append(values[link.value][which])
    return Link(pattern, len(values) - 1, link.transposed)


def _compact(
    links: tuple[Link, ...], values: list[torch.Tensor]
) -> tuple[FactorChain, list[torch.Tensor]]:
    """Leave out values that no link takes."""
    used = sorted({link.value for link in links})
    place = {value: number for number, value in enumerate(used)}
    renumbered = tuple(Link(link.pattern, place[link.value], link.transposed) for link in links)
    return FactorChain(renumbered), [values[value] for value in used]
