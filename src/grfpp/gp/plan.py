"""How a Gaussian process on nodes is computed, and on which nodes its parameters are chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order
from scipy.sparse.linalg import matrix_power

from grfpp._checks import one_of
from grfpp._memory import fits
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
from grfpp.linalg.factorization import SparseFactor

#: The methods; see `GraphGP`.
METHODS = ("columns", "precision", "cg")
#: Largest number of observed nodes whose covariance is dense.
MAX_COLUMNS = 1000
#: Largest number of observed nodes that parameters are chosen on where there are more than
#: `MAX_COLUMNS`: these determine the width to some per cent.
_MAX_CHOOSING = 600
#: Number of balls (nodes nearest to a centre) that these nodes fill, so that several regions of the
#: graph count.
_N_BALLS = 6
#: Nodes of the balls that fill is extrapolated from: a few milliseconds, and half a second for the
#: last, which is looked at only where fill grows faster than this power of the nodes (an expander).
_BALL_SIZES = (500, 2000, 8000)
_EXPANDING = 1.5
#: Bytes of an entry of the triangular factor: of both factors, with indices, and room to compute.
_BYTES_PER_ENTRY = 48
#: Multiplications of a complex factorisation over ``fill² / n``.
_COMPLEX = 8.0
#: Multiplications up to which a factorisation is always taken: about a second.
_SMALL = 1e9
#: Chebyshev terms of a kernel of the width 100, which is among those that are tried.
_USUAL_TERMS = 200
#: Widths that are tried.
_N_WIDTHS = 10
#: Cost of eigenvectors of ``m`` rows over ``m³`` sparse multiplications: BLAS works in the cache.
_EIGENVECTORS = 0.5
#: Dense matrices of observed nodes that are in memory at one time.
_DENSE_MATRICES = 12
#: Products of conjugate gradients for a posterior mean and some draws.
_CG_STEPS = 1000


@dataclass(frozen=True)
class GPPlan:
    """How the linear systems of a process are solved.

    Attributes
    ----------
    how
        The method; see `GraphGP`.
    factorize
        Whether kernels are multiplied by a sparse factorisation, else by polynomials.
    work
        Predicted multiplications of each method that fits into memory.
    reason
        Why this method was chosen.
    """

    how: str
    factorize: bool
    work: dict[str, float]
    reason: str

    def __str__(self) -> str:
        costs = ", ".join(f"{name} {work:.1e}" for name, work in self.work.items())
        return f"{self.how} ({self.reason}; multiplications: {costs})"

    def conditioner(
        self, prior: Covariance, scale: float, seen: Observations
    ) -> Callable[[float], Posterior]:
        """A function from the ratio of noise to the posterior."""
        if self.how == "precision":
            assert isinstance(prior, FactorizedCovariance)
            return lambda ratio: PrecisionPosterior(prior, scale, seen, ratio)
        if self.how == "cg":
            return lambda ratio: CGPosterior(prior, scale, seen, ratio)
        spectrum = Spectrum(scale * prior.block(seen.nodes), seen.noise)
        return lambda ratio: DensePosterior(prior, scale, seen, ratio, spectrum)


def plan_gp(family: Family, n_observed: int, method: str = "auto") -> GPPlan:
    """Choose the method of the lowest predicted cost.

    Parameters
    ----------
    family
        The kernels.
    n_observed
        Number of observed nodes.
    method
        A method, which is then used, or ``"auto"``.

    Examples
    --------
    >>> from grfpp.datasets import grid
    >>> family = Family(grid(100, 100).normalized("sym"), np.ones(10_000))
    >>> print(plan_gp(family, 100))
    columns (few observed nodes; multiplications: columns ..., cg ..., precision ...)
    >>> plan_gp(family, 4000).how
    'precision'
    """
    one_of(method, "method", ("auto", *METHODS))
    n, m, n_entries = family.W.n_nodes, n_observed, len(family.W.indices)
    polynomial = float(_USUAL_TERMS * n_entries)
    product, block, work = polynomial, polynomial * m, {}
    # Polynomials between observed nodes serve all widths.
    n_blocks = 1
    form, factorize = family.inverse_form(1.0), False
    if form is not None:
        fill = predicted_fill(family.W, 1)
        by_factor = _COMPLEX * fill**2 / n
        # A graph of few nodes is cheaper to factorise than to predict for.
        factorize = fits(_BYTES_PER_ENTRY * fill) and by_factor < max(block, _SMALL)
        if factorize:
            product, block = 2 * form[2] * fill, by_factor + form[2] * float(m) ** 3
            n_blocks = _N_WIDTHS
    n_chosen = min(m, _MAX_CHOOSING) if m > MAX_COLUMNS else m
    choice = n_blocks * block * n_chosen / m + _N_WIDTHS * _EIGENVECTORS * float(n_chosen) ** 3
    if fits(8 * _DENSE_MATRICES * m**2):
        work["columns"] = n_blocks * block + _N_WIDTHS * _EIGENVECTORS * float(m) ** 3
    work["cg"] = choice + _CG_STEPS * product
    if factorize and form is not None:
        fill = predicted_fill(family.W, form[2])
        if fits(_BYTES_PER_ENTRY * fill):
            work["precision"] = choice + 2 * fill**2 / n
    if method != "auto":
        can_factorize = factorize or (method == "precision" and form is not None)
        return GPPlan(method, can_factorize, work, "as asked for")
    if m <= MAX_COLUMNS and "columns" in work:
        return GPPlan("columns", factorize, work, "few observed nodes")
    return GPPlan(min(work, key=work.__getitem__), factorize, work, "least work")


def predicted_fill(W: Graph, power: int) -> float:
    """Predicted entries of the triangular factor of ``(a I − b W)^power``.

    Extrapolated from balls of hundreds and thousands of nodes by a power of their edges: balls
    around the node of largest degree are denser than the rest.

    Examples
    --------
    >>> from grfpp.datasets import grid
    >>> factor = SparseFactor(_pattern(grid(70, 70), 1))
    >>> 0.5 < predicted_fill(grid(70, 70), 1) / (factor.n_entries / 2) < 2
    True
    """
    counts: list[tuple[int, float]] = []
    start = int(np.argmax(W.out_degree))
    ball = breadth_first_order(W.adjacency, start, return_predecessors=False)
    exponent = 2.0
    for size in _BALL_SIZES:
        nodes = np.sort(ball[:size])
        part = Graph(W.adjacency[nodes][:, nodes])
        n_entries = part.n_nodes + len(part.indices)
        counts.append((n_entries, SparseFactor(_pattern(part, power)).n_entries / 2))
        if len(ball) <= size:
            return counts[-1][1] * W.n_nodes / len(ball)
        if counts[-1][1] > size**2 / 8:  # nearly dense, and so are larger balls
            break
        if len(counts) > 1:
            (few, small), (many, large) = counts[-2:]
            exponent = float(np.clip(np.log(large / small) / np.log(many / few), 1.0, 2.0))
            if np.log(large / small) < _EXPANDING * np.log(size / _BALL_SIZES[0]):
                break
    n_entries, fill = counts[-1]
    return float(fill * ((W.n_nodes + len(W.indices)) / n_entries) ** exponent)


def _pattern(W: Graph, power: int) -> sp.csc_array:
    """A matrix with the pattern of ``(a I − b W)^power``."""
    scale = 2 * W.weights.max(initial=1e-300) * max(1, int(W.out_degree.max(initial=1)))
    return matrix_power(sp.csc_array(sp.eye_array(W.n_nodes) - W.adjacency / scale), power)


def choosing_part(
    graph: Graph, seen: Observations, limit: int = MAX_COLUMNS
) -> tuple[Graph, Observations] | None:
    """A part of the graph and its observations, that parameters are chosen on; ``None`` for all.

    Where more than `limit` nodes are observed, a few balls determine width and noise well enough.

    Examples
    --------
    >>> from grfpp.datasets import grid
    >>> nodes = np.arange(0, 10_000, 2)
    >>> seen = Observations.of(nodes, np.zeros((5000, 1)), np.ones(5000))
    >>> part, inside = choosing_part(grid(100, 100), seen)
    >>> part.n_nodes < 2000, 500 < len(inside.nodes) <= 600
    (True, True)
    """
    if len(seen.nodes) <= limit:
        return None
    n_chosen = min(limit, _MAX_CHOOSING)
    adjacency, chosen = graph.adjacency, np.zeros(graph.n_nodes, bool)
    is_seen = np.zeros(graph.n_nodes, bool)
    is_seen[seen.nodes] = True
    for centre in np.random.default_rng(0).permutation(seen.nodes):
        n_left = n_chosen - int((chosen & is_seen).sum())
        if n_left <= 0:
            break
        ball = breadth_first_order(adjacency, centre, return_predecessors=False)
        ball = ball[~chosen[ball]]
        enough = np.flatnonzero(np.cumsum(is_seen[ball]) >= min(n_left, n_chosen // _N_BALLS))
        chosen[ball[: enough[0] + 1] if len(enough) else ball] = True
    nodes = np.flatnonzero(chosen)
    inside = np.flatnonzero(chosen[seen.nodes])
    part = seen.subset(inside, np.searchsorted(nodes, seen.nodes[inside]))
    return Graph(adjacency[nodes][:, nodes]), part
