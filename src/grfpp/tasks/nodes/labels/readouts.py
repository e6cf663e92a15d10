"""From columns of a kernel to scores of classes: rules that are linear in the columns.

Each rule learns from ``K[L, S]``, the kernel between the labelled nodes ``L`` and some of them
``S`` (all, unless they are many), and gives scores at a node from its row ``K[i, S]``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from grfpp.typing import FloatArray, IntArray

#: Below this share of the largest row, rounding decides what a row holds.
RESOLVED = 1e-10
_TINY = 1e-300


class Rule(NamedTuple):
    """A way to read labels out of a kernel, with its setting."""

    how: str
    setting: Any


#: What each `how` tries.
SETTINGS: dict[str, tuple[Any, ...]] = {
    "propagation": ("counts", "masses"),
    "svm": (0.3, 1.0, 10.0, 100.0),
    "kriging": (0.01, 0.1, 1.0),
}


#: What each `how` takes where no labels can be held out.
DEFAULTS: dict[str, Any] = {"propagation": "masses", "svm": 1.0, "kriging": 0.1}


class Block(NamedTuple):
    """What a kernel knows of the labelled nodes."""

    #: ``K[L, S]``.
    rows: FloatArray
    #: Numbers of the classes of ``L``.
    labels: IntArray
    n_classes: int
    #: Places of ``S`` in ``L``.
    landmarks: IntArray
    #: ``Σ_i K(i, j)`` over all nodes ``i``, for each ``j`` in ``L``.
    masses: FloatArray

    def part(self, kept: IntArray) -> Block:
        """The same for some of the labelled nodes, all of which are landmarks."""
        rows = self.rows[np.ix_(kept, kept)]
        here = np.arange(len(kept))
        return Block(rows, self.labels[kept], self.n_classes, here, self.masses[kept])

    @property
    def one_hot(self) -> FloatArray:
        """A column a class."""
        return np.eye(self.n_classes)[self.labels]

    @property
    def balance(self) -> FloatArray:
        """Weights of classes under which all count the same, 1 where they are of one size."""
        sizes = np.bincount(self.labels, minlength=self.n_classes)
        weights: FloatArray = len(self.labels) / (max(1, np.count_nonzero(sizes)) * sizes.clip(1))
        return weights


@dataclass(frozen=True, eq=False)
class Readout:
    """Scores are ``rows @ weights + bias``, `rows` scaled to length 1 for some rules.

    `weights` has a row a landmark, or a labelled node for propagation.
    """

    rule: Rule
    weights: FloatArray
    bias: FloatArray

    @property
    def is_of_directions(self) -> bool:
        """Whether rows are scaled to length 1."""
        return self.rule.how == "svm"

    def logits(self, rows: FloatArray) -> FloatArray:
        """Logits at nodes whose rows of the kernel these are."""
        lengths = np.linalg.norm(rows, axis=1) if self.is_of_directions else None
        return self.logits_of(rows @ self.weights, lengths)

    def logits_of(self, sums: FloatArray, lengths: FloatArray | None = None) -> FloatArray:
        """The same from ``rows @ weights`` and the lengths of rows."""
        if self.rule.how == "svm":
            assert lengths is not None
            return np.asarray(sums / np.maximum(lengths, _TINY)[:, None] + self.bias)
        if self.rule.how == "propagation":
            # Shares of the masses; walks and rounding may bring them below zero.
            shares = sums / np.maximum(np.abs(sums).sum(axis=1, keepdims=True), _TINY)
            return np.asarray(np.log(np.maximum(shares, 1e-6)))
        return np.asarray(sums / np.maximum(np.abs(sums).sum(axis=1, keepdims=True), _TINY))


def learn(rule: Rule, block: Block, balanced: bool) -> Readout:
    """Learn one rule."""
    ways: dict[str, Any] = {"propagation": _propagation, "svm": _svm, "kriging": _kriging}
    return Readout(rule, *ways[rule.how](block, rule.setting, balanced))


def _propagation(block: Block, setting: str, balanced: bool) -> tuple[FloatArray, FloatArray]:
    """``K @ Y``, columns divided by what they bring to all nodes, or by the sizes of classes."""
    Y = block.one_hot
    if balanced and setting == "masses":
        total = block.masses @ Y
        Y = Y * (np.abs(total).sum() / np.maximum(np.abs(total), _TINY) / block.n_classes)
    elif balanced:
        Y = Y * block.balance
    return Y, np.zeros(block.n_classes)


def _svm(block: Block, setting: float, balanced: bool) -> tuple[FloatArray, FloatArray]:
    """A linear support-vector machine, one class against the others, on rows of length 1.

    Their products are cosines between rows of the kernel.
    """
    from sklearn.svm import LinearSVC

    weights = np.zeros((block.rows.shape[1], block.n_classes))
    bias = np.full(block.n_classes, -2.0)  # of classes that no node has
    if len(np.unique(block.labels)) < 2:
        bias[block.labels[0]] = 2.0
        return weights, bias
    lengths = np.linalg.norm(block.rows, axis=1, keepdims=True)
    points = block.rows / np.maximum(lengths, _TINY)
    machine = LinearSVC(
        C=setting, class_weight="balanced" if balanced else None, dual=False, max_iter=300, tol=1e-3
    )
    machine.fit(points, block.labels)
    if len(machine.classes_) == 2:
        coefficients = np.concatenate([-machine.coef_, machine.coef_])
        intercepts = np.concatenate([-machine.intercept_, machine.intercept_])
    else:
        coefficients, intercepts = machine.coef_, machine.intercept_
    weights[:, machine.classes_], bias[machine.classes_] = coefficients.T, intercepts
    return weights, bias


def _kriging(block: Block, setting: float, balanced: bool) -> tuple[FloatArray, FloatArray]:
    """The mean of a Gaussian process with labels as values: ``(K + r I)^-1 Y``.

    `setting` is ``r`` over the mean of the diagonal. With fewer landmarks than nodes, the best fit
    by columns of the landmarks.
    """
    Y = block.one_hot * (block.balance if balanced else 1.0)
    inner = block.rows[block.landmarks]
    inner = (inner + inner.T) / 2
    ridge = setting * max(float(np.abs(inner.diagonal()).mean()), _TINY)
    if len(block.landmarks) == len(block.labels):
        matrix, sides = inner + ridge * np.eye(len(inner)), Y[block.landmarks]
    else:
        matrix = block.rows.T @ block.rows + ridge * inner
        sides = block.rows.T @ Y
    from scipy.linalg import lstsq, solve

    try:
        weights = solve(matrix, sides, assume_a="sym")
    except (np.linalg.LinAlgError, ValueError):
        weights = lstsq(matrix, sides)[0]
    return weights, np.zeros(block.n_classes)
