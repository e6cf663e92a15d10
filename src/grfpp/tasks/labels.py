"""`KernelLabelPropagation`: labels of some nodes in, labels of all nodes out."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from grfpp._checks import array_of, listed, one_of, truth, whole
from grfpp.errors import InputError, InputWarning, shown, warn_user
from grfpp.graph import Graph, as_graph
from grfpp.kernels import Diffusion, Kernel, RegularizedLaplacian
from grfpp.tasks import label_rules as rules
from grfpp.tasks.base import NodeKernelParameters, candidate_kernels, is_auto, read_nodes
from grfpp.tasks.calibration import identity_calibration
from grfpp.tasks.kriging import is_covariance, require_covariance
from grfpp.tasks.label_rules import SETTINGS
from grfpp.tasks.splits import NodeKFold
from grfpp.typing import FloatArray

#: Kernel of ``"auto"`` where held-out labels do not show that another one is better: on generated
#: graphs with 1, 2 and 5 labels a class, dense and sparse, the best of 60.
DEFAULT = RegularizedLaplacian(4, 9.0)
#: Kernels of ``kernel="auto"``: diffusion for times, and ``(I − c W)^-2`` with factors ``c``.
GRID: tuple[Kernel, ...] = (
    DEFAULT,
    *(Diffusion(time) for time in (1.0, 2.0, 5.0, 10.0, 20.0, 40.0, 80.0)),
    *(RegularizedLaplacian(2, round(c / (1 - c), 9)) for c in (0.5, 0.8, 0.9, 0.95, 0.98, 0.99)),
)
#: Largest number of labelled nodes whose columns support vectors and kriging use: each costs a
#: column of every kernel.
MAX_NODES = 1000
#: Fewest of them that ``how="auto"`` tries these rules on, if there are more.
MIN_NODES = 200
#: Multiplications that a choice may take, some ten seconds: kernels, folds and columns are as many
#: as these allow for.
MAX_WORK = 4e9
#: ... and that folds may take where kernel and rule are given; beyond, one further column does.
MAX_WORK_GIVEN = 1e8
#: Fewest labelled nodes that one further column is enough for.
MIN_PROBED = 200
#: Largest number of validation nodes that are used.
MAX_VALIDATION = 5000


@dataclass(eq=False, repr=False)
class KernelLabelPropagation(NodeKernelParameters, ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # untyped base
    """Predict the labels of nodes from those of some nodes, by a kernel.

    Samples are nodes: `fit` takes their indices (or names) and labels, `predict` takes indices (or
    names). The kernel and the rule that reads labels out of it are chosen by held-out labels. The
    Chebyshev terms of the weights are computed once for all kernels. Probabilities are calibrated
    by the same labels.

    Parameters
    ----------
    graph
        A `grfpp.Graph`, or anything that it takes; its own weights, not normalised ones.
    kernel
        A kernel, or how the command line writes it (``"diffusion:20"``); a list of some to choose
        from; or ``"auto"`` for ``(I − 0.9 W)^-4``, diffusion for times from 1 to 80 and
        ``(I − c W)^-2`` with ``c`` from 0.5 to 0.99.
    how
        ``"propagation"`` for ``K @ Y``, ``Y`` the labels as columns of zeros and ones;
        ``"svm"`` for a linear support-vector machine on rows of the kernel, its columns those of
        labelled nodes, scaled to length 1, so that it works with cosines;
        ``"kriging"`` for the mean of a Gaussian process, ``K (K + r I)^-1 Y``, whose kernel must
        be a covariance, nowhere negative on the spectrum; where weights are not symmetric, on
        directed graphs and for ``normalization="rw"``, ``(K + Kᵀ) / 2`` takes its place between
        labelled nodes, and this is no more than a linear rule;
        ``"auto"`` for that of the three that predicts held-out labels best; propagation alone
        where columns of labelled nodes take more than the budget, `MAX_WORK` multiplications.
    balance
        Whether all classes count the same, however many labelled nodes they have.
    n_splits
        Folds of the labelled nodes that are held out in turn, where `fit` is given no validation
        nodes. The last label of a class is never held out. Where fewer than two classes have
        labels to spare, nothing is chosen: the first kernel of a list, ``(I − 0.9 W)^-4`` for
        ``"auto"``, propagation, and the temperature 1 are taken, with a warning. On large graphs
        fewer folds are held out; where kernel and propagation are given, labels one by one.
    estimate, method, scale, normalization, degree, n_walks, termination, …
        How the kernel is made; see `grfpp.tasks.base.NodeKernelParameters`. By default it is
        exact: walks are no faster here.
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
        """Choose kernel and rule by held-out labels, and predict all nodes.

        Parameters
        ----------
        X
            Indices or names of the labelled nodes, each once, of shape ``(n,)`` or ``(n, 1)``.
        y
            Their labels: text or integers, at least two different ones.
        validation
            Nodes and labels to choose and to calibrate by, and for nothing else: a pair like
            ``(X, y)``. They should be like the nodes to predict: their shares of classes are used.
            Without them, the labelled nodes are held out fold by fold.
        """
        one_of(self.how, "how", ("auto", *SETTINGS))
        balanced = truth(self.balance, "balance")
        n_splits = whole(self.n_splits, "n_splits", 2)
        graph = as_graph(self.graph)
        nodes = read_nodes(X, graph.names, distinct=True)
        classes, numbers = np.unique(_labels(y, len(nodes), "y"), return_inverse=True)
        if len(classes) < 2:
            raise InputError(f"must have two classes at least, found {classes}", argument="y")
        known = rules.Labelled(nodes, numbers.astype(np.int64), len(classes))
        others = None if validation is None else _validation(validation, graph, classes, nodes)
        kernels = candidate_kernels(self.kernel, GRID)
        first = self._choose(kernel=kernels[0])
        choices = [replace(first, kernel=kernel) for kernel in kernels]
        products = rules.KernelProducts(graph, choices)
        if is_auto(self.kernel):  # those within the budget, and the usual one
            within = products.work(len(classes)) <= MAX_WORK
            kept = [number for number, each in enumerate(within) if each or number == 0]
            choices = [choices[number] for number in kept]
            kernels = [choice.kernel for choice in choices]
            products = rules.KernelProducts(graph, choices)

        rng = np.random.default_rng(self.seed_)
        hows, sample = self._rules(products, known, rng)
        tried = [rules.Rule(how, value, balanced) for how in hows for value in SETTINGS[how]]
        is_given = len(kernels) == 1 and hows == ("propagation",)
        work = float(products.work(len(classes)).max())
        trials = None
        if others is not None:
            trials = rules.Trials([(sample, others.sample(MAX_VALIDATION, rng))], True)
        else:
            folds = NodeKFold(min(n_splits, len(sample.nodes)), random_state=self.seed_)
            splits = rules.splits_of(sample, folds)
            limit = MAX_WORK_GIVEN if is_given else MAX_WORK
            splits = splits[: max(1, int(limit / max(work, 1.0)))]
            if splits:
                most = MAX_VALIDATION // len(splits)
                pairs = [
                    (sample.take(kept), sample.take(held).sample(most, rng))
                    for kept, held in splits
                ]
                trials = rules.Trials(pairs, False)
        scored, sums = list[rules.Candidate](), None
        if trials is None:
            how = hows[0]
            problem = "fewer than two classes have labels to hold out, so that nothing is chosen "
            problem += f"or calibrated: {kernels[0]!r} and {how} with temperature 1 are used"
            advice = "label more nodes of each class, or pass validation nodes"
            warn_user(InputWarning(problem, advice=advice), InputWarning)
            rule = rules.Rule(how, rules.DEFAULTS[how], balanced)
            plain = identity_calibration(len(classes))
            best = rules.Candidate(0, rule, plain, np.nan, np.nan, np.zeros(0))
        else:
            if is_given:
                over = others is None and work * len(trials.pairs) > MAX_WORK_GIVEN
                probes = over and len(known.nodes) >= MIN_PROBED
                scored, sums = rules.propagate_once(
                    products, tried, known, None if probes else trials, rng
                )
            else:
                scored = rules.candidates(products, tried, sample, trials)
            usual = rules.Rule(hows[0], rules.DEFAULTS[hows[0]], balanced)
            has_usual = is_auto(self.kernel) or len(kernels) == 1
            best = rules.best_of(scored, (0, usual) if has_usual else None)

        self.classes_, self.graph_, self.n_features_in_ = classes, graph, 1
        self.kernel_ = kernels[best.kernel]
        self.how_, self.setting_, _ = best.rule
        self.held_out_score_, self.held_out_loss_ = best.accuracy, best.loss
        slope, self.bias_, self.lapse_, *_ = best.calibration
        self.temperature_ = 1 / slope
        names = ("kernel", "how", "setting", "accuracy", "loss")
        values = [
            (kernels[each.kernel], *each.rule[:2], each.accuracy, each.loss) for each in scored
        ]
        self.candidates_ = [dict(zip(names, each, strict=True)) for each in values]
        if len(choices) > 1:
            products = rules.KernelProducts(graph, [choices[best.kernel]])
        self.probabilities_, self.reached_ = rules.predict_all(products, best, known, sample, sums)
        self.method_ = products.method(0)
        if others is None and not self.reached_.all():
            # Labelled nodes do not show how large classes are.
            self.probabilities_[~self.reached_] = self.probabilities_[self.reached_].mean(axis=0)
        return self

    def _rules(
        self, products: rules.KernelProducts, known: rules.Labelled, rng: np.random.Generator
    ) -> tuple[tuple[str, ...], rules.Labelled]:
        """The rules to try, and the nodes to choose by, whose columns they may take.

        Kriging with covariances only; by default, columns within the budget only.
        """
        W, kernels = products.weights, [choice.kernel for choice in products.choices]
        if self.how == "kriging" and not W.is_directed:
            for kernel in kernels:
                require_covariance(kernel, W)
        if self.how != "auto":
            uses_columns = self.how != "propagation"
            return (self.how,), known.sample(MAX_NODES, rng) if uses_columns else known
        affordable = int(min(MAX_NODES, MAX_WORK / max(1.0, float(products.work(1).max()))))
        if affordable < min(len(known.nodes), MIN_NODES):
            return ("propagation",), known
        can_krige = W.is_directed or all(is_covariance(kernel, W) for kernel in kernels)
        hows = tuple(how for how in SETTINGS if how != "kriging" or can_krige)
        return hows, known.sample(affordable, rng)

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[Any]:
        """The most probable labels of nodes.

        Parameters
        ----------
        X
            Indices or names of nodes, of shape ``(n,)`` or ``(n, 1)``. For labelled nodes this is
            a prediction too, not their label.
        """
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    def predict_proba(self, X: npt.ArrayLike) -> FloatArray:
        """The probabilities of all classes, in the order of ``classes_``, a row a node."""
        check_is_fitted(self)
        return np.asarray(self.probabilities_[read_nodes(X, self.graph_.names)])


def _labels(y: Any, n: int, argument: str) -> npt.NDArray[Any]:
    """Labels of `n` nodes, all text or all integers, checked."""
    shape = array_of(y, argument).shape
    # Numpy converts numbers next to text into text: check the values that were given.
    given = np.array(y, object).ravel().tolist()
    is_text = all(isinstance(label, str) for label in given)
    is_whole = all(isinstance(x, Real) and float(x).is_integer() for x in given)
    if shape not in ((n,), (n, 1)) or not (is_text or is_whole):
        problem = f"must be {n} labels, all text or all integers, found {shown(y)}; "
        advice = "leave out nodes without a label; use KernelInterpolator for a continuous field"
        raise InputError(f"{problem}unknown label type", argument=argument, advice=advice)
    return np.array(given)


def _validation(validation: Any, graph: Graph, classes: Any, known: Any) -> rules.Labelled:
    pair = listed(validation, "validation")
    if len(pair) != 2:
        problem = f"must be a pair (nodes, labels), found {shown(validation)}"
        raise InputError(problem, argument="validation")
    nodes = read_nodes(pair[0], graph.names, "validation", distinct=True)
    labels = _labels(pair[1], len(nodes), "validation")
    if np.isin(nodes, known).any() or not set(labels.tolist()) <= set(classes.tolist()):
        raise InputError("must have no node of X, and only labels of X", argument="validation")
    return rules.Labelled(nodes, np.searchsorted(classes, labels), len(classes))
