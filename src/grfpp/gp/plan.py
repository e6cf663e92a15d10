"""How a Gaussian process on nodes is computed, and on which nodes its parameters are chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import breadth_first_order

from grfpp._checks import one_of
from grfpp.gp.covariance import Covariance, FactorizedCovariance, Family
from grfpp.gp.posterior import (
    CGPosterior,
    DensePosterior,
    Observations,
    Posterior,
    PrecisionPosterior,
    Spectrum,
)
from grfpp.graph import Graph

#: The methods; see `GraphGP`.
METHODS = ("columns", "precision", "cg")
#: Largest number of observed nodes whose covariance is dense.
_MAX_COLUMNS = 2000
#: Largest number of observed nodes that parameters are chosen on where there are more than
#: `_MAX_COLUMNS`: these determine the width to some per cent.
_MAX_CHOOSING = 600
#: Number of balls (nodes nearest to a centre) that these nodes fill, so that several regions of the
#: graph count.
_N_BALLS = 6


@dataclass(frozen=True)
class GPPlan:
    """How the linear systems of a process are solved.

    Attributes
    ----------
    method
        See `GraphGP`.
    factorize
        Whether kernels are multiplied by a sparse factorisation, else by polynomials.
    reason
        Why this method was chosen.
    """

    method: str
    factorize: bool
    reason: str

    def __str__(self) -> str:
        return f"{self.method} ({self.reason})"

    def conditioner(
        self, prior: Covariance, scale: float, seen: Observations
    ) -> Callable[[float], Posterior]:
        """A function from the ratio of noise to the posterior."""
        if self.method == "precision":
            assert isinstance(prior, FactorizedCovariance)
            return lambda ratio: PrecisionPosterior(prior, scale, seen, ratio)
        if self.method == "cg":
            return lambda ratio: CGPosterior(prior, scale, seen, ratio)
        spectrum = Spectrum(scale * prior.block(seen.nodes), seen.noise)
        return lambda ratio: DensePosterior(prior, scale, seen, ratio, spectrum)


def plan_gp(family: Family, n_observed: int, method: str = "auto") -> GPPlan:
    """Choose the method of the lowest predicted cost."""
    one_of(method, "method", ("auto", *METHODS))
    can_factorize = family.inverse_form(1.0) is not None
    if method != "auto":
        return GPPlan(method, can_factorize, "as asked for")
    if n_observed <= _MAX_COLUMNS or not can_factorize:
        return GPPlan("columns", can_factorize, "few observed nodes")
    return GPPlan("precision", can_factorize, "many observed nodes")


def choosing_part(graph: Graph, seen: Observations) -> tuple[Graph, Observations] | None:
    """A part of the graph and its observations, that parameters are chosen on; ``None`` for all.

    Where many nodes are observed, a few balls determine width and noise well enough.

    Examples
    --------
    >>> from grfpp.datasets import grid
    >>> nodes = np.arange(0, 10_000, 2)
    >>> seen = Observations.of(nodes, np.zeros((5000, 1)), np.ones(5000))
    >>> part, inside = choosing_part(grid(100, 100), seen)
    >>> part.n_nodes < 2000, 500 < len(inside.nodes) <= 600
    (True, True)
    """
    n = len(seen.nodes)
    if n <= _MAX_COLUMNS:
        return None
    adjacency, chosen = graph.adjacency, np.zeros(graph.n_nodes, bool)
    is_seen = np.zeros(graph.n_nodes, bool)
    is_seen[seen.nodes] = True
    for centre in np.random.default_rng(0).permutation(seen.nodes):
        n_left = _MAX_CHOOSING - int((chosen & is_seen).sum())
        if n_left <= 0:
            break
        ball = breadth_first_order(adjacency, centre, return_predecessors=False)
        ball = ball[~chosen[ball]]
        enough = np.flatnonzero(np.cumsum(is_seen[ball]) >= min(n_left, _MAX_CHOOSING // _N_BALLS))
        chosen[ball[: enough[0] + 1] if len(enough) else ball] = True
    nodes = np.flatnonzero(chosen)
    inside = np.flatnonzero(chosen[seen.nodes])
    part = seen.subset(inside, np.searchsorted(nodes, seen.nodes[inside]))
    return Graph(adjacency[nodes][:, nodes]), part
