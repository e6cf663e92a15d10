"""Kernels of many graphs times vectors: exact, and for every graph as if it were alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from grfpp.arguments import listed, positive
from grfpp.errors import InputError
from grfpp.kernels import Kernel, kernel_of
from grfpp.linalg.functions.block_series import block_products
from grfpp.linalg.functions.chebyshev import MARGIN, coefficients_of
from grfpp.linalg.sparse import csr
from grfpp.typing import FloatArray, IntArray
from grfpp.walks.batch import GraphBatch

#: Of the products, as a share of the kernel's largest value.
_TOLERANCE = 1e-10
#: So large a scale no power series survives.
_MOST_SCALE = 1e100
#: More are not told apart by anybody.
_MOST_KERNELS = 64


def scale_of(scale: float) -> float:
    """Check the scale of normalised weights."""
    factor = positive(scale, "scale")
    if factor > _MOST_SCALE:
        raise InputError(f"scale must be at most {_MOST_SCALE:g}, found {factor:g}")
    return factor


def kernels_of(kernel: Kernel | str | Sequence[Kernel | str], scale: float) -> tuple[Kernel, ...]:
    """One kernel or several, each as such or as the command line writes it, that converge."""
    if isinstance(kernel, Set | Mapping):
        raise InputError("must have an order: pass a list", argument="kernel")
    given = [kernel] if isinstance(kernel, Kernel | str) else listed(kernel, "kernel")
    if not 1 <= len(given) <= _MOST_KERNELS:
        raise InputError(
            f"must be one kernel or a list of up to {_MOST_KERNELS}, found {len(given)}",
            argument="kernel",
        )
    found = tuple(kernel_of(each) for each in given)
    for each in found:
        each.check_radius(scale)
        if not np.isfinite(each.value([-scale, 0.0, scale])).all():
            raise InputError(f"{each!r} exceeds the range of float64 at scale {scale:g}")
    return found


@dataclass(frozen=True, eq=False)
class NormalizedBatch:
    """Graphs side by side with the weights ``W = scale · D^-1/2 A D^-1/2``.

    Its spectral radius is the scale at most, whatever the graphs. So no graph counts for another:
    the numbers of each are the same to the last bit in any company.
    """

    W: sp.csr_array
    #: The first node of each graph, and the number of all nodes.
    starts: IntArray
    #: Square roots of the degrees, edges counted with their weights; one for isolated nodes.
    roots: FloatArray
    is_isolated: Any
    scale: float
    #: Features of the nodes, a row each, where they are needed.
    features: FloatArray | None = None

    @classmethod
    def of(
        cls, batch: GraphBatch, scale: float, features: FloatArray | None = None
    ) -> NormalizedBatch:
        """Normalise all graphs of a batch."""
        degrees = np.asarray(batch.graph.adjacency.sum(axis=1)).ravel()
        is_isolated = batch.graph.out_degree == 0
        roots = np.sqrt(np.where(is_isolated, 1.0, degrees))
        W = batch.graph.normalized("sym", scale).adjacency
        return cls(W, batch.starts, roots, is_isolated, scale, features)

    @property
    def n_nodes(self) -> int:
        """Of all graphs."""
        return len(self.roots)

    def spectral_radius(self) -> float:
        """A bound that holds for all graphs; it is reached by all that have an edge."""
        return self.scale * (1 + MARGIN)

    def part(self, graphs: range) -> NormalizedBatch:
        """Some consecutive graphs."""
        first, last = int(self.starts[graphs.start]), int(self.starts[graphs.stop])
        begin, end = int(self.W.indptr[first]), int(self.W.indptr[last])
        nodes = slice(first, last)
        matrix = csr(
            self.W.data[begin:end],
            self.W.indices[begin:end] - first,
            self.W.indptr[first : last + 1] - begin,
            last - first,
        )
        return replace(
            self,
            W=matrix,
            starts=self.starts[graphs.start : graphs.stop + 1] - first,
            roots=self.roots[nodes],
            is_isolated=self.is_isolated[nodes],
            features=None if self.features is None else self.features[nodes],
        )

    def products(self, kernels: Sequence[Kernel], vectors: FloatArray) -> FloatArray:
        """``g(W) @ vectors`` for every kernel; one recurrence serves all."""
        radius = self.spectral_radius()
        found = [coefficients_of(kernel.value, radius, _TOLERANCE) for kernel in kernels]
        table = np.zeros((len(found), max(map(len, found))))
        for row, each in zip(table, found, strict=True):
            row[: len(each)] = each
        return block_products(self.W, self.starts, radius, table, vectors)
