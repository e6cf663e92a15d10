"""What a Gaussian process on nodes must be able to do, to be chosen and asked."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from grfpp.typing import FloatArray, IntArray

#: Steps of conjugate gradients at most.
MOST_STEPS = 20_000
#: Random signs that the mean of a diagonal is estimated with, in all.
_SIGNS = 4_000


class Mean(NamedTuple):
    """A field at all nodes, and how many steps of conjugate gradients it took."""

    field: FloatArray
    n_steps: int


class Process(Protocol):
    """A process of mean zero on the nodes of a graph."""

    def mean(self, known: FloatArray, values: FloatArray, noise: float, tol: float) -> Mean:
        """The mean at all nodes, given noisy values at some."""

    def prior_variance(self, seed: int) -> float:
        """The mean of the kernel's diagonal."""

    def variances(self, nodes: IntArray, known: FloatArray, noise: float) -> FloatArray:
        """Variances at nodes, given the known ones."""


def n_probes(n_nodes: int) -> int:
    """How many columns of random signs: few where a column is long."""
    return max(1, min(64, _SIGNS // max(1, n_nodes)))


def unit_columns(nodes: IntArray, n_nodes: int) -> FloatArray:
    """A column a node, 1 there and 0 elsewhere.

    Examples
    --------
    >>> unit_columns(np.array([2, 0]), 3)
    array([[0., 1.],
           [0., 0.],
           [1., 0.]])
    """
    units = np.zeros((n_nodes, len(nodes)))
    units[nodes, np.arange(len(nodes))] = 1.0
    return units
