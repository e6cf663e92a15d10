"""Training of a Gaussian process with a learned kernel: its likelihood, and when to stop."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from grfpp._imports import require
from grfpp.linalg.lanczos import log_quadrature
from grfpp.torch.gp.posterior import solve_to

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
    n_probes, tol
        Number of random vectors for the determinant, and relative accuracy of the linear solves.

    References
    ----------
    Ubaru, Chen and Saad, "Fast estimation of tr(f(A)) via stochastic Lanczos quadrature", 2017.
    """

    def __init__(self, likelihood: Any, model: Any, *, n_probes: int, tol: float) -> None:
        super().__init__(likelihood, model)
        self.n_probes, self.tol = n_probes, tol

    def forward(self, function_dist: Any, target: Tensor, *params: Any) -> Tensor:
        """The likelihood of the targets, with other terms (priors) that the model has."""
        n = len(target)
        limit = gpytorch.settings.max_cholesky_size.value()
        if n <= limit:
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
        parts = zip(*steps, strict=True)
        lengths, ratios = (torch.stack(part, 1).double().cpu().numpy() for part in parts)
        log_determinant = n * float(log_quadrature(lengths, ratios).mean())
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
