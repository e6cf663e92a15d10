"""Kernel and noise of kriging, chosen by cross-validation on the known nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from grfpp.kernels import Kernel
from grfpp.tasks.nodes.kriging.process import Process
from grfpp.typing import FloatArray, IntArray

#: How right held-out values are, of what is known to a few digits at best.
_TOL = 1e-4
#: Folds of the known nodes; and numbers of all folds that are solved for at once, above which
#: fewer folds are held out.
N_FOLDS, _MOST_NUMBERS = 10, 60_000

#: From held-out values and what was predicted for them to losses, one a value.
Loss = Callable[[FloatArray, FloatArray], FloatArray]


class Setting(NamedTuple):
    """A kernel, and the variance of observations over the kernel's mean variance."""

    kernel: Kernel
    noise: float


@dataclass(frozen=True, eq=False)
class Folds:
    """Known nodes in parts, of which each is held out once.

    Attributes
    ----------
    held_out
        For each part, places among the known nodes.
    """

    held_out: list[IntArray]

    @classmethod
    def of(cls, n_known: int, n_nodes: int, width: int, seed: int) -> Folds:
        """Ten parts, or one a node; of large graphs not all of them are held out.

        Examples
        --------
        >>> [part.tolist() for part in Folds.of(3, 9, 1, seed=0).held_out]
        [[2], [0], [1]]
        """
        order = np.random.default_rng(seed).permutation(n_known)
        parts = np.array_split(order, min(N_FOLDS, n_known))
        most = max(1, _MOST_NUMBERS // (n_nodes * width))
        return cls([np.sort(part) for part in parts[:most]])


@dataclass(frozen=True, eq=False)
class KnownValues:
    """A field where it is known, ready to be held out in parts."""

    n_nodes: int
    known: IntArray
    #: Less their mean, a column a component.
    values: FloatArray

    def within(self, nodes: IntArray) -> KnownValues:
        """What is known at some nodes, in order, by their places among them."""
        if len(nodes) == self.n_nodes:
            return self
        place = np.full(self.n_nodes, -1)
        place[nodes] = np.arange(len(nodes))
        inside = place[self.known] >= 0
        return KnownValues(len(nodes), place[self.known[inside]], self.values[inside])

    def spread(self) -> FloatArray:
        """The values at their nodes, zeros elsewhere."""
        field = np.zeros((self.n_nodes, self.values.shape[1]))
        field[self.known] = self.values
        return field

    def mask(self, without: IntArray | None = None) -> FloatArray:
        """1 at known nodes but those at some places."""
        mask = np.zeros((self.n_nodes, 1))
        mask[self.known] = 1.0
        if without is not None:
            mask[self.known[without]] = 0.0
        return mask


def held_out_means(
    process: Process, noise: float, data: KnownValues, folds: Folds, tol: float = _TOL
) -> list[FloatArray]:
    """What is predicted at each part from the others; all parts are solved for at once."""
    width = data.values.shape[1]
    masks = np.concatenate(
        [np.repeat(data.mask(part), width, axis=1) for part in folds.held_out], axis=1
    )
    values = np.tile(data.spread(), (1, len(folds.held_out)))
    field = process.mean(masks, values, noise, tol).field
    return [
        field[data.known[part], width * k : width * (k + 1)]
        for k, part in enumerate(folds.held_out)
    ]


class Choice(NamedTuple):
    """The setting that is taken, and the mean losses of all."""

    setting: Setting
    losses: dict[Setting, float]


def choose(
    make: Callable[[Kernel], Process],
    kernels: Sequence[Kernel],
    noises: Sequence[float],
    data: KnownValues,
    loss: Loss,
    folds: Folds,
    seed: int,
    sure: float = 0.0,
) -> Choice:
    """The kernel and the noise of the least mean loss where values are held out.

    Few held-out values choose by chance: what is chosen in place of the first kernel with the
    first noise must be better than it by `sure` standard errors.

    Parameters
    ----------
    make
        The process with a kernel.
    kernels, noises
        What is tried: all pairs. Nothing is tried where there is one of each, or one known node.
    data, loss, folds
        What is known, what counts, and what is held out.
    seed
        Of the signs that a kernel's mean variance is estimated with.
    sure
        Standard errors of the difference between two settings at the same values.
    """
    settings = [Setting(kernel, noise) for kernel in kernels for noise in noises]
    if len(settings) == 1 or len(data.known) < 2:
        return Choice(settings[0], {})
    truth = np.concatenate([data.values[part] for part in folds.held_out])
    losses: dict[Setting, FloatArray] = {}
    for kernel in kernels:
        process = make(kernel)
        variance = process.prior_variance(seed)
        for noise in noises:
            found = held_out_means(process, noise * variance, data, folds)
            losses[Setting(kernel, noise)] = loss(truth, np.concatenate(found))
    means = {setting: float(own.mean()) for setting, own in losses.items()}
    first = settings[0]
    better = [each for each in settings if _is_better(losses[each], losses[first], sure)]
    return Choice(min(better or [first], key=means.__getitem__), means)


def _is_better(losses: FloatArray, than: FloatArray, sure: float) -> bool:
    gains = than - losses
    return bool(gains.mean() > sure * gains.std() / np.sqrt(len(gains)))
