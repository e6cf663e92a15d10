"""Which kernel and which rule predict labels that were held out, and how sure they may be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from grfpp.memory import require_bytes
from grfpp.tasks.nodes.labels.calibration import Calibration, calibrate
from grfpp.tasks.nodes.labels.products import KernelProducts
from grfpp.tasks.nodes.labels.readouts import RESOLVED, SETTINGS, Block, Rule, learn
from grfpp.tasks.nodes.splits import NodeKFold
from grfpp.typing import BoolArray, FloatArray, IntArray

#: Support-vector machines take time: they are tried on so many kernels.
_FINALISTS = 4


class Labelled(NamedTuple):
    """Nodes and the numbers of their classes."""

    nodes: IntArray
    labels: IntArray
    n_classes: int

    def sample(self, most: int, rng: np.random.Generator) -> IntArray:
        """Places of at most so many of them, each class in its share."""
        n = len(self.nodes)
        if n <= most:
            return np.arange(n)
        # Shuffled, then class by class: every so many-th of such a list.
        shuffled = rng.permutation(n)
        by_class = shuffled[np.argsort(self.labels[shuffled], kind="stable")]
        return np.sort(by_class[np.linspace(0, n - 1, most).astype(np.int64)])

    def take(self, places: IntArray) -> Labelled:
        """Some of them."""
        return Labelled(self.nodes[places], self.labels[places], self.n_classes)


#: Places of labelled nodes that are learned from, and of those that are held out.
Split = tuple[IntArray, IntArray]


def splits_of(known: Labelled, folds: NodeKFold) -> list[Split]:
    """Folds of labelled nodes, in which every class keeps a label to learn from.

    What would leave its class without any is not held out: nothing could predict it. None at all
    where fewer than two classes could be held out, which would prefer whatever prefers that one.

    Examples
    --------
    >>> labels = np.array([0, 1, 1, 2, 2])
    >>> found = splits_of(Labelled(np.arange(5), labels, 3), NodeKFold(5))
    >>> sorted(place for _, held_out in found for place in held_out.tolist())
    [1, 2, 3, 4]
    >>> splits_of(Labelled(np.arange(3), labels[:3], 2), NodeKFold(3))
    []
    """
    found, classes = [], set()
    for kept, held_out in folds.split(known.nodes, known.labels):
        is_left = np.isin(known.labels[held_out], known.labels[kept])
        if is_left.any():
            held = held_out[is_left]
            found.append((np.setdiff1d(np.arange(len(known.nodes)), held), held))
            classes.update(known.labels[held].tolist())
    return found if len(classes) > 1 else []


class Candidate(NamedTuple):
    """A kernel by its number, a rule, and what became of held-out labels."""

    kernel: int
    rule: Rule
    calibration: Calibration
    accuracy: float
    loss: float


def candidates(
    products: KernelProducts,
    rules: Sequence[Rule],
    known: Labelled,
    validation: Labelled | None,
    balanced: bool,
    splits: Sequence[Split],
) -> list[Candidate]:
    """Try rules on kernels: quick ones on all, support-vector machines on the best of those.

    Parameters
    ----------
    products
        The kernels.
    rules
        What to read labels out by.
    known
        The nodes to learn from.
    validation
        The nodes to judge by; without them, those that `splits` hold out.
    balanced
        Whether classes count the same.
    splits
        Of the known nodes, where there are no others to judge by.
    """
    trial = _Trial(products, known, validation, balanced, splits)
    slow = [rule for rule in rules if rule.how == "svm"]
    quick = [rule for rule in rules if rule.how != "svm"]
    # Where nothing else is asked for, they are still what shows which kernels are worth the time.
    first = quick or [Rule("kriging", setting) for setting in SETTINGS["kriging"]]
    numbers = range(len(products.choices))
    if not quick and len(numbers) <= _FINALISTS:
        return [trial.of(number, rule) for number in numbers for rule in slow]
    tried = [trial.of(number, rule) for number in numbers for rule in first]
    losses = [min(each.loss for each in tried if each.kernel == number) for number in numbers]
    finalists = sorted(numbers, key=lambda number: losses[number])[:_FINALISTS]
    return [
        *(tried if quick else []),
        *(trial.of(number, rule) for number in sorted(finalists) for rule in slow),
    ]


class _Trial:
    """Kernels between the nodes that are known and those that are held out."""

    def __init__(
        self,
        products: KernelProducts,
        known: Labelled,
        validation: Labelled | None,
        balanced: bool,
        splits: Sequence[Split],
    ) -> None:
        self.known, self.validation, self.balanced = known, validation, balanced
        if validation is not None:
            nodes, self.truth = np.r_[known.nodes, validation.nodes], validation.labels
        else:
            self.splits = splits
            self.judged = np.sort(np.concatenate([held_out for _, held_out in splits]))
            nodes, self.truth = known.nodes, known.labels[self.judged]
        n_bytes = 8 * len(products.choices) * len(nodes) * len(known.nodes)
        require_bytes(2 * n_bytes, f"{len(products.choices)} kernels of {len(nodes)} nodes")
        self.masses = list(products.masses(known.nodes))
        self.rows = list(products.between(nodes, known.nodes))

    def of(self, number: int, rule: Rule) -> Candidate:
        """What one rule on one kernel says of held-out labels."""
        (logits, near), truth = self._logits(number, rule), self.truth
        calibration = calibrate(logits, truth, near, with_shares=self.validation is not None)
        predicted = calibration.probabilities(logits, near).argmax(axis=1)
        accuracy = float((predicted == truth).mean())
        loss = calibration.loss(logits, truth, near)
        return Candidate(number, rule, calibration, accuracy, loss)

    def _logits(self, number: int, rule: Rule) -> tuple[FloatArray, BoolArray]:
        """Of held-out nodes, and whether labelled ones reach them."""
        known, rows = self.known, self.rows[number]
        n = len(known.nodes)
        block = Block(rows[:n], known.labels, known.n_classes, np.arange(n), self.masses[number])
        if self.validation is not None:
            return learn(rule, block, self.balanced).logits(rows[n:]), _reached_by(rows[n:])
        logits, near = np.empty((n, known.n_classes)), np.empty(n, bool)
        for kept, held_out in self.splits:
            readout = learn(rule, block.part(kept), self.balanced)
            own = rows[np.ix_(held_out, kept)]
            logits[held_out], near[held_out] = readout.logits(own), _reached_by(own)
        return logits[self.judged], near[self.judged]


def _reached_by(rows: FloatArray) -> BoolArray:
    return reached(np.abs(rows).sum(axis=1))


def reached(masses: FloatArray) -> BoolArray:
    """Whether more than rounding connects nodes with the labelled ones."""
    return np.asarray(np.abs(masses) > RESOLVED * np.abs(masses).max(initial=0.0))
