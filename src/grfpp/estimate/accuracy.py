"""How far an estimate is from the kernel it estimates."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from grfpp._checks import one_of, whole
from grfpp._memory import require_bytes
from grfpp.errors import InputError, shown
from grfpp.graph import as_graph
from grfpp.kernels import Kernel
from grfpp.typing import FloatArray

#: Up to so many nodes the error is computed from the whole matrices.
DENSE_LIMIT = 3000


class RelativeError(float):
    """``‖K̂ − K‖_F / ‖K‖_F``: a float that also knows its own standard error.

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
        """Make the number and attach what it knows."""
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
        What it estimates: ``kernel`` of this graph.
    method
        ``"exact"`` compares whole matrices (memory and time of dense linear algebra).
        ``"probe"`` uses ``‖A‖_F² = E ‖A z‖²`` for random signs ``z``; the exact products come from
        Chebyshev polynomials, so it works at a million nodes. ``"auto"`` compares whole matrices up
        to 3000 nodes.
    n_probes
        Random vectors for ``"probe"``, at least two.
    seed
        Of the probes. They are independent of the walks whatever the seed.
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
    """
    graph = as_graph(W)
    if not isinstance(kernel, Kernel):
        raise InputError(f"kernel must be a Kernel such as Diffusion(1.0), not {shown(kernel)}")
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
    shape = (n, whole(n_probes, "n_probes", 2))
    # Signs, probes, two products, and what a polynomial of the weights needs on its way.
    require_bytes(
        80 * shape[0] * shape[1],
        f"{shape[1]} probes of {n} nodes",
        advice="use fewer probes",
    )
    signs = np.random.default_rng([whole(seed, "seed", 0), 0x9E0BE]).integers(0, 2, shape)
    probes = 2.0 * signs - 1.0
    exact = kernel.apply(graph, probes, tol=tol)
    difference = np.sum((K @ probes - exact) ** 2, axis=0)
    size = np.sum(exact**2, axis=0)
    return _ratio(difference, size)


def _ratio(difference: FloatArray, size: FloatArray) -> RelativeError:
    """``√(Σ difference / Σ size)`` with its standard error by leaving out one probe at a time."""
    n = len(size)
    value = float(np.sqrt(difference.sum() / size.sum()))
    without = np.sqrt((difference.sum() - difference) / (size.sum() - size))
    spread = float(np.sqrt((n - 1) / n * np.sum((without - without.mean()) ** 2)))
    return RelativeError(value, spread, n)
