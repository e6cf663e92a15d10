"""Fields on the nodes of a graph, known at some nodes and filled in at the others."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from grfpp.arguments import one_of
from grfpp.errors import InputError
from grfpp.exact_kernel import ExactKernel
from grfpp.graph import as_graph
from grfpp.memory import require_bytes
from grfpp.tasks.kernels import OneGraphParameters
from grfpp.tasks.nodes.directions import mean_cosine, unit_vectors
from grfpp.tasks.nodes.inputs import read_nodes
from grfpp.typing import FloatArray

_EXACT_TOL = 1e-12
#: Below this share of the largest mass, rounding decides what an exact product gives.
_RESOLVED = 1e-10


@dataclass(eq=False, repr=False)
class KernelInterpolator(OneGraphParameters, RegressorMixin, BaseEstimator):  # type: ignore[misc]  # untyped base
    """Fill in a field on a graph from the nodes where it is known.

    At node ``i`` the prediction is ``Σ_j K(i, j) F_j`` over the known nodes ``j``, for any number
    of columns of ``F`` at once. ``K`` is never formed: the work is one product with it.

    Samples are nodes: `fit` takes their numbers (or names) and values, `predict` takes numbers (or
    names). So splitting
    them, by hand or in a grid search, hides nodes of one and the same graph.

    Parameters
    ----------
    graph
        A `grfpp.Graph`, or anything that it takes; its own weights, not normalised ones.
    kernel, estimate, degree, n_walks, termination, scale, normalization, reuse_walks, random_state
        The kernel and how it is estimated; see `grfpp.tasks.kernels.kernel_operator`.
        ``estimate="exact"`` takes the kernel itself, ``degree=1`` is the method of GRFs.
    n_jobs
        Threads; the result is the same for any number of them.
    output
        ``"mean"`` divides by the kernel's mass ``Σ_j K(i, j)``: a weighted mean of the known
        values, on their scale. ``"direction"`` scales each row to length 1: for normals and other
        fields of unit vectors. ``"sum"`` is the sum itself.

    Attributes
    ----------
    graph_
        The graph.
    field_
        The prediction at every node, also at those that are known.
    mass_
        ``Σ_j K(i, j)`` over the known nodes.
    reached_
        Whether the known nodes tell anything about a node. They do not where its component holds
        none of them, where no walk leads to one, or where the exact mass is lost in rounding. The
        prediction there is the mean of the known values, or zeros for ``"direction"`` and
        ``"sum"``.

    Examples
    --------
    >>> import numpy as np
    >>> from grfpp.datasets import grid
    >>> from grfpp.tasks import KernelInterpolator
    >>> graph = grid(20, 20)
    >>> height = np.add.outer(np.arange(20.0), np.arange(20.0)).ravel()
    >>> known = np.random.default_rng(0).choice(400, size=80, replace=False)
    >>> hidden = np.setdiff1d(np.arange(400), known)
    >>> filled = KernelInterpolator(graph, scale=2.25, random_state=0).fit(known, height[known])
    >>> round(filled.score(hidden, height[hidden]), 2)
    0.98
    """

    graph: Any
    _: KW_ONLY
    output: str = "mean"

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> KernelInterpolator:
        """Multiply the known values with the kernel.

        Parameters
        ----------
        X
            Numbers or names of the nodes where the field is known, each once, of shape ``(n,)``
            or ``(n, 1)``.
        y
            The field there, of shape ``(n,)`` or ``(n, c)``.
        """
        one_of(self.output, "output", ("mean", "direction", "sum"))
        graph = as_graph(self.graph)
        known = read_nodes(X, graph.names)
        values = _values(y, len(known), self.output)
        if len(np.unique(known)) < len(known):
            counts = np.bincount(known)
            raise InputError(
                f"each known node must appear once, found node {counts.argmax()} {counts.max()} "
                "times"
            )
        columns = values.reshape(len(known), -1)

        # One column more: the field that is 1 wherever it is known, for the mass.
        require_bytes(16 * graph.n_nodes * (columns.shape[1] + 1), "the field")
        field = np.zeros((graph.n_nodes, columns.shape[1] + 1))
        field[known] = np.column_stack([columns, np.ones(len(known))])
        K = self._choose().operator(graph)
        if isinstance(K, ExactKernel):
            # Not through the dense kernel: between components it has rounding in place of zeros.
            product, noise = K.kernel.apply(K.W, field, tol=_EXACT_TOL), _RESOLVED
        else:
            product, noise = np.asarray(K @ field), 0.0
        sums, mass = product[:, :-1], product[:, -1]
        reached = np.abs(mass) > noise * np.abs(mass).max()
        if self.output == "mean":
            if (mass[reached] < 0).any():
                raise InputError(
                    "output 'mean' divides by the kernel's mass, which is negative at some nodes; "
                    "use a kernel without negative coefficients, such as 'diffusion', or "
                    "output='sum'"
                )
            filled = np.broadcast_to(columns.mean(axis=0), sums.shape).copy()
            np.divide(sums, mass[:, None], out=filled, where=reached[:, None])
        elif self.output == "direction":
            filled = unit_vectors(np.where(reached[:, None], sums, 0.0))
        else:
            filled = sums.copy()
        self.graph_ = graph
        self.field_ = filled.reshape(graph.n_nodes, *values.shape[1:])
        self.mass_ = mass.copy()
        self.reached_ = reached
        self.n_features_in_ = 1
        return self

    def predict(self, X: npt.ArrayLike) -> FloatArray:
        """The field at nodes.

        Parameters
        ----------
        X
            Numbers or names of nodes, of shape ``(n,)`` or ``(n, 1)``. Known ones get what the
            other known ones and they themselves say, not their value.

        Returns
        -------
        numpy.ndarray
            Of shape ``(n,)`` or ``(n, c)``, as the `y` of `fit`.
        """
        check_is_fitted(self)
        predicted: FloatArray = self.field_[read_nodes(X, self.graph_.names)]
        return predicted

    def score(
        self, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None
    ) -> float:
        """How well the field is predicted; 1 is perfect.

        The mean cosine similarity (`mean_cosine`) for ``"direction"``, else
        the coefficient of determination R².
        """
        predicted = self.predict(X)
        if self.output != "direction":
            return float(r2_score(y, predicted, sample_weight=sample_weight))
        if sample_weight is not None:
            raise InputError("the mean cosine takes no sample_weight; leave it out")
        return mean_cosine(predicted, y)


def _values(y: npt.ArrayLike, n: int, output: str) -> FloatArray:
    values = np.asarray(y)
    if values.ndim not in (1, 2) or values.shape[0] != n or values.dtype.kind not in "buif":
        raise InputError(
            f"y must hold real numbers of shape ({n},) or ({n}, c), a row a known node, found "
            f"shape {values.shape} and dtype {values.dtype}"
        )
    if not np.isfinite(values).all():
        raise InputError("y must be finite; leave out the nodes where the field is not known")
    if values.ndim == 2 and values.shape[1] == 0:
        raise InputError("y has no columns")
    if output == "direction" and (values.ndim == 1 or values.shape[1] == 1):
        raise InputError("output 'direction' needs vectors: y of shape (n, c) with c at least 2")
    return values.astype(np.float64)
