"""Which kernel and which linear rule predict held-out labels best.

Propagation, ``K @ Y``, needs as many columns as there are classes. The other rules learn from
``K[L, S]``, the kernel between the labelled nodes ``L`` and some of them ``S`` (all, unless they
are many), and give scores at a node from its row ``K[i, S]``.
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
from grfpp.linalg.csr import CsrProduct
from grfpp.linalg.functions import unit_columns
from grfpp.operators.kernel_choice import KernelChoice, how_made
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
#: Share of the largest mass below which truncation and rounding decide.
_RESOLVED = 1e-6
_TINY = 1e-300
#: Truncation error of Chebyshev expansions, over the largest value of a kernel.
_TOL = 1e-8
#: ... and of one product, over its norm.
_TOL_OF_PRODUCTS = 1e-8
#: ... where products take the time, and there of the column that labels are held out by, which only
#: a temperature is fitted to.
_TOL_OF_LONG_PRODUCTS, _TOL_OF_PROBES = 1e-5, 1e-3
#: Products with the weights that a kernel is taken to need where its terms are not known.
_N_TERMS = 50
#: Another candidate than the usual one must be better by so many standard errors.
_MIN_Z = 1.0
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
    def _series(self) -> list[Expansion]:
        return [Expansion.of(choice.kernel.value, self._terms.radius) for choice in self.choices]

    @property
    def _coefficients(self) -> FloatArray:
        """A row a kernel, filled up with zeros."""
        rows = [each.coefficients[: each.n_terms(_TOL)] for each in self._series]
        return np.array(list(zip_longest(*rows, fillvalue=0.0))).T

    def work(self, n_columns: int) -> FloatArray:
        """Multiplications that so many columns of each kernel alone take; shared, the most do."""
        terms = [each.n_terms(_TOL) for each in self._series] if self.is_shared else [_N_TERMS]
        return np.multiply(float(len(self.weights.indices)) * n_columns, terms)

    def blocks(self, rows: IntArray, nodes: IntArray) -> Iterator[FloatArray]:
        """``K[rows, nodes]`` of each kernel."""
        if self.is_shared:
            yield from self._terms.entries(self._coefficients, rows, nodes)
            return
        for number in range(len(self.choices)):
            yield np.hstack([each[rows] for each in self._columns(number, nodes)])

    def masses(self, nodes: IntArray) -> Iterator[FloatArray]:
        """Column sums of each kernel at some nodes."""
        ones = np.ones((self.graph.n_nodes, 1))
        if self.is_shared:
            yield from self._terms.products(self._coefficients, ones, nodes)[:, :, 0]
            return
        for number in range(len(self.choices)):
            yield np.asarray(self._operator(number).T @ ones)[nodes, 0]

    def products(self, vectors: FloatArray, rows: IntArray) -> Iterator[FloatArray]:
        """The products with each kernel, at some nodes."""
        if self.is_shared:
            yield from self._terms.products(self._coefficients, vectors, rows)
            return
        for number in range(len(self.choices)):
            yield self.product(number, vectors)[rows]

    def product(
        self, number: int, vectors: FloatArray, tol: float = _TOL_OF_PRODUCTS
    ) -> FloatArray:
        """The product with one kernel, at all nodes."""
        require_bytes(16 * vectors.size, f"a product with {vectors.shape[1]} columns")
        if self.is_shared:
            matrix = CsrProduct(self.weights.adjacency, self._terms.n_threads)
            return self._series[number].times(matrix, vectors, tol)[0]
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
        return "chebyshev" if self.is_shared else how_made(self._operator(number))

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

    @property
    def targets(self) -> FloatArray:
        """Labels as columns of zeros and ones."""
        return np.eye(self.n_classes)[self.labels]


def class_weights(labels: IntArray, n_classes: int) -> FloatArray:
    """Weights with which all classes count the same; 1 where they are of one size."""
    sizes = np.bincount(labels, minlength=n_classes)
    return np.asarray(len(labels) / (max(1, np.count_nonzero(sizes)) * sizes.clip(1)))


def column_scales(rule: Rule, labels: IntArray, masses: FloatArray) -> FloatArray:
    """Factors of the columns of ``K @ Y``: over class sizes, or over `masses`, the column sums."""
    n_classes = len(masses)
    if not rule.balanced:
        return np.ones(n_classes)
    if rule.setting == "counts":
        return class_weights(labels, n_classes)
    return np.asarray(np.abs(masses).sum() / np.maximum(np.abs(masses), _TINY) / n_classes)


def log_shares(sums: FloatArray) -> FloatArray:
    """Logarithms of shares of the sums of absolute values, as logits of propagation."""
    total = np.abs(sums).sum(axis=1, keepdims=True)
    # Walks and rounding may make shares negative.
    return np.asarray(np.log(np.maximum(sums / np.maximum(total, _TINY), 1e-6)))


@dataclass(frozen=True, eq=False)
class Readout:
    """A fitted rule: scores are ``rows @ weights + bias``, with rows of unit length for ``"svm"``.

    `weights` has a row a landmark.
    """

    rule: Rule
    weights: FloatArray
    bias: FloatArray

    def logits(self, products: FloatArray, norms: FloatArray) -> FloatArray:
        """Logits from ``rows @ weights`` and the norms of rows, which only ``"svm"`` uses."""
        if self.rule.how == "svm":
            return np.asarray(products / np.maximum(norms, _TINY)[:, None] + self.bias)
        total = np.abs(products).sum(axis=1, keepdims=True)
        return np.asarray(products / np.maximum(total, _TINY))


def learn(rule: Rule, block: LabelledBlock) -> Readout:
    """Fit a rule to labelled nodes."""
    fit: Any = {"svm": _svm, "kriging": _kriging}[rule.how]
    return Readout(rule, *fit(block, rule))


def _svm(block: LabelledBlock, rule: Rule) -> tuple[FloatArray, FloatArray]:
    """A linear support-vector machine, one class against the others, on rows of unit length."""
    from sklearn.svm import LinearSVC

    norms = np.linalg.norm(block.rows, axis=1, keepdims=True)
    weighting = "balanced" if rule.balanced else None
    machine = LinearSVC(C=rule.setting, class_weight=weighting, dual=False, max_iter=300, tol=1e-3)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
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

    Y = block.targets * (class_weights(block.labels, block.n_classes) if rule.balanced else 1.0)
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

    def columns(self, n_nodes: int) -> FloatArray:
        """Labels as columns of zeros and ones, a row a node of the graph."""
        require_bytes(8 * n_nodes * self.n_classes, f"{self.n_classes} columns of labels")
        columns = np.zeros((n_nodes, self.n_classes))
        columns[self.nodes, self.labels] = 1.0
        return columns

    def take(self, positions: IntArray) -> Labelled:
        """Some of them."""
        return Labelled(self.nodes[positions], self.labels[positions], self.n_classes)

    def sample(self, max_nodes: int, rng: np.random.Generator) -> Labelled:
        """At most `max_nodes` of them, each class in its share."""
        n = len(self.nodes)
        if n <= max_nodes:
            return self
        # Shuffled, then sorted by class: systematic sampling takes each class in its share.
        shuffled = rng.permutation(n)
        by_class = shuffled[np.argsort(self.labels[shuffled], kind="stable")]
        chosen = np.sort(by_class[np.linspace(0, n - 1, max_nodes).astype(np.int64)])
        return self.take(chosen)


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
    #: The loss at each held-out label.
    losses: FloatArray


class Trials(NamedTuple):
    """Labels to predict from others: held out in turn, or those of a validation set."""

    #: What there is to learn from in each trial, and what to predict.
    pairs: list[tuple[Labelled, Labelled]]
    #: Whether held-out nodes show the sizes of classes.
    with_shares: bool

    @property
    def nodes(self) -> IntArray:
        """All that are predicted."""
        return np.concatenate([tested.nodes for _, tested in self.pairs])

    @property
    def labels(self) -> IntArray:
        """Their classes."""
        return np.concatenate([tested.labels for _, tested in self.pairs])

    def columns(self, n_nodes: int) -> FloatArray:
        """What is learned from in each trial, side by side."""
        return np.hstack([learned.columns(n_nodes) for learned, _ in self.pairs])

    def sums(self, products: FloatArray) -> FloatArray:
        """``K @ Y`` of each trial at its nodes, from the product with `columns` at `nodes`."""
        sizes = [len(tested.nodes) for _, tested in self.pairs]
        trial = np.repeat(np.arange(len(sizes)), sizes)
        return np.asarray(
            products.reshape(len(trial), len(sizes), -1)[np.arange(len(trial)), trial]
        )

    def judge(self, number: int, rule: Rule, logits: FloatArray, near: BoolArray) -> Candidate:
        """Calibrate logits at `nodes`, and tell how good they are."""
        truth = self.labels
        calibration = calibrate(logits, truth, near, with_shares=self.with_shares)
        predicted = calibration.log_probabilities(logits, near)
        accuracy = float((predicted.argmax(axis=1) == truth).mean())
        losses = -predicted[np.arange(len(truth)), truth]
        return Candidate(number, rule, calibration, accuracy, float(losses.mean()), losses)

    def judge_sums(
        self, number: int, rule: Rule, sums: FloatArray, masses: FloatArray
    ) -> Candidate:
        """The same for propagation; `masses` are the column sums of ``K @ Y``, a row a trial."""
        scales = [
            np.tile(column_scales(rule, learned.labels, mass), (len(tested.nodes), 1))
            for (learned, tested), mass in zip(self.pairs, masses, strict=True)
        ]
        logits = log_shares(sums * np.concatenate(scales))
        return self.judge(number, rule, logits, reached(sums.sum(axis=1)))


def candidates(
    products: KernelProducts, rules: Sequence[Rule], known: Labelled, trials: Trials
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
    trials
        What is learned from and scored on.
    """
    propagating = [rule for rule in rules if rule.how == "propagation"]
    slow = [rule for rule in rules if rule.how == "svm"]
    quick = [rule for rule in rules if rule.how == "kriging"]
    finalists: Sequence[int] = range(len(products.choices))
    scored: list[Candidate] = []
    if propagating:
        n_nodes = products.graph.n_nodes
        columns = trials.columns(n_nodes)
        both = products.products(columns, trials.nodes), products.masses(known.nodes)
        for number, (block, at_known) in enumerate(zip(*both, strict=True)):
            masses = (at_known @ columns[known.nodes]).reshape(len(trials.pairs), -1)
            sums = trials.sums(block)
            scored += [trials.judge_sums(number, rule, sums, masses) for rule in propagating]
    if not (slow or quick):
        return scored
    nodes = np.unique(np.concatenate([known.nodes, trials.nodes]))
    n_kernels = len(finalists)
    require_bytes(16 * n_kernels * len(nodes) * len(known.nodes), f"{n_kernels} kernels")
    blocks = list(products.blocks(nodes, known.nodes))

    def score(number: int, rule: Rule) -> Candidate:
        logits, near = [], []
        for learned, tested in trials.pairs:
            at = np.flatnonzero(np.isin(known.nodes, learned.nodes))
            K = blocks[number][:, at]
            rows = K[np.searchsorted(nodes, learned.nodes)]
            block = LabelledBlock(rows, learned.labels, learned.n_classes, np.arange(len(at)))
            readout, rows = learn(rule, block), K[np.searchsorted(nodes, tested.nodes)]
            logits.append(readout.logits(rows @ readout.weights, np.linalg.norm(rows, axis=1)))
            near.append(reached(np.abs(rows).sum(axis=1)))
        return trials.judge(number, rule, np.concatenate(logits), np.concatenate(near))

    if propagating or quick or n_kernels > _N_FINALISTS:
        # Without quick rules, kriging shows which kernels are worth the time.
        pilots = quick or [slow[0]._replace(how="kriging", setting=r) for r in SETTINGS["kriging"]]
        if quick or not propagating:
            piloted = [score(number, rule) for number in finalists for rule in pilots]
        else:
            piloted = []
        losses = [
            min(c.loss for c in [*scored, *piloted] if c.kernel == number) for number in finalists
        ]
        finalists = sorted(np.argsort(losses, kind="stable")[:_N_FINALISTS].tolist())
        scored += piloted if quick else []
    return [*scored, *(score(number, rule) for number in finalists for rule in slow)]


def best_of(scored: Sequence[Candidate], usual: tuple[int, Rule] | None) -> Candidate:
    """The least loss, unless held-out labels are too few to tell it from that of the usual one."""
    best = min(scored, key=lambda candidate: candidate.loss)
    for each in scored:
        if (each.kernel, each.rule) == usual:
            gains = each.losses - best.losses
            error = gains.std(ddof=1) / len(gains) ** 0.5 if len(gains) > 1 else np.inf
            return best if gains.mean() > _MIN_Z * error else each
    return best


def propagate_once(
    products: KernelProducts,
    rules: Sequence[Rule],
    known: Labelled,
    trials: Trials | None,
    rng: np.random.Generator,
) -> tuple[list[Candidate], FloatArray]:
    """Candidates of propagation by one kernel, and ``K @ Y``.

    Without trials, labels are held out one by one: `_without_itself`.
    """
    n_nodes = products.graph.n_nodes
    probed = np.sort(rng.permutation(len(known.nodes))[: min(1000, len(known.nodes) // 10)])
    tol = _TOL_OF_PRODUCTS if trials else _TOL_OF_LONG_PRODUCTS
    sums = products.product(0, known.columns(n_nodes), tol)
    if trials is None:
        trials = Trials([(known, known.take(probed))], with_shares=False)
        probe = np.zeros((n_nodes, 1))
        probe[known.nodes[probed]] = 1.0
        probe = products.product(0, probe, _TOL_OF_PROBES)
        held_out = _without_itself(sums, probe[:, 0], known, probed)
        masses = sums.sum(axis=0, keepdims=True)
    else:
        tested = products.product(0, trials.columns(n_nodes))
        held_out = trials.sums(tested[trials.nodes])
        masses = tested.sum(axis=0).reshape(len(trials.pairs), -1)
    return [trials.judge_sums(0, rule, held_out, masses) for rule in rules], sums


def _without_itself(
    sums: FloatArray, probe: FloatArray, known: Labelled, probed: IntArray
) -> FloatArray:
    """``K @ Y`` at some labelled nodes ``S``, without the label of the node itself.

    ``(K 1_S)_i`` is ``K_ii`` plus a sample of ``Σ_j≠i K_ij`` over labelled nodes ``j``, which is
    estimated by its share in ``(K 1_L)_i``.
    """
    nodes, labels = known.nodes[probed], known.labels[probed]
    share = (len(probed) - 1) / (len(known.nodes) - 1)
    result = sums[nodes]
    diagonal = (probe[nodes] - share * result.sum(axis=1)) / (1 - share)
    at = np.arange(len(nodes)), labels
    result[at] -= np.clip(diagonal, 0, result[at])
    return result


def predict_all(
    products: KernelProducts,
    best: Candidate,
    known: Labelled,
    sample: Labelled,
    sums: FloatArray | None = None,
) -> tuple[FloatArray, BoolArray]:
    """Class probabilities of all nodes, and whether labels reach them.

    The best rule learns from all labels; `products` has its kernel alone. `sums` is ``K @ Y`` where
    that has been made.
    """
    n, n_nodes, how = known.n_classes, products.graph.n_nodes, best.rule.how
    require_bytes(48 * n_nodes * (n + 1), f"the probabilities of {n} classes")
    if how == "propagation":
        if sums is None:
            sums = products.product(0, known.columns(n_nodes))
        is_reached = reached(sums.sum(axis=1))
        logits = log_shares(sums * column_scales(best.rule, known.labels, sums.sum(axis=0)))
    else:
        landmarks = np.flatnonzero(np.isin(known.nodes, sample.nodes))
        require_bytes(16 * len(known.nodes) * len(landmarks), "the kernel of labelled nodes")
        (rows,) = products.blocks(known.nodes, known.nodes[landmarks])
        readout = learn(best.rule, LabelledBlock(rows, known.labels, n, landmarks))
        columns = np.zeros((n_nodes, n + 1))
        columns[known.nodes[landmarks], :n] = readout.weights
        columns[known.nodes, n] = 1.0
        sums = products.product(0, columns)
        norms = products.row_norms(0, sample.nodes) if how == "svm" else np.ones(n_nodes)
        logits, is_reached = readout.logits(sums[:, :n], norms), reached(sums[:, n])
    return np.exp(best.calibration.log_probabilities(logits, is_reached)), is_reached


def reached(masses: FloatArray) -> BoolArray:
    """Whether more than rounding connects nodes with the labelled ones."""
    return np.asarray(np.abs(masses) > _RESOLVED * np.abs(masses).max(initial=0.0))
