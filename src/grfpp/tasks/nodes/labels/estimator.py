"""`KernelLabelPropagation`: labels of some nodes in, labels of all nodes out."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from grfpp.arguments import listed, one_of, truth, whole
from grfpp.errors import InputError, InputWarning, shown, warn_user
from grfpp.graph import Graph, as_graph
from grfpp.memory import require_bytes
from grfpp.tasks.kernels import OneGraphParameters, kernel_choice
from grfpp.tasks.nodes.covariance import is_covariance, require_covariance
from grfpp.tasks.nodes.inputs import read_nodes
from grfpp.tasks.nodes.labels.calibration import Calibration
from grfpp.tasks.nodes.labels.candidates import DEFAULT, GRID, candidate_kernels
from grfpp.tasks.nodes.labels.choosing import Candidate, Labelled, candidates, reached, splits_of
from grfpp.tasks.nodes.labels.products import KernelProducts
from grfpp.tasks.nodes.labels.readouts import DEFAULTS, SETTINGS, Block, Rule, learn
from grfpp.tasks.nodes.splits import NodeKFold
from grfpp.typing import FloatArray

#: Kernels and rules are compared on so many labelled nodes at most, and columns of so many are
#: what support vectors and kriging work with; each costs a column of every kernel.
MOST_NODES = 1000
#: So many validation nodes are used at most.
MOST_VALIDATION = 5000


@dataclass(eq=False, repr=False)
class KernelLabelPropagation(OneGraphParameters, ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # untyped base
    """Predict the labels of nodes from those of some nodes, by a kernel.

    Samples are nodes: `fit` takes their numbers (or names) and labels, `predict` takes numbers (or
    names). The kernel, its width and the way to read labels out of it are chosen by labels that are
    held out, from products alone: Chebyshev's terms of the weights are made once and serve all
    kernels. Probabilities are calibrated by the same labels.

    Parameters
    ----------
    graph
        A `grfpp.Graph`, or anything that it takes; its own weights, not normalised ones.
    kernel
        A kernel, or how the command line writes it (``"diffusion:20"``); a list of some to choose
        from; or ``"auto"`` for diffusion for times from 1 to 80 and ``(I − c W)^-2`` with ``c``
        from 0.5 to 0.99.
    how
        ``"propagation"`` for ``K @ Y``, ``Y`` the labels as columns of zeros and ones;
        ``"svm"`` for a linear support-vector machine on rows of the kernel, its columns those of
        labelled nodes, scaled to length 1, so that it works with cosines;
        ``"kriging"`` for the mean of a Gaussian process, ``K (K + r I)^-1 Y``, whose kernel must
        be a covariance, nowhere negative on the spectrum; where weights are not symmetric, on
        directed graphs and for ``normalization="rw"``, ``(K + Kᵀ) / 2`` takes its place between
        labelled nodes, and this is no more than a linear rule;
        ``"auto"`` for that of the three that predicts held-out labels best.
    balance
        Whether all classes count the same, however many labelled nodes they have.
    n_splits
        Folds of the labelled nodes that are held out in turn, where `fit` is given no validation
        nodes. The last label of a class is never held out. Where fewer than two classes have
        labels to spare, nothing is chosen: the first kernel of a list, diffusion for the time 10
        for ``"auto"``, propagation, and the temperature 1 are taken, with a warning.
    estimate, method, scale, normalization, degree, n_walks, termination, …
        How the kernel is made; see `grfpp.tasks.kernels.kernel_operator`. By default it is exact:
        walks are no faster here.
    random_state
        Seed of the folds, and of walks.
    n_jobs
        Threads; the result is the same for any number of them.

    Attributes
    ----------
    classes_
        The labels, in order.
    graph_
        The graph.
    kernel_, how_, setting_
        What was chosen. The setting is the ``C`` of the support-vector machine, the ridge ``r`` of
        kriging over the mean of the diagonal, and for propagation whether columns are divided by
        the ``"counts"`` of labelled nodes or by the ``"masses"`` that classes bring to all nodes.
    held_out_score_, held_out_loss_
        Accuracy and mean negative log-likelihood of what was chosen, on labels held out; NaN where
        none could be.
    candidates_
        The same for all that was tried: a dictionary each; empty where there was no choice.
    temperature_, bias_, lapse_
        Of the calibration; the lapse is how many nodes are taken to have any label, whatever
        their neighbours say. Without a validation set biases and lapse are 0.
    probabilities_
        Of each class, at every node.
    reached_
        Whether labelled nodes tell anything about a node. Where they do not, it has the shares of
        classes: those of validation nodes like it, or the mean over all nodes that are reached.
    method_
        How products with the kernel were made.

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
        """Choose kernel and rule by labels held out, and predict all nodes.

        Parameters
        ----------
        X
            Numbers or names of the labelled nodes, each once, of shape ``(n,)`` or ``(n, 1)``.
        y
            Their labels: text or whole numbers, at least two different ones.
        validation
            Nodes and labels to choose and to calibrate by, and for nothing else: a pair like
            ``(X, y)``. They should be as those that are to be predicted: their shares of classes
            are believed. Without them, the labelled nodes are held out fold by fold.
        """
        one_of(self.how, "how", ("auto", *SETTINGS))
        balanced = truth(self.balance, "balance")
        n_splits = whole(self.n_splits, "n_splits", 2)
        graph = as_graph(self.graph)
        nodes = _distinct(read_nodes(X, graph.names), "X")
        names = _labels(y, len(nodes), "y")
        classes, numbers = np.unique(names, return_inverse=True)
        if len(classes) < 2:
            raise InputError(
                f"y must have at least two classes, found one class, {shown(classes[0].item())}"
            )
        known = Labelled(nodes, numbers.astype(np.int64), len(classes))
        others = None if validation is None else _validation(validation, graph, classes, nodes)
        products = KernelProducts(graph, self._choices())

        rng = np.random.default_rng(self.seed_)
        sample = known.take(known.sample(MOST_NODES, rng))
        if others is not None:
            others = others.take(others.sample(MOST_VALIDATION, rng))
        folds = NodeKFold(min(n_splits, len(sample.nodes)), random_state=self.seed_)
        hows = self._hows(products)
        rules = [Rule(how, setting) for how in hows for setting in SETTINGS[how]]
        splits = [] if others is not None else splits_of(sample, folds)
        if others is None and not splits:
            tried, best = [], self._default(products, hows[0], len(classes))
        else:
            tried = candidates(products, rules, sample, others, balanced, splits)
            best = min(tried, key=lambda each: each.loss)

        self.classes_ = classes
        self.graph_ = graph
        self.n_features_in_ = 1
        self.kernel_ = products.choices[best.kernel].kernel
        self.how_, self.setting_ = best.rule
        self.held_out_score_, self.held_out_loss_ = best.accuracy, best.loss
        calibration = best.calibration
        self.temperature_, self.bias_ = 1 / calibration.slope, calibration.bias
        self.lapse_ = calibration.lapse
        self.candidates_ = [_described(each, products) for each in tried]
        self._predict_all(products, best, known, sample, balanced)
        if others is None and not self.reached_.all():
            # Labelled nodes do not tell how large classes are.
            self.probabilities_[~self.reached_] = self.probabilities_[self.reached_].mean(axis=0)
        return self

    def _hows(self, products: KernelProducts) -> tuple[str, ...]:
        """The rules to try; kriging with covariances alone."""
        W, kernels = products.weights, [each.kernel for each in products.choices]
        if self.how == "kriging" and not W.is_directed:
            for kernel in kernels:
                require_covariance(kernel, W)
        if self.how != "auto":
            return (self.how,)
        if W.is_directed or all(is_covariance(kernel, W) for kernel in kernels):
            return tuple(SETTINGS)
        return tuple(how for how in SETTINGS if how != "kriging")

    def _default(self, products: KernelProducts, how: str, n_classes: int) -> Candidate:
        """What is taken where no labels can be held out."""
        kernels = [each.kernel for each in products.choices]
        number = kernels.index(DEFAULT) if kernels == list(GRID) else 0
        rule = Rule(how, DEFAULTS[how])
        warn_user(
            InputWarning(
                "fewer than two classes have labels to spare, so that none are held out to choose "
                f"and to calibrate by: {kernels[number]!r} and {rule.how} with the temperature 1 "
                "are taken; label more nodes of each class, or give others to judge by "
                "(validation)"
            ),
            InputWarning,
        )
        return Candidate(number, rule, Calibration.none(n_classes), np.nan, np.nan)

    def _choices(self) -> list[Any]:
        """The kernels to choose from, checked, and the seed."""
        kernels = candidate_kernels(self.kernel)
        parameters = {
            name: value
            for name, value in self.get_params(deep=False).items()
            if name not in ("graph", "how", "balance", "n_splits", "kernel", "random_state")
        }
        first = kernel_choice(kernel=kernels[0], random_state=self.random_state, **parameters)
        self.seed_ = first.options.seed
        rest = [kernel_choice(kernel=k, random_state=self.seed_, **parameters) for k in kernels[1:]]
        return [first, *rest]

    def _predict_all(
        self,
        products: KernelProducts,
        best: Candidate,
        known: Labelled,
        sample: Labelled,
        balanced: bool,
    ) -> None:
        """Learn the best rule from all labels, and apply it to all nodes."""
        chosen = KernelProducts(products.graph, [products.choices[best.kernel]])
        n, n_nodes = known.n_classes, products.graph.n_nodes
        (masses,) = chosen.masses(known.nodes)
        is_all = len(sample.nodes) == len(known.nodes)
        rows, landmarks = np.zeros((len(known.nodes), 0)), np.arange(0)
        if best.rule.how != "propagation":
            require_bytes(16 * len(known.nodes) * len(sample.nodes), "the kernel of labelled nodes")
            landmarks = np.arange(len(known.nodes)) if is_all else _places(sample, known)
            (rows,) = chosen.between(known.nodes, sample.nodes)
        block = Block(rows, known.labels, n, landmarks, masses)
        readout = learn(best.rule, block, balanced)

        require_bytes(48 * n_nodes * (n + 1), f"the probabilities of {n} classes")
        columns = np.zeros((n_nodes, n + 1))
        from_nodes = known.nodes if best.rule.how == "propagation" else sample.nodes
        columns[from_nodes, :n] = readout.weights
        columns[known.nodes, n] = 1.0
        sums = chosen.everywhere(0, columns)
        lengths = chosen.lengths(0, sample.nodes) if readout.is_of_directions else None
        self.reached_ = reached(sums[:, n])
        self.method_ = chosen.how_made(0)
        logits = readout.logits_of(sums[:, :n], lengths)
        self.probabilities_ = best.calibration.probabilities(logits, self.reached_)

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[Any]:
        """The likeliest labels of nodes.

        Parameters
        ----------
        X
            Numbers or names of nodes, of shape ``(n,)`` or ``(n, 1)``. Labelled ones get what all
            labelled nodes say, not their own label.
        """
        given = self.predict_proba(X)
        labels: npt.NDArray[Any] = self.classes_[given.argmax(axis=1)]
        return labels

    def predict_proba(self, X: npt.ArrayLike) -> FloatArray:
        """The probabilities of all classes, in the order of ``classes_``, a row a node."""
        check_is_fitted(self)
        found: FloatArray = self.probabilities_[read_nodes(X, self.graph_.names)]
        return found


def _described(candidate: Candidate, products: KernelProducts) -> dict[str, Any]:
    return {
        "kernel": products.choices[candidate.kernel].kernel,
        **candidate.rule._asdict(),
        "accuracy": candidate.accuracy,
        "loss": candidate.loss,
    }


def _places(some: Labelled, every: Labelled) -> Any:
    """Where some nodes stand among all."""
    order = np.argsort(every.nodes)
    return order[np.searchsorted(every.nodes, some.nodes, sorter=order)]


def _distinct(nodes: Any, name: str) -> Any:
    if len(np.unique(nodes)) < len(nodes):
        counts = np.bincount(nodes)
        raise InputError(
            f"each node of {name} must appear once, found node {counts.argmax()} {counts.max()} "
            "times"
        )
    return nodes


def _labels(y: Any, n: int, name: str) -> npt.NDArray[Any]:
    """Labels of nodes: text or whole numbers, none missing."""
    try:
        labels = np.asarray(y)
    except ValueError:  # lists of different lengths
        labels = np.empty(0)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.shape != (n,):
        raise InputError(
            f"{name} must have one label for each of the {n} nodes, found shape {labels.shape}"
        )
    if labels.dtype.kind == "O" or (labels.dtype.kind == "U" and not hasattr(y, "dtype")):
        # Numpy makes text of numbers beside text: what was given tells.
        given = np.array(y, object).ravel().tolist()
        kinds = {str if isinstance(each, str) else type(each) for each in given}
        if kinds not in ({str}, {int}, {bool}):
            raise InputError(
                f"{name} must be all text or all whole numbers, found "
                f"{', '.join(sorted(kind.__name__ for kind in kinds))}; leave out nodes without a "
                "label"
            )
        labels = np.array(labels.tolist())
    if labels.dtype.kind == "f" and np.isfinite(labels).all() and (labels == labels.round()).all():
        return labels  # whole numbers, as numpy often has them
    if labels.dtype.kind not in "iubU":
        raise InputError(
            f"{name} must be labels, text or whole numbers, found {labels.dtype}; unknown label "
            "type: for a continuous field there is KernelInterpolator"
        )
    return labels


def _validation(validation: Any, graph: Graph, classes: Any, known: Any) -> Labelled:
    pair = listed(validation, "validation")
    if len(pair) != 2:
        raise InputError(f"validation must be a pair (nodes, labels), found {shown(validation)}")
    nodes = _distinct(read_nodes(pair[0], graph.names, "validation"), "validation")
    labels = _labels(pair[1], len(nodes), "the labels of validation")
    if np.isin(nodes, known).any():
        raise InputError("validation must be other nodes than X: a labelled node is in both")
    alike = (labels.dtype.kind == "U") is (classes.dtype.kind == "U")
    places = np.searchsorted(classes, labels) if alike else np.zeros(0, np.int64)
    numbers = np.minimum(places, len(classes) - 1)
    if len(numbers) < len(labels) or (classes[numbers] != labels).any():
        strange = labels[0] if len(numbers) < len(labels) else labels[classes[numbers] != labels][0]
        raise InputError(
            f"validation has the label {shown(strange.item())}, which no node of X has"
        )
    return Labelled(nodes, numbers, len(classes))
