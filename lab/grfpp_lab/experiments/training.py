"""What the trainings of all transformers share. Needs torch; imported by processes that train."""

import math
from collections.abc import Iterator
from contextlib import contextmanager

import torch

#: Share of the steps in which the rate of learning rises.
WARM_UP = 0.1


@contextmanager
def repeatable(seed: int) -> Iterator[None]:
    """Torch's random numbers from a seed, on one thread; afterwards all is as it was.

    One thread gives the same bits everywhere; processes are what fills the cores.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed % 2**63)
            yield
    finally:
        torch.set_num_threads(before)


def learning_rate(done: float) -> float:
    """Share of the full rate, by the share of the steps: up in a line, then down as a cosine.

    Examples
    --------
    >>> [round(learning_rate(done), 2) for done in (0, 0.05, 0.1, 0.55, 1)]
    [0.01, 0.5, 1.0, 0.5, 0.0]
    """
    if done < WARM_UP:
        return (done + 1e-3) / (WARM_UP + 1e-3)
    return 0.5 * (1 + math.cos(math.pi * min(1.0, (done - WARM_UP) / (1 - WARM_UP))))
