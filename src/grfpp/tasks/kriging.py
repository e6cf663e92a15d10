"""Kriging: the mean of a Gaussian process on the nodes of a graph, with standard errors.

`process_of` builds the process of a kernel; `krige` chooses kernel and noise by cross-validation on
the known nodes and predicts at all nodes. Systems are solved by conjugate gradients.

References
----------
Rasmussen, Williams: Gaussian processes for machine learning. 2006, chapter 2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse.csgraph import breadth_first_order

from grfpp._memory import require_bytes
from grfpp.errors import InputError, InputWarning, warn_user
from grfpp.graph import Graph
from grfpp.kernels import Kernel, RegularizedLaplacian
from grfpp.linalg import chebyshev
from grfpp.linalg.cg import Solution, solve, solve_shifted
from grfpp.linalg.csr import connected_to
from grfpp.linalg.functions import unit_columns
from grfpp.operators import kernel_operator
from grfpp.typing import FloatArray, IntArray

#: Powers ``ν`` and times ``t`` of the default kernels ``(I + t/ν L)^-ν``: close to diffusion for
#: the time ``t``, with sparse inverses, so that no product with a kernel is needed. The last is
#: close to a harmonic function. Chosen on generated surfaces by
#: ``python -m grfpp_lab.studies.interpolation``, as are `NOISES` and `MARGIN`.
POWERS_AND_TIMES = ((3, 16.0), (3, 4.0), (3, 64.0), (1, 256.0))
#: Noises of the default kernels: variances of observations over the kernel's mean variance. The
#: first is taken unless another is better by `MARGIN`.
NOISES = (0.001, 0.0001, 0.01, 0.1)
#: Standard errors of the held-out loss by which a setting must beat the first one. On surfaces of
#: a hundred vertices the best one is chosen by chance, and the first is better in the mean.
MARGIN = 1.5
#: Noises for kernels that users pass; the first is taken among equal losses.
GIVEN_NOISES = (0.01, 0.001, 0.0001, 0.1, 1.0)
#: Tolerance of the planner's products, far below that of conjugate gradients.
_PRODUCT_TOL = 1e-8
#: Tolerance of the residual of the final solve, far below the smallest noise that is tried.
_MEAN_TOL = 1e-7
#: Tolerance of held-out predictions, which a loss needs to a few digits.
_HELD_OUT_TOL = 1e-4
#: Tolerance of the solves for standard errors.
_VARIANCE_TOL = 1e-5
#: Tolerance of products for the mean variance, far below the error of random signs.
_ROUGH_TOL = 1e-6
#: Largest number of steps of conjugate gradients, which bounds the time of ill-conditioned systems.
_MAX_STEPS = 20_000
#: Largest power that is solved for; systems of larger ones are too ill-conditioned.
_MAX_POWER = 8
#: Number of random signs for the mean of a diagonal, in all columns together: its error falls
#: with the square root of this number.
_N_SIGNS = 4_000
#: Number of folds of the known nodes: the usual tenfold cross-validation.
N_FOLDS = 10
#: Largest number of unknowns of all folds together, which bounds the time of the choice; with more,
#: fewer folds are held out.
_MAX_FOLD_UNKNOWNS = 60_000
#: Largest number of nodes of the part of a graph that settings are chosen on: ten folds of one
#: column are `_MAX_FOLD_UNKNOWNS`.
MAX_PATCH_NODES = 6_000
#: Number of balls (nodes nearest to a centre) that such a part consists of, so that several regions
#: of the graph count.
_PATCH_BALLS = 8
#: Largest number of centres of balls that are tried where components are small.
_MAX_CENTRES = 64
#: Largest number of held-out nodes that the scale of standard errors is estimated from: each is a
#: linear system.
_MAX_COMPARED = 128
#: Number of right-hand sides per solve, which bounds memory.
_BATCH = 64
#: Number of points at which a kernel is tested for being a covariance; odd, so that 0 is one.
_COVARIANCE_POINTS = 2001


def default_kernels() -> list[Kernel]:
    """The kernels that are compared by default.

    Examples
    --------
    >>> default_kernels()[0]
    RegularizedLaplacian(power=3, sigma2=5.333333333333333)
    """
    return [RegularizedLaplacian(power, sigma2=time / power) for power, time in POWERS_AND_TIMES]


def is_covariance(kernel: Kernel, W: Graph) -> bool:
    """Whether a kernel is nonnegative wherever eigenvalues of symmetric weights can be.

    Examples
    --------
    >>> from grfpp import Cosine, Diffusion
    >>> W = Graph([[0, 1], [1, 0]])
    >>> is_covariance(Diffusion(5.0), W), is_covariance(Cosine(3.0), W)
    (True, False)
    """
    if W.is_directed:
        return False
    radius = W.spectral_radius()
    with np.errstate(all="ignore"):
        values = kernel.value(np.linspace(-radius, radius, _COVARIANCE_POINTS))
    return bool(np.nanmin(values) >= -1e-12 * np.nanmax(np.abs(values)))


def require_covariance(kernel: Kernel, W: Graph) -> None:
    """Refuse a kernel that is not the covariance of a Gaussian process."""
    if not is_covariance(kernel, W):
        problem = f"must have no negative eigenvalue for kriging, found {kernel!r}"
        advice = "use one such as 'diffusion:5' or 'regularized-laplacian:2', or another `how`"
        raise InputError(problem, argument="kernel", advice=advice)


def _checked(result: Solution) -> Solution:
    """The same, with a warning where conjugate gradients have not converged."""
    if not result.converged:
        problem = "conjugate gradients have not converged: means and standard errors are inexact"
        advice = "use more noise, a kernel with a smaller scale, or how='mean'"
        warn_user(InputWarning(problem, advice=advice))
    return result


class _Process:
    """A Gaussian process of mean zero with the covariance ``R^-1 g(W) R^-1``.

    `roots` is the diagonal of ``R``. In all methods `known` is 1 at known nodes and else 0, with a
    column for each right-hand side or one for all, and `noise` is the variance of observations.
    """

    roots: FloatArray
    kernel_product: Callable[[FloatArray], FloatArray]

    def prior_variance(self, seed: int) -> float:
        """The mean of the covariance's diagonal, by random signs."""
        n = len(self.roots)
        n_columns = max(1, min(_BATCH, _N_SIGNS // n))
        signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=(n, n_columns))
        signs /= self.roots[:, None]
        return float((signs * self.kernel_product(signs)).mean())


@dataclass(frozen=True, eq=False)
class SmoothProcess(_Process):
    """A process with the kernel ``(I − c W)^-power``, whose inverse is sparse.

    With noise ``η``, the mean minimises ``Σ_known (f_i − y_i)² / η + fᵀ K^-1 f``. For ``h = R f``
    that is the sparse system

        ((I − c W)^power + S / (η R²)) h = S y / (η R),

    ``S`` 1 at known nodes.
    """

    W: Graph
    roots: FloatArray
    c: float
    power: int
    n_jobs: int = -1

    @cached_property
    def _diagonal(self) -> FloatArray:
        """The diagonal of ``(I − c W)^power`` up to squares of ``c W``."""
        weights = self.W.adjacency
        squares = weights.power(2).sum(axis=1)
        pairs = self.power * (self.power - 1) / 2
        diagonal = 1.0 - self.power * self.c * weights.diagonal() + pairs * self.c**2 * squares
        return np.asarray(np.maximum(diagonal, 1e-3))[:, None]

    def _solve(
        self, precision: FloatArray, right: FloatArray, tol: float, start: FloatArray | None = None
    ) -> Solution:
        system = (self.W.adjacency, self.c, self.power, precision, self._diagonal, right, start)
        options: Any = {"max_steps": _MAX_STEPS, "n_jobs": self.n_jobs}
        return _checked(solve_shifted(*system, tol=tol, **options))

    def _precision(self, known: FloatArray, noise: float) -> FloatArray:
        """The diagonal ``S / (η R²)`` of the system."""
        return np.asarray(known / (noise * self.roots[:, None] ** 2))

    def kernel_product(self, block: FloatArray) -> FloatArray:
        """``(I − c W)^-power @ block``."""
        power = -float(self.power)
        return chebyshev.apply(self.W, lambda x: (1.0 - self.c * x) ** power, block, _ROUGH_TOL)

    def mean(
        self, known: FloatArray, values: FloatArray, noise: float, tol: float
    ) -> tuple[FloatArray, int]:
        """The mean at all nodes, and the number of steps."""
        roots, precision = self.roots[:, None], self._precision(known, noise)
        # Start at the known values: from zero, their residual would dominate that of other nodes.
        start = known * roots * values
        result = self._solve(precision, precision * start, tol, start)
        return result.solution / roots, result.n_steps

    def variances(self, nodes: IntArray, known: FloatArray, noise: float) -> FloatArray:
        """Variances at nodes, given the known ones."""
        units = unit_columns(len(self.roots), nodes)
        solution = self._solve(self._precision(known, noise), units, _VARIANCE_TOL).solution
        diagonal = solution[nodes, np.arange(len(nodes))] / self.roots[nodes] ** 2
        return np.asarray(np.maximum(diagonal, 0.0))


@dataclass(frozen=True, eq=False)
class PlannedProcess(_Process):
    """A process with any kernel, whose products the planner makes."""

    K: Any
    roots: FloatArray

    def kernel_product(self, block: FloatArray) -> FloatArray:
        """``g(W) @ block``."""
        return np.asarray(self.K @ block)

    def _times(self, block: FloatArray) -> FloatArray:
        roots = self.roots[:, None]
        return self.kernel_product(block / roots) / roots

    def _solve(self, known: FloatArray, right: FloatArray, noise: float, tol: float) -> Solution:
        """``(K + noise)^-1 right`` between the known nodes of each column, zeros elsewhere."""

        def multiply(block: FloatArray) -> FloatArray:
            return known * self._times(known * block) + noise * block

        return _checked(solve(multiply, known * right, tol=tol, max_steps=_MAX_STEPS))

    def mean(
        self, known: FloatArray, values: FloatArray, noise: float, tol: float
    ) -> tuple[FloatArray, int]:
        """The mean at all nodes, and the number of steps."""
        result = self._solve(known, values, noise, tol)
        return self._times(result.solution), result.n_steps

    def variances(self, nodes: IntArray, known: FloatArray, noise: float) -> FloatArray:
        """Variances at nodes, given the known ones."""
        columns = self._times(unit_columns(len(self.roots), nodes))
        prior = columns[nodes, np.arange(len(nodes))]
        solution = self._solve(known, columns, noise, _VARIANCE_TOL).solution
        explained = np.einsum("ij,ij->j", known * columns, solution)
        return np.asarray(np.maximum(prior - explained, 0.0))


#: Both kinds have `mean`, `variances` and `prior_variance`.
Process = SmoothProcess | PlannedProcess


def process_of(
    graph: Graph,
    kernel: Kernel,
    normalization: str | None = "rw",
    scale: float = 1.0,
    method: str | None = None,
    n_jobs: int = -1,
) -> Process:
    """The Gaussian process with a kernel of a graph.

    Parameters
    ----------
    graph
        Undirected, with weights that are not normalised.
    kernel
        The kernel ``g``, nonnegative on the spectrum.
    normalization
        ``"sym"`` for the covariance ``g(D^-1/2 A D^-1/2)``; ``"rw"`` for ``g(D^-1 A) D^-1``, which
        is symmetric too, and whose smoothest fields are constant; ``None`` for ``g(A)``.
    scale
        Factor of the weights.
    method
        A method of the planner. ``None``: kernels that are integer inverse powers are solved with
        their sparse inverse, others multiply by the planner's ``"auto"``.
    n_jobs
        Threads.

    Examples
    --------
    >>> from grfpp import Diffusion, RegularizedLaplacian
    >>> graph = Graph([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> for kernel in (RegularizedLaplacian(2), Diffusion(2.0)):
    ...     print(type(process_of(graph, kernel)).__name__)
    SmoothProcess
    PlannedProcess
    """
    if graph.is_directed:
        advice = "use how='mean', or symmetric weights"
        raise InputError("kriging needs an undirected graph", advice=advice)
    roots = _degree_roots(graph) if normalization == "rw" else np.ones(graph.n_nodes)
    W = graph.normalized(None if normalization is None else "sym", scale)
    kernel.check_converges(W)
    require_covariance(kernel, W)
    form = kernel.inverse_power_form
    if method is None and form is not None and form.of == 1 and form.power in range(_MAX_POWER + 1):
        return SmoothProcess(W, roots, form.c, int(form.power), n_jobs)
    options: Any = {"method": method or "auto", "n_jobs": n_jobs, "repeatable": True}
    return PlannedProcess(kernel_operator(W, kernel, _PRODUCT_TOL, **options), roots)


def _degree_roots(graph: Graph) -> FloatArray:
    """Roots of the weighted degrees over their mean; 1 for isolated nodes."""
    # In units of the largest weight no sum leaves the range of float64.
    degrees = (graph.adjacency * (1 / graph.weights.max(initial=1e-300))).sum(axis=1)
    mean = degrees.sum() / max(1, np.count_nonzero(degrees)) or 1.0
    return np.asarray(np.sqrt(degrees / mean, out=np.ones(len(degrees)), where=degrees > 0))


class Setting(NamedTuple):
    """A kernel, and the variance of observations over the kernel's mean variance."""

    kernel: Kernel
    noise: float


@dataclass(frozen=True, eq=False)
class KnownValues:
    """A field where it is known, in standard units, one column per component."""

    n_nodes: int
    known: IntArray
    values: FloatArray

    def within(self, nodes: IntArray) -> KnownValues:
        """The values known at some nodes, which are sorted, by their positions among these."""
        inside = np.isin(self.known, nodes)
        position = np.searchsorted(nodes, self.known[inside])
        return KnownValues(len(nodes), position, self.values[inside])

    def spread(self) -> FloatArray:
        """The values at their nodes, zeros elsewhere."""
        field = np.zeros((self.n_nodes, self.values.shape[1]))
        field[self.known] = self.values
        return field

    def mask(self, held_out: Any = ()) -> FloatArray:
        """1 at known nodes except at the positions `held_out`."""
        mask = np.zeros((self.n_nodes, 1))
        mask[np.delete(self.known, held_out)] = 1.0
        return mask


class CrossValidation(NamedTuple):
    """A process on a part of the graph, its known values, and positions of each fold of them."""

    process: Process
    data: KnownValues
    folds: list[IntArray]

    def means(self, noise: float, tol: float) -> list[FloatArray]:
        """Predictions at each fold from the others; all folds are right-hand sides of one solve."""
        data, width = self.data, self.data.values.shape[1]
        masks = np.hstack([np.repeat(data.mask(fold), width, axis=1) for fold in self.folds])
        values = np.tile(data.spread(), (1, len(self.folds)))
        field, _ = self.process.mean(masks, values, noise, tol)
        parts = np.hsplit(field, len(self.folds))
        return [part[data.known[fold]] for part, fold in zip(parts, self.folds, strict=True)]


@dataclass(frozen=True, eq=False)
class Kriging:
    """A field at all nodes, and what it was computed with."""

    process: Process
    #: The known values in standard units: less `offset`, over `unit`.
    data: KnownValues
    offset: FloatArray
    unit: FloatArray
    #: What the choice was made on: the graph, or a part of a large one.
    cross_validation: CrossValidation
    setting: Setting
    #: Mean losses of all settings at held-out nodes; empty where there was no choice.
    losses: dict[Setting, float]
    #: Variance of observations, in units of the kernel.
    noise: float
    #: In the units of the values, of shape ``(n_nodes, c)``.
    field: FloatArray
    n_steps: int

    def std(self, nodes: IntArray) -> FloatArray:
        """Standard deviations of the field at nodes, one column per component."""
        mask, parts = self.data.mask(), np.split(nodes, range(_BATCH, len(nodes), _BATCH))
        variances = [self.process.variances(part, mask, self.noise) for part in parts]
        deviations = np.sqrt(np.concatenate(variances))[:, None]
        return np.asarray(deviations * np.sqrt(self._scale()) * self.unit)

    def noise_std(self) -> FloatArray:
        """Standard deviations of observations around the field, one per component."""
        return np.asarray(np.sqrt(self.noise * self._scale()) * self.unit)

    def _scale(self) -> FloatArray:
        """Mean squared errors at held-out nodes over the variances that the process predicts."""
        process, data, folds = validation = self.cross_validation
        if len(data.known) < 2:
            return np.ones(data.values.shape[1])
        ratios, n_compared = [], _MAX_COMPARED // len(folds)
        for fold, mean in zip(folds, validation.means(self.noise, _MEAN_TOL), strict=True):
            nodes, mask = fold[:n_compared], data.mask(fold)
            variances = process.variances(data.known[nodes], mask, self.noise) + self.noise
            ratios.append(np.square(mean[:n_compared] - data.values[nodes]) / variances[:, None])
        return np.asarray(np.concatenate(ratios).mean(axis=0))


def krige(
    graph: Graph,
    make: Callable[[Graph, Kernel], Process],
    kernels: Sequence[Kernel],
    noises: Sequence[float],
    known: IntArray,
    values: FloatArray,
    *,
    loss: Callable[[FloatArray, FloatArray], FloatArray] | None = None,
    seed: int,
    margin: float = 0.0,
) -> Kriging:
    """Choose kernel and noise on the known nodes, and predict at all nodes.

    Parameters
    ----------
    graph
        The graph.
    make
        The process with a kernel, on the graph or on a part of it.
    kernels, noises
        The candidates: all pairs of both.
    known, values
        Nodes where the field is known, and its values there, of shape ``(n, c)``.
    loss
        Losses of predictions against true values, one per row. ``None`` for squares, with every
        column in units of its range; else all columns have one unit.
    seed
        Seed of the folds of the known nodes.
    margin
        Standard errors by which a setting must be better than the first to be taken.
    """
    n, width = graph.n_nodes, values.shape[1]
    offset = values.mean(axis=0)
    unit = np.abs(values - offset).max(axis=0 if loss is None else None) * np.ones(width)
    unit[unit == 0] = 1.0
    data = KnownValues(n, known, (values - offset) / unit)
    require_bytes(8 * 9 * n * width, "the field")
    part, nodes = patch_of(graph, known, seed)
    part_data = data if part is graph else data.within(nodes)
    folds = _folds(len(part_data.known), part.n_nodes * width, seed)
    require_bytes(8 * 9 * part.n_nodes * width * len(folds), "held-out values")

    def losses_of(true: FloatArray, predicted: FloatArray) -> FloatArray:
        if loss is None:
            return np.asarray(np.square(true - predicted).sum(axis=1))
        return loss(predicted * unit + offset, true * unit + offset)

    setting = Setting(kernels[0], noises[0])
    losses: dict[Setting, FloatArray] = {}
    if len(kernels) * len(noises) > 1 and len(part_data.known) > 1:
        truth = part_data.values[np.concatenate(folds)]
        for kernel in kernels:
            trial = CrossValidation(make(part, kernel), part_data, folds)
            variance = trial.process.prior_variance(seed)
            for noise in noises:
                predicted = np.concatenate(trial.means(noise * variance, _HELD_OUT_TOL))
                losses[Setting(kernel, noise)] = losses_of(truth, predicted)
    means = {setting: float(values.mean()) for setting, values in losses.items()}
    gains = {other: losses[setting] - values for other, values in losses.items()}
    better = [s for s, g in gains.items() if g.mean() > margin * g.std() / np.sqrt(len(g))]
    if better:
        setting = min(better, key=means.__getitem__)
    part_process = make(part, setting.kernel)
    process = part_process if part is graph else make(graph, setting.kernel)
    noise = setting.noise * part_process.prior_variance(seed)
    standard, n_steps = process.mean(data.mask(), data.spread(), noise, _MEAN_TOL)
    field = standard * unit + offset
    # In a component without a known node the solution is rounding.
    field[~connected_to(graph.adjacency, known)] = offset
    chosen = CrossValidation(part_process, part_data, folds)
    return Kriging(process, data, offset, unit, chosen, setting, means, noise, field, n_steps)


def _folds(n_known: int, n_unknowns: int, seed: int) -> list[IntArray]:
    """Positions of the known nodes in each fold; not all are held out for large graphs."""
    order = np.random.default_rng(seed).permutation(n_known)
    folds = np.array_split(order, min(N_FOLDS, n_known))
    return [np.sort(fold) for fold in folds[: max(1, _MAX_FOLD_UNKNOWNS // n_unknowns)]]


def patch_of(graph: Graph, known: IntArray, seed: int) -> tuple[Graph, IntArray]:
    """The subgraph of the nodes nearest to a few known ones, and these nodes; all if it is small.

    Held-out values are predicted from their surroundings, so that the rest of a large graph would
    hardly change the choice.

    Examples
    --------
    >>> from grfpp.datasets import grid
    >>> graph = grid(100, 100)
    >>> part, nodes = patch_of(graph, np.arange(0, 10_000, 5), seed=0)
    >>> part.n_nodes == len(nodes), 3_000 < part.n_nodes <= MAX_PATCH_NODES
    (True, True)
    """
    if graph.n_nodes <= MAX_PATCH_NODES:
        return graph, np.arange(graph.n_nodes)
    adjacency, chosen = graph.adjacency, np.zeros(graph.n_nodes, bool)
    for centre in np.random.default_rng(seed).permutation(known)[:_MAX_CENTRES]:
        n_remaining = MAX_PATCH_NODES - int(chosen.sum())
        if n_remaining <= 0:
            break
        ball = breadth_first_order(adjacency, centre, return_predecessors=False)
        chosen[ball[: min(n_remaining, MAX_PATCH_NODES // _PATCH_BALLS)]] = True
    nodes = np.flatnonzero(chosen)
    return Graph(adjacency[nodes][:, nodes]), nodes
