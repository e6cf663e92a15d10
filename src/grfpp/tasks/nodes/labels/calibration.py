"""Probabilities that mean what they say: temperature, shares, lapses, and how far off they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit, log_softmax

from grfpp.arguments import array_of, whole
from grfpp.errors import InputError
from grfpp.typing import BoolArray, FloatArray, IntArray

#: Slopes are searched for between these.
_SLOPES = (1e-3, 1e3)
#: Logarithms of the odds of a lapse, likewise.
_ODDS = (-12.0, 0.0)
#: Strength of the prior that class biases are 0, and that classes have the same shares where no
#: label reaches as everywhere, in nodes.
_PRIOR = 5.0


@dataclass(frozen=True, eq=False)
class Calibration:
    """From logits to probabilities.

    They are ``(1 − lapse) · softmax(slope · logits + bias) + lapse · shares``. 1 over the slope is
    the temperature. Lapses are nodes whose neighbours say nothing of them, however sure they are:
    without lapses, a temperature that suits them makes all others too unsure.
    """

    slope: float
    bias: FloatArray
    #: How often the label is any, in their shares.
    lapse: float
    shares: FloatArray
    #: Of nodes that no label reaches.
    unreached: FloatArray

    @classmethod
    def none(cls, n_classes: int) -> Calibration:
        """Logits as they are."""
        even = np.full(n_classes, 1 / n_classes)
        return cls(1.0, np.zeros(n_classes), 0.0, even, even)

    def probabilities(self, logits: FloatArray, is_reached: BoolArray | None = None) -> FloatArray:
        """Of all classes, a row a node."""
        return np.exp(self._logarithms(logits, is_reached))

    def loss(
        self, logits: FloatArray, labels: IntArray, is_reached: BoolArray | None = None
    ) -> float:
        """Mean of the negative logarithm of what the true class was given."""
        given = self._logarithms(logits, is_reached)
        return float(-given[np.arange(len(labels)), labels].mean())

    def _logarithms(self, logits: FloatArray, is_reached: BoolArray | None) -> FloatArray:
        sure = log_softmax(self.slope * logits + self.bias, axis=1)
        given = _mixed(sure, self.lapse, self.shares)
        if is_reached is not None:
            given[~is_reached] = np.log(self.unreached)
        return given


def _mixed(sure: FloatArray, lapse: float, shares: FloatArray) -> FloatArray:
    """Logarithms of probabilities, where some labels are any."""
    if lapse == 0:
        return sure
    return np.asarray(np.logaddexp(np.log1p(-lapse) + sure, np.log(lapse * shares)))


def calibrate(
    logits: FloatArray,
    labels: IntArray,
    is_reached: BoolArray | None = None,
    *,
    with_shares: bool = False,
) -> Calibration:
    """The calibration under which held-out labels are likeliest.

    Parameters
    ----------
    logits
        Of held-out nodes.
    labels
        Numbers of their classes.
    is_reached
        Whether labels reach them at all; the others say nothing of slope and biases.
    with_shares
        Whether held-out nodes show how large classes are: then there are biases and lapses, and
        nodes that no label reaches have shares of their own. What few nodes ask for is small.

    Examples
    --------
    >>> logits = np.array([[9.0, 0.0], [9.0, 0.0], [9.0, 0.0], [9.0, 0.0]])
    >>> sure = calibrate(logits, np.array([0, 0, 0, 1]))
    >>> sure.probabilities(logits)[0].round(2)
    array([0.71, 0.29])
    """
    n_classes = logits.shape[1]
    even = np.full(n_classes, 1 / n_classes)
    reached = np.ones(len(labels), bool) if is_reached is None else is_reached
    if with_shares:
        every = _shares(labels, 1.0 + np.zeros(n_classes))
        shares = _shares(labels[reached], 1.0 + np.zeros(n_classes))
        unreached = _shares(labels[~reached], _PRIOR * every)
    else:
        shares = unreached = even
    slope, bias, lapse = 1.0, np.zeros(n_classes), 0.0
    if reached.any():
        slope, bias, lapse = _likeliest(logits[reached], labels[reached], shares, with_shares)
    return Calibration(slope, bias, lapse, shares, unreached)


def _shares(labels: IntArray, before: FloatArray) -> FloatArray:
    counts = np.bincount(labels, minlength=len(before)) + before
    shares: FloatArray = counts / counts.sum()
    return shares


def _likeliest(
    logits: FloatArray, labels: IntArray, shares: FloatArray, with_shares: bool
) -> tuple[float, FloatArray, float]:
    """Slope, biases and lapse."""
    from scipy.optimize import minimize

    n, n_classes = logits.shape
    # As Platt has it: of few labels that are all right, none makes sure of the next.
    doubt = 1 / (n + 2)
    one_hot = (1 - doubt) * np.eye(n_classes)[labels] + doubt / n_classes

    def parts(x: FloatArray) -> tuple[float, FloatArray, float]:
        if not with_shares:
            return float(np.exp(x[0])), np.zeros(n_classes), 0.0
        return float(np.exp(x[0])), x[1:-1], float(expit(x[-1]))

    def objective(x: FloatArray) -> tuple[float, FloatArray]:
        slope, bias, lapse = parts(x)
        sure = log_softmax(slope * logits + bias, axis=1)
        given = _mixed(sure, lapse, shares)
        value = -float((given * one_hot).sum()) + 0.5 * _PRIOR * float(bias @ bias)
        # How much of each label is no lapse, and what that asks of the softmax.
        own = one_hot * np.exp(np.log1p(-lapse) + sure - given)
        wrong = np.exp(sure) * own.sum(axis=1, keepdims=True) - own
        gradient = np.empty_like(x)
        gradient[0] = slope * float((wrong * logits).sum())
        if with_shares:
            gradient[1:-1] = wrong.sum(axis=0) + _PRIOR * bias
            gradient[-1] = float((own - (1 - lapse) * one_hot).sum())
        return value / n, gradient / n

    spread = float(np.abs(logits - logits.mean(axis=1, keepdims=True)).mean())
    first = float(np.clip(-np.log(max(spread, 1e-12)), *np.log(_SLOPES)))
    start = np.array([first, *[0.0] * n_classes, -3.0] if with_shares else [first])
    bounds = [tuple(np.log(_SLOPES)), *[(-10.0, 10.0)] * n_classes, _ODDS][: len(start)]
    return parts(minimize(objective, start, jac=True, bounds=bounds, method="L-BFGS-B").x)


def calibration_error(
    probabilities: npt.ArrayLike, labels: Any, classes: Any = None, n_bins: int = 15
) -> float:
    """Expected calibration error: how far confidence is from the share that is right, in bins.

    The mean over nodes of ``|accuracy − confidence|`` of the bin that the largest probability of a
    node falls into; bins of equal width.

    Parameters
    ----------
    probabilities
        As `predict_proba` gives them, a row a node.
    labels
        The true labels.
    classes
        What columns stand for (``classes_``); numbers from 0 if not given.
    n_bins
        Number of bins.

    Examples
    --------
    >>> round(calibration_error([[0.9, 0.1], [0.8, 0.2]], [0, 1]), 2)
    0.45
    """
    table, truth = array_of(probabilities, "probabilities"), array_of(labels, "labels")
    n_bins = whole(n_bins, "n_bins", 1)
    if table.ndim != 2 or table.dtype.kind not in "iuf" or not table.size:
        raise InputError(f"probabilities must be numbers, a row a node, found {table.shape}")
    names = np.arange(table.shape[1]) if classes is None else array_of(classes, "classes")
    if truth.shape != table.shape[:1] or names.shape != table.shape[1:]:
        raise InputError(
            f"there must be a label for each of {table.shape[0]} rows and a class for each of "
            f"{table.shape[1]} columns, found shapes {truth.shape} and {names.shape}"
        )
    confidence = table.max(axis=1)
    if not (np.isfinite(confidence).all() and table.min() >= 0 and confidence.max() <= 1 + 1e-9):
        raise InputError("probabilities must lie between 0 and 1")
    is_right = names[table.argmax(axis=1)] == truth
    bins = np.minimum((confidence * n_bins).astype(np.int64), n_bins - 1)
    gaps = np.bincount(bins, is_right - confidence, minlength=n_bins)
    return float(np.abs(gaps).sum() / len(confidence))
