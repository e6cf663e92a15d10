"""Encodings by closeness to landmarks: nodes that the graph itself singles out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from grfpp.arguments import whole
from grfpp.kernels import Kernel, kernel_of
from grfpp.torch.encodings.exact_recipe import ExactRecipe
from grfpp.torch.encodings.series import NormalizedBatch, kernels_of, scale_of
from grfpp.typing import FloatArray, IntArray

#: Of walks of ten steps on average: its logarithm falls in proportion to the distance.
KERNEL = "personalized-pagerank:0.1"
#: Nodes whose scores differ by less, as a share, count as equal: sums in another order do.
_TIE = 1e-7
#: Closeness below this is none. The products are exact to far less.
_FARTHEST = 1e-5


@dataclass(frozen=True)
class Landmarks(ExactRecipe):
    """Closeness to `dim` landmarks, one after the other; see `grfpp.torch.AddLandmarkPE`."""

    dim: int
    kernel: tuple[Kernel, ...]
    scale: float

    @classmethod
    def of(cls, dim: int = 8, *, kernel: Kernel | str = KERNEL, scale: float = 1.0) -> Landmarks:
        """Check what a user asks for, before any graph is seen."""
        factor = scale_of(scale)
        return cls(whole(dim, "dim", 1), kernels_of(kernel_of(kernel), factor), factor)

    def width(self, n_features: int) -> int:
        """One number a landmark."""
        return self.dim

    def rows(self, graphs: NormalizedBatch) -> FloatArray:
        """Landmarks of all graphs are chosen together, one of each at a time."""
        starts = graphs.starts
        of_node = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        result = np.zeros((graphs.n_nodes, self.dim))
        # The most central nodes come first: those of the largest row sums of the kernel.
        score = graphs.products(self.kernel, np.ones((graphs.n_nodes, 1)))[0, :, 0]
        nearest = np.full(graphs.n_nodes, -np.inf)
        for number in range(self.dim):
            chosen = _largest(score, starts, of_node)
            # All that tie are one landmark, at which there is none yet.
            chosen &= nearest < 1 - _TIE
            if not chosen.any():
                break
            closeness = _closeness(graphs, self.kernel, chosen, of_node)
            result[:, number] = closeness
            nearest = np.maximum(nearest, closeness)
            score = -nearest
        return result


def _largest(score: FloatArray, starts: IntArray, of_node: IntArray) -> Any:
    """The nodes of every graph that have its largest score, ties included."""
    best = np.maximum.reduceat(score, starts[:-1])
    return score >= (best - _TIE * np.maximum(1.0, np.abs(best)))[of_node]


def _closeness(
    graphs: NormalizedBatch, kernel: tuple[Kernel, ...], chosen: Any, of_node: IntArray
) -> FloatArray:
    """1 at a graph's landmark, falling like the logarithm of the kernel, and 0 far away.

    Zero in all of a graph without a landmark.
    """
    n_graphs = len(graphs.starts) - 1
    counts = np.maximum(np.bincount(of_node[chosen], minlength=n_graphs), 1)
    share = np.where(chosen, 1.0 / counts[of_node], 0.0)
    # Per unit of the walk's measure: of both ends, and so symmetric.
    mass = graphs.products(kernel, (share / graphs.roots)[:, None])[0, :, 0] / graphs.roots
    at_home = np.bincount(of_node, share * mass, minlength=n_graphs)[of_node]
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(at_home > 0, mass / at_home, 0.0)
    found: FloatArray = 1 - np.log(np.maximum(relative, _FARTHEST)) / np.log(_FARTHEST)
    return found
