"""`SignedChain`: what was walked of an estimate, with its sign, or averaged with its transpose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from grfpp.chain import Chain, require_features
from grfpp.typing import FloatArray, IntArray


@dataclass(frozen=True)
class SignedChain:
    """``S = ± C`` for a chain ``C``, or symmetrised ``S = ± (C + Cᵀ) / 2``.

    Examples
    --------
    >>> from grfpp.factors import StoredFactor
    >>> a, b = sp.csr_array([[1.0, 2.0], [0.0, 1.0]]), sp.csr_array([[1.0, 0.0], [3.0, 1.0]])
    >>> chain = Chain.stitched([StoredFactor(a), StoredFactor(b)])
    >>> SignedChain(chain, sign=-1, symmetrized=True) @ np.eye(2)
    array([[-1. , -2.5],
           [-2.5, -1. ]])
    """

    chain: Chain
    sign: int = 1
    symmetrized: bool = False

    @property
    def T(self) -> SignedChain:
        """The transpose."""
        return self if self.symmetrized else replace(self, chain=self.chain.T)

    @property
    def plain(self) -> SignedChain:
        """The same without the average."""
        return replace(self, symmetrized=False)

    def _signed(self, values: Any) -> Any:
        return self.sign * values if self.sign != 1 else values

    def __matmul__(self, dense: FloatArray) -> FloatArray:
        """Multiply a dense block."""
        if self.symmetrized:
            return np.asarray(0.5 * self.sign * (self.chain @ dense + self.chain.T @ dense))
        return np.asarray(self._signed(self.chain @ dense))

    def times(self, dense: FloatArray, between: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """The same with a symmetric matrix between the halves: ``± X between(Yᵀ @ dense)``."""
        X, Y = self.chain.halves()
        product = X @ between(Y.T @ dense)
        if self.symmetrized:
            product = 0.5 * (product + Y @ between(X.T @ dense))
        return np.asarray(self._signed(product))

    def halves_times(self, dense: FloatArray) -> tuple[FloatArray, FloatArray]:
        """``± X @ dense`` and ``Y @ dense`` for the halves ``X Yᵀ`` of the chain."""
        X, Y = self.chain.halves()
        return self._signed(X @ dense), Y @ dense

    def rows(self, nodes: IntArray) -> sp.csr_array:
        """Chosen rows."""
        rows = self.chain.rows(nodes) * self.sign
        return 0.5 * (rows + self.chain.T.rows(nodes) * self.sign) if self.symmetrized else rows

    def entry(self, i: int, j: int) -> float:
        """One number; symmetric to the last bit where it is an average."""
        X, Y = self.chain.halves()
        if not self.symmetrized:
            product = X.rows([i]).astype(np.float64) @ Y.rows([j]).T
            return float(self.sign * product.toarray()[0, 0])
        product = (X.rows([i, j]).astype(np.float64) @ Y.rows([i, j]).T).toarray()
        return float(0.5 * self.sign * (product[0, 1] + product[1, 0]))

    def diagonal(self) -> FloatArray:
        """The diagonal, which an average with the transpose leaves as it is."""
        return np.asarray(self.sign * self.chain.diagonal())

    def features(self) -> tuple[sp.csr_array, sp.csr_array]:
        """Sparse ``X, Y`` with ``S = X Yᵀ``; symmetrised, both sides hold both halves."""
        halves = [half.stored() for half in self.chain.halves()]
        sizes = [half.expected_entries() for half in halves]
        # Both halves; and side by side, in either order, each of them twice more.
        n_copies = 3 if self.symmetrized else 1
        require_features(n_copies * sum(sizes), self.chain.n_nodes, len(halves[0].links))
        X, Y = (half.to_csr(size) for half, size in zip(halves, sizes, strict=True))
        return feature_sides(X, Y, self.sign, self.symmetrized)

    def feature_side(self, side: Literal["left", "right"]) -> sp.csr_array:
        """One of the two, without the work for the other where that can be."""
        if self.symmetrized:
            return self.features()[side == "right"]
        X, Y = self.chain.halves()
        return self._signed(X.to_csr()) if side == "left" else Y.to_csr()

    def project(
        self, gaussian: Callable[[], FloatArray], where: Literal["middle", "pairs"]
    ) -> tuple[FloatArray, FloatArray]:
        """Dense features; symmetrised, ``X`` and ``Y`` change places in half of the columns."""
        project = self.chain.project if where == "middle" else self.chain.project_pairs
        X, Y = project(gaussian)
        if self.symmetrized:
            _swap_half(X, Y)
        return self._signed(X), Y

    def matrices(self) -> list[sp.csr_array]:
        """Sparse matrices whose product is ``S``; symmetrised, both orders stand in blocks."""
        first, *inner, last = self.chain.matrices()
        if not self.symmetrized:
            return [self._signed(first), *inner, last]
        turned_last, *turned, turned_first = self.chain.T.matrices()
        weight = 0.5 * self.sign
        return [
            sp.hstack([weight * first, weight * turned_last], format="csr"),
            *(sp.block_diag(both, format="csr") for both in zip(inner, turned, strict=True)),
            sp.vstack([last, turned_first], format="csr"),
        ]


def feature_sides(
    X: sp.csr_array, Y: sp.csr_array, sign: int, symmetrized: bool
) -> tuple[sp.csr_array, sp.csr_array]:
    """Features from both halves of a chain, or from the same rows of both."""
    if symmetrized:
        X, Y = _side_by_side(X, Y), _side_by_side(Y, X)
    return X if sign == 1 else sign * X, Y


def _side_by_side(left: sp.csr_array, right: sp.csr_array) -> sp.csr_array:
    """``[left, right] / √2``."""
    both = sp.hstack([left, right], format="csr")
    both.data *= np.sqrt(0.5)
    return both


def _swap_half(X: FloatArray, Y: FloatArray) -> None:
    """Make projected features of ``X Yᵀ`` those of ``(X Yᵀ + Y Xᵀ) / 2``, in place."""
    n_components = X.shape[1]
    n_others = n_components // 2
    if n_others == 0:
        return
    n_first = n_components - n_others
    X[:, n_first:], Y[:, n_first:] = Y[:, n_first:].copy(), X[:, n_first:].copy()
    # Both orders have the weight of one half, also where there is one column more of one.
    for side in (X, Y):
        side[:, :n_first] *= np.sqrt(n_components / (2 * n_first))
        side[:, n_first:] *= np.sqrt(n_components / (2 * n_others))
