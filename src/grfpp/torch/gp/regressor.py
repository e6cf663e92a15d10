"""`NodeGP` as an estimator of scikit-learn."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from grfpp.arguments import truth
from grfpp.graph import as_graph
from grfpp.torch.gp.node_gp import NodeGP
from grfpp.torch.gp.node_kernel import NodeKernel


@dataclass(eq=False, repr=False)
class NodeGPRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # untyped base
    """A Gaussian process on the nodes of a graph, as scikit-learn's ``GaussianProcessRegressor``.

    Samples are nodes of one graph, so that a split hides nodes.

    Parameters
    ----------
    graph
        A `grfpp.Graph`, or anything that it takes; its own weights, which are normalised here:
        ``L = I − D^-1/2 A D^-1/2``.
    family, power, how, n_jobs
        As for `NodeKernel`.
    n_steps
        Of training, at most.
    random_state
        Of draws, where deviations come from draws.

    Attributes
    ----------
    model_
        The `NodeGP`, with `noise`, `outputscale`, `kernel` and `plan`.

    Examples
    --------
    >>> import networkx as nx
    >>> nodes = np.arange(64)
    >>> y = np.sin(nodes // 8 / 2) + np.cos(nodes % 8 / 2)
    >>> gp = NodeGPRegressor(nx.grid_2d_graph(8, 8)).fit(nodes[::2], y[::2])
    >>> gp.score(nodes[1::2], y[1::2]) > 0.9
    True
    >>> mean, std = gp.predict(nodes[1::2], return_std=True)
    """

    graph: Any
    _: KW_ONLY
    family: str = "diffusion"
    power: float = 1.0
    how: str = "auto"
    n_steps: int = 50
    n_jobs: int = -1
    random_state: int | None = None

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> NodeGPRegressor:
        """Train on values at nodes, given by number or name, of shape ``(n,)`` or ``(n, 1)``."""
        W = as_graph(self.graph).normalized("sym")
        kernel = NodeKernel(W, self.family, power=self.power, how=self.how, n_jobs=self.n_jobs)
        self.model_ = NodeGP(_column(X), y, kernel)
        self.model_.fit(self.n_steps, seed=self.random_state)
        self.n_features_in_ = 1
        return self

    def predict(self, X: npt.ArrayLike, return_std: bool = False) -> Any:
        """The mean at nodes, and with `return_std` its standard deviation, without noise."""
        check_is_fitted(self)
        if not truth(return_std, "return_std"):
            found = self.model_.posterior(_column(X), n_samples=2, std="samples", seed=0)
            return found.mean.numpy()
        found = self.model_.posterior(_column(X), seed=self.random_state)
        return found.mean.numpy(), found.std.numpy()


def _column(X: Any) -> Any:
    """Nodes of a table with one column."""
    return X[:, 0] if isinstance(X, np.ndarray) and X.ndim == 2 and X.shape[1] == 1 else X
