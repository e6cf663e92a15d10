"""Where training begins: a short search over the kernel's parameter, all else in closed form."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch

from grfpp.typing import FloatArray

#: Variances of the noise that are tried, in mean variances of the process.
RATIOS = (0.01, 0.1, 1.0, 10.0)
#: Parameters are tried in steps of this factor, so far in any case, and on while they get better.
_FACTOR, _FIRST = 2.0, 32.0
#: The simplex that goes on from the best of the grid ends after so many evaluations, or where its
#: corners are this alike, in nats.
_MOST_TRIES, _ALIKE = 40, 0.02
#: Variances of standardised targets that are taken for zero.
_NOTHING = 1e-6
#: Of ratios, above and below 1.
_LARGEST_LOG = 12.0


class Start(NamedTuple):
    """A kernel's parameter, its size, the noise and the mean, with their log-likelihood.

    `ratio` is the noise over the mean variance of the process.
    """

    number: float
    outputscale: float
    noise: float
    mean: float
    ratio: float
    log_likelihood: float


def search(
    kernel: Callable[[float], torch.Tensor],
    y: torch.Tensor,
    bounds: tuple[float, float],
    ratios: Sequence[float] = RATIOS,
) -> Start:
    """The best parameter and noise; size and mean maximise the likelihood of each pair.

    A grid of both, and from its best a simplex (Nelder and Mead) in their logarithms.

    Parameters
    ----------
    kernel
        The kernel between the observed nodes at a parameter.
    y
        The targets.
    bounds
        Of the parameter.
    ratios
        Noises to try, over the mean variance of the process.

    Examples
    --------
    >>> K = torch.tensor([[1.0, 0.9], [0.9, 1.0]], dtype=torch.float64)
    >>> y = torch.tensor([1.0, -1.0], dtype=torch.float64)
    >>> found = search(lambda number: K ** (1 / number), y, (0.25, 4.0))
    >>> found.number < 0.3                               # where they are the least alike
    True
    """
    best: Start | None = None
    for number in grid(*bounds):
        if best is not None and number > _FIRST and number > 2.1 * _FACTOR * best.number:
            break  # the last two were worse
        K = kernel(number)
        for ratio in ratios:
            found = profile(K, y, ratio)
            if best is None or found.log_likelihood > best.log_likelihood:
                best = found._replace(number=number)
    assert best is not None
    return best if len(ratios) == 1 else _refined(kernel, y, bounds, best)


def _refined(
    kernel: Callable[[float], torch.Tensor],
    y: torch.Tensor,
    bounds: tuple[float, float],
    best: Start,
) -> Start:
    from scipy.optimize import minimize

    tried = [best]
    low, high = (math.log(each) for each in bounds)

    def loss(logs: FloatArray) -> float:
        if not low <= logs[0] <= high or abs(logs[1]) > _LARGEST_LOG:
            return math.inf
        number, ratio = math.exp(logs[0]), math.exp(logs[1])
        tried.append(profile(kernel(number), y, ratio)._replace(number=number))
        return -tried[-1].log_likelihood

    start = np.array([math.log(best.number), math.log(best.ratio)])
    # A quarter of the grid's steps; away from a bound.
    step = 0.25 * math.log(_FACTOR) * (1 if start[0] + 0.5 < high else -1)
    simplex = start + np.array([[0.0, 0.0], [step, 0.0], [0.0, 0.5]])
    options = {
        "maxfev": _MOST_TRIES,
        "fatol": _ALIKE,
        "xatol": math.inf,
        "initial_simplex": simplex,
    }
    minimize(loss, start, method="Nelder-Mead", options=options)
    return max(tried, key=lambda each: each.log_likelihood)


def grid(low: float, high: float) -> Iterator[float]:
    """Numbers from one bound to the other, each twice the one before at most."""
    n_steps = max(1, math.ceil(math.log(high / low) / math.log(_FACTOR) - 1e-9))
    for step in range(n_steps + 1):
        yield min(low * _FACTOR**step, high)


def profile(K: torch.Tensor, y: torch.Tensor, ratio: float) -> Start:
    """Size and mean that maximise the likelihood, for a noise of so many mean variances."""
    n, diagonal = len(y), float(K.diagonal().mean())
    A = K / diagonal
    A.diagonal().add_(ratio)
    root, failed = torch.linalg.cholesky_ex(A)
    if bool(failed):
        return Start(math.nan, 1.0, 1.0, 0.0, ratio, -math.inf)
    sides = torch.stack([y, torch.ones_like(y)], dim=1)
    left, ones = torch.linalg.solve_triangular(root, sides, upper=False).T
    mean = float(left @ ones / (ones @ ones))
    size = max(float((left - mean * ones).square().mean()), _NOTHING)
    log_determinant = 2 * float(root.diagonal().log().sum())
    log_likelihood = -0.5 * (n * math.log(2 * math.pi * size) + log_determinant + n)
    return Start(math.nan, size / diagonal, size * ratio, mean, ratio, log_likelihood)
