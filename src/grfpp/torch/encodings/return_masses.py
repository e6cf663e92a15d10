"""Encodings by what returns to a node: the diagonals of powers of the weights, or of kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from grfpp.arguments import listed, whole
from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.kernels import Kernel
from grfpp.linalg.spectra.returns import power_diagonals
from grfpp.options import WalkOptions
from grfpp.torch.encodings.exact_recipe import ExactRecipe
from grfpp.torch.encodings.series import NormalizedBatch, kernels_of, scale_of
from grfpp.typing import FloatArray
from grfpp.walks.by_length import sample_by_length
from grfpp.walks.by_length.planning import plan_by_length

#: Longer walks say nothing more.
_MOST_LENGTHS = 512
#: Of a kernel's value, what lengths that are left out may add up to.
_NEGLIGIBLE = 1e-10
#: Graphs that would take more multiplications are walked on: about ten seconds.
_MOST_PRODUCTS = 1e10


@dataclass(frozen=True)
class ReturnMasses(ExactRecipe):
    """``diag(W^k)`` for several lengths, or ``diag(g(W))``; see `grfpp.torch.AddReturnPE`."""

    lengths: tuple[int, ...] | None
    kernel: tuple[Kernel, ...] | None
    scale: float
    n_walks: int
    seed: int

    @classmethod
    def of(
        cls,
        dim: int | None = None,
        *,
        lengths: Sequence[int] | None = None,
        kernel: Kernel | str | Sequence[Kernel | str] | None = None,
        scale: float = 1.0,
        n_walks: int = 64,
        seed: int | None = 0,
    ) -> ReturnMasses:
        """Check what a user asks for, before any graph is seen."""
        given = {"dim": dim, "lengths": lengths, "kernel": kernel}
        if len(both := [name for name, value in given.items() if value is not None]) > 1:
            raise InputError(f"{' and '.join(both)} exclude each other: pass one of them")
        factor = scale_of(scale)
        walks = WalkOptions.of(n_walks=n_walks, seed=seed)
        kernels = None if kernel is None else kernels_of(kernel, factor)
        chosen = None
        if kernels is None:
            if lengths is None:
                lengths = range(1, 1 + whole(8 if dim is None else dim, "dim", 1, _MOST_LENGTHS))
            chosen = tuple(
                whole(each, "lengths", 1, _MOST_LENGTHS) for each in listed(lengths, "lengths")
            )
            if not chosen:
                raise InputError("must hold at least one length", argument="lengths")
        else:
            for each in kernels:
                _coefficients(each, factor)
        return cls(chosen, kernels, factor, walks.n_walks, walks.seed)

    def width(self, n_features: int) -> int:
        """One number for each length or kernel."""
        return len(self.lengths or self.kernel or ())

    def rows(self, graphs: NormalizedBatch) -> FloatArray:
        """The masses of all lengths that are needed, chosen from or summed up."""
        if self.kernel is None:
            assert self.lengths is not None
            masses = self._masses(graphs, max(self.lengths))
            return np.ascontiguousarray(masses[:, np.array(self.lengths) - 1])
        found = [_coefficients(each, self.scale) for each in self.kernel]
        masses = self._masses(graphs, max(1, *(len(each) - 1 for each in found)))
        result = np.empty((graphs.n_nodes, len(found)))
        for column, each in enumerate(found):
            # Not by BLAS, whose bits may depend on the number of rows.
            total = np.full(graphs.n_nodes, each[0])
            for k, coefficient in enumerate(each[1:]):
                total += coefficient * masses[:, k]
            result[:, column] = total
        return result

    def _masses(self, graphs: NormalizedBatch, n_lengths: int) -> FloatArray:
        """``diag(W^k)`` for ``k = 1 … n_lengths``; of very large graphs an estimate by pools."""
        W, starts = graphs.W, graphs.starts
        work = np.diff(starts) * np.diff(W.indptr[starts]) * (0.5 * n_lengths)
        if (work <= _MOST_PRODUCTS).all():
            return power_diagonals(W, starts, n_lengths)
        if len(work) == 1:
            return self._walked(Graph(W), n_lengths)
        alone = [graphs.part(range(graph, graph + 1)) for graph in range(len(work))]
        return np.concatenate([self._masses(each, n_lengths) for each in alone])

    def _walked(self, W: Graph, n_lengths: int) -> FloatArray:
        """Rows of ``Φ_a`` and of an independent ``Φ'_b``, multiplied: the mean is exact."""
        options = WalkOptions.of(n_walks=self.n_walks, seed=self.seed)
        half = (n_lengths + 1) // 2
        plan = plan_by_length(W, half + 1, options)
        left, right = (sample_by_length(plan.with_factor(number), n_jobs=1) for number in range(2))
        result, units = np.empty((W.n_nodes, n_lengths)), np.eye(half + 1)
        for k in range(1, n_lengths + 1):
            longer = left.factor(units[(k + 1) // 2])
            result[:, k - 1] = longer.multiply(right.factor(units[k // 2])).sum(axis=1)
        return result


def _coefficients(kernel: Kernel, scale: float) -> FloatArray:
    """Of the kernel's power series, as many as count."""
    terms = kernel.coefficients(_MOST_LENGTHS, scale=scale)
    sizes, value = np.abs(terms), float(kernel.value([scale])[0])
    left = np.cumsum(sizes[::-1])[::-1]
    limit = _NEGLIGIBLE * max(abs(value), float(sizes[0]))
    # The last ones may be small before the first ones are.
    if left[-1] > limit or abs(terms.sum() - value) > limit:
        raise InputError(
            f"the series of {kernel!r} is too long for return masses: {_MOST_LENGTHS} lengths do "
            "not do; take a narrower kernel",
            argument="kernel",
        )
    return kernel.coefficients(max(1, int(np.count_nonzero(left > limit))))
