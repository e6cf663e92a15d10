"""Training of a Gaussian process: its likelihood, where to start, and when to stop."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from grfpp._imports import require
from grfpp.linalg.lanczos import gauss_quadrature
from grfpp.torch.gp.posterior import solve_to
from grfpp.typing import FloatArray

gpytorch = require("gpytorch")

Loss = Callable[[], Tensor]
Progress = Callable[[int, float], None]
Parameters = Sequence[torch.nn.Parameter]

#: Smallest significant gain of the log-likelihood, in nats.
_MIN_GAIN = 0.01
#: Steps in a window whose losses are averaged, so that a trend exceeds the noise.
_WINDOW = 5
#: Number of the latest windows whose means are compared; `_RANGE_BY_CHANCE` belongs to it.
_N_WINDOWS = 4
#: Studentised range of four means that chance exceeds with probability 0.05.
_RANGE_BY_CHANCE = 3.6
#: Noise variances on the grid, relative to the mean variance of the process.
RATIOS = (0.01, 0.1, 1.0, 10.0)
#: Factor between neighbouring parameters on the grid; the refinement closes the gaps.
_GRID_FACTOR = 2.0
#: Parameters up to this are always on the grid, larger ones while the likelihood grows.
_MIN_GRID_END = 32.0
#: Largest number of likelihoods of the refinement: about as many as the grid has.
_MAX_EVALUATIONS = 40
#: Change of the log-likelihood, in nats, that ends the refinement; training goes on from there.
_REFINEMENT_TOL = 0.02
#: Variances of standardised targets below this count as zero.
_MIN_VARIANCE = 1e-6
#: Bound of the logarithm of ratios: beyond, the targets are all noise or all signal.
_MAX_LOG_RATIO = 12.0


class NodeLikelihood(
    gpytorch.mlls.ExactMarginalLogLikelihood  # type: ignore[misc, name-defined]  # untyped base
):
    """gpytorch's marginal log-likelihood per target, by linear solves to a given accuracy.

    gpytorch uses a fixed number of iterations (21 by default); at a condition number of 1,700 the
    solves that gradients come from had errors of 90 %.

    Parameters
    ----------
    likelihood, model
        As for gpytorch's.
    dense
        Factorise the covariance even if it is larger than
        ``gpytorch.settings.max_cholesky_size``.
    n_probes, tol
        Number of random vectors for the determinant, and relative accuracy of the linear solves.

    References
    ----------
    Ubaru, Chen and Saad, "Fast estimation of tr(f(A)) via stochastic Lanczos quadrature", 2017.
    """

    def __init__(
        self, likelihood: Any, model: Any, *, dense: bool, n_probes: int, tol: float
    ) -> None:
        super().__init__(likelihood, model)
        self.dense, self.n_probes, self.tol = dense, n_probes, tol

    def forward(self, function_dist: Any, target: Tensor, *params: Any) -> Tensor:
        """The likelihood of the targets, with other terms (priors) that the model has."""
        n = len(target)
        limit = gpytorch.settings.max_cholesky_size.value()
        if self.dense or n <= limit:
            with gpytorch.settings.max_cholesky_size(max(n, limit)):
                return super().forward(function_dist, target, *params)
        law = self.likelihood(function_dist, *params)
        A = law.lazy_covariance_matrix.evaluate_kernel()
        density = log_density(A, target - law.mean, n_probes=self.n_probes, tol=self.tol)
        return self._add_other_terms(density, params) / n


def log_density(A: Any, deviation: Tensor, *, n_probes: int, tol: float) -> Tensor:
    """Logarithm of the normal density with covariance ``A``, by products with vectors.

    ``log det A = tr log A`` is the mean of ``zᵀ log(A) z`` over random signs ``z``. The steps of
    conjugate gradients that solve ``A u = z`` are the entries of a tridiagonal matrix ``T`` with
    ``zᵀ log(A) z ≈ |z|² e₁ᵀ log(T) e₁``.

    Parameters
    ----------
    A
        A linear operator, symmetric and positive definite, which may have gradients.
    deviation
        Deviation of the targets from the mean.
    n_probes, tol
        Number of random vectors for the determinant, and relative accuracy of the linear solves.

    Examples
    --------
    >>> from linear_operator import to_linear_operator
    >>> A = to_linear_operator(torch.diag(torch.tensor([1.0, 2.0, 4.0])))
    >>> log_density(A, torch.tensor([1.0, 2.0, 0.0]), n_probes=2, tol=1e-6)
    tensor(-5.2965)

    References
    ----------
    Ubaru, Chen and Saad, "Fast estimation of tr(f(A)) via stochastic Lanczos quadrature", 2017.
    """
    n = len(deviation)
    signs = torch.randint(0, 2, (n, n_probes), device=deviation.device)
    probes = (2 * signs - 1).to(deviation)
    steps: list[tuple[Tensor, Tensor]] = []
    with torch.no_grad():
        right = torch.cat([deviation[:, None], probes], dim=1)
        solutions = solve_to(
            A._matmul, right, tol, lambda length, ratio: steps.append((length[1:], ratio[1:]))
        )
        lengths, ratios = (torch.stack(part, 1).double() for part in zip(*steps, strict=True))
        log_determinant = n * _log_quadrature(lengths, ratios)
        u, inverse_probes = solutions[:, 0], solutions[:, 1:]
        # Gradients: -uᵀ dA u of the square, and of the determinant the mean of zᵀ A⁻¹ dA z.
        left = torch.cat([-u[:, None], inverse_probes / n_probes], dim=1)
        right = torch.cat([u[:, None], probes], dim=1)
        gradients = A._bilinear_derivative(left, right)
    square = 2 * u @ deviation - u @ deviation.detach()
    for argument, gradient in zip(A.representation(), gradients, strict=True):
        if gradient is not None:
            carrier = (argument * gradient).sum()
            square = square + (carrier - carrier.detach())  # zero, with this gradient
    return -0.5 * (square + log_determinant + n * math.log(2 * math.pi))


def _log_quadrature(lengths: Tensor, ratios: Tensor) -> float:
    """The mean of ``e₁ᵀ log(T) e₁`` over the tridiagonal matrices ``T`` of several columns.

    ``T`` ends where a column converged; beyond it is padded by the identity.
    """
    active = lengths > 0
    inverse = torch.where(active, 1 / lengths.where(active, 1.0), 1.0)
    coupling = active[:, 1:] * ratios[:, :-1] * inverse[:, :-1]
    diagonal, off_diagonal = inverse.clone(), (coupling * inverse[:, :-1]).sqrt()
    diagonal[:, 1:] += coupling
    results = []
    for d, e in zip(diagonal.cpu().numpy(), off_diagonal.cpu().numpy(), strict=True):
        nodes, weights = gauss_quadrature(d, e)
        results.append(float(weights @ np.log(nodes)))
    return float(np.mean(results))


class Start(NamedTuple):
    """A kernel's parameter, its size, the noise and the mean, with their log-likelihood."""

    number: float
    outputscale: float
    noise: float
    mean: float
    #: The noise relative to the mean variance of the process.
    ratio: float
    log_likelihood: float


def search(
    kernel: Callable[[float], Tensor],
    y: Tensor,
    bounds: tuple[float, float],
    ratios: Sequence[float] = RATIOS,
) -> Start:
    """The parameter and the noise of maximum likelihood, with their best size and mean.

    A grid of both, and from its best point the simplex of Nelder and Mead in their logarithms.

    Parameters
    ----------
    kernel
        Function from a parameter to the kernel between the observed nodes.
    y
        The targets.
    bounds
        Bounds of the parameter.
    ratios
        Noise variances on the grid, relative to the mean variance of the process.

    References
    ----------
    Nelder and Mead, "A simplex method for function minimization", 1965.

    Examples
    --------
    >>> K = torch.tensor([[1.0, 0.9], [0.9, 1.0]], dtype=torch.float64)
    >>> y = torch.tensor([1.0, -1.0], dtype=torch.float64)
    >>> search(lambda number: K ** (1 / number), y, (0.25, 4.0)).number < 0.3
    True
    """
    best = Start(math.inf, 1.0, 1.0, 0.0, 1.0, -math.inf)
    for number in grid(*bounds):
        if number > max(_MIN_GRID_END, 2.1 * _GRID_FACTOR * best.number):
            break  # the last two parameters were worse
        K = kernel(number)
        starts = [profile(K, y, ratio)._replace(number=number) for ratio in ratios]
        best = max([best, *starts], key=attrgetter("log_likelihood"))
    if len(ratios) == 1:
        return best
    candidates = [best]

    def loss(logs: FloatArray) -> float:
        number, ratio = map(math.exp, logs)
        candidates.append(profile(kernel(number), y, ratio)._replace(number=number))
        return -candidates[-1].log_likelihood

    start = np.log([best.number, best.ratio])
    low, high = np.log(bounds)
    # A quarter of the grid's step, away from the bound.
    step = 0.25 * math.log(_GRID_FACTOR) * (1 if start[0] + 0.5 < high else -1)
    minimize(
        loss,
        start,
        method="Nelder-Mead",
        bounds=[(low, high), (-_MAX_LOG_RATIO, _MAX_LOG_RATIO)],
        options={
            "maxfev": _MAX_EVALUATIONS,
            "fatol": _REFINEMENT_TOL,
            "xatol": math.inf,
            "initial_simplex": start + np.array([[0.0, 0.0], [step, 0.0], [0.0, 0.5]]),
        },
    )
    return max(candidates, key=attrgetter("log_likelihood"))


def grid(low: float, high: float) -> list[float]:
    """A geometric grid between the bounds, whose numbers at most double."""
    n_steps = max(1, math.ceil(math.log(high / low) / math.log(_GRID_FACTOR) - 1e-9))
    return [min(low * _GRID_FACTOR**step, high) for step in range(n_steps + 1)]


def profile(K: Tensor, y: Tensor, ratio: float) -> Start:
    """Size and mean of maximum likelihood, for noise of `ratio` times the mean variance."""
    n, diagonal = len(y), float(K.diagonal().mean())
    A = K / diagonal
    A.diagonal().add_(ratio)
    root, failed = torch.linalg.cholesky_ex(A)
    if bool(failed):
        return Start(math.nan, 1.0, 1.0, 0.0, ratio, -math.inf)
    sides = torch.stack([y, torch.ones_like(y)], dim=1)
    left, ones = torch.linalg.solve_triangular(root, sides, upper=False).T
    mean = float(left @ ones / (ones @ ones))
    size = max(float((left - mean * ones).square().mean()), _MIN_VARIANCE)
    log_determinant = 2 * float(root.diagonal().log().sum())
    log_likelihood = -0.5 * (n * math.log(2 * math.pi * size) + log_determinant + n)
    return Start(math.nan, size / diagonal, size * ratio, mean, ratio, log_likelihood)


def by_adam(
    loss: Loss, parameters: Parameters, n_steps: int, n_targets: int, progress: Progress, lr: float
) -> list[float]:
    """Minimise by Adam, with or without noise, until the losses are stationary.

    Parameters
    ----------
    loss
        The negative log-likelihood per target.
    parameters
        The parameters of the loss.
    n_steps
        The largest number of steps.
    n_targets
        Number of targets.
    progress
        Called after every step.
    lr
        The learning rate.
    """
    optimiser = torch.optim.Adam(parameters, lr=lr)
    losses: list[float] = []
    for step in range(n_steps):
        optimiser.zero_grad()
        value = loss()
        value.backward()
        optimiser.step()
        losses.append(float(value.detach()))
        progress(step, losses[-1])
        if is_stationary(losses, n_targets):
            break
    return losses


def is_stationary(losses: Sequence[float], n_targets: int) -> bool:
    """Whether the means of the last four windows of losses differ by noise only.

    The noise is estimated from differences of neighbours, which a steady fall and the slow
    oscillations of Adam exceed by far over a window.

    Examples
    --------
    >>> is_stationary([1.0 - 0.1 * step for step in range(20)], 100)
    False
    >>> is_stationary([1.0] * 20, 100)
    True
    """
    if len(losses) < _N_WINDOWS * _WINDOW:
        return False
    last = np.array(losses[-_N_WINDOWS * _WINDOW :])
    noise = np.square(np.diff(last)).mean() / 2
    means = last.reshape(_N_WINDOWS, _WINDOW).mean(axis=1)
    by_chance = _RANGE_BY_CHANCE * math.sqrt(noise / _WINDOW)
    return bool(np.ptp(means) < max(by_chance, _MIN_GAIN / n_targets))


def by_lbfgs(
    loss: Loss, parameters: Parameters, n_steps: int, n_targets: int, progress: Progress
) -> list[float]:
    """Minimise by L-BFGS, without noise, until a step gains less than 0.01 nats.

    The parameters are `by_adam`'s.
    """

    def evaluate(x: FloatArray) -> tuple[float, FloatArray]:
        vector_to_parameters(torch.from_numpy(x), parameters)
        try:
            value = loss()
            gradient = torch.autograd.grad(value, parameters)
        except (RuntimeError, ArithmeticError):  # the covariance is not positive definite
            return math.inf, np.zeros_like(x)
        return float(value.detach()), parameters_to_vector(gradient).numpy()

    losses: list[float] = []

    def after_step(intermediate_result: Any) -> None:
        losses.append(float(intermediate_result.fun))
        progress(len(losses) - 1, losses[-1])

    start = parameters_to_vector(parameters).detach().numpy().copy()
    first, _ = evaluate(start)
    result = minimize(
        evaluate,
        start,
        jac=True,
        method="L-BFGS-B",
        callback=after_step,
        options={"maxiter": n_steps, "ftol": _MIN_GAIN / n_targets, "gtol": 0.0},
    )
    best = result.x if math.isfinite(result.fun) and result.fun <= first else start
    vector_to_parameters(torch.from_numpy(best), parameters)
    return [first, *losses[:-1]]
