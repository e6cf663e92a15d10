"""Several kernels of one graph, multiplied with the same columns."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from grfpp.graph import Graph
from grfpp.linalg.functions.chebyshev_terms import ChebyshevTerms
from grfpp.linalg.functions.expansion import Expansion
from grfpp.memory import require_bytes
from grfpp.operators import KernelChoice, advice_by_parameters, how_made
from grfpp.typing import FloatArray, IntArray

#: What Chebyshev's terms leave out, over the largest value of a kernel.
_TOL = 1e-12
#: Columns of a kernel that are held at a time.
_WIDTH = 64


class KernelProducts:
    """Products of kernels, in one pass over Chebyshev's terms where these serve all of them.

    They do on undirected graphs, where kernels are wanted exactly and no method is asked for. Else
    each kernel is an operator of its own. All are divided by their largest value on the spectrum.

    Parameters
    ----------
    graph
        The graph.
    choices
        The kernels, all of the same weights.
    """

    def __init__(self, graph: Graph, choices: Sequence[KernelChoice]) -> None:
        self.graph, self.choices = graph, choices
        first = choices[0]
        self.weights = first.weights(graph)
        self.is_shared = first.is_exact and first.method is None and not self.weights.is_directed
        if self.is_shared:
            with advice_by_parameters(first.normalization):
                for choice in choices:
                    choice.kernel.check_converges(self.weights)
        self._used: dict[int, Any] = {}

    @cached_property
    def _terms(self) -> ChebyshevTerms:
        return ChebyshevTerms(self.weights, self.choices[0].options.n_jobs)

    @cached_property
    def _coefficients(self) -> FloatArray:
        """A row a kernel."""
        rows = []
        for choice in self.choices:
            series = Expansion.of(choice.kernel.value, self._terms.radius)
            rows.append(series.coefficients[: series.n_terms(_TOL)])
        table = np.zeros((len(rows), max(map(len, rows))))
        for number, row in enumerate(rows):
            table[number, : len(row)] = row
        return table

    def between(self, rows: IntArray, nodes: IntArray) -> Iterator[FloatArray]:
        """Entries of each kernel, rows of some nodes and columns of others: one by one."""
        if self.is_shared:
            yield from self._terms.entries(self._coefficients, rows, nodes)
            return
        for number in range(len(self.choices)):
            parts = [part[rows] for part in self._columns(number, nodes)]
            yield np.concatenate(parts, axis=1)

    def masses(self, nodes: IntArray) -> Iterator[FloatArray]:
        """What each kernel brings from some nodes to all nodes: sums of its columns."""
        ones = np.ones((self.graph.n_nodes, 1))
        if self.is_shared:
            for found in self._terms.products(self._coefficients, ones, nodes):
                yield found[:, 0]
            return
        for number in range(len(self.choices)):
            yield np.asarray(self._operator(number).T @ ones)[nodes, 0]

    def everywhere(self, number: int, vectors: FloatArray) -> FloatArray:
        """The product of one kernel at all nodes."""
        require_bytes(16 * vectors.size, f"a product with {vectors.shape[1]} columns")
        if self.is_shared:
            return self._terms.product(self._row(number), vectors)
        return np.asarray(self._operator(number) @ vectors)

    def lengths(self, number: int, nodes: IntArray) -> FloatArray:
        """Lengths of the rows of one kernel, of which some columns are taken."""
        squares = np.zeros(self.graph.n_nodes)
        for part in self._columns(number, nodes):
            squares += np.square(part).sum(axis=1)
        lengths: FloatArray = np.sqrt(squares)
        return lengths

    def _columns(self, number: int, nodes: IntArray) -> Iterator[FloatArray]:
        """Columns of one kernel, some at a time."""
        for first in range(0, len(nodes), _WIDTH):
            part = nodes[first : first + _WIDTH]
            units = np.zeros((self.graph.n_nodes, len(part)))
            units[part, np.arange(len(part))] = 1.0
            yield self.everywhere(number, units)

    def how_made(self, number: int) -> str:
        """How products with one kernel were made."""
        return "chebyshev" if self.is_shared else how_made(self._operator(number))

    def _row(self, number: int) -> FloatArray:
        row: FloatArray = np.trim_zeros(self._coefficients[number], "b")
        return row if len(row) else self._coefficients[number, :1]

    def _operator(self, number: int) -> Any:
        # Only the last: estimates are large.
        if number not in self._used:
            with warnings.catch_warnings():
                if len(self.choices) > 1:
                    # What is wrong with kernels that are only tried is nobody's concern; the one
                    # that is taken is made anew, and warns.
                    warnings.simplefilter("ignore", RuntimeWarning)
                self._used = {number: self.choices[number].operator(self.graph, _TOL)}
        return self._used[number]
