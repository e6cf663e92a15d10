"""Fields on the nodes of a graph, known at some nodes and filled in at the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from grfpp.arguments import one_of, positive
from grfpp.errors import InputError, shown
from grfpp.graph import Graph, as_graph
from grfpp.kernels import Kernel, kernel_of
from grfpp.operators import KernelChoice
from grfpp.tasks.kernels import OneGraphParameters
from grfpp.tasks.nodes.directions import mean_cosine, unit_vectors
from grfpp.tasks.nodes.fields import known_field, reached_nodes
from grfpp.tasks.nodes.inputs import read_nodes
from grfpp.tasks.nodes.kernel_sums import kernel_sums
from grfpp.tasks.nodes.kriging.build import process_of
from grfpp.tasks.nodes.kriging.defaults import GIVEN_NOISES, NOISES, SURE, default_kernels
from grfpp.tasks.nodes.kriging.deviations import deviations, observation_deviations
from grfpp.tasks.nodes.kriging.krige import Kriging, krige
from grfpp.tasks.nodes.kriging.process import Process
from grfpp.typing import FloatArray, IntArray

WAYS = ("paper", "mean", "kriging")
_OUTPUTS = (None, "mean", "direction", "sum")
#: Methods of the planner that make the same products for anyone who asks.
_PRODUCTS = ("dense", "chebyshev", "lanczos", "solve")


@dataclass(eq=False, repr=False)
class KernelInterpolator(OneGraphParameters, RegressorMixin, BaseEstimator):  # type: ignore[misc]  # untyped base
    """Fill in a field on a graph from the nodes where it is known.

    Samples are nodes: `fit` takes their numbers (or names) and values, `predict` takes numbers (or
    names). So splitting them, by hand or in a grid search, hides nodes of one and the same graph.
    Any number of columns is filled in at once, and the kernel is never formed.

    Parameters
    ----------
    graph
        A `grfpp.Graph`, or anything that it takes; its own weights, not normalised ones.
    how
        ``"kriging"``: the mean of a Gaussian process, by conjugate gradients; kernel and noise are
        chosen by cross-validation on the known nodes. By default its covariance is the kernel
        ``g`` in the form of the random walk, ``D^-1/2 g(D^-1/2 A D^-1/2) D^-1/2``, degrees ``D``
        over their mean; with ``normalization="sym"`` it is ``g(D^-1/2 A D^-1/2)`` itself. A
        kernel that is negative somewhere on the spectrum is no covariance, and refused.
        ``"mean"``: at node ``i`` the weighted mean ``Σ_j K(i, j) F_j / Σ_j K(i, j)`` over the known
        nodes ``j``, by one product with ``K``. ``"paper"``: the sum alone, the paper's way.
        ``None`` is kriging; the mean on directed graphs, which have no Gaussian process; the
        paper's way where `output` is ``"sum"``.
    output
        ``"mean"``: values, on the scale of those known; it divides sums by the kernel's mass
        ``Σ_j K(i, j)``. ``"direction"`` scales each row to length 1: for normals and other
        fields of unit vectors. ``"sum"`` is the sum itself, of the paper's way only. ``None`` is
        ``"sum"`` for the paper's way, ``"mean"`` for others.
    kernel
        A kernel, or how the command line writes it. Kriging takes a list too, to choose from.
        ``"auto"``: inverse powers of the Laplacian of several widths for kriging
        (`grfpp.tasks.nodes.kriging.defaults`) unless a `scale` is given, else ``"diffusion"``.
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
        How products with the kernel are made; see `grfpp.tasks.kernels.kernel_operator`. Kriging
        makes exact ones in any case, and solves for inverse powers without any.
    estimate, degree, n_walks, termination, reuse_walks
        Of ``"mean"`` and ``"paper"``: how the kernel is estimated; see
        `grfpp.tasks.kernels.kernel_operator`. ``estimate="exact"`` takes the kernel itself,
        ``degree=1`` is the method of GRFs. Kriging does not walk.
    random_state
        Seed of the walks, and of the parts of known nodes that kriging holds out (0 for those if
        ``None``).
    n_jobs
        Threads; the result is the same for any number of them.

    Attributes
    ----------
    graph_
        The graph.
    field_
        The prediction at every node, also at those that are known.
    reached_
        Whether the known nodes tell anything about a node. They do not where its component holds
        none of them, where no walk leads to one, or where the exact mass is lost in rounding. The
        prediction there is the mean of the known values, or zeros for ``"direction"`` and
        ``"sum"``.
    how_, output_
        What was settled.
    method_
        How it was made, in words: ``"walks"``, ``"exact"``, what the planner chose, or the kernel
        and the noise of kriging.
    mass_
        Of ``"mean"`` and ``"paper"``: ``Σ_j K(i, j)`` over the known nodes.
    kernel_, noise_
        Of kriging: the kernel, and the variance of observations over its mean variance.
    losses_
        Of kriging: mean losses at held-out nodes by kernel and noise, where there was a choice:
        one minus the cosine for ``"direction"``, else squares.

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
    >>> paper = KernelInterpolator(graph, how="mean", scale=2.25, random_state=0)
    >>> round(paper.fit(known, height[known]).score(hidden, height[hidden]), 2)
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
        """Fill in the field.

        Parameters
        ----------
        X
            Numbers or names of the nodes where the field is known, each once, of shape ``(n,)``
            or ``(n, 1)``.
        y
            The field there, of shape ``(n,)`` or ``(n, c)``.
        """
        graph = as_graph(self.graph)
        how, output = self._settled(graph)
        known, values = known_field(X, y, graph)
        if output == "direction" and (values.ndim == 1 or values.shape[1] == 1):
            raise InputError(
                "output 'direction' needs vectors: y of shape (n, c) with c at least 2"
            )
        for name in ("mass_", "kernel_", "noise_", "losses_", "_kriging"):
            self.__dict__.pop(name, None)
        columns = values.reshape(len(known), -1)
        is_kriging = how == "kriging"
        fill = self._by_kriging if is_kriging else self._by_sums
        filled = fill(graph, known, columns, output)
        self.graph_, self.how_, self.output_ = graph, how, output
        self.field_ = filled.reshape(graph.n_nodes, *values.shape[1:])
        self.n_features_in_ = 1
        return self

    def _settled(self, graph: Graph) -> tuple[str, str]:
        """The way and the output, checked."""
        how = one_of(self.how, "how", (None, *WAYS))
        output = one_of(self.output, "output", _OUTPUTS)
        if how is None:
            how = "paper" if output == "sum" else "mean" if graph.is_directed else "kriging"
        if output is None:
            output = "sum" if how == "paper" else "mean"
        elif output == "sum" and how != "paper":
            raise InputError(f"output 'sum' is that of how='paper', found how={how!r}")
        return how, output

    def _by_sums(
        self, graph: Graph, known: IntArray, columns: FloatArray, output: str
    ) -> FloatArray:
        choice = self._choose(
            kernel="diffusion" if _is_auto(self.kernel) else self.kernel,
            scale=self._factor,
            normalization="sym" if _is_auto(self.normalization) else self.normalization,
        )
        sums = kernel_sums(choice, graph, known, columns)
        self.mass_, self.reached_, self.method_ = sums.mass, sums.reached, sums.method
        if output == "mean":
            return sums.means(columns.mean(axis=0))
        if output == "direction":
            return unit_vectors(np.where(sums.reached[:, None], sums.sums, 0.0))
        return sums.sums

    def _by_kriging(
        self, graph: Graph, known: IntArray, columns: FloatArray, output: str
    ) -> FloatArray:
        kernels, noises, sure = self._candidates()
        choice = self._choose(
            kernel=kernels[0],
            scale=self._factor,
            normalization="rw" if _is_auto(self.normalization) else self.normalization,
        )
        self.seed_ = 0 if self.random_state is None else choice.options.seed
        found = krige(
            graph,
            partial(self._process, choice),
            kernels,
            noises,
            known,
            columns,
            directions=output == "direction",
            seed=self.seed_,
            sure=sure,
        )
        self._kriging = found
        self.kernel_, self.noise_ = found.setting
        self.losses_ = found.choice.losses
        self.reached_ = reached_nodes(graph, known)
        self.method_ = self._told(found, len(known))
        if output == "direction":
            return unit_vectors(np.where(self.reached_[:, None], found.field, 0.0))
        return found.field

    @property
    def _factor(self) -> float:
        return 1.0 if self.scale is None else self.scale

    def _process(self, choice: KernelChoice, graph: Graph, kernel: Kernel) -> Process:
        method = self.method if self.method in _PRODUCTS else None
        return process_of(
            graph, kernel, choice.normalization, choice.scale, method, choice.options.n_jobs
        )

    def _candidates(self) -> tuple[list[Kernel], Sequence[float], float]:
        """Kernels and noises to choose among, and how sure to be of another than the first."""
        noises: Sequence[float]
        if _is_auto(self.kernel) and self.scale is None and self.sigma is None:
            kernels, noises, sure = default_kernels(), NOISES, SURE
        else:
            wanted = "diffusion" if _is_auto(self.kernel) else self.kernel
            given = wanted if isinstance(wanted, list | tuple) else [wanted]
            if not given:
                raise InputError("must not be an empty list", argument="kernel")
            kernels, noises, sure = [kernel_of(each) for each in given], GIVEN_NOISES, 0.0
        if _is_auto(self.noise):
            return kernels, noises, sure
        if isinstance(self.noise, str):
            raise InputError(
                f"must be 'auto' or a positive number, found {shown(self.noise)}", argument="noise"
            )
        return kernels, (positive(self.noise, "noise"),), sure

    def _told(self, found: Kriging, n_known: int) -> str:
        scaled = "" if self._choice.scale == 1 else f", scale {self._choice.scale:g}"
        told = f"kriging: {self.kernel_}{scaled}, noise {self.noise_:g}"
        if self.losses_:
            n_held = sum(len(part) for part in found.held.folds.held_out)
            told += (
                f", chosen from {len(self.losses_)} at {n_held} held-out of {n_known} known nodes, "
                f"in {len(found.held.folds.held_out)} parts"
            )
        return f"{told}; {found.n_steps} steps of conjugate gradients"

    def predict(self, X: npt.ArrayLike, return_std: bool = False) -> Any:
        """The field at nodes.

        Parameters
        ----------
        X
            Numbers or names of nodes, of shape ``(n,)`` or ``(n, 1)``. Known ones get what the
            other known ones and they themselves say, not their value.
        return_std
            Whether to give standard deviations too. They are of the field without the noise of
            observations (`noise_std` has that), and for ``"direction"`` of the vectors before they
            are scaled to length 1. The process says how they are shared among nodes, held-out
            known values how large they are. Where many nodes of a large graph are asked for, draws
            of the process tell, to 7 %.

        Returns
        -------
        numpy.ndarray
            Of shape ``(n,)`` or ``(n, c)``, as the `y` of `fit`; and, if asked for, the standard
            deviations, of the same shape.
        """
        check_is_fitted(self)
        nodes = read_nodes(X, self.graph_.names)
        predicted: FloatArray = self.field_[nodes]
        if not return_std:
            return predicted
        std = deviations(self._for_errors(), nodes, self.seed_)
        return predicted, std.reshape(predicted.shape)

    @property
    def noise_std(self) -> FloatArray:
        """Of kriging: standard deviations of observations around the field, one a column."""
        check_is_fitted(self)
        return observation_deviations(self._for_errors())

    def _for_errors(self) -> Kriging:
        if self.how_ != "kriging":
            raise InputError(
                f"standard errors are those of how='kriging'; how={self.how_!r} has none"
            )
        return self._kriging

    def score(
        self, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None
    ) -> float:
        """How well the field is predicted; 1 is perfect.

        The mean cosine similarity (`mean_cosine`) for ``"direction"``, else
        the coefficient of determination R².
        """
        predicted = self.predict(X)
        if self.output_ != "direction":
            return float(r2_score(y, predicted, sample_weight=sample_weight))
        if sample_weight is not None:
            raise InputError("the mean cosine takes no sample_weight; leave it out")
        return mean_cosine(predicted, y)


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"
