"""`NodeGPClassifier`: labels of nodes by a Gaussian process, with probabilities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from grfpp._checks import positive
from grfpp._memory import require_bytes
from grfpp.errors import InputError
from grfpp.gp.covariance import Covariance, Family, spectral_gap
from grfpp.gp.laplace import log_evidence, posterior_mode
from grfpp.gp.model import GraphGP
from grfpp.gp.plan import plan_gp
from grfpp.gp.selection import variance_between
from grfpp.graph import Graph, as_graph
from grfpp.typing import FloatArray, IntArray

#: Powers that predictions average over, where they are not given: on expanders, only high ones
#: tell communities from the rest of the spectrum.
_POWERS = (2, 4, 8)
#: Multiplications of the blocks of a further power.
_MAX_WORK = 5e10
#: Largest width of polynomials, and about as many terms as that one has.
_MAX_WIDTH, _MAX_TERMS = 1e4, 2000
#: Smallest width that is tried, over the power: the kernel's range is below one edge.
_MIN_WIDTH = 0.5
#: Ratio of neighbouring widths, and largest one over the inverse of the spectral gap: then only
#: the outputscale changes.
_WIDTH_FACTOR, _WIDEST = 4.0, 100.0
#: Largest ratio of the kernel's values for constant functions and for the smoothest others.
_MAX_CONTRAST = 1e6
#: Logarithms of the outputscale that are tried, and mean and deviation of their normal prior: the
#: latent functions of nodes of different classes differ by some units.
_LOG_SCALES = np.arange(-1.0, 7.1)
_PRIOR_MEAN, _PRIOR_STD = 3.0, 2.0
#: Variance of the constants of the classes.
_CONSTANT_VARIANCE = 1.0
#: Fall of the log-evidence below the largest of a width beyond which larger scales are not tried.
_NEGLIGIBLE = 8.0
#: Share of the largest evidence below which parameters are left out of averages.
_MIN_SHARE = 0.05
#: Squared Newton decrement over the log-likelihood at which modes of all labels are reached: their
#: products take the time, and rounding of large scales is above the default.
_TOL_OF_MODES = 1e-6
#: Labelled nodes for each class up to which the covariance between all of them is computed: modes
#: take some hundred products with a column for each class.
_MAX_COLUMNS_PER_CLASS = 500
#: Largest number of labelled nodes that parameters are chosen on, and multiplications of an
#: evidence, which reduce it for many classes.
_MAX_CHOOSING, _MAX_EVIDENCE = 300, 2e8


class ClassifierParameters(NamedTuple):
    """A power, width and outputscale, with its share in averages."""

    power: float
    width: float
    #: The expected sample variance of latent functions over labelled nodes.
    outputscale: float
    log_evidence: float
    share: float


class _Row(NamedTuple):
    """Parameters, and Laplace's approximation with them."""

    power: float
    width: float
    outputscale: float
    #: Factor of the covariance.
    scale: float
    evidence: float
    #: The same with the prior.
    log_density: float
    weights: FloatArray


class _Latent(NamedTuple):
    """The prior of a latent function: a constant, and a process centred at the labelled nodes."""

    prior: Covariance
    scale: float
    known: IntArray

    def field(self, weights: FloatArray) -> FloatArray:
        """Covariances of all nodes and the labelled ones, times weights."""
        block = np.zeros((self.prior.n_nodes, weights.shape[1]))
        block[self.known] = weights - weights.mean(axis=0)
        field = self.scale * self.prior.times(block)
        field += _CONSTANT_VARIANCE * weights.sum(axis=0) - field[self.known].mean(axis=0)
        return field

    def at_known(self, weights: FloatArray) -> FloatArray:
        """The same at the labelled nodes."""
        return self.field(weights)[self.known]


@dataclass(eq=False, repr=False)
class NodeGPClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # untyped base
    """Predict the labels of nodes from those of some nodes, by a Gaussian process for each class.

    Labels have the probabilities ``softmax(f)``. The latent functions ``f`` of the classes are
    independent, each a constant of variance 1 and a process with the covariances of `GraphGP`,
    centred at the labelled nodes. Laplace's approximation of the marginal likelihood, with a weak
    prior, weighs powers, widths and outputscales, and probabilities are averages of ``softmax(f)``
    at the posterior modes.

    Parameters
    ----------
    graph
        A `grfpp.Graph`, or anything that it takes, undirected, with weights that are not
        normalised.
    kernel, normalization
        As for `GraphGP`.
    power
        The exponent of ``"matern"``; of several, predictions are averages. ``None`` for 2, 4 and 8,
        or for 2 where the others take long, as on large grids.
    width
        The width ``t``; ``None`` where it is chosen.
    outputscale
        The expected sample variance of latent functions over labelled nodes; ``None`` where it is
        chosen.
    n_jobs
        Threads of products; the result is the same for any number of them.

    Attributes
    ----------
    classes_
        The labels, sorted.
    components_
        The powers, widths and outputscales that predictions average over, with their shares. Of
        more than 300 labelled nodes (fewer for more than seven classes) a sample chooses one.
    width_, outputscale_, log_marginal_likelihood_
        Those of the largest share; the latter is Laplace's approximation, without the prior, for
        the labelled nodes that parameters were chosen on.
    probabilities_
        The probabilities of all nodes.
    graph_, n_features_in_
        The graph; 1, the column of nodes.

    Examples
    --------
    >>> from grfpp.datasets import load_graph
    >>> club = load_graph("karate")
    >>> model = NodeGPClassifier(club.graph).fit([0, 1, 32, 33], [0, 0, 1, 1])
    >>> model.predict([2, 31]), model.predict_proba([2, 31]).shape
    (array([0, 1]), (2, 2))

    References
    ----------
    C. E. Rasmussen and C. K. I. Williams, Gaussian Processes for Machine Learning, 2006, section
    3.5 (Laplace's approximation for several classes).
    """

    graph: Any
    _: KW_ONLY
    kernel: Any = "matern"
    power: float | Sequence[float] | None = None
    normalization: str | None = "rw"
    width: float | None = None
    outputscale: float | None = None
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
        values = np.asarray(column_or_1d(labels))
        if not len(values) or any(label is None for label in values.tolist()):
            problem = f"must be text or whole numbers, found {len(values)}, with None or no label"
            raise InputError(problem, argument="labels", advice="leave out nodes without a label")
        check_classification_targets(values)
        self.classes_, codes = np.unique(values, return_inverse=True)
        if len(self.classes_) < 2:
            problem = f"must have at least two classes, found only {self.classes_.tolist()[0]!r}"
            raise InputError(problem, argument="labels")
        graph = as_graph(self.graph)
        positions = graph.names.numbers(np.asarray(nodes).reshape(-1))
        if len(positions) != len(codes):
            problem = f"must be {len(positions)}, one per node, found {len(codes)}"
            raise InputError(problem, argument="labels")
        known, at = np.unique(positions, return_inverse=True)
        Y = np.zeros((len(known), len(self.classes_)))
        np.add.at(Y, (at, codes), 1.0)

        limit = int(min(_MAX_CHOOSING, (_MAX_EVIDENCE / Y.shape[1]) ** (1 / 3)))
        chosen = np.arange(len(known))
        if len(known) > limit:
            chosen = np.sort(np.random.default_rng(0).choice(len(known), limit, replace=False))
        families = self._families(graph, len(chosen))
        # Where high powers are affordable, polynomials are fast.
        can_factorize = len(families) == 1 and plan_gp(families[0], len(chosen)).factorize
        rows = [
            row
            for family in families
            for row in self._rows(family, known[chosen], Y[chosen], can_factorize)
        ]
        top = max(row.log_density for row in rows)
        kept = [row for row in rows if row.log_density >= top + np.log(_MIN_SHARE)]
        if len(chosen) < len(known):  # many labels leave little open
            kept = [max(kept, key=lambda row: row.log_density)]
        shares = softmax([row.log_density for row in kept])
        require_bytes(24 * graph.n_nodes * Y.shape[1], f"the probabilities of {Y.shape[1]} classes")
        self.probabilities_ = np.zeros((graph.n_nodes, Y.shape[1]))
        is_factorized = can_factorize
        if len(chosen) < len(known):  # products of long polynomials take the time
            is_factorized = plan_gp(families[0], len(known)).factorize
        by_power = {family.power: family for family in families}
        for row, share in zip(kept, shares, strict=True):
            family = by_power[row.power]
            prior = family.covariance(row.width, factorize=is_factorized)
            latent = _Latent(prior, row.scale, known)
            weights = row.weights
            if len(chosen) < len(known):
                times = latent.at_known
                if len(known) <= _MAX_COLUMNS_PER_CLASS * Y.shape[1]:
                    K = row.scale * _centred(prior.block(known))
                    times = partial(np.matmul, K + _CONSTANT_VARIANCE)
                weights = posterior_mode(times, Y, tol=_TOL_OF_MODES)
            self.probabilities_ += share * softmax(latent.field(weights), axis=1)
        self.components_ = [
            ClassifierParameters(row.power, row.width, row.outputscale, row.evidence, float(share))
            for row, share in zip(kept, shares, strict=True)
        ]
        best = self.components_[int(shares.argmax())]
        self.width_ = best.width if isinstance(families[0].kernel, str) else None
        self.outputscale_, self.log_marginal_likelihood_ = best.outputscale, best.log_evidence
        self.graph_, self.n_features_in_ = graph, 1
        return self

    def _families(self, graph: Graph, n_chosen: int) -> list[Family]:
        """The kernels of all powers; of those by default, the affordable ones."""
        powers = _POWERS if self.power is None else self.power
        options: Any = {"kernel": self.kernel, "normalization": self.normalization}
        families = GraphGP(graph, power=powers, n_jobs=self.n_jobs, **options).families(graph)
        if len(families) == 1 or self.power is not None:
            return families
        work = _MAX_TERMS * n_chosen * len(families[0].W.indices)
        return [
            family
            for k, family in enumerate(families)
            if k == 0 or (work <= _MAX_WORK and _widest(family) <= _MAX_WIDTH)
        ]

    def _rows(
        self, family: Family, nodes: IntArray, Y: FloatArray, can_factorize: bool
    ) -> Iterator[_Row]:
        """All widths and outputscales of a power, by the labels of some nodes."""
        widths, logs = np.zeros(1), _LOG_SCALES
        if isinstance(family.kernel, str):
            widths = _widths(family, can_factorize)
            if self.width is not None:
                widths = np.array([positive(self.width, "width")])
        if self.outputscale is not None:
            logs = np.log([positive(self.outputscale, "outputscale")])
        for width in widths[::-1].tolist():  # the widest first, which spans the others
            block = family.covariance(width, factorize=can_factorize).block(nodes)
            scale = 1 / variance_between(block)
            block = scale * _centred(block)
            weights, highest, last = np.zeros(Y.shape), -np.inf, 0.0
            for log in logs.tolist():
                K = np.exp(log) * block + _CONSTANT_VARIANCE
                weights = posterior_mode(partial(np.matmul, K), Y, weights * np.exp(last - log))
                evidence = log_evidence(K, Y, weights)
                density = evidence - ((log - _PRIOR_MEAN) / _PRIOR_STD) ** 2 / 2
                size = float(np.exp(log))
                yield _Row(family.power, width, size, size * scale, evidence, density, weights)
                highest, last = max(highest, density), log
                if density < highest - _NEGLIGIBLE:
                    break

    def predict_proba(self, nodes: Any = None) -> FloatArray:
        """The probabilities of all classes, in the order of ``classes_``, one row per node.

        Parameters
        ----------
        nodes
            Nodes by index or name; all nodes if not given.
        """
        check_is_fitted(self)
        if nodes is None:
            return self.probabilities_.copy()
        positions = self.graph_.names.numbers(np.asarray(nodes).reshape(-1))
        return np.asarray(self.probabilities_[positions])

    def predict(self, nodes: Any = None) -> npt.NDArray[Any]:
        """The most probable labels of nodes, also at labelled ones; all nodes if not given."""
        check_is_fitted(self)
        return np.asarray(self.classes_[self.predict_proba(nodes).argmax(axis=1)])


def _centred(block: FloatArray) -> FloatArray:
    """The covariance of values minus their mean."""
    block = block - block.mean(axis=0)
    return np.asarray(block - block.mean(axis=1, keepdims=True))


def _widest(family: Family) -> float:
    """The width from which on only the outputscale changes, or constants drown all else."""
    ratio = float(np.log(_MAX_CONTRAST))
    if family.kernel == "matern":
        ratio = _MAX_CONTRAST ** (1 / family.power) - 1
    return float(max(1.0, min(_WIDEST, ratio) / max(spectral_gap(family.W), 1e-12)))


def _widths(family: Family, can_factorize: bool) -> FloatArray:
    """The widths that are tried."""
    low = _MIN_WIDTH / (family.power if family.kernel == "matern" else 2.0)
    high = _widest(family) if can_factorize else min(_widest(family), _MAX_WIDTH)
    n_steps = max(1, round(float(np.log(high / low) / np.log(_WIDTH_FACTOR))))
    return np.asarray(np.geomspace(low, high, n_steps + 1))
