"""Which kernel and which linear rule predict held-out labels best.

A rule learns from ``K[L, S]``, the kernel between the labelled nodes ``L`` and some of them ``S``
(all, unless they are many), and gives scores at a node from its row ``K[i, S]``.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np

from grfpp._memory import require_bytes
from grfpp.graph import Graph
from grfpp.linalg.chebyshev import ChebyshevTerms, Expansion
from grfpp.linalg.functions import unit_columns
from grfpp.operators.kernel_choice import KernelChoice, method_used
from grfpp.tasks.calibration import Calibration, calibrate
from grfpp.tasks.splits import NodeKFold
from grfpp.typing import BoolArray, FloatArray, IntArray

#: Settings that each rule tries.
SETTINGS: dict[str, tuple[Any, ...]] = {
    "propagation": ("counts", "masses"),
    "svm": (0.3, 1.0, 10.0, 100.0),
    "kriging": (0.01, 0.1, 1.0),
}
#: Settings where no labels can be held out.
DEFAULTS: dict[str, Any] = {"propagation": "masses", "svm": 1.0, "kriging": 0.1}
#: Number of kernels that support-vector machines, which take time, are tried on.
_N_FINALISTS = 4
#: Share of the largest mass below which rounding decides.
_RESOLVED = 1e-10
_TINY = 1e-300
#: Truncation error of Chebyshev expansions, over the largest value of a kernel.
_TOL = 1e-12
#: Number of columns of a kernel that are held at a time.
_WIDTH = 64


class KernelProducts:
    """Products of several kernels of one graph with the same columns.

    On undirected graphs, with exact kernels and no `method`, the Chebyshev terms of the weights are
    computed once for all kernels; else each kernel is an operator of its own.
    """

    def __init__(self, graph: Graph, choices: Sequence[KernelChoice]) -> None:
        self.graph, self.choices = graph, choices
        first = choices[0]
        self.weights = first.weights(graph)
        self.is_shared = first.is_exact and first.method is None and not self.weights.is_directed
        if self.is_shared:
            for choice in choices:
                choice.kernel.check_converges(self.weights)
        self._used: dict[int, Any] = {}

    @cached_property
    def _terms(self) -> ChebyshevTerms:
        return ChebyshevTerms(self.weights, self.choices[0].options.n_jobs)

    @cached_property
    def _coefficients(self) -> FloatArray:
        """A row a kernel, filled up with zeros."""
        series = [Expansion.of(choice.kernel.value, self._terms.radius) for choice in self.choices]
        rows = [each.coefficients[: each.n_terms(_TOL)] for each in series]
        return np.array(list(zip_longest(*rows, fillvalue=0.0))).T

    def blocks(self, rows: IntArray, nodes: IntArray) -> Iterator[tuple[FloatArray, FloatArray]]:
        """``K[rows, nodes]`` of each kernel, and its column sums at `rows`."""
        ones = np.ones((self.graph.n_nodes, 1))
        if self.is_shared:
            entries = self._terms.entries(self._coefficients, rows, nodes)
            sums = self._terms.products(self._coefficients, ones, rows)[:, :, 0]
            yield from zip(entries, sums, strict=True)
            return
        for number in range(len(self.choices)):
            columns = [each[rows] for each in self._columns(number, nodes)]
            yield np.hstack(columns), np.asarray(self._operator(number).T @ ones)[rows, 0]

    def product(self, number: int, vectors: FloatArray) -> FloatArray:
        """The product with one kernel, at all nodes."""
        require_bytes(16 * vectors.size, f"a product with {vectors.shape[1]} columns")
        if self.is_shared:
            row = self._coefficients[number]
            return self._terms.product(row[: np.flatnonzero(row).max(initial=0) + 1], vectors)
        return np.asarray(self._operator(number) @ vectors)

    def row_norms(self, number: int, nodes: IntArray) -> FloatArray:
        """Norms of the rows of ``K[:, nodes]`` of one kernel."""
        squares = sum(np.square(part).sum(axis=1) for part in self._columns(number, nodes))
        return np.asarray(np.sqrt(squares))

    def _columns(self, number: int, nodes: IntArray) -> Iterator[FloatArray]:
        for part in np.split(nodes, range(_WIDTH, len(nodes), _WIDTH)):
            yield self.product(number, unit_columns(self.graph.n_nodes, part))

    def method(self, number: int) -> str:
        """How products with one kernel were computed."""
        return "chebyshev" if self.is_shared else method_used(self._operator(number))

    def _operator(self, number: int) -> Any:
        # Only the last one is kept: estimates are large.
        if number not in self._used:
            with warnings.catch_warnings():
                if len(self.choices) > 1:
                    # The kernel that is chosen is made again, and warns then.
                    warnings.simplefilter("ignore", RuntimeWarning)
                self._used = {number: self.choices[number].operator(self.graph, _TOL)}
        return self._used[number]


class Rule(NamedTuple):
    """A linear classifier on rows of a kernel, by name, with its setting."""

    how: str
    setting: Any
    #: Whether all classes count the same.
    balanced: bool


class LabelledBlock(NamedTuple):
    """What a kernel knows of the labelled nodes ``L``."""

    #: ``K[L, S]``.
    rows: FloatArray
    #: Classes of ``L``, from 0.
    labels: IntArray
    n_classes: int
    #: Positions of ``S`` in ``L``.
    landmarks: IntArray
    #: Column sums of the kernel at ``L``.
    masses: FloatArray

    @property
    def targets(self) -> FloatArray:
        """Labels as columns of zeros and ones."""
        return np.eye(self.n_classes)[self.labels]

    @property
    def class_weights(self) -> FloatArray:
        """Weights with which all classes count the same; 1 where they are of one size."""
        sizes = np.bincount(self.labels, minlength=self.n_classes)
        return np.asarray(len(self.labels) / (max(1, np.count_nonzero(sizes)) * sizes.clip(1)))


@dataclass(frozen=True, eq=False)
class Readout:
    """A fitted rule: scores are ``rows @ weights + bias``, with rows of unit length for ``"svm"``.

    `weights` has a row a landmark; for propagation, a row a labelled node.
    """

    rule: Rule
    weights: FloatArray
    bias: FloatArray

    def logits(self, products: FloatArray, norms: FloatArray) -> FloatArray:
        """Logits from ``rows @ weights`` and the norms of rows, which only ``"svm"`` uses."""
        if self.rule.how == "svm":
            return np.asarray(products / np.maximum(norms, _TINY)[:, None] + self.bias)
        total = np.abs(products).sum(axis=1, keepdims=True)
        shares = products / np.maximum(total, _TINY)
        if self.rule.how == "propagation":
            # Walks and rounding may make shares negative.
            shares = np.log(np.maximum(shares, 1e-6))
        return np.asarray(shares)


def learn(rule: Rule, block: LabelledBlock) -> Readout:
    """Fit a rule to labelled nodes."""
    fit: Any = {"propagation": _propagation, "svm": _svm, "kriging": _kriging}[rule.how]
    return Readout(rule, *fit(block, rule))


def _propagation(block: LabelledBlock, rule: Rule) -> tuple[FloatArray, FloatArray]:
    """``K @ Y``, columns divided by the mass they bring to all nodes, or by class sizes."""
    Y = block.targets
    if rule.balanced and rule.setting == "masses":
        total = np.abs(block.masses @ Y)
        Y = Y * (total.sum() / np.maximum(total, _TINY) / block.n_classes)
    elif rule.balanced:
        Y = Y * block.class_weights
    return Y, np.zeros(block.n_classes)


def _svm(block: LabelledBlock, rule: Rule) -> tuple[FloatArray, FloatArray]:
    """A linear support-vector machine, one class against the others, on rows of unit length."""
    from sklearn.svm import LinearSVC

    norms = np.linalg.norm(block.rows, axis=1, keepdims=True)
    weighting = "balanced" if rule.balanced else None
    machine = LinearSVC(C=rule.setting, class_weight=weighting, dual=False, max_iter=300, tol=1e-3)
    machine.fit(block.rows / np.maximum(norms, _TINY), block.labels)
    weights = np.zeros((block.rows.shape[1], block.n_classes))
    bias = np.full(block.n_classes, -2.0)  # of classes without a node
    signs = [[-1.0], [1.0]] if len(machine.classes_) == 2 else 1.0  # one row for two classes
    weights[:, machine.classes_] = (signs * machine.coef_).T
    bias[machine.classes_] = np.ravel(signs * machine.intercept_)
    return weights, bias


def _kriging(block: LabelledBlock, rule: Rule) -> tuple[FloatArray, FloatArray]:
    """The mean of a Gaussian process on labels: ``(K + r I)^-1 Y``.

    The setting is ``r`` over the mean of the diagonal. With fewer landmarks than nodes, the best
    fit by columns of the landmarks.
    """
    from scipy.linalg import lstsq, solve

    Y = block.targets * (block.class_weights if rule.balanced else 1.0)
    inner = block.rows[block.landmarks]
    inner = (inner + inner.T) / 2
    ridge = rule.setting * max(float(np.abs(inner.diagonal()).mean()), _TINY)
    if len(block.landmarks) == len(block.labels):
        matrix, right = inner + ridge * np.eye(len(inner)), Y[block.landmarks]
    else:
        matrix, right = block.rows.T @ block.rows + ridge * inner, block.rows.T @ Y
    try:
        weights = solve(matrix, right, assume_a="sym")
    except np.linalg.LinAlgError:  # of kernels that are no covariance
        weights = lstsq(matrix, right)[0]
    return weights, np.zeros(block.n_classes)


class Labelled(NamedTuple):
    """Nodes and their classes, from 0."""

    nodes: IntArray
    labels: IntArray
    n_classes: int

    def sample(self, max_nodes: int, rng: np.random.Generator) -> Labelled:
        """At most `max_nodes` of them, each class in its share."""
        n = len(self.nodes)
        if n <= max_nodes:
            return self
        # Shuffled, then sorted by class: systematic sampling takes each class in its share.
        shuffled = rng.permutation(n)
        by_class = shuffled[np.argsort(self.labels[shuffled], kind="stable")]
        chosen = np.sort(by_class[np.linspace(0, n - 1, max_nodes).astype(np.int64)])
        return Labelled(self.nodes[chosen], self.labels[chosen], self.n_classes)


#: Positions of labelled nodes to learn from, and of those held out.
Split = tuple[IntArray, IntArray]


def splits_of(known: Labelled, folds: NodeKFold) -> list[Split]:
    """Folds of labelled nodes in which every class keeps a label to learn from.

    Labels that would leave their class without any are not held out. There are no folds where
    fewer than two classes could be held out.

    Examples
    --------
    >>> labels = np.array([0, 1, 1, 2, 2])
    >>> splits = splits_of(Labelled(np.arange(5), labels, 3), NodeKFold(5))
    >>> sorted(position for _, held_out in splits for position in held_out.tolist())
    [1, 2, 3, 4]
    >>> splits_of(Labelled(np.arange(3), labels[:3], 2), NodeKFold(3))
    []
    """
    splits, classes = [], set()
    for kept, held_out in folds.split(known.nodes, known.labels):
        held = held_out[np.isin(known.labels[held_out], known.labels[kept])]
        if len(held):
            splits.append((np.setdiff1d(np.arange(len(known.nodes)), held), held))
            classes.update(known.labels[held].tolist())
    return splits if len(classes) > 1 else []


class Candidate(NamedTuple):
    """A kernel by its number, a rule, and how they did on held-out labels."""

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
    splits: Sequence[Split],
) -> list[Candidate]:
    """Score rules on kernels: quick rules on all kernels, support-vector machines on the best.

    Parameters
    ----------
    products
        The kernels.
    rules
        The rules to try.
    known
        The nodes to learn from.
    validation
        The nodes to score on; without them, those that `splits` hold out.
    splits
        Of the known nodes, where there is no validation set.
    """
    n, n_classes, n_kernels = len(known.nodes), known.n_classes, len(products.choices)
    nodes, labels = known.nodes, known.labels
    if validation is not None:
        nodes, labels = np.r_[nodes, validation.nodes], np.r_[labels, validation.labels]
        splits = [(np.arange(n), np.arange(n, len(nodes)))]
    judged = np.sort(np.concatenate([held_out for _, held_out in splits]))
    truth = labels[judged]
    require_bytes(16 * n_kernels * len(nodes) * n, f"{n_kernels} kernels of {len(nodes)} nodes")
    blocks = list(products.blocks(nodes, known.nodes))

    def score(number: int, rule: Rule) -> Candidate:
        K, masses = blocks[number]
        logits, near = np.empty((len(nodes), n_classes)), np.empty(len(nodes), bool)
        for kept, held_out in splits:
            part = (K[np.ix_(kept, kept)], labels[kept], n_classes, np.arange(len(kept)))
            readout = learn(rule, LabelledBlock(*part, masses[kept]))
            rows = K[np.ix_(held_out, kept)]
            norms = np.linalg.norm(rows, axis=1)
            logits[held_out] = readout.logits(rows @ readout.weights, norms)
            near[held_out] = reached(np.abs(rows).sum(axis=1))
        logits, near = logits[judged], near[judged]
        calibration = calibrate(logits, truth, near, with_shares=validation is not None)
        predicted = calibration.log_probabilities(logits, near)
        accuracy = float((predicted.argmax(axis=1) == truth).mean())
        loss = float(-predicted[np.arange(len(truth)), truth].mean())
        return Candidate(number, rule, calibration, accuracy, loss)

    slow = [rule for rule in rules if rule.how == "svm"]
    quick = [rule for rule in rules if rule.how != "svm"]
    finalists: Sequence[int] = range(n_kernels)
    scored: list[Candidate] = []
    if quick or n_kernels > _N_FINALISTS:
        # Without quick rules, kriging shows which kernels are worth the time.
        pilots = quick or [slow[0]._replace(how="kriging", setting=r) for r in SETTINGS["kriging"]]
        scored = [score(number, rule) for number in finalists for rule in pilots]
        losses = [min(c.loss for c in scored if c.kernel == number) for number in finalists]
        finalists = sorted(np.argsort(losses, kind="stable")[:_N_FINALISTS].tolist())
    finals = [score(number, rule) for number in finalists for rule in slow]
    return [*(scored if quick else []), *finals]


def predict_all(
    products: KernelProducts, best: Candidate, known: Labelled, sample: Labelled
) -> tuple[FloatArray, BoolArray]:
    """Class probabilities of all nodes, and whether labels reach them.

    The best rule learns from all labels; `products` has its kernel alone.
    """
    n, n_nodes, how = known.n_classes, products.graph.n_nodes, best.rule.how
    landmarks = np.flatnonzero(np.isin(known.nodes, sample.nodes))
    if how == "propagation":  # which needs no entries of the kernel
        landmarks = landmarks[:0]
    require_bytes(16 * len(known.nodes) * len(landmarks), "the kernel of labelled nodes")
    ((rows, masses),) = products.blocks(known.nodes, known.nodes[landmarks])
    readout = learn(best.rule, LabelledBlock(rows, known.labels, n, landmarks, masses))

    require_bytes(48 * n_nodes * (n + 1), f"the probabilities of {n} classes")
    columns = np.zeros((n_nodes, n + 1))
    columns[known.nodes if how == "propagation" else sample.nodes, :n] = readout.weights
    columns[known.nodes, n] = 1.0
    sums = products.product(0, columns)
    norms = products.row_norms(0, sample.nodes) if how == "svm" else np.ones(n_nodes)
    logits, is_reached = readout.logits(sums[:, :n], norms), reached(sums[:, n])
    return np.exp(best.calibration.log_probabilities(logits, is_reached)), is_reached


def reached(masses: FloatArray) -> BoolArray:
    """Whether more than rounding connects nodes with the labelled ones."""
    return np.asarray(np.abs(masses) > _RESOLVED * np.abs(masses).max(initial=0.0))
