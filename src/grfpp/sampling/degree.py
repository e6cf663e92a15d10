"""``degree="auto"``: the stitching degree of least predicted error at a given number of steps.

To first order the error of ``F̂_1 F̂_2ᵀ …`` is ``Σ_j F^j N_j F^(2l-1-j)`` with the noise ``N_j`` of
the factors, whose rows ``n_i`` are independent. So

    E ‖K̂ − K‖²_F ≈ Σ_j Σ_i (F^2j)_ii E ‖n_i F^(2l-1-j)‖².

Both parts are found for a few rows ``i``: ``n_i`` is the difference of two small walks, and powers
of ``F`` are functions of ``W``, of which Lanczos' quadrature gives all at once.
"""

from __future__ import annotations

import numpy as np

from grfpp.errors import DivergentSeriesError, InputError
from grfpp.estimate.deflation import Deflation
from grfpp.graph import Graph
from grfpp.kernels import Kernel
from grfpp.linalg.spectra.eigenpairs import spectral_measure
from grfpp.options import MAX_DEGREE, WalkOptions
from grfpp.termination import Matched
from grfpp.typing import FloatArray, IntArray
from grfpp.walks import sample_rows
from grfpp.walks.planning import plan_walks

#: The degrees that are compared.
DEGREES = (1, 2, 3, 4, 6, 8, 12)
#: Of those whose predicted error is within so much of the least, the lowest is taken.
_NEAR = 1.1
#: Degree 1 is taken only where its error is predicted to be below this.
_SMALL = 0.05
#: Rows that are looked at, and steps of Lanczos' method for each.
_N_ROWS, _N_STEPS = 16, 16


def settle_degree(
    graph: Graph, kernel: Kernel, options: WalkOptions, deflation: Deflation | None = None
) -> WalkOptions:
    """Options with a degree that is a number.

    For ``"auto"`` the steps of all factors together stay those of degree 2, so a higher degree has
    fewer walks a factor. Of the degrees 1, 2, 3, 4, 6, 8 and 12 the lowest is taken whose predicted
    error is within a tenth of the least; degree 1 only where it is below 0.05.

    Examples
    --------
    >>> import grfpp, networkx as nx
    >>> graph = grfpp.Graph(nx.random_regular_graph(4, 400, seed=0)).normalized("sym")
    >>> options = WalkOptions(degree="auto", seed=0)
    >>> settle_degree(graph, grfpp.Diffusion(40.0), options).degree > 2
    True
    """
    if options.degree != "auto":
        return options
    if graph.is_directed:
        raise InputError(
            "degree='auto' needs symmetric weights; give a number for a directed graph"
        )
    candidates = [at_equal_steps(options, degree) for degree in DEGREES]
    errors = []
    for each in candidates:
        try:
            errors.append(predicted_error(graph, kernel, each, deflation))
        except DivergentSeriesError:  # the root of this degree has a smaller radius
            errors.append(np.inf)
    if not np.isfinite(min(errors)):
        return candidates[0]  # and the error is raised where all are
    if errors[0] > _SMALL:
        errors[0] = np.inf  # where both factors are noisy, so are their noises' product
    near = [error <= _NEAR * min(errors) for error in errors]
    return candidates[near.index(True)]


def at_equal_steps(options: WalkOptions, degree: int) -> WalkOptions:
    """The same steps in all as degree 2 would take with these options, at another degree."""
    n_walks = max(1, round(2 * options.n_walks / degree))
    law = options.termination
    if isinstance(law, Matched):
        law = Matched(law.mean * 2 * options.n_walks / (degree * n_walks))
    return options.changed(degree=degree, n_walks=n_walks, termination=law)


def predicted_error(
    graph: Graph, kernel: Kernel, options: WalkOptions, deflation: Deflation | None = None
) -> float:
    """The relative error of an estimate, from the noise of a few rows of a factor."""
    n, degree = graph.n_nodes, options.stitching_degree
    rows, shares = pilot_rows(graph, _N_ROWS)
    known = np.zeros((n, 0)) if deflation is None else deflation.vectors
    exactly = 0.0 if deflation is None else float(np.sum(deflation.values**2)) / n
    plan = plan_walks(graph, kernel, options.changed(on_infinite_variance="ignore")).forward
    # Streams that no estimate has.
    walks = [sample_rows(plan.with_factor(2 * MAX_DEGREE + side), rows) for side in (0, 1)]
    noise = ((walks[0] - walks[1]) / np.sqrt(2)).toarray()
    n_powers = 2 * degree
    error, size = 0.0, exactly
    for row, share, vector in zip(rows, shares, noise, strict=True):
        unit = np.zeros(n)
        unit[row] = 1.0
        places, weights = _measure(graph, unit, known)
        size += float(weights @ kernel.value(places) ** 2) * share
        before = _powers(kernel, places, weights, n_powers)
        after = _powers(kernel, *_measure(graph, vector, known), n_powers)
        error += float(before @ after[::-1]) * share
    return float(np.sqrt(error / size))


def pilot_rows(graph: Graph, number: int) -> tuple[IntArray, FloatArray]:
    """Some nodes, and what share of all each stands for: half by degree, since hubs matter more."""
    degree = graph.out_degree + 1.0
    chance = 0.5 / graph.n_nodes + 0.5 * degree / degree.sum()
    rows = np.random.default_rng(0).choice(graph.n_nodes, number, p=chance)
    return rows, 1 / (graph.n_nodes * chance[rows] * number)


def _measure(graph: Graph, vector: FloatArray, known: FloatArray) -> tuple[FloatArray, FloatArray]:
    beside = vector - known @ (known.T @ vector)
    return spectral_measure(graph.adjacency, beside, known, _N_STEPS)


def _powers(kernel: Kernel, places: FloatArray, weights: FloatArray, n_powers: int) -> FloatArray:
    """``vᵀ F^2j v`` for ``j = 0 … n_powers - 1``, where ``F^n_powers`` is the kernel."""
    values = np.abs(kernel.value(places))
    exponents = 2 * np.arange(n_powers) / n_powers
    return np.asarray(values[np.newaxis, :] ** exponents[:, np.newaxis] @ weights)
