"""Kernels of the random-walk matrix, as their fields write them: PageRank and the heat kernel.

Both are averages over walks of random length, geometric or Poisson. Row ``i`` is where a walk from
``i`` ends: probabilities that add up to 1, or to less where walks can get stuck.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from grfpp.arguments import finite, probability, whole
from grfpp.errors import InputError, shown
from grfpp.graph import Graph
from grfpp.kernels.exponentials import Diffusion
from grfpp.kernels.family import LogDerivativeKernel, quiet, real_array
from grfpp.kernels.powers import InversePowerKernel
from grfpp.series import root_of_number_here
from grfpp.typing import FloatArray

#: ``exp(-t)`` is the first coefficient, which float64 must hold.
_LONGEST = 700.0


@dataclass(frozen=True)
class PersonalizedPageRank(InversePowerKernel):
    """Personalised PageRank, ``α Σ (1 − α)^k W^k = α (I − (1 − α) W)^-1``.

    For ``W = graph.normalized("rw")``: row ``i`` is the PageRank vector of a surfer who goes back
    to node ``i`` with probability `alpha` before every step. Directed graphs and weights are taken
    as they are.

    Parameters
    ----------
    alpha
        The *teleport* probability, above 0 and at most 1. networkx, igraph and scikit-network ask
        for the damping factor, which is ``1 − alpha``.

    Notes
    -----
    A surfer on a node without out-edges has nowhere to go, and here the walk ends: the row adds up
    to less than 1. ``networkx.pagerank(personalization={i: 1})`` and igraph's ``prpack`` send such
    a surfer back to ``i``. Their vector is this row over its sum, ``row / row.sum()``: the order of
    the nodes is the same.

    On symmetrically normalised weights ``D^-1/2 A D^-1/2`` this is another kernel, whose rows are
    no probabilities; a warning says so.

    Examples
    --------
    >>> import grfpp, networkx as nx
    >>> web = nx.karate_club_graph()
    >>> W = grfpp.Graph(web).normalized("rw")
    >>> row = PersonalizedPageRank(0.15).exact(W)[0]
    >>> theirs = nx.pagerank(web, alpha=0.85, personalization={0: 1}, tol=1e-12)
    >>> bool(np.allclose(row, list(theirs.values())))
    True
    """

    alpha: float = 0.15

    name = "personalized-pagerank"
    normalization = "rw"
    power = 1
    of = 1

    def __post_init__(self) -> None:
        self._set(alpha=probability(self.alpha, "alpha", above_zero=True))

    def _c(self) -> Fraction:
        return 1 - Fraction(self.alpha)

    def _constant_here(self, order: int) -> Decimal:
        return root_of_number_here(Decimal(self.alpha), order)

    def value(self, x: npt.ArrayLike) -> FloatArray:
        """``α / (1 − (1 − α) x)``."""
        return self.alpha * super().value(x)

    def _dense(self, weights: FloatArray) -> FloatArray:
        return self.alpha * super()._dense(weights)

    def _remedies(self) -> dict[str, Any]:
        return {"other": "a larger alpha"}


@dataclass(frozen=True)
class HeatKernel(LogDerivativeKernel):
    """The heat kernel ``e^-t Σ t^k/k! W^k = exp(−t (I − W))`` of the random walk.

    For ``W = graph.normalized("rw")``, where ``I − W`` is the random-walk Laplacian: row ``i`` is
    where the heat of node ``i`` is after the time `t`, or a surfer who makes steps at rate 1
    (Chung's heat kernel PageRank). It is ``e^-t`` times `Diffusion(t)`. A surfer on a node without
    out-edges vanishes at the next step.

    Parameters
    ----------
    t
        The time, from 0 to 700.

    Examples
    --------
    >>> import grfpp
    >>> W = grfpp.Graph([("a", "b"), ("b", "c")]).normalized("rw")
    >>> HeatKernel(1.0).exact(W).round(3)
    array([[0.468, 0.432, 0.1  ],
           [0.216, 0.568, 0.216],
           [0.1  , 0.432, 0.468]])
    """

    t: float = 1.0

    name = "heat"
    normalization = "rw"
    radius = math.inf

    def __post_init__(self) -> None:
        t = finite(self.t, "t")
        if not 0 <= t <= _LONGEST:
            raise InputError(f"must be from 0 to {_LONGEST:g}, found {shown(self.t)}", argument="t")
        self._set(t=t)

    def modulation_radius(self, degree: int) -> float:
        """Infinite: ``exp`` has neither singularities nor zeros."""
        whole(degree, "degree", 1)
        return math.inf

    def value(self, x: npt.ArrayLike) -> FloatArray:
        """``exp(t (x − 1))``, infinite where it exceeds the range of float64."""
        with quiet():
            return np.exp(self.t * (real_array(x) - 1))

    def _constant_here(self, order: int) -> Decimal:
        return (-Decimal(self.t) / order).exp()

    def _log_derivative(self) -> tuple[list[Fraction], list[Fraction]]:
        return [Fraction(self.t)], [Fraction(1)]

    def _dense(self, weights: FloatArray) -> FloatArray:
        return Diffusion(self.t)._dense(weights - np.eye(len(weights)))

    def _expm_multiply(self, graph: Graph, vectors: FloatArray) -> FloatArray:
        return math.exp(-self.t) * Diffusion(self.t)._expm_multiply(graph, vectors)
