"""`NodeGPClassifier`: labels of nodes by a Gaussian process, with calibrated probabilities."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from grfpp.errors import InputError
from grfpp.gp.model import GraphGP
from grfpp.graph import as_graph
from grfpp.options import drawn_seed
from grfpp.typing import FloatArray

#: Draws that probabilities are means of, in batches: their standard error is at most 0.03.
_N_BATCHES, _BATCH = 8, 32
#: Factors of the draws' deviations from their mean that are tried. Regression of indicators
#: overestimates deviations where classes are far apart: their noise is not normal.
_SPREADS = (0.0, 0.25, 0.5, 1.0)
#: Bounds of the logarithm of the slope: from the same probability of all classes to one-hot.
_LOG_SLOPES = (-2.0, 6.0)
#: Smallest probability that the leave-one-out loss distinguishes from zero.
_MIN_PROBABILITY = 1e-6


@dataclass(eq=False, repr=False)
class NodeGPClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # untyped base
    """Predict the labels of nodes from those of some nodes, by a Gaussian process for each class.

    `GraphGP` regresses the indicators of the classes, which share a width. The probabilities of a
    node are the mean of ``softmax(slope · (m + spread · (f − m)))`` over draws ``f`` of its
    posterior with mean ``m``, with the slope and the spread of the least leave-one-out
    cross-entropy at the labelled nodes.

    Parameters
    ----------
    graph
        A `grfpp.Graph`, or anything that it takes, undirected, with weights that are not
        normalised.
    kernel, power, normalization, width, method, n_jobs
        As for `GraphGP`.
    random_state
        Seed of the draws, a whole number; ``None`` draws one when fitting.

    Attributes
    ----------
    classes_
        The labels, sorted.
    gp_
        The fitted `GraphGP`, with an output for each class.
    slope_, spread_
        The factors of its draws, and of their deviations from the mean.
    loo_loss_
        The leave-one-out cross-entropy of the labelled nodes.

    Examples
    --------
    >>> import numpy as np
    >>> from grfpp.datasets import load_graph
    >>> club = load_graph("karate")
    >>> model = NodeGPClassifier(club.graph, random_state=0).fit([0, 1, 32, 33], [0, 0, 1, 1])
    >>> model.predict([2, 31]), model.predict_proba([2, 31]).shape
    (array([0, 1]), (2, 2))

    References
    ----------
    C. E. Rasmussen and C. K. I. Williams, Gaussian Processes for Machine Learning, 2006, section
    6.5 (least-squares classification) and 5.4.2 (leave-one-out).
    """

    graph: Any
    _: KW_ONLY
    kernel: Any = "matern"
    power: float = 2
    normalization: str | None = "rw"
    width: float | None = None
    method: str = "auto"
    random_state: Any = None
    n_jobs: int = -1

    def fit(self, nodes: Any, labels: npt.ArrayLike) -> NodeGPClassifier:
        """Learn from labelled nodes.

        Parameters
        ----------
        nodes
            Nodes by index or name, of shape ``(n,)`` or ``(n, 1)``; they may repeat.
        labels
            Their labels, text or whole numbers, of at least two classes.
        """
        labels = column_or_1d(labels)
        check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            problem = f"must have at least two classes, found only {self.classes_.tolist()[0]!r}"
            raise InputError(problem, argument="labels")
        names = ("kernel", "power", "normalization", "width", "method", "n_jobs")
        graph = as_graph(self.graph)
        gp = GraphGP(graph, **{name: getattr(self, name) for name in names})
        indicators = np.eye(len(self.classes_))[codes]
        self.gp_ = gp.fit(nodes, indicators)
        self.seed_ = drawn_seed() if self.random_state is None else int(self.random_state)
        self.n_features_in_ = 1

        # Leave-one-out predictions are those of distinct nodes, in their order.
        positions = graph.names.numbers(np.asarray(nodes).reshape(-1))
        distinct, at, counts = np.unique(positions, return_inverse=True, return_counts=True)
        shares = np.zeros((len(distinct), len(self.classes_)))
        np.add.at(shares, at, indicators)
        shares /= counts[:, None]
        left_out = gp.loo_
        noise = np.asarray(gp.noise_) / counts[:, None]
        std = np.sqrt(np.maximum(np.square(left_out["std"]) - noise, 0.0))
        gaussians = np.random.default_rng(self.seed_).standard_normal((_BATCH, *shares.shape))
        mean = shares - left_out["error"]
        # One of n + 1 labels is drawn at random: else the slope is infinite where all n are right.
        n, n_classes = shares.shape
        shares = (n * shares + 1 / n_classes) / (n + 1)

        def loss(log_slope: float, spread: float) -> float:
            draws = mean + spread * std * gaussians
            probabilities = softmax(np.exp(log_slope) * draws, axis=-1).mean(axis=0)
            logarithms = np.log(np.maximum(probabilities, _MIN_PROBABILITY))
            return float(-(shares * logarithms).sum(axis=1).mean())

        options: Any = {"bounds": _LOG_SLOPES, "method": "bounded"}
        found = [minimize_scalar(loss, args=(spread,), **options) for spread in _SPREADS]
        best = int(np.argmin([each.fun for each in found]))
        self.slope_, self.spread_ = float(np.exp(found[best].x)), _SPREADS[best]
        self.loo_loss_ = float(found[best].fun)
        return self

    def predict_proba(self, nodes: Any = None) -> FloatArray:
        """The probabilities of all classes, in the order of ``classes_``, one row per node.

        Parameters
        ----------
        nodes
            Nodes by index or name; all nodes if not given.
        """
        check_is_fitted(self)
        mean = self.gp_.predict(nodes)
        if self.spread_ == 0:
            return np.asarray(softmax(self.slope_ * mean, axis=-1))
        total: Any = 0.0
        for batch in range(_N_BATCHES):
            draws = self.gp_.sample(nodes, n_samples=_BATCH, random_state=[self.seed_, batch])
            draws = mean + self.spread_ * (draws - mean)
            total = total + softmax(self.slope_ * draws, axis=-1).mean(axis=0)
        return np.asarray(total / _N_BATCHES)

    def predict(self, nodes: Any = None) -> npt.NDArray[Any]:
        """The most probable labels of nodes, also at labelled ones; all nodes if not given."""
        check_is_fitted(self)
        return np.asarray(self.classes_[self.predict_proba(nodes).argmax(axis=1)])
