"""Laplace's approximation of a Gaussian process with the softmax likelihood.

The latent functions of the classes are independent, with the same covariance ``K``. With counts
``Y`` of labels by nodes and classes and ``n`` their sums, the mode of the posterior is ``f = K α``
with ``α = Y − n π``, ``π = softmax(f)``. ``W = n (diag(π) − π πᵀ)`` is the Hessian at each node.

References
----------
C. E. Rasmussen and C. K. I. Williams, Gaussian Processes for Machine Learning, 2006, section 3.5.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.special import logsumexp, softmax

from grfpp.errors import InputError
from grfpp.linalg.cg import solve
from grfpp.typing import FloatArray

#: Largest numbers of Newton steps, of their halvings, and of products for each.
_MAX_STEPS, _MAX_HALVINGS, _MAX_PRODUCTS = 100, 30, 1000
#: Squared Newton decrement over the log-likelihood at which the mode is reached: the error of the
#: log-evidence.
_TOL = 1e-9
#: Relative residual of a Newton step, and the smallest one: it is divided by 100 where a step has
#: to be shortened to less than a share.
_TOL_OF_STEPS, _MIN_TOL_OF_STEPS, _SHORT = 1e-3, 1e-9, 0.25


def posterior_mode(
    times: Callable[[FloatArray], FloatArray],
    Y: FloatArray,
    start: FloatArray | None = None,
    tol: float = _TOL,
) -> FloatArray:
    """The weights ``α`` of the mode, by Newton's method with conjugate gradients.

    Parameters
    ----------
    times
        Products with ``K``.
    Y
        Numbers of labels by nodes and classes.
    start
        Weights to start from, instead of zero.
    tol
        Squared Newton decrement over the log-likelihood at which the mode is reached.

    Examples
    --------
    >>> K, Y = np.array([[2.0, 1.0], [1.0, 2.0]]), np.eye(2)
    >>> weights = posterior_mode(lambda a: K @ a, Y)
    >>> bool(np.allclose(weights, Y - softmax(K @ weights, axis=1), atol=1e-4))
    True
    """
    counts = Y.sum(axis=1, keepdims=True)
    weights: FloatArray = np.zeros(Y.shape) if start is None else start
    f = times(weights)
    value, tol_of_steps = _log_joint(weights, f, Y), _TOL_OF_STEPS
    for _ in range(_MAX_STEPS):
        shares = softmax(f, axis=1)
        roots = np.sqrt(shares)
        gradient = Y - counts * shares - weights

        def half(a: FloatArray, roots: FloatArray = roots) -> FloatArray:
            """``n^½ (I − √π √πᵀ) √π a``, whose product with its transpose is ``W``."""
            a = roots * a
            return np.asarray(np.sqrt(counts) * (a - roots * (roots * a).sum(1, keepdims=True)))

        def half_transposed(a: FloatArray, roots: FloatArray = roots) -> FloatArray:
            a = a - roots * (roots * a).sum(1, keepdims=True)
            return np.asarray(np.sqrt(counts) * roots * a)

        def multiply(a: FloatArray) -> FloatArray:
            image = half(times(half_transposed(a.reshape(Y.shape))))
            return np.asarray(a + image.reshape(-1, 1))

        right = half(times(gradient)).reshape(-1, 1)
        inner = solve(multiply, right, tol=tol_of_steps, max_steps=_MAX_PRODUCTS).solution
        step = gradient - half_transposed(inner.reshape(Y.shape))
        change = times(step)
        decrement = float((gradient * change).sum())
        size, found = 1.0, -np.inf
        for _ in range(_MAX_HALVINGS):
            found = _log_joint(weights + size * step, f + size * change, Y)
            if found >= value:
                break
            size /= 2
        is_rough = size < _SHORT and tol_of_steps > _MIN_TOL_OF_STEPS
        if is_rough:
            tol_of_steps /= 100
        if found >= value:
            weights, f, value = weights + size * step, f + size * change, found
        # Where nothing is found, the step is below rounding.
        if not is_rough and (found < value or decrement < tol * max(1.0, abs(value))):
            return np.asarray(weights)
    raise InputError("the mode of the labels' Gaussian process was not reached")


def log_evidence(K: FloatArray, Y: FloatArray, weights: FloatArray) -> float:
    """Laplace's approximation of the log marginal likelihood of labels, at the mode.

    The logarithm of the joint density there, minus half of ``log det(I + W K)``: with
    ``E_c = (K + (n π_c)^-1)^-1`` it is ``Σ_c log det(I + K n π_c) + log det(Σ_c E_c / n)``.
    """
    f, counts = K @ weights, Y.sum(axis=1)
    roots = np.sqrt(counts[:, None] * softmax(f, axis=1)).T
    log_determinant, total = -float(np.log(counts).sum()), np.zeros(K.shape)
    for root in roots:
        factor = cholesky(np.eye(len(K)) + K * np.outer(root, root), lower=True)
        log_determinant += 2 * float(np.log(factor.diagonal()).sum())
        part = solve_triangular(factor, np.diag(root), lower=True)
        total += part.T @ part
    log_determinant += float(np.linalg.slogdet(total)[1])
    return _log_joint(weights, f, Y) - log_determinant / 2


def _log_joint(weights: FloatArray, f: FloatArray, Y: FloatArray) -> float:
    """``log p(Y | f) − ½ Σ_c α_cᵀ f_c``."""
    likelihood = (Y * f).sum() - (Y.sum(axis=1) * logsumexp(f, axis=1)).sum()
    return float(likelihood - (weights * f).sum() / 2)
