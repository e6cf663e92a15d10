"""Standard errors of kriging: the process says how they are shared, held-out values how large."""

from __future__ import annotations

import numpy as np

from grfpp.tasks.nodes.kriging.choose import held_out_means
from grfpp.tasks.nodes.kriging.krige import Kriging
from grfpp.tasks.nodes.kriging.smooth import SmoothProcess
from grfpp.typing import FloatArray, IntArray

#: Held-out nodes that the size of the deviations comes from, and columns that are solved at once.
_MOST_COMPARED, _WIDTH = 128, 64
#: Of what was predicted for them.
_TOL = 1e-7
#: Up to so many multiplications (some ten seconds) every node is solved for; beyond, and where the
#: process can be drawn from, this many draws tell, to 7 %.
_EXACT_WORK, N_DRAWS = 1e10, 100


def deviations(krige: Kriging, nodes: IntArray, seed: int) -> FloatArray:
    """Standard deviations of the field at nodes, a column a component, in the values' units."""
    mask = krige.data.mask()
    variances = _variances(krige, nodes, mask, seed)
    return np.asarray(np.sqrt(variances)[:, None] * np.sqrt(_sizes(krige)) * krige.unit)


def observation_deviations(krige: Kriging) -> FloatArray:
    """Standard deviations of observations around the field, one a component."""
    return np.asarray(np.sqrt(krige.noise * _sizes(krige)) * krige.unit)


def _variances(krige: Kriging, nodes: IntArray, mask: FloatArray, seed: int) -> FloatArray:
    """Those of the process as it is, of size 1."""
    process = krige.process
    if isinstance(process, SmoothProcess):
        each = process.power * len(process.W.indices) * max(krige.n_steps, 10)
        if each * len(nodes) > _EXACT_WORK:
            total = np.zeros(len(nodes))
            for first in range(0, N_DRAWS, 20):
                drawn = process.draws(20, mask, krige.noise, seed + first)[nodes]
                total += np.square(drawn).sum(axis=1)
            return total / N_DRAWS
    parts = [nodes[first : first + _WIDTH] for first in range(0, len(nodes), _WIDTH)]
    return np.concatenate([process.variances(part, mask, krige.noise) for part in parts])


def _sizes(krige: Kriging) -> FloatArray:
    """How large squares are at held-out nodes, over what a process of size 1 expects."""
    process, data, folds = krige.held
    if len(data.known) < 2:
        return np.ones(data.values.shape[1])
    found = held_out_means(process, krige.noise, data, folds, _TOL)
    squares, expected = [], []
    left = _MOST_COMPARED
    for part, means in zip(folds.held_out, found, strict=True):
        some = np.arange(min(left, len(part), _WIDTH))
        left -= len(some)
        if not len(some):
            break
        nodes, mask = data.known[part[some]], data.mask(part)
        expected.append(process.variances(nodes, mask, krige.noise) + krige.noise)
        squares.append(np.square(means[some] - data.values[part[some]]))
    ratio = np.concatenate(squares) / np.concatenate(expected)[:, None]
    return np.asarray(ratio.mean(axis=0))
