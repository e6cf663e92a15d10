"""Which kernel and which linear rule predict held-out labels best.

A rule is fitted to ``K[L, S]``, the kernel between the labelled nodes ``L`` and a sample ``S`` of
them (the landmarks), and scores a node by its row ``K[i, S]``.
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

#: Settings to try, by rule.
SETTINGS: dict[str, tuple[Any, ...]] = {
    "propagation": ("counts", "masses"),
    "svm": (0.3, 1.0, 10.0, 100.0),
    "kriging": (0.01, 0.1, 1.0),
}
#: Settings where no labels can be held out.
DEFAULTS: dict[str, Any] = {"propagation": "masses", "svm": 1.0, "kriging": 0.1}
#: Number of kernels that support-vector machines are tried on: they take most of the time.
_N_FINALISTS = 4
#: Share of the largest mass below which a mass is rounding: a hundred times `_TOL`.
_MIN_MASS = 1e-10
#: Smallest divisor, so that zero over zero is zero.
_TINY = 1e-300
#: Truncation error of Chebyshev expansions, over the largest value of a kernel.
_TOL = 1e-12
#: Number of columns of a kernel per product, which bounds memory.
_COLUMNS = 64


class KernelProducts:
    """Products of several kernels of one graph with the same columns.

    On undirected graphs, with exact kernels and no `method`, the Chebyshev terms of the weights are
    computed once for all kernels; else every kernel is a separate operator.
    """

    def __init__(self, graph: Graph, choices: Sequence[KernelChoice]) -> None:
        self.graph, self.choices = graph, choices
        first = choices[0]
        self.weights = first.weights(graph)
        self.is_shared = first.is_exact and first.method is None and not self.weights.is_directed
        if self.is_shared:
            for choice in choices:
                choice.kernel.check_converges(self.weights)
        self._operators: dict[int, Any] = {}

    @cached_property
    def _terms(self) -> ChebyshevTerms:
        return ChebyshevTerms(self.weights, self.choices[0].options.n_jobs)

    @cached_property
    def _coefficients(self) -> FloatArray:
        """One row per kernel, padded with zeros."""
        series = [Expansion.of(choice.kernel.value, self._terms.radius) for choice in self.choices]
        rows = [terms.coefficients[: terms.n_terms(_TOL)] for terms in series]
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
            columns = [block[rows] for block in self._columns(number, nodes)]
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
        for part in np.split(nodes, range(_COLUMNS, len(nodes), _COLUMNS)):
            yield self.product(number, unit_columns(self.graph.n_nodes, part))

    def method(self, number: int) -> str:
        """How products with one kernel were computed."""
        return "chebyshev" if self.is_shared else method_used(self._operator(number))

    def _operator(self, number: int) -> Any:
        # Cache only the last operator: estimates are large.
        if number not in self._operators:
            with warnings.catch_warnings():
                if len(self.choices) > 1:
                    # The chosen kernel is computed again, and warns then.
                    warnings.simplefilter("ignore", RuntimeWarning)
                self._operators = {number: self.choices[number].operator(self.graph, _TOL)}
        return self._operators[number]


class Rule(NamedTuple):
    """A linear classifier on rows of a kernel, by name, with its setting."""

    how: str
    setting: Any
    #: Whether all classes have equal weight.
    balanced: bool


class LabelledBlock(NamedTuple):
    """A kernel at the labelled nodes ``L``, and their classes."""

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
        """One-hot labels, one column per class."""
        return np.eye(self.n_classes)[self.labels]

    @property
    def class_weights(self) -> FloatArray:
        """Weights by class that sum to the same over each class; 1 where sizes are equal."""
        sizes = np.bincount(self.labels, minlength=self.n_classes)
        return np.asarray(len(self.labels) / (max(1, np.count_nonzero(sizes)) * sizes.clip(1)))


@dataclass(frozen=True, eq=False)
class Readout:
    """A fitted rule: scores are ``rows @ weights + bias``, with rows of unit length for ``"svm"``.

    `weights` has one row per landmark; for propagation, one row per labelled node.
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
            # Walks and rounding may make shares negative: clip them before the logarithm.
            shares = np.log(np.maximum(shares, 1e-6))
        return np.asarray(shares)


def learn(rule: Rule, block: LabelledBlock) -> Readout:
    """Fit a rule to labelled nodes."""
    fit: Any = {"propagation": _propagation, "svm": _svm, "kriging": _kriging}[rule.how]
    return Readout(rule, *fit(block, rule))


def _propagation(block: LabelledBlock, rule: Rule) -> tuple[FloatArray, FloatArray]:
    """``K @ Y``, columns divided by their mass over all nodes, or by class sizes."""
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
    bias = np.full(block.n_classes, -2.0)  # classes without a node score below all others
    signs = [[-1.0], [1.0]] if len(machine.classes_) == 2 else 1.0  # one row for two classes
    weights[:, machine.classes_] = (signs * machine.coef_).T
    bias[machine.classes_] = np.ravel(signs * machine.intercept_)
    return weights, bias


def _kriging(block: LabelledBlock, rule: Rule) -> tuple[FloatArray, FloatArray]:
    """The mean of a Gaussian process on labels: ``(K + r I)^-1 Y``.

    The setting is ``r`` over the mean of the diagonal. With fewer landmarks than nodes, the
    subset-of-regressors approximation.

    References
    ----------
    Rasmussen, Williams: Gaussian processes for machine learning. 2006, section 8.3.1.
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
    except np.linalg.LinAlgError:  # for kernels that are not a covariance
        weights = lstsq(matrix, right)[0]
    return weights, np.zeros(block.n_classes)


class LabelledNodes(NamedTuple):
    """Nodes and their classes, from 0."""

    nodes: IntArray
    labels: IntArray
    n_classes: int

    def sample(self, max_nodes: int, rng: np.random.Generator) -> LabelledNodes:
        """At most `max_nodes` of them, with the same class shares."""
        n = len(self.nodes)
        if n <= max_nodes:
            return self
        # Systematic sampling of nodes sorted by class, in random order within a class.
        shuffled = rng.permutation(n)
        by_class = shuffled[np.argsort(self.labels[shuffled], kind="stable")]
        chosen = np.sort(by_class[np.linspace(0, n - 1, max_nodes).astype(np.int64)])
        return LabelledNodes(self.nodes[chosen], self.labels[chosen], self.n_classes)


#: Positions of labelled nodes to train on, and of those to test on.
Split = tuple[IntArray, IntArray]


def splits_of(known: LabelledNodes, folds: NodeKFold) -> list[Split]:
    """Folds of labelled nodes that leave every class a label to train on.

    Labels that would leave their class without any are not held out. The list is empty where fewer
    than two classes can be held out.

    Examples
    --------
    >>> labels = np.array([0, 1, 1, 2, 2])
    >>> splits = splits_of(LabelledNodes(np.arange(5), labels, 3), NodeKFold(5))
    >>> sorted(position for _, test in splits for position in test.tolist())
    [1, 2, 3, 4]
    >>> splits_of(LabelledNodes(np.arange(3), labels[:3], 2), NodeKFold(3))
    []
    """
    splits, classes = [], set()
    for train, fold in folds.split(known.nodes, known.labels):
        test = fold[np.isin(known.labels[fold], known.labels[train])]
        if len(test):
            splits.append((np.setdiff1d(np.arange(len(known.nodes)), test), test))
            classes.update(known.labels[test].tolist())
    return splits if len(classes) > 1 else []


class Candidate(NamedTuple):
    """A kernel by its number, a rule, and their accuracy and loss on held-out labels."""

    kernel: int
    rule: Rule
    calibration: Calibration
    accuracy: float
    loss: float


def candidates(
    products: KernelProducts,
    rules: Sequence[Rule],
    known: LabelledNodes,
    validation: LabelledNodes | None,
    splits: Sequence[Split],
) -> list[Candidate]:
    """Score rules on kernels: fast rules on all kernels, support-vector machines on the best.

    Parameters
    ----------
    products
        The kernels.
    rules
        The rules to try.
    known
        The nodes to train on.
    validation
        The nodes to score on; ``None`` for those that `splits` hold out.
    splits
        Splits of the known nodes, where there is no validation set.
    """
    n, n_classes, n_kernels = len(known.nodes), known.n_classes, len(products.choices)
    nodes, labels = known.nodes, known.labels
    if validation is not None:
        nodes, labels = np.r_[nodes, validation.nodes], np.r_[labels, validation.labels]
        splits = [(np.arange(n), np.arange(n, len(nodes)))]
    held_out = np.sort(np.concatenate([test for _, test in splits]))
    truth = labels[held_out]
    require_bytes(16 * n_kernels * len(nodes) * n, f"{n_kernels} kernels of {len(nodes)} nodes")
    blocks = list(products.blocks(nodes, known.nodes))

    def score(number: int, rule: Rule) -> Candidate:
        K, masses = blocks[number]
        logits, is_reached = np.empty((len(nodes), n_classes)), np.empty(len(nodes), bool)
        for train, test in splits:
            part = (K[np.ix_(train, train)], labels[train], n_classes, np.arange(len(train)))
            readout = learn(rule, LabelledBlock(*part, masses[train]))
            rows = K[np.ix_(test, train)]
            norms = np.linalg.norm(rows, axis=1)
            logits[test] = readout.logits(rows @ readout.weights, norms)
            is_reached[test] = reached(np.abs(rows).sum(axis=1))
        logits, is_reached = logits[held_out], is_reached[held_out]
        calibration = calibrate(logits, truth, is_reached, with_shares=validation is not None)
        predicted = calibration.log_probabilities(logits, is_reached)
        accuracy = float((predicted.argmax(axis=1) == truth).mean())
        loss = float(-predicted[np.arange(len(truth)), truth].mean())
        return Candidate(number, rule, calibration, accuracy, loss)

    slow = [rule for rule in rules if rule.how == "svm"]
    fast = [rule for rule in rules if rule.how != "svm"]
    finalists: Sequence[int] = range(n_kernels)
    scored: list[Candidate] = []
    if fast or n_kernels > _N_FINALISTS:
        # Without fast rules, kriging ranks the kernels.
        pilots = fast or [slow[0]._replace(how="kriging", setting=r) for r in SETTINGS["kriging"]]
        scored = [score(number, rule) for number in finalists for rule in pilots]
        losses = [min(c.loss for c in scored if c.kernel == number) for number in finalists]
        finalists = sorted(np.argsort(losses, kind="stable")[:_N_FINALISTS].tolist())
    finals = [score(number, rule) for number in finalists for rule in slow]
    return [*(scored if fast else []), *finals]


def predict_all(
    products: KernelProducts, best: Candidate, known: LabelledNodes, sample: LabelledNodes
) -> tuple[FloatArray, BoolArray]:
    """Class probabilities of all nodes, and whether labels reach them.

    The best rule is fitted to all labels; `products` has its kernel only.
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
    """Whether the labelled nodes' mass at a node is above rounding."""
    return np.asarray(np.abs(masses) > _MIN_MASS * np.abs(masses).max(initial=0.0))
