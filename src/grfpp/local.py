"""A few rows and columns of a kernel, walked for from nowhere else."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp.checks import OnInfiniteVariance
from grfpp.errors import InputError
from grfpp.kernels import Kernel
from grfpp.memory import require_bytes
from grfpp.parallel import thread_count
from grfpp.planning import DEFAULT_LAW, plan_walks
from grfpp.termination import Termination
from grfpp.walks import WalkPlan, sample_rows

FloatArray = npt.NDArray[np.float64]


def sample_submatrix(
    W: Any,
    kernel: Kernel,
    rows: npt.ArrayLike,
    columns: npt.ArrayLike | None = None,
    degree: int = 2,
    n_walks: int = 16,
    termination: Termination = DEFAULT_LAW,
    seed: int | None = None,
    *,
    n_jobs: int = -1,
    truncate: bool = False,
    on_infinite_variance: OnInfiniteVariance = "raise",
) -> FloatArray:
    """Estimate ``K[rows, columns]`` by walks from these nodes and from where they end.

    The estimate is ``(A_1 … A_l)(B_1 … B_l)ᵀ``: the paper's factors in an order in which all are
    needed by rows, so that only the rows that walks have reached are ever walked. It has the same
    mean as `sample`, not the same numbers.

    Parameters
    ----------
    W, kernel, degree, n_walks, termination, seed, n_jobs, truncate, on_infinite_variance
        As for `sample`.
    rows, columns
        Numbers of nodes; `columns` are the same as `rows` by default.

    Returns
    -------
    ndarray of shape ``(len(rows), len(columns))``

    Examples
    --------
    >>> import grfpp, networkx as nx
    >>> W = grfpp.Graph(nx.cycle_graph(100_000)).normalized("sym")
    >>> K = grfpp.sample_submatrix(W, grfpp.Diffusion(1.0), [5, 70_000], n_walks=2000, seed=0)
    >>> np.round(K, 1)
    array([[1.3, 0. ],
           [0. , 1.3]])
    """
    forward, back, degree = plan_walks(
        *(W, kernel, degree, n_walks, termination, seed),
        truncate=truncate,
        on_infinite_variance=on_infinite_variance,
    )
    thread_count(n_jobs)  # refuses what is no number of threads before the work begins
    left = _nodes(rows, forward.graph.n_nodes, "rows")
    right = left if columns is None else _nodes(columns, forward.graph.n_nodes, "columns")
    require_bytes(8 * len(left) * len(right), f"a {len(left)} x {len(right)} matrix")
    X = _features(forward, left, [2 * i for i in range(degree)], n_jobs)
    Y = _features(back, right, [2 * i + 1 for i in range(degree)], n_jobs)
    return np.asarray(kernel.sign * (X @ Y.T).toarray())


def _features(
    plan: WalkPlan, nodes: npt.NDArray[np.int64], factors: list[int], n_jobs: int
) -> sp.csr_array:
    """Rows of the product of factors, walked only where the rows before them have come."""
    from grfpp.walks.products import sparse_product

    X = sample_rows(plan.with_factor(factors[0]), nodes)
    for factor in factors[1:]:
        reached, position = np.unique(X.indices, return_inverse=True)
        following = sample_rows(plan.with_factor(factor), reached)
        compact = sp.csr_array((X.data, position, X.indptr), shape=(len(nodes), len(reached)))
        X = sparse_product(compact, following, n_jobs)
    return X


def _nodes(nodes: npt.ArrayLike, n: int, name: str) -> npt.NDArray[np.int64]:
    chosen = np.atleast_1d(np.asarray(nodes))
    whole = chosen.dtype.kind in "iu" or chosen.size == 0
    if chosen.ndim != 1 or not whole or chosen.min(initial=0) < 0 or chosen.max(initial=0) >= n:
        raise InputError(f"{name} must be a list of whole numbers from 0 to {n - 1}")
    return chosen.astype(np.int64)
