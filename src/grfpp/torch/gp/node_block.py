"""Polynomials of a weight matrix between some nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from grfpp.linalg.functions.chebyshev_terms import ChebyshevTerms
from grfpp.typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class NodeBlock:
    """Rows and columns of all polynomials of a weight matrix."""

    terms: ChebyshevTerms
    rows: IntArray
    columns: IntArray

    @property
    def T(self) -> NodeBlock:
        """The transpose."""
        return NodeBlock(self.terms, self.columns, self.rows)

    def select(self, rows: Any, columns: Any) -> NodeBlock:
        """Some of the rows and columns."""
        return NodeBlock(self.terms, self.rows[rows], self.columns[columns])

    def product(self, coefficients: FloatArray, block: FloatArray) -> FloatArray:
        """With vectors at the columns."""
        found = self.terms.product(coefficients, self._spread(self.columns, block))
        return found[self.rows]

    def pairings(self, left: FloatArray, right: FloatArray, n_terms: int) -> FloatArray:
        """Of vectors at the rows with vectors at the columns, for every term."""
        there, here = self._spread(self.rows, left), self._spread(self.columns, right)
        return self.terms.pairings(there, here, n_terms)

    def _spread(self, nodes: IntArray, block: FloatArray) -> FloatArray:
        everywhere = np.zeros((self.terms.graph.n_nodes, block.shape[1]))
        np.add.at(everywhere, nodes, block)  # a node may have been observed twice
        return everywhere
