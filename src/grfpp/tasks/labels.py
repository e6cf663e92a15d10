"""`KernelLabelPropagation`: labels of all nodes from those of some, and its held-out accuracy."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from grfpp._checks import array_of, is_auto, listed, one_of, truth, whole
from grfpp.errors import InputError, InputWarning, shown, warn_user
from grfpp.gp.covariance import is_covariance, require_covariance
from grfpp.graph import Graph, as_graph
from grfpp.kernels import Diffusion, Kernel, RegularizedLaplacian
from grfpp.tasks import label_rules as rules
from grfpp.tasks.base import NodeKernelParameters, candidate_kernels, read_nodes
from grfpp.tasks.calibration import calibration_error, identity_calibration
from grfpp.tasks.label_rules import SETTINGS
from grfpp.tasks.splits import NodeKFold
from grfpp.typing import FloatArray

#: Kernel of ``"auto"`` where held-out labels do not show that another one is better: on generated
#: graphs with 1, 2 and 5 labels per class, dense and sparse, the best of 60.
DEFAULT = RegularizedLaplacian(4, 9.0)
#: Kernels of ``kernel="auto"``: diffusion by time, and ``(I − c W)^-2`` by factor ``c``.
GRID: tuple[Kernel, ...] = (
    DEFAULT,
    *(Diffusion(time) for time in (1.0, 2.0, 5.0, 10.0, 20.0, 40.0, 80.0)),
    *(RegularizedLaplacian(2, round(c / (1 - c), 9)) for c in (0.5, 0.8, 0.9, 0.95, 0.98, 0.99)),
)
#: Largest number of labelled nodes whose columns support vectors and kriging use: each is a column
#: of every kernel.
MAX_NODES = 1000
#: Fewest of them that ``how="auto"`` tries these rules on, if there are more.
MIN_NODES = 200
#: Multiplications that a choice may take, some ten seconds: they bound kernels, folds and columns.
MAX_WORK = 4e9
#: Multiplications that folds may take where kernel and rule are given, well under a second: beyond,
#: labels are held out one by one, which takes one further column (`probe_propagation`).
MAX_WORK_GIVEN = 1e8
#: Fewest labelled nodes that one further column calibrates well enough.
MIN_PROBED = 200
#: Largest number of validation nodes that are used, which bounds memory.
MAX_VALIDATION = 5000
#: Texts of labels that stand for missing ones in tables; so does −1 in scikit-learn.
MISSING = ("", "nan", "NaN", "<NA>")


@dataclass(eq=False, repr=False)
class KernelLabelPropagation(NodeKernelParameters, ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # untyped base
    """Predict the labels of nodes from those of some nodes, by a kernel.

    Samples are nodes: `fit` takes their indices (or names) and labels, `predict` takes indices (or
    names). The kernel and the rule that predicts labels from it are chosen by held-out labels.
    Chebyshev polynomials of the weights are computed once for all kernels. Probabilities are
    calibrated by the same labels.

    Parameters
    ----------
    graph
        A `grfpp.Graph`, or anything that it takes, with weights that are not normalised.
    kernel
        A kernel, or its text form (``"diffusion:20"``); a list of kernels to choose from; or
        ``"auto"`` for ``(I − 0.9 W)^-4``, diffusion for times from 1 to 80 and ``(I − c W)^-2``
        with ``c`` from 0.5 to 0.99.
    how
        ``"propagation"`` for ``K @ Y``, ``Y`` the one-hot labels [1]_ [2]_;
        ``"svm"`` for a linear support-vector machine on rows of the kernel, its columns those of
        labelled nodes, scaled to length 1, so that it works with cosines;
        ``"kriging"`` for the mean of a Gaussian process, ``K (K + r I)^-1 Y`` [3]_, whose kernel
        must be a covariance, nowhere negative on the spectrum; where weights are not symmetric, on
        directed graphs and for ``normalization="rw"``, ``(K + Kᵀ) / 2`` takes its place between
        labelled nodes, and this is a linear rule without that interpretation;
        ``"auto"`` for the rule of these three that predicts held-out labels best; only propagation
        where columns of labelled nodes take more than the budget, `MAX_WORK` multiplications.
    balance
        Whether all classes have equal weight, whatever their numbers of labelled nodes.
    n_splits
        Number of folds of the labelled nodes that are held out in turn, where `fit` gets no
        validation nodes. The last label of a class is never held out. Where fewer than two classes
        have more than one label, nothing is chosen: the first kernel of a list (for ``"auto"``,
        ``(I − 0.9 W)^-4``), propagation and the temperature 1 are used, with a warning. On large
        graphs fewer folds are held out; where kernel and propagation are given, labels one by one.
    estimate, method, scale, normalization, degree, n_walks, termination, …
        How the kernel is computed; see `grfpp.tasks.base.NodeKernelParameters`. By default it is
        exact: walks are no faster here.
    random_state
        Seed of the folds and of the walks.
    n_jobs
        Threads; the result is the same for any number of them.

    Attributes
    ----------
    classes_
        The labels, in order.
    graph_
        The graph.
    kernel_, how_, setting_
        The chosen kernel, rule and setting. The setting is the ``C`` of the support-vector machine,
        the ridge ``r`` of kriging over the mean of the diagonal, and for propagation whether
        columns are divided by the ``"counts"`` of labelled nodes or by the ``"masses"`` of classes
        over all nodes.
    held_out_score_, held_out_loss_
        Accuracy and mean negative log-likelihood of this choice on held-out labels; NaN where
        there are none.
    candidates_
        The same for all candidates, one dictionary per candidate; empty where there was no choice.
    temperature_, bias_, lapse_
        Of the calibration [4]_; the lapse is the share of nodes whose label is taken to be
        independent of their neighbours. Without a validation set biases and lapse are 0.
    probabilities_
        Class probabilities of all nodes, one row per node.
    reached_
        Whether the kernel connects a node with a labelled one, beyond rounding. Where it does not,
        the node has the class shares of validation nodes that are not reached either, or without
        these the mean probabilities of all nodes that are reached.
    method_
        How products with the kernel were computed.

    References
    ----------
    .. [1] Zhou, Bousquet, Lal, Weston, Schölkopf: Learning with local and global consistency. NIPS
       2003.
    .. [2] Zhu, Ghahramani, Lafferty: Semi-supervised learning using Gaussian fields and harmonic
       functions. ICML 2003 (class mass normalization).
    .. [3] Rasmussen, Williams: Gaussian processes for machine learning. 2006, chapter 2.
    .. [4] Guo, Pleiss, Sun, Weinberger: On calibration of modern neural networks. ICML 2017.

    Examples
    --------
    >>> import networkx as nx
    >>> import numpy as np
    >>> from grfpp.tasks import KernelLabelPropagation
    >>> club = nx.karate_club_graph()
    >>> parties = np.array([club.nodes[node]["club"] for node in club])
    >>> known = np.array([0, 1, 2, 32, 33, 30])
    >>> labels = KernelLabelPropagation(club).fit(known, parties[known])
    >>> labels.predict([16, 26]).tolist()
    ['Mr. Hi', 'Officer']
    >>> labels.score(np.arange(34), parties) > 0.9
    True
    """

    graph: Any
    _: KW_ONLY
    kernel: Any = "auto"
    how: str = "auto"
    balance: bool = True
    n_splits: int = 5
    estimate: str = "exact"
    random_state: Any = 0

    def fit(
        self, X: npt.ArrayLike, y: npt.ArrayLike, validation: Any = None
    ) -> KernelLabelPropagation:
        """Choose kernel and rule by held-out labels, and predict all nodes.

        Parameters
        ----------
        X
            Indices or names of the labelled nodes, each once, of shape ``(n,)`` or ``(n, 1)``.
        y
            Their labels: text or integers, at least two different ones. Leave unknown nodes out:
            ``""``, ``"nan"``, NaN and ``None`` are refused, and so is −1, unless the labels are
            −1 and 1 only or others are negative too: then it is a class.
        validation
            A pair like ``(X, y)``: nodes and labels for the choice and the calibration only. They
            should be a sample of the nodes to predict: their class shares are used. Without them,
            the labelled nodes are held out fold by fold.
        """
        one_of(self.how, "how", ("auto", *SETTINGS))
        balanced = truth(self.balance, "balance")
        n_splits = whole(self.n_splits, "n_splits", 2)
        graph = as_graph(self.graph)
        nodes = read_nodes(X, graph.names, distinct=True)
        classes, numbers = np.unique(_labels(y, len(nodes), "y"), return_inverse=True)
        if len(classes) < 2:
            raise InputError(f"must have at least two classes, found {classes}", argument="y")
        known = rules.LabelledNodes(nodes, numbers.astype(np.int64), len(classes))
        others = None if validation is None else _validation(validation, graph, classes, nodes)
        kernels = candidate_kernels(self.kernel, GRID)
        first = self._choose(kernel=kernels[0])
        choices = [replace(first, kernel=kernel) for kernel in kernels]
        products = rules.KernelProducts(graph, choices)
        if is_auto(self.kernel):  # the kernels within the budget, and the default
            is_cheap = products.work(len(classes)) <= MAX_WORK
            kernels = [kernels[0], *np.array(kernels[1:], object)[is_cheap[1:]]]
            choices = [replace(first, kernel=kernel) for kernel in kernels]
            products = rules.KernelProducts(graph, choices)

        rng = np.random.default_rng(self.seed_)
        names, sample = self._rules(products, known, rng)
        is_given = len(kernels) == 1 and names == ("propagation",)
        budget = MAX_WORK_GIVEN if is_given else MAX_WORK
        n_affordable = int(budget / max(1.0, products.work(len(classes)).max()))
        if others is not None:
            pairs = [(sample, others.sample(MAX_VALIDATION, rng))]
        else:
            folds = NodeKFold(min(n_splits, len(sample.nodes)), random_state=self.seed_)
            splits = rules.splits_of(sample, folds)[: max(1, n_affordable)]
            pairs = [
                (sample.take(train), sample.take(test).sample(MAX_VALIDATION // len(splits), rng))
                for train, test in splits
            ]
        default = rules.Rule(names[0], rules.DEFAULTS[names[0]], balanced)
        scored, sums = list[rules.Candidate](), None
        if not pairs:
            problem = "fewer than two classes have labels to hold out: no choice, no calibration"
            advice = "label more nodes of each class, or pass validation nodes; in use: "
            advice += f"{kernels[0]!r}, {names[0]}, temperature 1"
            warn_user(InputWarning(problem, advice=advice), InputWarning)
            plain = identity_calibration(len(classes))
            best = rules.Candidate(0, default, plain, np.nan, np.nan, np.zeros(0))
        else:
            tried = [rules.Rule(how, value, balanced) for how in names for value in SETTINGS[how]]
            is_costly = is_given and not n_affordable and len(known.nodes) >= MIN_PROBED
            if is_costly and others is None:
                scored, sums = rules.probe_propagation(products, tried, known, rng)
            else:
                trials = rules.Trials(pairs, with_shares=others is not None)
                scored = rules.candidates(products, tried, sample, trials)
            # In a list of kernels none is the default.
            is_list = len(kernels) > 1 and not is_auto(self.kernel)
            best = rules.best_of(scored, None if is_list else (0, default))

        self.classes_, self.graph_, self.n_features_in_ = classes, graph, 1
        self.kernel_ = kernels[best.kernel]
        self.how_, self.setting_, _ = best.rule
        self.held_out_score_, self.held_out_loss_ = best.accuracy, best.loss
        slope, self.bias_, self.lapse_, *_ = best.calibration
        self.temperature_ = 1 / slope
        keys = ("kernel", "how", "setting", "accuracy", "loss")
        values = [(kernels[trial.kernel], *trial.rule[:2], *trial[3:5]) for trial in scored]
        self.candidates_ = [dict(zip(keys, row, strict=True)) for row in values]
        if len(choices) > 1:
            products = rules.KernelProducts(graph, [choices[best.kernel]])
        self.probabilities_, self.reached_ = rules.predict_all(products, best, known, sample, sums)
        self.method_ = products.method(0)
        if others is None and not self.reached_.all():
            # The class sizes of labelled nodes are not those of the graph.
            self.probabilities_[~self.reached_] = self.probabilities_[self.reached_].mean(axis=0)
        return self

    def _rules(
        self, products: rules.KernelProducts, known: rules.LabelledNodes, rng: np.random.Generator
    ) -> tuple[tuple[str, ...], rules.LabelledNodes]:
        """The rules to try, and the labelled nodes to compare them on.

        Kriging only where all kernels are covariances; for ``"auto"``, rules that need columns of
        labelled nodes only where the budget allows for enough of them.
        """
        W, kernels = products.weights, [choice.kernel for choice in products.choices]
        if self.how == "kriging" and not W.is_directed:
            for kernel in kernels:
                require_covariance(kernel, W)
        if self.how == "propagation":
            return (self.how,), known
        if self.how != "auto":
            return (self.how,), known.sample(MAX_NODES, rng)
        n_columns = int(min(MAX_NODES, MAX_WORK / max(1.0, products.work(1).max())))
        if n_columns < min(len(known.nodes), MIN_NODES):
            return ("propagation",), known
        can_krige = W.is_directed or all(is_covariance(kernel, W) for kernel in kernels)
        names = tuple(how for how in SETTINGS if how != "kriging" or can_krige)
        return names, known.sample(n_columns, rng)

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[Any]:
        """The most probable labels of nodes.

        Parameters
        ----------
        X
            Indices or names of nodes, of shape ``(n,)`` or ``(n, 1)``. At labelled nodes this is a
            prediction too, not their label.
        """
        most_probable = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[most_probable])

    def predict_proba(self, X: npt.ArrayLike) -> FloatArray:
        """The probabilities of all classes, in the order of ``classes_``, one row per node."""
        check_is_fitted(self, "probabilities_")
        return np.asarray(self.probabilities_[read_nodes(X, self.graph_.names)])


def _labels(y: Any, n: int, argument: str) -> npt.NDArray[Any]:
    """Labels of `n` nodes, all text or all integers, checked."""
    shape = array_of(y, argument).shape
    # Numpy converts numbers next to text into text: check the values themselves.
    values = np.array(y, object).ravel().tolist()
    is_text = all(isinstance(label, str) for label in values)
    is_whole = all(isinstance(label, Real) and float(label).is_integer() for label in values)
    if shape not in ((n,), (n, 1)):
        problem = f"must be {n} labels, one for each node, found {len(values)} of shape {shape}"
        raise InputError(problem, argument=argument)
    texts = np.array([str(label).strip().removesuffix(".0") for label in values])
    is_missing = np.isin(texts, MISSING) | np.array([label is None for label in values])
    is_minus, is_negative = texts == "-1", np.char.startswith(texts, "-")
    if argument == "y" and not np.isin(texts, ("-1", "1")).all() and is_minus[is_negative].all():
        is_missing |= is_minus
    if is_missing.any():
        marks = f"{is_missing.sum()} of {n} that are {shown(values[is_missing.argmax()])}"
        advice = "leave unknown nodes out of X and y, or rename the class"
        raise InputError(f"must hold known labels, found {marks}", argument=argument, advice=advice)
    if not (is_text or is_whole):
        problem = "must be all text or all integers, found unknown label type "
        advice = "leave other nodes out, or use KernelInterpolator"
        raise InputError(f"{problem}{shown(y)}", argument=argument, advice=advice)
    return np.array(values)


def _validation(validation: Any, graph: Graph, classes: Any, known: Any) -> rules.LabelledNodes:
    pair = listed(validation, "validation")
    if len(pair) != 2:
        problem = f"must be a pair (nodes, labels), found {shown(validation)}"
        raise InputError(problem, argument="validation")
    nodes = read_nodes(pair[0], graph.names, "validation", distinct=True)
    labels = _labels(pair[1], len(nodes), "validation")
    if np.isin(nodes, known).any() or not set(labels.tolist()) <= set(classes.tolist()):
        raise InputError("must have no node of X, and only labels of y", argument="validation")
    return rules.LabelledNodes(nodes, np.searchsorted(classes, labels), len(classes))


def score_held_out(
    model: KernelLabelPropagation, X: Any, y: Any, share: float, seed: int = 0
) -> dict[str, Any]:
    """Accuracy and calibration error on labels that are hidden from a copy of a model.

    Parameters
    ----------
    model
        The model, which is not fitted.
    X, y
        Arrays of the labelled nodes and their labels, as for `KernelLabelPropagation.fit`.
    share
        Share of the labels of each class to hide, below 1. One label of each class stays known.
    seed
        Seed of the choice.

    Examples
    --------
    >>> import networkx as nx
    >>> club = nx.karate_club_graph()
    >>> parties = np.array([club.nodes[node]["club"] for node in club])
    >>> model = KernelLabelPropagation(club, kernel="diffusion:2", how="propagation")
    >>> score_held_out(model, np.arange(34), parties, share=0.5)["n"]
    16
    """
    rng, hidden = np.random.default_rng(seed), np.zeros(len(X), bool)
    for label in np.unique(y):
        members = np.flatnonzero(y == label)
        n_hidden = min(round(share * len(members)), len(members) - 1)
        hidden[rng.choice(members, n_hidden, replace=False)] = True
    if not hidden.any():
        problem = f"must hide at least one label of {len(X)}, found {share:g}"
        raise InputError(problem, argument="hold_out", advice="hide a larger share")
    fitted = clone(model).fit(X[~hidden], y[~hidden])
    error = calibration_error(fitted.predict_proba(X[hidden]), y[hidden], fitted.classes_)
    accuracy = float(fitted.score(X[hidden], y[hidden]))
    return {"n": int(hidden.sum()), "accuracy": accuracy, "calibration_error": error}
