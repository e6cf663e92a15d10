"""Kriging from known values to a field at all nodes, with standard errors when asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from grfpp.graph import Graph
from grfpp.kernels import Kernel
from grfpp.memory import require_bytes
from grfpp.tasks.nodes.directions import cosines
from grfpp.tasks.nodes.fields import reached_nodes
from grfpp.tasks.nodes.kriging.choose import Choice, Folds, KnownValues, Setting, choose
from grfpp.tasks.nodes.kriging.patches import patch_of
from grfpp.tasks.nodes.kriging.process import Process
from grfpp.typing import FloatArray, IntArray

#: Of the residual of the final solve.
_TOL = 1e-7


class HeldOut(NamedTuple):
    """A process on a part of the graph, its known values, and which of them are held out."""

    process: Process
    data: KnownValues
    folds: Folds


@dataclass(frozen=True, eq=False)
class Kriging:
    """A field at all nodes, and what it was made with.

    Attributes
    ----------
    data
        The known values in standard units: less `offset`, over `unit`.
    held
        What the choice was made on: all of it, or a part where the graph is large.
    field
        In the units of the values, of shape ``(n_nodes, c)``.
    variance
        The kernel's mean variance, which the setting's noise is relative to.
    """

    process: Process
    data: KnownValues
    offset: FloatArray
    unit: FloatArray
    held: HeldOut
    choice: Choice
    variance: float
    field: FloatArray
    n_steps: int

    @property
    def setting(self) -> Setting:
        """The kernel and the noise."""
        return self.choice.setting

    @property
    def noise(self) -> float:
        """The variance of observations, in units of the kernel."""
        return self.setting.noise * self.variance


def krige(
    graph: Graph,
    make: Callable[[Graph, Kernel], Process],
    kernels: Sequence[Kernel],
    noises: Sequence[float],
    known: IntArray,
    values: FloatArray,
    *,
    directions: bool,
    seed: int,
    sure: float = 0.0,
) -> Kriging:
    """Choose kernel and noise on the known nodes, and predict at all.

    Parameters
    ----------
    graph
        The graph.
    make
        The process with a kernel on it, or on a part of it.
    kernels, noises
        What to choose among.
    known, values
        Where the field is known, and what it is there, of shape ``(n, c)``.
    directions
        Whether directions count, and the choice is by cosines; else it is by squares.
    seed
        Of the parts of the known nodes.
    sure
        Standard errors by which a setting must be better than the first to be taken.
    """
    n, width = graph.n_nodes, values.shape[1]
    offset = values.mean(axis=0)
    spread = np.abs(values - offset).max(axis=0)
    unit = np.full(width, spread.max()) if directions else spread
    unit = np.where(unit > 0, unit, 1.0)
    data = KnownValues(n, known, (values - offset) / unit)
    require_bytes(8 * 9 * n * width, "the field")
    part, places = patch_of(graph, known, seed)
    own = data.within(places)
    folds = Folds.of(len(own.known), part.n_nodes, width, seed)
    require_bytes(8 * 9 * part.n_nodes * width * len(folds.held_out), "held-out values")

    def by_cosine(true: FloatArray, found: FloatArray) -> FloatArray:
        losses = 1 - cosines(found * unit + offset, true * unit + offset)
        return np.where(np.isnan(losses), 0.0, losses)

    def by_square(true: FloatArray, found: FloatArray) -> FloatArray:
        return np.asarray(np.square(true - found).sum(axis=1))

    loss = by_cosine if directions else by_square
    choice = choose(partial(make, part), kernels, noises, own, loss, folds, seed, sure)
    on_part = make(part, choice.setting.kernel)
    process = on_part if part is graph else make(graph, choice.setting.kernel)
    variance = on_part.prior_variance(seed)
    noise = choice.setting.noise * variance
    found = process.mean(data.mask(), data.spread(), noise, _TOL)
    field = found.field * unit + offset
    # Rounding is all that reaches a component without a known node.
    field[~reached_nodes(graph, known)] = offset
    held = HeldOut(on_part, own, folds)
    return Kriging(process, data, offset, unit, held, choice, variance, field, found.n_steps)
