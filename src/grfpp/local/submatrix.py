"""Submatrices of a kernel from walks that start at their rows and columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from grfpp._memory import require_bytes
from grfpp.estimate.chain import Chain
from grfpp.estimate.degree import with_fixed_degree
from grfpp.estimate.factor import WalkedFactor
from grfpp.graph import as_graph
from grfpp.kernels import Kernel, kernel_of
from grfpp.options import OF_ESTIMATES, Degree, WalkOptions
from grfpp.termination import Termination
from grfpp.typing import FloatArray, IntArray
from grfpp.walks.planning import Plans, plan_walks

#: Largest number of nodes whose walks are in memory at a time.
_BLOCK_NODES = 1 << 14
#: Largest number of entries of the result that are computed at a time: 128 MB.
_BLOCK_ENTRIES = 1 << 24


def sample_submatrix(
    W: Any,
    kernel: Kernel,
    rows: npt.ArrayLike,
    columns: npt.ArrayLike | None = None,
    degree: Degree = 2,
    n_walks: int = 16,
    termination: Termination | str | None = None,
    seed: int | None = None,
    **options: Any,
) -> FloatArray:
    """Estimate ``K[rows, columns]`` by walks from these nodes and from the nodes that they reach.

    The estimate is ``(A_1 … A_l)(B_1 … B_l)ᵀ``: the paper's factors in an order that needs rows of
    factors only, so that only rows of reached nodes are sampled. It has the same mean as `sample`,
    but different random numbers. Where walks from one side would reach nearly all nodes, the rows
    of the other side are multiplied by the factors of that side instead.

    Parameters
    ----------
    W, kernel, degree, n_walks, termination, seed
        As for `sample`.
    rows, columns
        Indices or names of nodes, as for `KernelEstimate.rows`; `columns` are the same as `rows` by
        default.

    **options
        `n_jobs`, `dtype`, `truncate`, `on_infinite_variance`, `walks`: see `grfpp.WalkOptions`.

    Returns
    -------
    ndarray of shape ``(len(rows), len(columns))``

    References
    ----------
    K. Choromanski, A. Dubey, A. Sehanobish and I. Reid, Computationally-efficient graph modeling
    with refined graph random features, ICML 2026, section "Walk-stitching mechanism".

    Examples
    --------
    >>> import grfpp, networkx as nx
    >>> W = grfpp.Graph(nx.cycle_graph(100_000)).normalized("sym")
    >>> K = grfpp.sample_submatrix(W, grfpp.Diffusion(1.0), [5, 70_000], n_walks=2000, seed=0)
    >>> np.round(K, 1)
    array([[1.3, 0. ],
           [0. , 1.3]])
    """
    chosen = WalkOptions.of(
        without=(*OF_ESTIMATES, "full_walks"),
        degree=degree,
        n_walks=n_walks,
        termination=termination,
        seed=seed,
        **options,
    )
    graph = as_graph(W)
    kernel = kernel_of(kernel)
    chosen = with_fixed_degree(graph, kernel, chosen)
    plans = plan_walks(graph, kernel, chosen)
    n, steps = plans.forward.graph.n_nodes, plans.forward.expected_steps
    left = graph.names.numbers(rows, "rows")
    right = left if columns is None else graph.names.numbers(columns, "columns")
    require_bytes(9 * len(left) * len(right), f"a {len(left)} x {len(right)} matrix")
    A, B = (_side(plans, side, chosen) for side in (0, 1))
    result = np.empty((len(left), len(right)))
    few, many = sorted((len(left), len(right)))
    # Walks from more nodes reach nearly all nodes, and products of their rows are large.
    if chosen.stitching_degree == 1 or few == many or many * steps < n:
        _fill_from_both_sides(result, A, B, left, right)
    elif few == len(left):
        _fill_by_pushing(result, A, B, left, right)
    else:
        _fill_by_pushing(result.T, B, A, right, left)
    result *= kernel.sign
    return result


def _side(plans: Plans, side: int, options: WalkOptions) -> Chain:
    """``A_1 … A_l`` or ``B_1 … B_l``."""
    numbers = range(side, 2 * options.stitching_degree, 2)
    factors = [WalkedFactor(plans.of_factor(number), options.dtype) for number in numbers]
    return Chain.by_rows(factors, options.n_jobs)


def _fill_by_pushing(
    result: FloatArray, A: Chain, B: Chain, rows: IntArray, columns: IntArray
) -> None:
    """Rows and columns of ``A Bᵀ``: multiply the rows of ``A`` by the factors of ``B``."""
    products = B.T.times_rows(A.rows(rows))
    for row in range(len(rows)):
        result[row] = products[[row]].toarray()[0, columns]


def _fill_from_both_sides(
    result: FloatArray, A: Chain, B: Chain, rows: IntArray, columns: IntArray
) -> None:
    """Rows and columns of ``A Bᵀ`` by walks from both sides, the larger side in blocks."""
    few, many = sorted(result.shape)
    size = min(_BLOCK_NODES, max(1, _BLOCK_ENTRIES // max(few, 1)))
    parts = [slice(start, start + size) for start in range(0, many, size)]
    if many == len(columns):
        X = A.rows(rows)
        for part in parts:
            result[:, part] = (X @ B.rows(columns[part]).T).toarray()
    else:
        Y = B.rows(columns).T
        for part in parts:
            result[part] = (A.rows(rows[part]) @ Y).toarray()
