"""Gaussian processes with any kernel: conjugate gradients whose products the planner makes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from grfpp.exact_kernel import ExactKernel
from grfpp.linalg.solvers.preconditioned import solve_columns
from grfpp.tasks.nodes.kriging.process import MOST_STEPS, Mean, n_probes, unit_columns
from grfpp.typing import FloatArray, IntArray

#: Of the solves that standard errors come from.
_TOL = 1e-5


@dataclass(frozen=True, eq=False)
class PlannedProcess:
    """A process with the kernel ``R^-1 K R^-1``, of which products are all that is asked.

    Parameters
    ----------
    K
        A symmetric operator, such as `grfpp.kernel_operator` gives.
    roots
        The diagonal of ``R``.
    """

    K: ExactKernel
    roots: FloatArray

    def _times(self, block: FloatArray) -> FloatArray:
        roots = self.roots[:, None]
        return np.asarray(self.K @ (block / roots)) / roots

    def _solved(
        self, known: FloatArray, right: FloatArray, noise: float, tol: float
    ) -> tuple[FloatArray, int]:
        """``(K + noise)^-1 right`` between the known nodes of each column, zeros elsewhere."""
        found = solve_columns(
            lambda block: known * self._times(known * block) + noise * block,
            np.ones((len(right), 1)),
            known * right,
            tol,
            MOST_STEPS,
        )
        return found.solution, found.n_steps

    def mean(self, known: FloatArray, values: FloatArray, noise: float, tol: float) -> Mean:
        """The mean at all nodes; see `SmoothProcess.mean`."""
        weights, n_steps = self._solved(known, values, noise, tol)
        return Mean(self._times(weights), n_steps)

    def prior_variance(self, seed: int) -> float:
        """The mean of the kernel's diagonal, by random signs."""
        rng, n = np.random.default_rng(seed), len(self.roots)
        signs = rng.choice([-1.0, 1.0], size=(n, n_probes(n)))
        return float((signs * self._times(signs)).mean())

    def variances(self, nodes: IntArray, known: FloatArray, noise: float) -> FloatArray:
        """Variances at nodes, given the known ones: a column for each node, or one for all."""
        columns = self._times(unit_columns(nodes, len(self.roots)))
        prior = columns[nodes, np.arange(len(nodes))]
        solved, _ = self._solved(np.broadcast_to(known, columns.shape), columns, noise, _TOL)
        told = np.einsum("ij,ij->j", known * columns, solved)
        return np.asarray(np.maximum(prior - told, 0.0))
