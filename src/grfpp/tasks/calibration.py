"""Calibrated class probabilities: temperature, class shares, lapses, and the calibration error."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import expit, log_softmax

from grfpp._checks import array_of, whole
from grfpp.errors import InputError
from grfpp.typing import BoolArray, FloatArray, IntArray

#: Bounds of the slope's logarithm: temperatures from 0.001 to 1000. Beyond them the softmax of
#: logits of about 1 is constant or one-hot in float64.
_LOG_SLOPES = (float(np.log(1e-3)), float(np.log(1e3)))
#: Bounds of the log-odds of a lapse: from next to none (6e-6) to every second label.
_LOG_ODDS = (-12.0, 0.0)
#: Strength of the prior, as a number of nodes, that biases are 0 and that unreached nodes have the
#: class shares of all nodes: classes with fewer held-out nodes than that are mostly prior.
_PRIOR = 5.0


class Calibration(NamedTuple):
    """Probabilities ``(1 − lapse) · softmax(slope · logits + bias) + lapse · shares``.

    A lapse is a node whose label does not depend on its neighbours. Without lapses, the temperature
    that fits such nodes leaves the predictions at all others underconfident.
    """

    slope: float
    bias: FloatArray
    lapse: float
    #: Class probabilities of lapses.
    shares: FloatArray
    #: Class probabilities of nodes that no label reaches.
    unreached: FloatArray

    def log_probabilities(self, logits: FloatArray, reached: BoolArray) -> FloatArray:
        """Logarithms of the probabilities of all classes, one row per node."""
        result = _mix(log_softmax(self.slope * logits + self.bias, axis=1), self.lapse, self.shares)
        result[~reached] = np.log(self.unreached)
        return result


def identity_calibration(n_classes: int) -> Calibration:
    """The calibration that leaves logits as they are."""
    shares = np.full(n_classes, 1 / n_classes)
    return Calibration(1.0, np.zeros(n_classes), 0.0, shares, shares)


def _mix(log_softmaxes: FloatArray, lapse: float, shares: FloatArray) -> FloatArray:
    if lapse == 0:
        return log_softmaxes
    return np.asarray(np.logaddexp(np.log1p(-lapse) + log_softmaxes, np.log(lapse * shares)))


def calibrate(
    logits: FloatArray, labels: IntArray, reached: BoolArray, *, with_shares: bool = False
) -> Calibration:
    """The calibration of maximum likelihood on held-out labels.

    Parameters
    ----------
    logits
        Logits of held-out nodes, one row per node.
    labels
        Classes of these nodes, from 0.
    reached
        Whether labels reach these nodes; the others are not used for slope and biases.
    with_shares
        Whether held-out nodes have the class shares of the nodes to predict. If so, biases and
        lapses are fitted, and nodes that no label reaches get separate class shares.

    References
    ----------
    Platt: Probabilistic outputs for support vector machines and comparisons to regularized
    likelihood methods. 1999.
    Guo, Pleiss, Sun, Weinberger: On calibration of modern neural networks. ICML 2017.

    Examples
    --------
    >>> logits, all_nodes = np.array([[9.0, 0.0]] * 4), np.ones(4, bool)
    >>> fitted = calibrate(logits, np.array([0, 0, 0, 1]), all_nodes)
    >>> np.exp(fitted.log_probabilities(logits, all_nodes))[0].round(2)
    array([0.71, 0.29])
    """
    fitted, ones = identity_calibration(logits.shape[1]), np.ones(logits.shape[1])
    if with_shares:
        shares = _shares(labels[reached], ones)
        unreached = _shares(labels[~reached], _PRIOR * _shares(labels, ones))
        fitted = fitted._replace(shares=shares, unreached=unreached)
    if not reached.any():
        return fitted
    fit = _maximum_likelihood(logits[reached], labels[reached], fitted.shares, with_shares)
    return Calibration(*fit, *fitted[3:])


def _shares(labels: IntArray, prior: FloatArray) -> FloatArray:
    counts = np.bincount(labels, minlength=len(prior)) + prior
    return np.asarray(counts / counts.sum())


def _maximum_likelihood(
    logits: FloatArray, labels: IntArray, shares: FloatArray, with_shares: bool
) -> tuple[float, FloatArray, float]:
    """Slope, biases and lapse of maximum likelihood."""
    from scipy.optimize import minimize

    n, n_classes = logits.shape
    # Platt's smoothing of targets: the slope stays finite where all of a few predictions are right.
    smoothing = 1 / (n + 2)
    targets = (1 - smoothing) * np.eye(n_classes)[labels] + smoothing / n_classes

    def unpack(x: FloatArray) -> tuple[float, FloatArray, float]:
        if not with_shares:
            return float(np.exp(x[0])), np.zeros(n_classes), 0.0
        return float(np.exp(x[0])), x[1:-1], float(expit(x[-1]))

    def objective(x: FloatArray) -> tuple[float, FloatArray]:
        slope, bias, lapse = unpack(x)
        log_softmaxes = log_softmax(slope * logits + bias, axis=1)
        mixed = _mix(log_softmaxes, lapse, shares)
        value = -float((mixed * targets).sum()) + 0.5 * _PRIOR * float(bias @ bias)
        # The part of each target that is not a lapse, and the error of the softmax against it.
        explained = targets * np.exp(np.log1p(-lapse) + log_softmaxes - mixed)
        error = np.exp(log_softmaxes) * explained.sum(axis=1, keepdims=True) - explained
        gradient = np.empty_like(x)
        gradient[0] = slope * float((error * logits).sum())
        if with_shares:
            gradient[1:-1] = error.sum(axis=0) + _PRIOR * bias
            gradient[-1] = float((explained - (1 - lapse) * targets).sum())
        return value / n, gradient / n

    spread = float(np.abs(logits - logits.mean(axis=1, keepdims=True)).mean())
    first = float(np.clip(-np.log(max(spread, 1e-12)), *_LOG_SLOPES))
    # Start with one lapse in twenty labels. The prior limits biases, rather than their bounds.
    start = np.array([first, *[0.0] * n_classes, -3.0] if with_shares else [first])
    bounds = [_LOG_SLOPES, *[(-10.0, 10.0)] * n_classes, _LOG_ODDS][: len(start)]
    return unpack(minimize(objective, start, jac=True, bounds=bounds, method="L-BFGS-B").x)


def calibration_error(
    probabilities: npt.ArrayLike, labels: Any, classes: Any = None, n_bins: int = 15
) -> float:
    """Expected calibration error: mean gap between confidence and accuracy.

    The mean over nodes of ``|accuracy − confidence|`` in the bin of their largest probability;
    bins of equal width.

    Parameters
    ----------
    probabilities
        Class probabilities as `predict_proba` returns them, one row per node.
    labels
        The true labels.
    classes
        The class of each column (``classes_``); 0, 1, … if not given.
    n_bins
        Number of bins.

    References
    ----------
    Guo, Pleiss, Sun, Weinberger: On calibration of modern neural networks. ICML 2017.

    Examples
    --------
    >>> round(calibration_error([[0.9, 0.1], [0.8, 0.2]], [0, 1]), 2)
    0.45
    """
    table, truth = array_of(probabilities, "probabilities"), array_of(labels, "labels")
    n_bins = whole(n_bins, "n_bins", 1)
    is_table = table.ndim == 2 and table.dtype.kind in "iuf" and table.size > 0
    if not is_table or not (table.min() >= 0 and table.max() <= 1 + 1e-9):
        raise InputError("must be numbers in [0, 1], one row per node", argument="probabilities")
    names = np.arange(table.shape[1]) if classes is None else array_of(classes, "classes")
    if truth.shape != table.shape[:1] or names.shape != table.shape[1:]:
        problem = f"must have shape {table.shape[:1]} and classes {table.shape[1:]}, found "
        problem += f"{truth.shape} and {names.shape}"
        raise InputError(problem, argument="labels")
    confidence = table.max(axis=1)
    is_right = names[table.argmax(axis=1)] == truth
    bins = np.minimum((confidence * n_bins).astype(np.int64), n_bins - 1)
    gaps = np.bincount(bins, is_right - confidence, minlength=n_bins)
    return float(np.abs(gaps).sum() / len(confidence))
