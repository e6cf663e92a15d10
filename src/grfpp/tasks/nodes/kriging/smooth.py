"""Gaussian processes whose kernel is an inverse power: their mean is a sparse linear system.

With ``K = R^-1 (I − c W)^-ν R^-1`` and noise ``η``, the mean at all nodes minimises
``Σ_known (f_i − y_i)² / η + fᵀ K^-1 f``. With ``g = R f`` that is

    ((I − c W)^ν + S / (η R²)) g = S y / (η R),

``S`` 1 at known nodes: products with ``W`` alone, no kernel. ``R²`` holds the degrees where
constants are to be as smooth as can be (the Laplacian of the random walk), or ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from grfpp.graph import Graph
from grfpp.linalg.functions import chebyshev
from grfpp.linalg.solvers.preconditioned import Solution
from grfpp.linalg.solvers.shifted_powers import solve_shifted
from grfpp.tasks.nodes.kriging.process import MOST_STEPS, Mean, n_probes, unit_columns
from grfpp.typing import FloatArray, IntArray

#: Of what the mean of the diagonal, and standard errors, come from.
_ROUGH, _TOL = 1e-6, 1e-5


@dataclass(frozen=True, eq=False)
class SmoothProcess:
    """A process with the kernel ``R^-1 (I − c W)^-power R^-1``.

    Parameters
    ----------
    W
        Symmetric weights.
    roots
        The diagonal of ``R``.
    c
        Positive, below the inverse of the spectral radius.
    power
        A whole number.
    n_jobs
        Threads.
    """

    W: Graph
    roots: FloatArray
    c: float
    power: int
    n_jobs: int = -1

    @cached_property
    def _diagonal(self) -> FloatArray:
        """About the diagonal of ``(I − c W)^power``: exact up to squares of ``c W``."""
        weights = self.W.adjacency
        rows = np.repeat(np.arange(self.W.n_nodes), np.diff(weights.indptr))
        squares = np.bincount(rows, weights.data**2, minlength=self.W.n_nodes)
        pairs = self.power * (self.power - 1) / 2
        found = 1.0 - self.power * self.c * weights.diagonal() + pairs * self.c**2 * squares
        return np.asarray(np.maximum(found, 1e-3))[:, None]

    def _solved(
        self, pull: FloatArray, right: FloatArray, tol: float, start: FloatArray | None = None
    ) -> Solution:
        return solve_shifted(
            self.W.adjacency,
            self.c,
            self.power,
            pull,
            self._diagonal,
            right,
            start,
            tol,
            MOST_STEPS,
            self.n_jobs,
        )

    def mean(self, known: FloatArray, values: FloatArray, noise: float, tol: float) -> Mean:
        """The mean at all nodes.

        Parameters
        ----------
        known
            1 at known nodes, else 0; a column for each of `values`, or one for all.
        values
            What is known there, a row a node.
        noise
            The variance of observations, above 0.
        tol
            Of the residual, over that of a field of zeros beside the known values.
        """
        roots = self.roots[:, None]
        pull = known / (noise * roots**2)
        # From the known values on: their residual is all noise, and would hide that of the others.
        start = known * roots * values
        found = self._solved(pull, pull * start, tol, start)
        return Mean(found.solution / roots, found.n_steps)

    def prior_variance(self, seed: int) -> float:
        """The mean of the kernel's diagonal, by random signs."""
        rng, n = np.random.default_rng(seed), self.W.n_nodes
        signs = rng.choice([-1.0, 1.0], size=(n, n_probes(n))) / self.roots[:, None]
        found = chebyshev.apply(
            self.W, lambda x: (1.0 - self.c * x) ** -float(self.power), signs, _ROUGH
        )
        return float((signs * found).mean())

    def variances(self, nodes: IntArray, known: FloatArray, noise: float) -> FloatArray:
        """Variances at nodes, given the known ones: a column for each node, or one for all."""
        units = unit_columns(nodes, self.W.n_nodes)
        found = self._solved(known / (noise * self.roots[:, None] ** 2), units, _TOL).solution
        ends = found[nodes, np.arange(len(nodes))] / self.roots[nodes] ** 2
        return np.asarray(np.maximum(ends, 0.0))

    def draws(self, n_draws: int, known: FloatArray, noise: float, seed: int) -> FloatArray:
        """Deviations of the process from its mean, given the known nodes: a column a draw.

        A right side whose covariance is the matrix of the system has a solution whose covariance
        is the inverse of it.
        """
        rng, n = np.random.default_rng(seed), self.W.n_nodes
        roots = self.roots[:, None]
        pull = known / (noise * roots**2)
        half = chebyshev.apply(
            self.W,
            lambda x: np.maximum(1.0 - self.c * x, 0.0) ** (self.power / 2),
            rng.standard_normal((n, n_draws)),
            1e-6,
        )
        right = half + np.sqrt(pull) * rng.standard_normal((n, n_draws))
        return self._solved(pull, right, 1e-4).solution / roots
