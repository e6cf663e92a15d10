"""Which kernel and which linear rule predict held-out labels best.

Propagation, ``K @ Y``, needs one product with a column per class. The other rules are fitted to
``K[L, S]``, the kernel between the labelled nodes ``L`` and a sample ``S`` of them (the landmarks),
and score a node by its row ``K[i, S]``.
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
_MIN_MASS = 1e-6
#: Smallest divisor, so that zero over zero is zero.
_TINY = 1e-300
#: Truncation error of Chebyshev expansions, over the largest value of a kernel.
_TOL = 1e-8
#: The same of ``K @ Y`` where products take the time, over what tells classes apart: one in 10,000
#: labels of block models changed by it.
_TOL_OF_LONG_PRODUCTS = 1e-4
#: The same of the column by which `probe_propagation` holds labels out: only the temperature
#: depends on it.
_TOL_OF_PROBES = 1e-3
#: Largest number of labels that are held out one by one.
_MAX_PROBED = 1000
#: Assumed number of products with the weights where a kernel's Chebyshev terms are not computed.
_N_TERMS = 50
#: Standard errors by which a candidate must be better than the default.
_MIN_Z = 1.0
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
    def _series(self) -> list[Expansion]:
        return [Expansion.of(choice.kernel.value, self._terms.radius) for choice in self.choices]

    @cached_property
    def _coefficients(self) -> FloatArray:
        """One row per kernel, padded with zeros."""
        rows = [terms.coefficients[: terms.n_terms(_TOL)] for terms in self._series]
        return np.array(list(zip_longest(*rows, fillvalue=0.0))).T

    @cached_property
    def perron(self) -> FloatArray:
        """The leading eigenvector of ``D^-1/2 A D^-1/2``, √degree; zeros for other weights."""
        root = self.weights._root_strength
        root = np.zeros(self.graph.n_nodes) if root is None else root / max(root.max(), _TINY)
        return np.asarray(root / max(float(np.linalg.norm(root)), _TINY))

    def work(self, n_columns: int) -> FloatArray:
        """Multiplications of products with these kernels; where they share terms, with each."""
        terms = [_N_TERMS * len(self.choices)] * len(self.choices)
        if self.is_shared:
            terms = [series.n_terms(_TOL) for series in self._series]
        return np.multiply(float(len(self.weights.indices)) * n_columns, terms)

    def blocks(self, rows: IntArray, nodes: IntArray) -> Iterator[FloatArray]:
        """``K[rows, nodes]`` of each kernel."""
        if self.is_shared:
            yield from self._terms.entries(self._coefficients, rows, nodes)
            return
        for number in range(len(self.choices)):
            yield np.hstack([block[rows] for block in self._columns(number, nodes)])

    def products(
        self, vectors: FloatArray, rows: IntArray
    ) -> Iterator[tuple[FloatArray, FloatArray]]:
        """``(K @ vectors)[rows]`` of each kernel, and the sums of ``K @ vectors`` over all rows."""
        if self.is_shared:
            products = self._terms.products(self._coefficients, vectors, rows)
            sums = self._terms.products(self._coefficients, np.ones((self.graph.n_nodes, 1)))
            yield from zip(products, sums[:, :, 0] @ vectors, strict=True)
            return
        for number in range(len(self.choices)):
            product = self.product(number, vectors)
            yield product[rows], product.sum(axis=0)

    def product(self, number: int, vectors: FloatArray, tol: float = _TOL) -> FloatArray:
        """The product with one kernel, at all nodes; where terms are shared, to `tol`."""
        require_bytes(16 * vectors.size, f"a product with {vectors.shape[1]} columns")
        if self.is_shared:
            matrix = CsrProduct(self.weights.adjacency, self._terms.n_threads)
            series, kernel = self._series[number], self.choices[number].kernel
            if tol == _TOL:
                return series.times(matrix, vectors, tol)[0]
            # Classes share the leading eigenvector: `tol` is that of the rest.
            shared = np.outer(self.perron, self.perron @ vectors)
            product = series.times(matrix, vectors - shared, tol)[0]
            shared *= kernel.value(np.array([self.weights.spectral_radius()])) / series.peak
            return np.asarray(product + shared)
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

    @property
    def targets(self) -> FloatArray:
        """One-hot labels, one column per class."""
        return np.eye(self.n_classes)[self.labels]


def class_weights(labels: IntArray, n_classes: int) -> FloatArray:
    """Weights by class that sum to the same over each class; 1 where sizes are equal."""
    sizes = np.bincount(labels, minlength=n_classes)
    return np.asarray(len(labels) / (max(1, np.count_nonzero(sizes)) * sizes.clip(1)))


def propagation_logits(
    rule: Rule, labels: IntArray, sums: FloatArray, masses: FloatArray
) -> FloatArray:
    """Logits from rows of ``K @ Y``, columns divided by class sizes or by `masses`, their sums."""
    if rule.balanced and rule.setting == "masses":
        sums = sums / np.maximum(np.abs(masses), _TINY) * np.abs(masses).mean()
    elif rule.balanced:
        sums = sums * class_weights(labels, len(masses))
    # Walks and rounding may make shares negative: clip them before the logarithm.
    return np.asarray(np.log(np.maximum(_shares(sums), 1e-6)))


def _shares(sums: FloatArray) -> FloatArray:
    return np.asarray(sums / np.maximum(np.abs(sums).sum(axis=1, keepdims=True), _TINY))


@dataclass(frozen=True, eq=False)
class Readout:
    """A fitted rule: scores are ``rows @ weights + bias``, with rows of unit length for ``"svm"``.

    `weights` has one row per landmark.
    """

    rule: Rule
    weights: FloatArray
    bias: FloatArray

    def logits(self, products: FloatArray, norms: FloatArray) -> FloatArray:
        """Logits from ``rows @ weights`` and the norms of rows, which only ``"svm"`` uses."""
        if self.rule.how == "svm":
            return np.asarray(products / np.maximum(norms, _TINY)[:, None] + self.bias)
        return _shares(products)


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
    except np.linalg.LinAlgError:  # for kernels that are not a covariance
        weights = lstsq(matrix, right)[0]
    return weights, np.zeros(block.n_classes)


class LabelledNodes(NamedTuple):
    """Nodes and their classes, from 0."""

    nodes: IntArray
    labels: IntArray
    n_classes: int

    def columns(self, n_nodes: int) -> FloatArray:
        """One-hot labels, one row per node of the graph."""
        require_bytes(8 * n_nodes * self.n_classes, f"{self.n_classes} columns of labels")
        columns = np.zeros((n_nodes, self.n_classes))
        columns[self.nodes, self.labels] = 1.0
        return columns

    def take(self, positions: IntArray) -> LabelledNodes:
        """Some of them."""
        return LabelledNodes(self.nodes[positions], self.labels[positions], self.n_classes)

    def sample(self, max_nodes: int, rng: np.random.Generator) -> LabelledNodes:
        """At most `max_nodes` of them, with the same class shares."""
        n = len(self.nodes)
        if n <= max_nodes:
            return self
        # Systematic sampling of nodes sorted by class, in random order within a class.
        shuffled = rng.permutation(n)
        by_class = shuffled[np.argsort(self.labels[shuffled], kind="stable")]
        chosen = np.sort(by_class[np.linspace(0, n - 1, max_nodes).astype(np.int64)])
        return self.take(chosen)


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
    #: The loss at each held-out label.
    losses: FloatArray


class Trials(NamedTuple):
    """Labels to predict from others: those of folds in turn, or of a validation set."""

    #: The nodes to train on and those to test on.
    pairs: list[tuple[LabelledNodes, LabelledNodes]]
    #: Whether test nodes have the class shares of the nodes to predict.
    with_shares: bool

    @property
    def tested(self) -> LabelledNodes:
        """The test nodes of all trials."""
        nodes, labels, n_classes = zip(*(test for _, test in self.pairs), strict=True)
        return LabelledNodes(np.concatenate(nodes), np.concatenate(labels), n_classes[0])

    def score(self, number: int, rule: Rule, logits: FloatArray, near: BoolArray) -> Candidate:
        """Calibrate logits at the test nodes; `near` says which of these labels reach."""
        truth = self.tested.labels
        calibration = calibrate(logits, truth, near, with_shares=self.with_shares)
        predicted = calibration.log_probabilities(logits, near)
        accuracy = float((predicted.argmax(axis=1) == truth).mean())
        losses = -predicted[np.arange(len(truth)), truth]
        return Candidate(number, rule, calibration, accuracy, float(losses.mean()), losses)

    def score_propagation(
        self, number: int, rule: Rule, products: FloatArray, masses: FloatArray
    ) -> Candidate:
        """The same from rows of ``K @ Y`` at the test nodes, trials side by side, and its sums."""
        n_trials, n_classes = len(self.pairs), len(masses) // len(self.pairs)
        ends = np.cumsum([len(test.nodes) for _, test in self.pairs])[:-1]
        blocks = enumerate(np.split(products, ends))
        sums = [rows[:, i * n_classes : (i + 1) * n_classes] for i, rows in blocks]
        folds = zip(self.pairs, sums, np.split(masses, n_trials), strict=True)
        logits = [propagation_logits(rule, train.labels, *rest) for (train, _), *rest in folds]
        near = reached(np.concatenate(sums).sum(axis=1))
        return self.score(number, rule, np.concatenate(logits), near)


def candidates(
    products: KernelProducts, rules: Sequence[Rule], known: LabelledNodes, trials: Trials
) -> list[Candidate]:
    """Score rules on kernels: fast rules on all kernels, support-vector machines on the best.

    Parameters
    ----------
    products
        The kernels.
    rules
        The rules to try.
    known
        The nodes that all trials train on.
    trials
        The nodes to train on and to score on.
    """
    propagation, kriging, svm = (
        [rule for rule in rules if rule.how == how] for how in ("propagation", "kriging", "svm")
    )
    scored: list[Candidate] = []
    if propagation:
        columns = np.hstack([train.columns(products.graph.n_nodes) for train, _ in trials.pairs])
        for number, sums in enumerate(products.products(columns, trials.tested.nodes)):
            scored += [trials.score_propagation(number, rule, *sums) for rule in propagation]
    if not (svm or kriging):
        return scored
    finalists: Sequence[int] = range(len(products.choices))
    nodes = np.unique(np.concatenate([known.nodes, trials.tested.nodes]))
    what = f"{len(finalists)} kernels of {len(nodes)} nodes"
    require_bytes(16 * len(finalists) * len(nodes) * len(known.nodes), what)
    blocks = list(products.blocks(nodes, known.nodes))

    def score(number: int, rule: Rule) -> Candidate:
        logits, near = [], []
        for train, test in trials.pairs:
            K = blocks[number][:, np.isin(known.nodes, train.nodes)]
            rows, landmarks = K[np.searchsorted(nodes, train.nodes)], np.arange(len(train.nodes))
            readout = learn(rule, LabelledBlock(rows, train.labels, train.n_classes, landmarks))
            rows = K[np.searchsorted(nodes, test.nodes)]
            logits.append(readout.logits(rows @ readout.weights, np.linalg.norm(rows, axis=1)))
            near.append(reached(np.abs(rows).sum(axis=1)))
        return trials.score(number, rule, np.concatenate(logits), np.concatenate(near))

    pilots = kriging
    if not (propagation or kriging) and len(finalists) > _N_FINALISTS:
        # Without fast rules, kriging ranks the kernels.
        pilots = [svm[0]._replace(how="kriging", setting=r) for r in SETTINGS["kriging"]]
    ranked = [*scored, *(score(number, rule) for number in finalists for rule in pilots)]
    if ranked:
        losses = [min(c.loss for c in ranked if c.kernel == number) for number in finalists]
        finalists = sorted(np.argsort(losses, kind="stable")[:_N_FINALISTS].tolist())
    finals = [score(number, rule) for number in finalists for rule in svm]
    return [*(ranked if propagation or kriging else []), *finals]


def best_of(scored: Sequence[Candidate], default: tuple[int, Rule] | None) -> Candidate:
    """The candidate of least loss, or the default where held-out labels hardly tell them apart."""
    best = min(scored, key=lambda candidate: candidate.loss)
    usual = next((candidate for candidate in scored if candidate[:2] == default), best)
    gains = usual.losses - best.losses
    error = gains.std(ddof=1) / len(gains) ** 0.5 if len(gains) > 1 else np.inf
    return best if gains.mean() > _MIN_Z * error else usual


def probe_propagation(
    products: KernelProducts, rules: Sequence[Rule], known: LabelledNodes, rng: np.random.Generator
) -> tuple[list[Candidate], FloatArray]:
    """Score propagation by one kernel on labels held out one by one; and ``K @ Y``.

    With random signs ``s`` of some labelled nodes, ``Σ_j s_i s_j r_i / r_j K_ij`` is ``K_ii`` and
    what nearly cancels [1]_. Where ``K_ij = r_i r_j B`` between two classes, as for slow kernels,
    that is ``r_i² B`` times the product of ``s_i`` and the sum of the others' signs in its class;
    and without the node its class has ``1 − r_i / Σ r_j`` of its mass.

    References
    ----------
    .. [1] Hutchinson: A stochastic estimator of the trace of the influence matrix for Laplacian
       smoothing splines. Communications in Statistics 19, 1990.
    """
    n_probed = min(_MAX_PROBED, len(known.nodes) // 10)
    probed = rng.permutation(len(known.nodes))[:n_probed]
    probed = probed[np.argsort(known.labels[probed], kind="stable")]
    nodes, labels = known.nodes[probed], known.labels[probed]
    signs = 1.0 - 2.0 * (np.arange(n_probed) % 2)  # which alternate within classes
    root = np.where(products.perron > 0, products.perron, 1.0)
    Y = known.columns(len(root))
    sums, probe = products.product(0, Y, _TOL_OF_LONG_PRODUCTS), np.zeros((len(root), 1))
    probe[nodes, 0] = signs / root[nodes]
    diagonal = signs * root[nodes] * products.product(0, probe, _TOL_OF_PROBES)[nodes, 0]

    share = root[nodes] / np.maximum((root @ Y)[labels] - root[nodes], _TINY)
    bias = (signs * np.bincount(labels, signs)[labels] - 1) * share
    held_out, at = sums[nodes], (np.arange(n_probed), labels)
    own = np.clip((diagonal - bias * held_out[at]) / (1 - bias), 0, held_out[at])
    held_out[at] = (1 + share) * (held_out[at] - own)
    trials, masses = Trials([(known, known.take(probed))], with_shares=False), sums.sum(axis=0)
    return [trials.score_propagation(0, rule, held_out, masses) for rule in rules], sums


def predict_all(
    products: KernelProducts,
    best: Candidate,
    known: LabelledNodes,
    sample: LabelledNodes,
    sums: FloatArray | None = None,
) -> tuple[FloatArray, BoolArray]:
    """Class probabilities of all nodes, and whether labels reach them.

    The best rule is fitted to all labels; `products` has its kernel only. `sums` is ``K @ Y`` where
    that has been computed.
    """
    n, n_nodes, how = known.n_classes, products.graph.n_nodes, best.rule.how
    require_bytes(48 * n_nodes * (n + 1), f"the probabilities of {n} classes")
    if how == "propagation":
        sums = products.product(0, known.columns(n_nodes)) if sums is None else sums
        is_reached = reached(sums.sum(axis=1))
        logits = propagation_logits(best.rule, known.labels, sums, sums.sum(axis=0))
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
    """Whether the labelled nodes' mass at a node is above rounding."""
    return np.asarray(np.abs(masses) > _MIN_MASS * np.abs(masses).max(initial=0.0))
