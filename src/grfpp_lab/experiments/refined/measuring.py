"""What a cell measures: errors, seconds and stored entries of one method at several budgets."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from grfpp.estimate import KernelEstimate
from grfpp.graph import Graph
from grfpp.kernels import Kernel
from grfpp.kernels.registry import kernel_from_spec
from grfpp.options import DEFAULT_LAWS
from grfpp.sampling import sample
from grfpp.termination import termination_from_spec
from grfpp.typing import FloatArray, IntArray
from grfpp_lab.experiments.measuring import mean_and_error, pick, seeds
from grfpp_lab.experiments.refined.graphs import load
from grfpp_lab.experiments.refined.methods import (
    AVERAGED,
    CHEBYSHEV,
    DEFLATED,
    INDEPENDENT,
    LARGEST,
    POOLED,
)
from grfpp_lab.harness.experiment import Cell, Row, but

#: Of the products that errors are measured against, relative to the largest value of the kernel.
_EXACT = 1e-13
_TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8)


class Truth(NamedTuple):
    """Some columns of the kernel, or all."""

    nodes: IntArray
    #: Unit vectors of these nodes, and the kernel times them.
    units: FloatArray
    exact: FloatArray

    def errors(self, found: FloatArray) -> tuple[float, float]:
        """``‖K̂ − K‖_F / ‖K‖_F`` over these columns, with and without the diagonal."""
        return _relative(found - self.exact, self.exact), _relative(
            self._off(found - self.exact), self._off(self.exact)
        )

    def _off(self, columns: FloatArray) -> FloatArray:
        return np.where(self.units == 0, columns, 0.0)


def _relative(difference: FloatArray, exact: FloatArray) -> float:
    return float(np.linalg.norm(difference) / np.linalg.norm(exact))


@lru_cache(maxsize=1)
def weights(graph: str, scale: float) -> Graph:
    """``scale · D^-1/2 A D^-1/2``; kept for the next cell."""
    return load(graph).normalized("sym", scale)


@lru_cache(maxsize=1)
def truth(graph: str, scale: float, kernel: str, n_columns: int) -> Truth:
    """So many columns of the kernel, drawn evenly; kept for the next cell."""
    W = weights(graph, scale)
    n = W.n_nodes
    nodes = np.sort(np.random.default_rng(0).permutation(n)[:n_columns])
    units = np.zeros((n, len(nodes)))
    units[nodes, np.arange(len(nodes))] = 1.0
    return Truth(nodes, units, kernel_from_spec(kernel).apply(W, units, tol=_EXACT))


def rows_of(cell: Cell) -> list[Row]:
    """The rows of a cell."""
    run: Callable[[Cell], list[Row]] = {CHEBYSHEV: _polynomials, LARGEST: _largest}.get(
        cell["method"], _walked
    )
    return run(cell)


def _parts(cell: Cell) -> tuple[Graph, Kernel, Truth]:
    W = weights(cell["graph"], cell["scale"])
    return W, kernel_from_spec(cell["kernel"]), truth(*_truth_of(cell))


def _truth_of(cell: Cell) -> tuple[str, float, str, int]:
    return cell["graph"], cell["scale"], cell["kernel"], cell["columns"]


def _row(cell: Cell, truth: Truth, **numbers: Any) -> Row:
    return {
        "graph": cell["graph"],
        "n_nodes": len(truth.units),
        "columns": len(truth.nodes),
        "kernel": cell["name"],
        **pick(cell, "method", "degree"),
        **numbers,
    }


# --- walks ----------------------------------------------------------------------------------------


def _walked(cell: Cell) -> list[Row]:
    """A row for every budget; pooled walks have a second one, averaged."""
    W, kernel, known = _parts(cell)
    _sample(cell, W, kernel, 1, 0)  # what is computed once for a graph and a kernel
    rows: list[Row] = []
    for budget in cell["budgets"]:
        n_walks = round(budget / (2 * cell["degree"] * _mean_length(cell)))
        found: dict[str, list[tuple[float, float]]] = {}
        seconds, entries, steps = np.inf, 0.0, 0.0
        for seed in seeds(cell["repeats"], **but(cell, "repeats", "budgets"), budget=budget):
            began = perf_counter()
            K = _sample(cell, W, kernel, n_walks, seed)
            seconds = min(seconds, perf_counter() - began)
            entries, steps = _entries(K), K.meta["steps_per_node"]
            for method, columns in _columns(cell["method"], K, known.units).items():
                found.setdefault(method, []).append(known.errors(columns))
        rows += [
            {
                **_row(cell, known, budget=budget, steps_per_node=steps, entries=entries),
                "method": method,
                **_error_columns(errors),
                "seconds": seconds,
            }
            for method, errors in found.items()
        ]
    return rows


def _mean_length(cell: Cell) -> float:
    if cell["method"] == INDEPENDENT:
        return termination_from_spec(cell["termination"]).mean
    return DEFAULT_LAWS["pooled"].mean


def _sample(cell: Cell, W: Graph, kernel: Kernel, n_walks: int, seed: int) -> KernelEstimate:
    options: dict[str, Any] = {"symmetrize": False}
    if cell["method"] == INDEPENDENT:
        options = {"walks": INDEPENDENT, "termination": cell["termination"]}
    elif cell["method"] == DEFLATED:
        options = {"deflate": cell["vectors"]}
    # What `sample` warns of is measured here.
    options |= {"on_infinite_variance": "ignore", "check_error": False, "n_jobs": 1}
    return sample(W, kernel, cell["degree"], n_walks, seed=seed, **options)


def _columns(method: str, K: KernelEstimate, units: FloatArray) -> dict[str, FloatArray]:
    """The columns that the errors are measured at, for the method and for what comes with it."""
    found = K @ units
    if method != POOLED:
        return {method: found}
    return {POOLED: found, AVERAGED: (found + K.T @ units) / 2}


def _entries(K: KernelEstimate) -> float:
    """Stored numbers a node: of all factors, and of eigenvectors."""
    stored = sum(factor.nnz for pair in K.factors for factor in pair)
    return float(stored / K.n_nodes + K.meta["deflate"])


def _error_columns(errors: list[tuple[float, float]]) -> dict[str, float]:
    whole, off = ([each[part] for each in errors] for part in (0, 1))
    error, standard_error = mean_and_error(whole)
    off_error, off_standard_error = mean_and_error(off)
    return {
        "repeats": len(errors),
        "error": error,
        "standard_error": standard_error,
        "off_error": off_error,
        "off_standard_error": off_standard_error,
    }


# --- without walks --------------------------------------------------------------------------------


def _polynomials(cell: Cell) -> list[Row]:
    """Chebyshev polynomials, whose tolerance falls: seconds for all columns, measured on some."""
    W, kernel, known = _parts(cell)
    share = len(known.nodes) / W.n_nodes
    rows, seconds = [], []
    kernel.apply(W, known.units[:, :1], tol=_TOLERANCES[0])
    for tol in _TOLERANCES:
        began = perf_counter()
        found = kernel.apply(W, known.units, tol=tol)
        seconds.append((perf_counter() - began) / share)
        rows.append({**_row(cell, known, tol=tol), **_error_columns([known.errors(found)])})
    # What is enough for a small tolerance is enough for a larger one, whatever the clock says.
    least = np.minimum.accumulate(seconds[::-1])[::-1]
    return [{**row, "seconds": taken} for row, taken in zip(rows, least, strict=True)]


def _largest(cell: Cell) -> list[Row]:
    """The kernel's series, of which each row keeps so many entries, the largest."""
    _, _, known = _parts(cell)
    n = len(known.exact)
    descending = np.argsort(-np.abs(known.exact), axis=0)
    rows: list[Row] = []
    for entries in sorted({min(n, entries) for entries in cell["entries"]}):
        dropped, kept = descending[entries:], known.exact.copy()
        np.put_along_axis(kept, dropped, 0.0, axis=0)
        errors = _error_columns([known.errors(kept)])
        rows.append({**_row(cell, known, entries=entries), **errors, "seconds": None})
    return rows
