"""The likelihood of a normal law whose covariance is known by its products with vectors.

``log det A = tr log A`` is the mean of ``zᵀ log(A) z`` over random signs ``z``. Conjugate gradients
that solve ``A u = z`` make this number too, by the way: their steps are the entries of a small
tridiagonal matrix ``T`` with ``zᵀ log(A) z ≈ |z|² e₁ᵀ log(T) e₁`` (Gauss quadrature by Lanczos).

gpytorch does the same for a fixed number of iterations, at its defaults 21. Well-conditioned
matrices need half of them, and ill-conditioned ones more: at a condition number of 1,700 (a sphere
of 2,562 nodes, half of them observed) the solves that gradients come from were off by 90 %.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from scipy.linalg import eigh_tridiagonal

from grfpp.imports.optional import require
from grfpp.torch.gp.conjugate_gradients import solve

gpytorch = require("gpytorch")


class IterativeLikelihood(
    gpytorch.mlls.ExactMarginalLogLikelihood  # type: ignore[misc, name-defined]  # untyped base
):
    """gpytorch's marginal likelihood, over the number of targets, by solves of a known accuracy.

    Small matrices, up to ``gpytorch.settings.max_cholesky_size``, are gpytorch's.

    Parameters
    ----------
    likelihood, model
        As for gpytorch's own.
    n_probes
        Random vectors for the determinant.
    tol
        Relative accuracy of every linear solve.
    """

    def __init__(self, likelihood: Any, model: Any, *, n_probes: int, tol: float) -> None:
        super().__init__(likelihood, model)
        self.n_probes, self.tol = n_probes, tol

    def forward(self, function_dist: Any, target: torch.Tensor, *params: Any) -> torch.Tensor:
        """The likelihood of the targets, with other terms (priors) that the model has."""
        if len(target) <= gpytorch.settings.max_cholesky_size.value():
            dense: torch.Tensor = super().forward(function_dist, target, *params)
            return dense
        law = self.likelihood(function_dist, *params)
        density = log_density(
            law.lazy_covariance_matrix.evaluate_kernel(),
            target - law.mean,
            n_probes=self.n_probes,
            tol=self.tol,
        )
        whole: torch.Tensor = self._add_other_terms(density, params)
        return whole / len(target)


class DenseLikelihood(
    gpytorch.mlls.ExactMarginalLogLikelihood  # type: ignore[misc, name-defined]  # untyped base
):
    """gpytorch's marginal likelihood, over the number of targets, by one factorisation.

    Its gradient takes one inverse more, where that of the factorisation would take several
    products of triangular matrices.
    """

    def forward(self, function_dist: Any, target: torch.Tensor, *params: Any) -> torch.Tensor:
        """The likelihood of the targets, with other terms (priors) that the model has."""
        law = self.likelihood(function_dist, *params)
        density = _DenseDensity.apply(law.covariance_matrix, target - law.mean)
        whole: torch.Tensor = self._add_other_terms(density, params)
        return whole / len(target)


class _DenseDensity(torch.autograd.Function):  # type: ignore[misc]  # untyped base
    """Logarithm of the normal density, of a covariance and a deviation from the mean."""

    @staticmethod
    def forward(ctx: Any, A: torch.Tensor, deviation: torch.Tensor) -> torch.Tensor:
        root = torch.linalg.cholesky(A)
        u = torch.cholesky_solve(deviation[:, None], root)[:, 0]
        ctx.save_for_backward(root, u)
        log_determinant = 2 * root.diagonal().log().sum()
        return -0.5 * (deviation @ u + log_determinant + len(u) * math.log(2 * math.pi))

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        root, u = ctx.saved_tensors
        of_covariance = torch.outer(u, u).sub_(torch.cholesky_inverse(root))
        return 0.5 * gradient * of_covariance, -gradient * u


def log_density(A: Any, deviation: torch.Tensor, *, n_probes: int, tol: float) -> torch.Tensor:
    """Logarithm of the normal density with covariance ``A``, so far from the mean.

    Parameters
    ----------
    A
        A linear operator, symmetric and positive definite. Gradients pass it, once.
    deviation
        From the mean.
    n_probes, tol
        Random vectors for the determinant, and the relative accuracy of the linear solves.

    Examples
    --------
    >>> from linear_operator import to_linear_operator
    >>> A = to_linear_operator(torch.diag(torch.tensor([1.0, 2.0, 4.0])))
    >>> log_density(A, torch.tensor([1.0, 2.0, 0.0]), n_probes=2, tol=1e-6)
    tensor(-5.2965)
    """
    n = len(deviation)
    signs = torch.randint(0, 2, (n, n_probes), device=deviation.device)
    probes = (2 * signs - 1).to(deviation)
    steps, ratios = [], []

    def record(step: torch.Tensor, ratio: torch.Tensor) -> None:
        steps.append(step[1:])
        ratios.append(ratio[1:])

    with torch.no_grad():
        right = torch.cat([deviation[:, None], probes], dim=1)
        solutions = solve(A._matmul, right, tol=tol, progress=record)
        log_determinant = n * _log_quadrature(torch.stack(steps, 1), torch.stack(ratios, 1)).mean()
        u, inverse_probes = solutions[:, 0], solutions[:, 1:]
        # What gradients are made of: -uᵀ dA u of the square, and of the determinant tr(A⁻¹ dA),
        # the mean of zᵀ A⁻¹ dA z.
        left = torch.cat([-u[:, None], inverse_probes / n_probes], dim=1)
        right = torch.cat([u[:, None], probes], dim=1)
        gradients = A._bilinear_derivative(left, right)
    square = 2 * u @ deviation - u @ deviation.detach()
    pairs = zip(A.representation(), gradients, strict=True)
    carrier = sum(
        (argument * gradient).sum() for argument, gradient in pairs if gradient is not None
    )
    if isinstance(carrier, torch.Tensor):
        square = square + (carrier - carrier.detach())  # nothing, with these gradients
    return -0.5 * (square + log_determinant + n * math.log(2 * math.pi))


def _log_quadrature(steps: torch.Tensor, ratios: torch.Tensor) -> torch.Tensor:
    """``e₁ᵀ log(T) e₁`` for the matrices ``T`` of several columns of conjugate gradients.

    Parameters
    ----------
    steps, ratios
        What `solve` tells of its iterations, one column a row.
    """
    # Of columns that were solved before the others, T ends: ones follow that nothing leads to.
    going = steps > 0
    inverse = torch.where(going, 1 / steps.where(going, 1.0), 1.0)
    led = going[:, 1:].to(steps)
    diagonal = inverse.clone()
    diagonal[:, 1:] += led * ratios[:, :-1] * inverse[:, :-1]
    beside = led * ratios[:, :-1].sqrt() * inverse[:, :-1]
    numbers = []
    for d, e in zip(diagonal.double().cpu().numpy(), beside.double().cpu().numpy(), strict=True):
        values, vectors = eigh_tridiagonal(d, e)
        numbers.append(float(vectors[0] ** 2 @ np.log(values)))
    return torch.tensor(numbers).to(steps)
