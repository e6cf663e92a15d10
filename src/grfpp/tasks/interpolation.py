"""`KernelInterpolator`: a field known at some nodes of a graph, predicted at the others."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from grfpp._checks import is_auto, one_of, positive
from grfpp._memory import require_bytes
from grfpp.errors import InputError
from grfpp.estimate import KernelEstimate
from grfpp.gp import GraphGP
from grfpp.gp.plan import predicted_fill
from grfpp.graph import Graph, as_graph
from grfpp.kernels import Diffusion, Kernel
from grfpp.linalg.csr import connected_to
from grfpp.operators import KernelOperator
from grfpp.operators.kernel_choice import KernelChoice, method_used
from grfpp.tasks import base
from grfpp.tasks.base import NodeKernelParameters
from grfpp.typing import FloatArray, IntArray

#: Tolerance of exact products: above rounding, and below what anybody reads.
_EXACT_TOL = 1e-12
#: Share of the largest mass below which an exact mass is rounding: a hundred times `_EXACT_TOL`.
_MIN_MASS = 1e-10
#: Noise of kriging over the kernel's variance where the known values are all equal.
_USUAL_NOISE = 0.01
#: Largest number of known nodes whose errors are reported.
_MAX_HELD_OUT = 500
#: Entries of a sparse factorisation, some seconds, up to which kriging tries the power 3.
_MAX_FILL = 3e7


@dataclass(eq=False, repr=False)
class KernelInterpolator(NodeKernelParameters, RegressorMixin, BaseEstimator):  # type: ignore[misc]  # untyped base
    """Fill in a field on a graph from the nodes where it is known.

    Samples are nodes: `fit` takes their indices (or names) and values, `predict` takes indices (or
    names). So splitting them, by hand or in a grid search, hides nodes of one and the same graph.
    Any number of columns is filled in at once, and the kernel is never formed.

    Parameters
    ----------
    graph
        A `grfpp.Graph`, or anything that it takes, with weights that are not normalised.
    how
        ``"kriging"``: the mean of a Gaussian process (`grfpp.gp.GraphGP`); kernel and noise are
        those that predict known nodes best from the others. By default its covariance is the kernel
        ``g`` in the form of the random walk, ``D^-1/2 g(D^-1/2 A D^-1/2) D^-1/2``, degrees ``D``
        over their mean; with ``normalization="sym"`` it is ``g(D^-1/2 A D^-1/2)`` itself. A
        kernel that is negative somewhere on the spectrum is not a covariance, and is refused.
        ``"mean"``: at node ``i`` the weighted mean ``Σ_j K(i, j) F_j / Σ_j K(i, j)`` over the known
        nodes ``j``, by one product with ``K``. ``"paper"``: the sum ``Σ_j K(i, j) F_j`` of the
        paper's normal prediction [1]_.
        ``None`` is kriging; the mean on directed graphs, which have no Gaussian process; and
        ``"paper"`` where `output` is ``"sum"``.
    output
        ``"mean"``: values, on the scale of those known; it divides sums by the kernel's mass
        ``Σ_j K(i, j)``. ``"direction"`` scales each row to length 1: for normals and other
        fields of unit vectors. ``"sum"`` is the sum itself, for ``how="paper"`` only. ``None`` is
        ``"sum"`` for ``how="paper"``, else ``"mean"``.
    kernel
        A kernel, or its text form. Kriging takes a list too, to choose from.
        ``"auto"``: for kriging ``(I + t L)^-ν``, ``ν`` up to 3 and ``t`` from an edge to the graph
        (`grfpp.gp.GraphGP`), unless a `scale` is given; else ``"diffusion"``.
    noise
        Of kriging: the variance of observations over the kernel's mean variance, above 0, or
        ``"auto"`` to choose it.
    normalization
        Weights of the kernel. ``"sym"`` for ``D^-1/2 A D^-1/2``, ``"rw"`` for ``D^-1 A`` (kriging
        has the covariance ``g(D^-1 A) D^-1`` then, which is symmetric: the form of the random
        walk above), ``None`` for ``A``.
        ``"auto"`` is ``"rw"`` for kriging, else ``"sym"``.
    scale
        Factor of the weights; ``None`` is 1.
    method
        How products with the kernel are computed; see `grfpp.tasks.base.NodeKernelParameters`.
        Kriging computes exact ones in any case.
    estimate, degree, n_walks, termination, reuse_walks
        Of ``"mean"`` and ``"paper"``: how the kernel is estimated; see
        `grfpp.tasks.base.NodeKernelParameters`. ``estimate="exact"`` takes the kernel itself,
        ``degree=1`` is the method of GRFs [2]_. Kriging samples no walks.
    random_state
        Seed of the walks.
    n_jobs
        Threads; the result is the same for any number of them.

    Attributes
    ----------
    graph_
        The graph.
    field_
        The prediction at every node, also at known ones.
    reached_
        Whether a node's prediction uses known values. It does not where its component has none,
        where no walk leads to one, or where the exact mass is below rounding. The prediction there
        is the mean of the known values, or zeros for ``"direction"`` and ``"sum"``.
    how_, output_
        `how` and `output` after ``None`` is resolved.
    method_
        How the prediction was computed: ``"walks"``, ``"exact"``, the planner's method, or the
        kernel and the noise of kriging.
    mass_
        Of ``"mean"`` and ``"paper"``: ``Σ_j K(i, j)`` over the known nodes.
    kernel_, noise_
        Of kriging: the kernel, and the variance of observations over its mean variance.
    losses_
        Of kriging: mean losses at held-out nodes by kernel and noise, where there was a choice:
        one minus the cosine for ``"direction"``, else squares.

    References
    ----------
    .. [1] Choromanski, Dubey, Sehanobish, Reid: Computationally-efficient graph modeling with
       refined graph random features. ICML 2026, "Normal prediction".
    .. [2] Choromanski: Taming graph kernels with random features. ICML 2023.
    .. [3] Rasmussen, Williams: Gaussian processes for machine learning. 2006, chapter 2 (kriging).

    Examples
    --------
    >>> import numpy as np
    >>> from grfpp.datasets import grid
    >>> from grfpp.tasks import KernelInterpolator
    >>> graph = grid(20, 20)
    >>> height = np.add.outer(np.arange(20.0), np.arange(20.0)).ravel()
    >>> known = np.random.default_rng(0).choice(400, size=80, replace=False)
    >>> hidden = np.setdiff1d(np.arange(400), known)
    >>> filled = KernelInterpolator(graph).fit(known, height[known])
    >>> round(filled.score(hidden, height[hidden]), 2)
    1.0
    >>> mean = KernelInterpolator(graph, how="mean", scale=2.25, random_state=0)
    >>> round(mean.fit(known, height[known]).score(hidden, height[hidden]), 2)
    0.98
    """

    graph: Any
    _: KW_ONLY
    how: str | None = None
    output: str | None = None
    kernel: Any = "auto"
    noise: Any = "auto"
    scale: float | None = None  # type: ignore[assignment]  # wider than the base
    normalization: str | None = "auto"

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> KernelInterpolator:
        """Predict the field at all nodes.

        Parameters
        ----------
        X
            Indices or names of the nodes where the field is known, each once, of shape ``(n,)``
            or ``(n, 1)``.
        y
            The field there, of shape ``(n,)`` or ``(n, c)``.
        """
        graph = as_graph(self.graph)
        how, output = self._how_and_output(graph)
        known, values = known_field(X, y, graph)
        if output == "direction" and (values.ndim == 1 or values.shape[1] == 1):
            raise InputError("must have vectors, shape (n, c), for directions", argument="y")
        for name in ("mass_", "kernel_", "noise_", "losses_", "_gp"):
            self.__dict__.pop(name, None)
        predict = self._by_kriging if how == "kriging" else self._by_sums
        field = predict(graph, known, values.reshape(len(known), -1), output)
        if output == "direction":
            field = unit_vectors(np.where(self.reached_[:, None], field, 0.0))
        self.graph_, self.how_, self.output_ = graph, how, output
        self.field_ = field.reshape(graph.n_nodes, *values.shape[1:])
        self.n_features_in_ = 1
        return self

    def _how_and_output(self, graph: Graph) -> tuple[str, str]:
        """Check `how` and `output`, and replace ``None``."""
        how = one_of(self.how, "how", (None, "paper", "mean", "kriging"))
        output = one_of(self.output, "output", (None, "mean", "direction", "sum"))
        if how is None:
            how = "paper" if output == "sum" else "mean" if graph.is_directed else "kriging"
        if output is None:
            output = "sum" if how == "paper" else "mean"
        elif output == "sum" and how != "paper":
            problem = f"must not be 'sum' for {how!r}"
            raise InputError(problem, argument="output", advice="use how='paper'")
        return how, output

    def _choice_of(self, kernel: Any, auto: str) -> KernelChoice:
        """The choice of a kernel; `auto` is the normalisation that ``"auto"`` stands for."""
        normalization = auto if is_auto(self.normalization) else self.normalization
        scale = 1.0 if self.scale is None else self.scale
        return self._choose(kernel=kernel, scale=scale, normalization=normalization)

    def _by_sums(
        self, graph: Graph, known: IntArray, columns: FloatArray, output: str
    ) -> FloatArray:
        """``Σ_j K(i, j) F_j`` over the known nodes ``j``, over the mass for ``output="mean"``."""
        choice = self._choice_of("diffusion" if is_auto(self.kernel) else self.kernel, "sym")
        # The last column is 1 wherever the field is known, for the mass.
        require_bytes(16 * graph.n_nodes * (columns.shape[1] + 1), "the field")
        field = np.zeros((graph.n_nodes, columns.shape[1] + 1))
        field[known] = np.column_stack([columns, np.ones(len(known))])
        K = choice.operator(graph, tol=_EXACT_TOL)
        if isinstance(K, KernelOperator) and choice.method is None:
            # The dense kernel has rounding in place of zeros between components.
            product = K.kernel.apply(K.W, field, tol=_EXACT_TOL)
        else:
            product = np.asarray(K @ field)
        sums, mass = product[:, :-1].copy(), product[:, -1].copy()
        min_mass = 0.0 if isinstance(K, KernelEstimate) else _MIN_MASS
        reached = np.abs(mass) > min_mass * np.abs(mass).max()
        self.mass_, self.reached_, self.method_ = mass, reached, method_used(K)
        if output != "mean":
            return sums
        if (mass[reached] < 0).any():
            problem = "has negative mass at some nodes, that means are divided by"
            advice = "use a kernel without negative coefficients, such as 'diffusion'"
            raise InputError(problem, argument="kernel", advice=advice)
        means = np.tile(columns.mean(axis=0), (len(mass), 1))
        return np.asarray(np.divide(sums, mass[:, None], out=means, where=reached[:, None]))

    def _by_kriging(
        self, graph: Graph, known: IntArray, columns: FloatArray, output: str
    ) -> FloatArray:
        """The mean of the Gaussian process whose kernel and noise cross-validation chooses."""
        is_default = is_auto(self.kernel) and self.scale is None
        kernels = (
            ["matern"] if is_default else base.candidate_kernels(self.kernel, [Diffusion(1.0)])
        )
        choice = self._choice_of(Diffusion(1.0) if is_default else kernels[0], "rw")
        self.seed_ = 0 if self.random_state is None else choice.options.seed
        ratio = None if is_auto(self.noise) else positive(self.noise, "noise")
        # Squares of very small or large numbers would leave the range of float64.
        self._offset = columns.mean(axis=0)
        self._unit = np.abs(columns - self._offset).max(axis=0)
        is_constant = not self._unit.any()
        self._unit[self._unit == 0] = 1.0
        values = (columns - self._offset) / self._unit
        options: Any = {"normalization": choice.normalization, "scale": choice.scale}
        if is_constant:  # nothing to choose from
            options["outputscale"] = 1.0
            ratio = ratio or _USUAL_NOISE
        options |= {"noise_ratio": ratio, "n_jobs": choice.options.n_jobs}
        options["power"] = _powers(graph)
        loss = square_losses
        if output == "direction":
            unit, offset = self._unit, self._offset

            def loss(predicted: FloatArray, true: FloatArray) -> FloatArray:
                return direction_losses(predicted * unit + offset, true * unit + offset)

        models = [
            GraphGP(graph, kernel=k, loss=loss, **options).fit(known, values) for k in kernels
        ]
        losses = [_held_out_losses(gp, values[np.argsort(known)], loss) for gp in models]
        self._gp = gp = models[int(np.argmin([min(rows.values()) for rows in losses]))]
        self.losses_ = {setting: loss for rows in losses for setting, loss in rows.items()}
        if not is_default and len(kernels) == 1 and ratio is not None:
            self.losses_ = {}
        self.kernel_, self.noise_ = gp.kernel_, gp.noise_ratio_
        self.reached_ = connected_to(graph.adjacency, known)
        scale = f", scale {choice.scale:g}" if choice.scale != 1 else ""
        self.method_ = f"kriging: {self.kernel_}{scale}, noise {self.noise_:g}"
        if self.losses_:
            self.method_ += (
                f", chosen by the errors at {min(len(known), _MAX_HELD_OUT)} held-out of "
            )
            self.method_ += f"{len(known)} known nodes, each from the others"
        field = np.asarray(gp.predict() * self._unit + self._offset)
        field[~self.reached_] = self._offset
        return field

    def predict(self, X: npt.ArrayLike, return_std: bool = False) -> Any:
        """The field at nodes.

        Parameters
        ----------
        X
            Indices or names of nodes, of shape ``(n,)`` or ``(n, 1)``. At known nodes this is a
            prediction too, not the known value.
        return_std
            Whether to return standard deviations too. They are those of the field without the noise
            of observations (`noise_std`), and for ``"direction"`` those of the vectors before they
            are scaled to length 1. They take longer than means: ask only for the nodes needed.

        Returns
        -------
        numpy.ndarray
            Of shape ``(n,)`` or ``(n, c)``, as the `y` of `fit`; with `return_std`, the standard
            deviations too, of the same shape.
        """
        check_is_fitted(self)
        nodes = base.read_nodes(X, self.graph_.names)
        predicted = self.field_[nodes]
        if not return_std:
            return predicted
        _, std = self._fitted_kriging().predict(nodes, return_std=True)
        return predicted, (std * self._unit).reshape(predicted.shape)

    @property
    def noise_std(self) -> FloatArray:
        """Of kriging: standard deviations of observations around the field, one per column."""
        return np.asarray(np.sqrt(self._fitted_kriging().noise_) * self._unit)

    def _fitted_kriging(self) -> GraphGP:
        check_is_fitted(self)
        if self.how_ != "kriging":
            problem = f"must be 'kriging' for standard errors, found {self.how_!r}"
            raise InputError(problem, argument="how")
        return self._gp

    def score(
        self, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None
    ) -> float:
        """Quality of the prediction; 1 is perfect.

        The mean cosine similarity for ``"direction"``, else the coefficient of determination R².
        """
        predicted = self.predict(X)
        if self.output_ != "direction":
            return float(r2_score(y, predicted, sample_weight=sample_weight))
        if sample_weight is not None:
            raise InputError("must be None for directions", argument="sample_weight")
        return mean_cosine(predicted, y)


class Setting(NamedTuple):
    """A kernel, and the variance of observations over the kernel's mean variance."""

    kernel: Kernel
    noise: float


def _held_out_losses(gp: GraphGP, values: FloatArray, loss: Any) -> dict[Setting, float]:
    """Mean losses at known nodes, each predicted from the others, by kernel and noise."""
    losses = {}
    for kernel, ratio, positions, errors in gp.held_out_errors(_MAX_HELD_OUT):
        true = values[positions]
        losses[Setting(kernel, ratio)] = float(loss(true - errors, true).mean())
    return losses


def _powers(graph: Graph) -> tuple[int, ...]:
    """Powers of the default kernels, from rough fields to smooth ones, that are affordable."""
    return (1, 2, 3) if predicted_fill(graph, 3) <= _MAX_FILL else (1, 2)


def square_losses(predicted: FloatArray, true: FloatArray) -> FloatArray:
    """Squared errors, summed over columns."""
    return np.asarray(np.square(predicted - true).sum(axis=1))


def known_field(X: Any, y: npt.ArrayLike, graph: Graph) -> tuple[IntArray, FloatArray]:
    """Nodes, each once, and finite values there, of shape ``(n,)`` or ``(n, c)``, checked.

    Examples
    --------
    >>> known_field([2, 0], [1, 5], Graph([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    (array([2, 0]), array([1., 5.]))
    """
    known = base.read_nodes(X, graph.names, distinct=True)
    n, values = len(known), np.asarray(y)
    is_numeric = values.dtype.kind in "buif" and values.size > 0 and np.isfinite(values).all()
    if values.ndim not in (1, 2) or values.shape[0] != n or not is_numeric:
        problem = f"must be finite numbers of shape ({n},) or ({n}, c), one row per node, found "
        problem += f"shape {values.shape} of {values.dtype}"
        advice = "leave out nodes where the field is not known"
        raise InputError(problem, argument="y", advice=advice)
    return known, values.astype(np.float64)


def unit_vectors(vectors: npt.ArrayLike) -> FloatArray:
    """Rows scaled to length 1; rows of zeros, which have no direction, stay.

    Examples
    --------
    >>> unit_vectors([[3.0, 4.0], [0.0, 0.0], [1e-300, 0.0]])
    array([[0.6, 0.8],
           [0. , 0. ],
           [1. , 0. ]])
    """
    rows = np.asarray(vectors, np.float64)
    # Squares of very small or large numbers would leave the range of float64.
    largest = np.abs(rows).max(axis=1, keepdims=True)
    scaled = np.divide(rows, largest, out=np.zeros_like(rows), where=largest > 0)
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.asarray(np.divide(scaled, lengths, out=scaled, where=lengths > 0))


def cosines(predicted: npt.ArrayLike, true: npt.ArrayLike) -> FloatArray:
    """Cosine of the angle between rows, from −1 to 1.

    A predicted zero vector has the cosine 0, as a right angle has; a true one the cosine NaN.

    Examples
    --------
    >>> cosines([[2, 0], [0, 0], [1, 0]], [[1, 1], [1, 0], [0, 0]])
    array([0.70710678, 0.        , nan])
    """
    first, second = np.asarray(predicted, np.float64), np.asarray(true, np.float64)
    if first.shape != second.shape or first.ndim != 2 or not first.size:
        problem = f"must be vectors of shape {first.shape}, found {second.shape}"
        raise InputError(problem, argument="y")
    result = np.clip((unit_vectors(first) * unit_vectors(second)).sum(axis=1), -1.0, 1.0)
    result[~second.any(axis=1)] = np.nan
    return np.asarray(result)


def mean_cosine(predicted: npt.ArrayLike, true: npt.ArrayLike) -> float:
    """Mean of `cosines` over the rows that have a true direction.

    Examples
    --------
    >>> mean_cosine([[2, 0], [0, 0], [1, 0]], [[1, 1], [1, 0], [0, 0]])
    0.35355339
    """
    values = cosines(predicted, true)
    if np.isnan(values).all():
        raise InputError("must have a vector that is not zero", argument="y")
    return float(np.nanmean(values))


def direction_losses(predicted: FloatArray, true: FloatArray) -> FloatArray:
    """One minus `cosines`; 0 where the true vector is zero."""
    return np.nan_to_num(1 - cosines(predicted, true))
