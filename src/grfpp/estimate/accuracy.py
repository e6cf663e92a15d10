"""The relative error of an estimate, exact or from random probes."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from grfpp._checks import one_of, whole
from grfpp._memory import require_bytes
from grfpp.errors import InputError
from grfpp.estimate.error_bars import jackknife_error, random_signs
from grfpp.graph import as_graph
from grfpp.kernels import Kernel, kernel_of

#: Largest number of nodes for which whole matrices are compared: a few seconds, 72 MB each.
DENSE_LIMIT = 3000


class RelativeError(float):
    """``‖K̂ − K‖_F / ‖K‖_F``: a float with a standard error.

    Attributes
    ----------
    standard_error
        Zero when the error was computed from whole matrices, positive when it was probed.
    n_probes
        Number of random probes, zero when none were needed.
    """

    standard_error: float
    n_probes: int

    def __new__(cls, value: float, standard_error: float = 0.0, n_probes: int = 0) -> RelativeError:
        """A float with the attributes `standard_error` and `n_probes`."""
        error = super().__new__(cls, value)
        error.standard_error = standard_error
        error.n_probes = n_probes
        return error

    def __repr__(self) -> str:
        if not self.n_probes:
            return f"{float(self):.6g}"
        return f"{float(self):.4g} ± {self.standard_error:.2g} ({self.n_probes} probes)"


def relative_error(
    K: Any,
    kernel: Kernel,
    W: Any,
    *,
    method: Literal["auto", "exact", "probe"] = "auto",
    n_probes: int = 16,
    seed: int = 0,
    tol: float = 1e-10,
) -> RelativeError:
    """Relative Frobenius error of an estimate.

    Parameters
    ----------
    K
        The estimate: a `KernelEstimate`, another linear operator, or an array.
    kernel, W
        The estimated kernel, and its weight matrix.
    method
        ``"exact"`` compares whole matrices (memory and time of dense linear algebra).
        ``"probe"`` uses ``‖A‖_F² = E ‖A z‖²`` for random signs ``z``; the exact products come from
        Chebyshev polynomials, so it works at a million nodes. ``"auto"`` compares whole matrices up
        to 3000 nodes.
    n_probes
        Random vectors for ``"probe"``, at least two.
    seed
        Seed of the probes, which are independent of the walks whatever it is.
    tol
        Accuracy of the exact products for ``"probe"``.

    Returns
    -------
    RelativeError
        A float, with its `standard_error` when it was probed.

    Examples
    --------
    >>> import grfpp, networkx as nx
    >>> W = grfpp.Graph(nx.karate_club_graph()).normalized("sym")
    >>> kernel = grfpp.Diffusion(1.0)
    >>> K = grfpp.sample(W, kernel, degree=2, n_walks=64, seed=0)
    >>> exact, probed = (grfpp.relative_error(K, kernel, W, method=m) for m in ("exact", "probe"))
    >>> abs(exact - probed) < 4 * probed.standard_error
    True

    References
    ----------
    M. F. Hutchinson, A stochastic estimator of the trace of the influence matrix for Laplacian
    smoothing splines, Commun. Stat. Simul. Comput. 19, 1990: ``‖A‖_F² = tr AᵀA``.
    B. Efron and C. Stein, The jackknife estimate of variance, Ann. Stat. 9, 1981.
    """
    graph = as_graph(W)
    kernel = kernel_of(kernel)
    if not hasattr(K, "shape"):
        K = np.asarray(K)
    n = graph.n_nodes
    if tuple(K.shape) != (n, n):
        raise InputError(f"the estimate has shape {tuple(K.shape)}, but the graph has {n} nodes")
    one_of(method, "method", ("auto", "exact", "probe"))
    if method == "exact" or (method == "auto" and n <= DENSE_LIMIT):
        exact = kernel.exact(graph)
        estimate = K.toarray() if hasattr(K, "toarray") else K @ np.eye(n)
        return RelativeError(float(np.linalg.norm(estimate - exact) / np.linalg.norm(exact)))
    n_probes = whole(n_probes, "n_probes", 2)
    # Signs, probes, two products, and the work buffers of a polynomial of the weights.
    require_bytes(80 * n * n_probes, f"{n_probes} probes of {n} nodes", advice="use fewer probes")
    rng = np.random.default_rng([whole(seed, "seed", 0), 0x9E0BE])
    probes = random_signs(rng, n, n_probes)
    exact = kernel.apply(graph, probes, tol=tol)
    difference = np.sum((K @ probes - exact) ** 2, axis=0)
    size = np.sum(exact**2, axis=0)
    without = np.sqrt((difference.sum() - difference) / (size.sum() - size))
    value = float(np.sqrt(difference.sum() / size.sum()))
    return RelativeError(value, float(jackknife_error(without)), n_probes)
