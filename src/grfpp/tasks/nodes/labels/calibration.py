"""Probabilities that mean what they say: temperature scaling, and how far off they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import log_softmax, softmax

from grfpp.arguments import array_of, whole
from grfpp.errors import InputError
from grfpp.typing import FloatArray, IntArray

#: Slopes are searched for between these.
_SLOPES = (1e-3, 1e3)
#: Strength of the prior that class biases are 0, in nodes.
_PRIOR = 5.0


@dataclass(frozen=True, eq=False)
class Calibration:
    """Probabilities are ``softmax(slope · logits + bias)``; 1 over the slope is the temperature."""

    slope: float
    bias: FloatArray

    def probabilities(self, logits: FloatArray) -> FloatArray:
        """Of all classes, a row a node."""
        return np.asarray(softmax(self.slope * logits + self.bias, axis=1))

    def loss(self, logits: FloatArray, labels: IntArray) -> float:
        """Mean of the negative logarithm of what the true class was given."""
        given = log_softmax(self.slope * logits + self.bias, axis=1)
        return float(-given[np.arange(len(labels)), labels].mean())


def calibrate(logits: FloatArray, labels: IntArray, *, with_bias: bool = False) -> Calibration:
    """The slope, and the biases of classes, under which held-out labels are likeliest.

    Parameters
    ----------
    logits
        Of held-out nodes.
    labels
        Numbers of their classes.
    with_bias
        Whether held-out nodes show how large classes are. Biases that few nodes ask for are small.

    Examples
    --------
    >>> logits = np.array([[9.0, 0.0], [9.0, 0.0], [9.0, 0.0], [9.0, 0.0]])
    >>> sure = calibrate(logits, np.array([0, 0, 0, 1]))
    >>> sure.probabilities(logits)[0].round(2)
    array([0.71, 0.29])
    """
    from scipy.optimize import minimize

    n, n_classes = logits.shape
    # As Platt has it: of few labels that are all right, none makes sure of the next.
    doubt = 1 / (n + 2)
    one_hot = (1 - doubt) * np.eye(n_classes)[labels] + doubt / n_classes

    def objective(x: FloatArray) -> tuple[float, FloatArray]:
        slope, bias = np.exp(x[0]), x[1:] if with_bias else np.zeros(n_classes)
        given = log_softmax(slope * logits + bias, axis=1)
        wrong = np.exp(given) - one_hot
        value = -float((given * one_hot).sum()) + 0.5 * _PRIOR * float(bias @ bias)
        gradient = np.empty_like(x)
        gradient[0] = slope * float((wrong * logits).sum())
        if with_bias:
            gradient[1:] = wrong.sum(axis=0) + _PRIOR * bias
        return value / n, gradient / n

    spread = float(np.abs(logits - logits.mean(axis=1, keepdims=True)).mean())
    start = np.zeros(1 + n_classes * with_bias)
    start[0] = np.clip(-np.log(max(spread, 1e-12)), *np.log(_SLOPES))
    bounds = [tuple(np.log(_SLOPES)), *[(-10.0, 10.0)] * (len(start) - 1)]
    found = minimize(objective, start, jac=True, bounds=bounds, method="L-BFGS-B")
    bias = found.x[1:] if with_bias else np.zeros(n_classes)
    return Calibration(float(np.exp(found.x[0])), bias)


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
