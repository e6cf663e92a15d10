"""``degree="auto"``: the stitching degree of least predicted error at a given number of steps.

To first order the error of ``F̂_1 F̂_2ᵀ …`` is ``Σ_j F^j N_j F^(2l-1-j)`` with the noise ``N_j`` of
the factors, whose rows ``n_i`` are independent, so ``E ‖K̂ − K‖²_F ≈ Σ_j Σ_i (F^2j)_ii
E ‖n_i F^(2l-1-j)‖²``. Both parts are estimated from pilot rows, by Lanczos quadrature.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from grfpp.errors import DivergentSeriesError, InputError
from grfpp.estimate.deflation import Deflation
from grfpp.graph import Graph
from grfpp.kernels import Kernel
from grfpp.linalg.functions import unit_columns
from grfpp.linalg.spectra import projected_measure
from grfpp.options import MAX_DEGREE, WalkOptions
from grfpp.termination import Matched
from grfpp.typing import FloatArray, IntArray
from grfpp.walks import WalkPlan, sample_rows
from grfpp.walks.planning import plan_walks

#: The degrees that are compared.
DEGREES = (1, 2, 3, 4, 6, 8, 12)
#: Ratio to the least predicted error up to which a lower degree is taken: predictions from pilot
#: rows are not more accurate.
_MAX_ERROR_RATIO = 1.1
#: Largest predicted error of degree 1: the product of two noises, which is not predicted, matters
#: beyond it.
_MAX_ERROR_OF_DEGREE_ONE = 0.05
#: Pilot rows: a mean over them tells the degrees apart.
_N_ROWS = 16
#: Lanczos steps for each pilot row: quadrature with them is exact for polynomials of degree 31.
_N_STEPS = 16


def with_fixed_degree(
    graph: Graph, kernel: Kernel, options: WalkOptions, deflation: Deflation | None = None
) -> WalkOptions:
    """Options with a number for the degree, which ``"auto"`` chooses.

    The lowest of the degrees 1, 2, 3, 4, 6, 8 and 12 whose predicted error is within a tenth of the
    least; degree 1 only where it is below 0.05. All take the steps that degree 2 would take, so a
    higher degree has fewer walks a factor.

    Examples
    --------
    >>> import grfpp, networkx as nx
    >>> graph = grfpp.Graph(nx.random_regular_graph(4, 400, seed=0)).normalized("sym")
    >>> options = WalkOptions(degree="auto", seed=0)
    >>> with_fixed_degree(graph, grfpp.Diffusion(40.0), options).degree > 2
    True
    """
    if options.degree != "auto":
        return options
    if graph.is_directed:
        problem, advice = "'auto' needs symmetric weights", "give a number for a directed graph"
        raise InputError(problem, argument="degree", advice=advice)
    candidates = [at_equal_steps(options, degree) for degree in DEGREES]
    errors = []
    for candidate in candidates:
        try:
            errors.append(predicted_error(graph, kernel, candidate, deflation))
        except DivergentSeriesError:  # the root of this degree has a smaller radius
            errors.append(np.inf)
    if not np.isfinite(min(errors)):
        return candidates[0]  # which raises the error when it is planned
    if errors[0] > _MAX_ERROR_OF_DEGREE_ONE:
        errors[0] = np.inf
    is_good = [error <= _MAX_ERROR_RATIO * min(errors) for error in errors]
    return candidates[is_good.index(True)]


def at_equal_steps(options: WalkOptions, degree: int) -> WalkOptions:
    """Options of a degree with the total steps of degree 2."""
    n_walks = max(1, round(2 * options.n_walks / degree))
    law = options.termination
    if isinstance(law, Matched):
        law = Matched(law.mean * 2 * options.n_walks / (degree * n_walks))
    return options.changed(degree=degree, n_walks=n_walks, termination=law)


def predicted_error(
    graph: Graph, kernel: Kernel, options: WalkOptions, deflation: Deflation | None = None
) -> float:
    """The relative error of an estimate, predicted from the noise of pilot rows of a factor."""
    n, n_powers = graph.n_nodes, 2 * options.stitching_degree
    known, size = np.zeros((n, 0)), 0.0
    if deflation is not None:
        known, size = deflation.vectors, float(np.sum(deflation.values**2)) / n
    error = 0.0
    _, rows, shares, noise = next(pilot_noise(graph, kernel, options, _N_ROWS))
    for row, share, vector in zip(rows, shares, (noise / np.sqrt(2)).toarray(), strict=True):
        nodes, weights = _measure(graph, unit_columns(n, np.array([row]))[:, 0], known)
        size += float(weights @ kernel.value(nodes) ** 2) * share
        before = _powers(kernel, nodes, weights, n_powers)
        after = _powers(kernel, *_measure(graph, vector, known), n_powers)
        error += float(before @ after[::-1]) * share
    return float(np.sqrt(error / size))


def pilot_noise(
    graph: Graph, kernel: Kernel, options: WalkOptions, n_rows: int
) -> Iterator[tuple[WalkPlan, IntArray, FloatArray, sp.csr_array]]:
    """For each side's plan: pilot rows, their weights in a mean over all rows, and their noise.

    Half of the rows are drawn in proportion to the degrees, since hubs matter more. Noise is the
    difference of two independent samples.
    """
    degree = graph.out_degree + 1.0
    chance = 0.5 / graph.n_nodes + 0.5 * degree / degree.sum()
    rows = np.random.default_rng(0).choice(graph.n_nodes, n_rows, p=chance)
    shares = 1 / (graph.n_nodes * chance[rows] * n_rows)
    plans = plan_walks(graph, kernel, options.changed(on_infinite_variance="ignore"))
    for plan in {id(plan): plan for plan in plans}.values():
        # Random streams beyond those of estimates.
        first, second = (sample_rows(plan.with_factor(2 * MAX_DEGREE + i), rows) for i in (0, 1))
        yield plan, rows, shares, first - second


def _measure(graph: Graph, vector: FloatArray, known: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of the quadrature of ``vᵀ g(W) v``, without the known eigenvectors."""
    projected = vector - known @ (known.T @ vector)
    return projected_measure(graph.adjacency, projected, known, _N_STEPS)


def _powers(kernel: Kernel, nodes: FloatArray, weights: FloatArray, n_powers: int) -> FloatArray:
    """``vᵀ F^2j v`` for ``j = 0 … n_powers - 1``, where ``F^n_powers`` is the kernel."""
    values = np.abs(kernel.value(nodes))
    exponents = 2 * np.arange(n_powers) / n_powers
    return np.asarray(values[np.newaxis, :] ** exponents[:, np.newaxis] @ weights)
