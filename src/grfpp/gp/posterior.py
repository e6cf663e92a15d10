"""Posteriors of a Gaussian process of one width and noise: a base class, and a class a method.

With ``C`` the prior covariance, ``S`` the observed nodes, ``η`` the ratio of noise to outputscale
and ``N`` the diagonal of relative noises, everything follows from ``A = C[S, S] + η N``.

References
----------
C. E. Rasmussen and C. K. I. Williams, Gaussian Processes for Machine Learning, 2006, chapter 2.
H. Rue and L. Held, Gaussian Markov Random Fields, 2005.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from grfpp.errors import InputError
from grfpp.gp.covariance import Covariance, FactorizedCovariance
from grfpp.linalg.cg import solve
from grfpp.linalg.factorization import SparseFactor, inverse_block
from grfpp.linalg.functions import unit_columns
from grfpp.linalg.lanczos import log_quadrature
from grfpp.typing import FloatArray, IntArray

#: Nodes of a block of joint covariances, unless there are more observed nodes.
BLOCK = 512
#: Relative residual of conjugate gradients, and their largest number of steps.
_CG_TOL = 1e-9
_MAX_CG_STEPS = 5000
#: Solves, per entry of a row of the factors, in place of a factorisation: they take up to twice as
#: long, and half the memory.
_SOLVES_PER_ENTRY = 2.0
#: Number of random vectors that estimate a determinant.
_N_PROBES = 30


@dataclass(frozen=True, eq=False)
class Observations:
    """Sufficient statistics of observations, which may repeat nodes.

    Attributes
    ----------
    nodes
        The distinct observed nodes, sorted.
    values
        Weighted means of the observations at each, of shape ``(n_nodes, n_outputs)``.
    noise
        Relative variances of these means: the diagonal of ``N``.
    within
        Weighted sums of squares around the means, one per output.
    n
        Number of observations.
    log_jacobian
        Log-determinant of what was left out: relative variances of all observations over `noise`.
    """

    nodes: IntArray
    values: FloatArray
    noise: FloatArray
    within: FloatArray
    n: int
    log_jacobian: float

    @classmethod
    def of(cls, nodes: IntArray, y: FloatArray, variances: FloatArray) -> Observations:
        """Combine the observations of each node.

        Examples
        --------
        >>> y = np.array([[1.0], [3.0], [5.0]])
        >>> seen = Observations.of(np.array([4, 4, 2]), y, np.ones(3))
        >>> seen.nodes, seen.values.ravel(), seen.noise, seen.within
        (array([2, 4]), array([5., 2.]), array([1. , 0.5]), array([2.]))
        """
        distinct, at = np.unique(nodes, return_inverse=True)
        member = sp.csr_array((1 / variances, (at, np.arange(len(at)))))
        precision = member.sum(axis=1)
        means = member @ y / precision[:, None]
        within = (np.square(y - means[at]) / variances[:, None]).sum(axis=0)
        log_jacobian = float(np.log(variances).sum() + np.log(precision).sum())
        return cls(distinct, means, 1 / precision, within, len(at), log_jacobian)

    def subset(self, positions: IntArray, nodes: IntArray) -> Observations:
        """The means at some of the observed nodes, under other indices."""
        chosen = self.values[positions], self.noise[positions]
        return Observations(nodes, *chosen, 0 * self.within, len(positions), 0.0)


class Conditioned(NamedTuple):
    """``A^-1 V`` at the observed nodes, and ``C[:, S] A^-1 V`` at all nodes."""

    weights: FloatArray
    field: FloatArray


@dataclass(frozen=True, eq=False)
class Posterior(ABC):
    """The process given observations.

    Attributes
    ----------
    prior
        The covariance, times `scale`.
    scale
        A factor of the prior's covariance.
    seen
        The observations.
    ratio
        ``η``: noise over outputscale.
    """

    prior: Covariance
    scale: float
    seen: Observations
    ratio: float

    @property
    def noise(self) -> FloatArray:
        """The diagonal ``η N``."""
        return self.ratio * self.seen.noise

    @abstractmethod
    def condition(self, V: FloatArray) -> Conditioned:
        """Solve for columns at the observed nodes, and extend them to all nodes."""

    @abstractmethod
    def log_determinant(self) -> float:
        """``log det A``."""

    @abstractmethod
    def covariance(self, nodes: IntArray) -> FloatArray:
        """``C[T, T] − C[T, S] A^-1 C[S, T]`` for distinct nodes ``T``."""

    def variances(self, nodes: IntArray) -> FloatArray:
        """The diagonal of `covariance`, at least 0, by blocks."""
        size = max(BLOCK, len(self.seen.nodes))
        blocks = np.split(nodes, range(size, len(nodes), size))
        diagonals = [self.covariance(block).diagonal() for block in blocks]
        return np.maximum(np.concatenate(diagonals), 0.0)

    def inverse_diagonal(self, positions: IntArray) -> FloatArray:
        """Entries on the diagonal of ``A^-1``, by positions of observed nodes."""
        noise, variances = self.noise[positions], self.variances(self.seen.nodes[positions])
        return (1 - np.minimum(variances / noise, 1.0)) / noise

    def prior_draws(self, rng: np.random.Generator, n: int) -> tuple[FloatArray, FloatArray]:
        """Draws of the prior at all nodes, and of noisy observations of them."""
        draws = np.sqrt(self.scale) * self.prior.draws(rng, n)
        gaussians = rng.standard_normal((len(self.noise), n))
        return draws, draws[self.seen.nodes] + np.sqrt(self.noise)[:, None] * gaussians


class Spectrum:
    """Eigenvalues and eigenvectors of ``N^-½ C[S, S] N^-½``, which serve every noise."""

    def __init__(self, block: FloatArray, noise: FloatArray) -> None:
        from scipy.linalg import eigh

        self.roots = 1 / np.sqrt(noise)
        values, self.vectors = eigh(block * np.outer(self.roots, self.roots), driver="evd")
        #: Rounding can make the smallest slightly negative.
        self.values = np.maximum(values, 0.0)

    def rotate(self, V: FloatArray) -> FloatArray:
        """``Uᵀ N^-½ V``."""
        return np.asarray(self.vectors.T @ (self.roots[:, None] * V))

    def solve(self, V: FloatArray, ratio: float) -> FloatArray:
        """``(C[S, S] + η N)^-1 V``."""
        rotated = self.rotate(V) / (self.values + ratio)[:, None]
        return np.asarray(self.roots[:, None] * (self.vectors @ rotated))


@dataclass(frozen=True, eq=False)
class DensePosterior(Posterior):
    """By the dense covariance of the observed nodes."""

    spectrum: Spectrum

    def condition(self, V: FloatArray) -> Conditioned:
        """Solve by eigenvectors; extend by one product with the prior covariance."""
        weights = self.spectrum.solve(V, self.ratio)
        everywhere = np.zeros((self.prior.n_nodes, V.shape[1]))
        everywhere[self.seen.nodes] = weights
        return Conditioned(weights, self.scale * self.prior.times(everywhere))

    def log_determinant(self) -> float:
        """From the eigenvalues."""
        return float(np.log((self.spectrum.values + self.ratio) * self.seen.noise).sum())

    def covariance(self, nodes: IntArray) -> FloatArray:
        """From the prior's columns, or its block of observed and other nodes together."""
        n_seen, seen = len(self.seen.nodes), self.seen.nodes
        if len(nodes) <= self.prior.max_columns:
            block = self.scale * self.prior.entries(np.concatenate([seen, nodes]), nodes)
            across, inside = block[:n_seen], block[n_seen:]
        else:
            together = np.concatenate([seen, np.setdiff1d(nodes, seen)])
            block = self.scale * self.prior.block(together)
            at = np.argsort(together)[np.searchsorted(np.sort(together), nodes)]
            across, inside = block[:n_seen, at], block[np.ix_(at, at)]
        across = self.spectrum.rotate(across)
        across /= np.sqrt(self.spectrum.values + self.ratio)[:, None]
        return np.asarray(inside - across.T @ across)

    def inverse_diagonal(self, positions: IntArray) -> FloatArray:
        """From the eigenvectors."""
        squares = np.square(self.spectrum.vectors[positions])
        shares = squares @ (1 / (self.spectrum.values + self.ratio))
        return np.asarray(shares * np.square(self.spectrum.roots[positions]))


@dataclass(frozen=True, eq=False)
class PrecisionPosterior(Posterior):
    """By a factorisation of the posterior precision ``P = C^-1 + Sᵀ (η N)^-1 S``."""

    prior: FactorizedCovariance

    @cached_property
    def _precision(self) -> sp.csc_array:
        diagonal = np.zeros(self.prior.n_nodes)
        diagonal[self.seen.nodes] = 1 / self.noise
        return sp.csc_array(self.prior.precision / self.scale + sp.diags_array(diagonal))

    @cached_property
    def _factor(self) -> SparseFactor:
        return self.prior.family.factor(self._precision, self.prior.form[2])

    def condition(self, V: FloatArray) -> Conditioned:
        """``C[:, S] A^-1 V = P^-1 Sᵀ (η N)^-1 V``."""
        inverse_noise = 1 / self.noise[:, None]
        right = np.zeros((self.prior.n_nodes, V.shape[1]))
        right[self.seen.nodes] = inverse_noise * V
        field = self._factor.solve(right)
        return Conditioned(inverse_noise * (V - field[self.seen.nodes]), field)

    def log_determinant(self) -> float:
        """``log det P + log det C + log det η N``."""
        prior = self.prior.log_determinant() + self.prior.n_nodes * np.log(self.scale)
        return float(self._factor.log_determinant + prior + np.log(self.noise).sum())

    def covariance(self, nodes: IntArray) -> FloatArray:
        """A block of ``P^-1``; of few nodes by solves, which need no second factorisation."""
        if len(nodes) <= _SOLVES_PER_ENTRY * self._factor.n_entries / self.prior.n_nodes:
            block = self._factor.inverse_entries(nodes, nodes)
            return np.asarray((block + block.T) / 2)
        return inverse_block(self._precision, self._factor.order, nodes)


@dataclass(frozen=True, eq=False)
class CGPosterior(Posterior):
    """By conjugate gradients between observed nodes, with products by the prior covariance."""

    def _times(self, block: FloatArray) -> FloatArray:
        """``C[:, S] @ block``."""
        everywhere = np.zeros((self.prior.n_nodes, block.shape[1]))
        everywhere[self.seen.nodes] = block
        return self.scale * self.prior.times(everywhere)

    def _solve(self, V: FloatArray, on_step: Any = None) -> FloatArray:
        """``A^-1 V``, with the scaled matrix ``N^-½ C[S, S] N^-½ + η I``."""
        roots = np.sqrt(self.seen.noise)[:, None]

        def multiply(block: FloatArray) -> FloatArray:
            return self._times(block / roots)[self.seen.nodes] / roots + self.ratio * block

        result = solve(multiply, V / roots, tol=_CG_TOL, max_steps=_MAX_CG_STEPS, on_step=on_step)
        if not result.converged:
            problem = f"conjugate gradients have not converged after {result.n_steps} steps"
            raise InputError(problem, advice="use more noise, or method='columns'")
        return np.asarray(result.solution / roots)

    def condition(self, V: FloatArray) -> Conditioned:
        """Solve between observed nodes; extend by one product with the prior covariance."""
        weights = self._solve(V)
        return Conditioned(weights, self._times(weights))

    def log_determinant(self) -> float:
        """By stochastic Lanczos quadrature; of few observed nodes by that of all unit vectors."""
        n = len(self.seen.nodes)
        probes = np.random.default_rng(0).choice([-1.0, 1.0], size=(n, _N_PROBES))
        if n <= _N_PROBES:
            probes = np.eye(n)
        steps: list[tuple[FloatArray, FloatArray]] = []
        roots = np.sqrt(self.seen.noise)[:, None]
        self._solve(roots * probes, lambda *step: steps.append(step))
        lengths, ratios = (np.stack(part, axis=1) for part in zip(*steps, strict=True))
        scaled = n * float(log_quadrature(lengths, ratios).mean())
        return scaled + float(np.log(self.seen.noise).sum())

    def covariance(self, nodes: IntArray) -> FloatArray:
        """From columns of the prior covariance, and a solve for each."""
        columns = self.scale * self.prior.times(unit_columns(self.prior.n_nodes, nodes))
        across = columns[self.seen.nodes]
        return np.asarray(columns[nodes] - across.T @ self._solve(across))
