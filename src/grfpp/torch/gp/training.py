"""Training that stops by itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch

#: Steps whose mean losses are compared, and how many such means.
WINDOW, _N_WINDOWS = 5, 4
#: Four means differ by more than so many of their standard errors in one case of twenty.
_BY_CHANCE = 3.6
#: Gains of the log-likelihood, in nats, that no statistics can tell from none.
_ENOUGH = 0.01
#: Evaluations in one line search.
_MOST_TRIES = 20

Loss = Callable[[], torch.Tensor]
Progress = Callable[[int, float], None]


def by_adam(
    loss: Loss,
    parameters: Sequence[torch.nn.Parameter],
    *,
    n_steps: int,
    lr: float,
    n_targets: int,
    progress: Progress,
) -> list[float]:
    """Adam, for likelihoods with or without noise, until they stand still.

    Parameters
    ----------
    loss
        The negative log-likelihood over the number of targets.
    parameters
        What it depends on.
    n_steps, lr
        Steps at most, and how far each goes.
    n_targets
        Number of targets.
    progress
        Called after every step.
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
        if stands_still(losses, n_targets):
            break
    return losses


def stands_still(losses: Sequence[float], n_targets: int) -> bool:
    """Whether the last twenty losses are the same, five by five, but for noise and trifles.

    The noise is told by the differences between neighbours, which a steady fall and the slow swings
    of Adam exceed by far over five steps. Worse is not the same: swings come back.

    Examples
    --------
    >>> stands_still([1.0 - 0.1 * step for step in range(20)], 100)
    False
    >>> stands_still([1.0] * 20, 100)
    True
    """
    if len(losses) < _N_WINDOWS * WINDOW:
        return False
    last = torch.tensor(losses[-_N_WINDOWS * WINDOW :], dtype=torch.float64)
    noise = float(last.diff().square().mean()) / 2
    means = last.reshape(_N_WINDOWS, WINDOW).mean(1)
    chance = _BY_CHANCE * math.sqrt(noise / WINDOW)
    return float(means.max() - means.min()) < max(chance, _ENOUGH / n_targets)


def by_lbfgs(
    loss: Loss,
    parameters: Sequence[torch.nn.Parameter],
    *,
    n_steps: int,
    n_targets: int,
    progress: Progress,
) -> list[float]:
    """L-BFGS, for likelihoods without noise, until a step gains less than 0.01 nats.

    The parameters are `by_adam`'s.
    """
    optimiser = torch.optim.LBFGS(
        parameters, max_iter=1, max_eval=_MOST_TRIES, line_search_fn="strong_wolfe"
    )
    losses: list[float] = []
    best, kept = math.inf, [each.detach().clone() for each in parameters]

    def evaluate() -> torch.Tensor:
        optimiser.zero_grad()
        value = loss()
        value.backward()
        return value

    for step in range(n_steps):
        here = [each.detach().clone() for each in parameters]
        try:
            losses.append(float(optimiser.step(evaluate).detach()))  # of what was here before it
        except (RuntimeError, ArithmeticError):  # a covariance of numbers that are none
            losses.append(math.nan)
        progress(step, losses[-1])
        gained = best - losses[-1]
        if not gained >= 0:
            _restore(parameters, kept)
            break
        best, kept = losses[-1], here
        if gained < _ENOUGH / n_targets:
            break
    if any(not bool(torch.isfinite(each).all()) for each in parameters):
        _restore(parameters, kept)
    return [each for each in losses if math.isfinite(each)]


def _restore(parameters: Sequence[torch.nn.Parameter], values: Sequence[torch.Tensor]) -> None:
    with torch.no_grad():
        for parameter, value in zip(parameters, values, strict=True):
            parameter.copy_(value)
