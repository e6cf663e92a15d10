"""The first lengths of a factor exactly, and the later ones walked for from where they end.

``h(W) = Σ_{k<q} f(k) W^k + W^q G`` with ``G = Σ_k f(k + q) W^k``: only ``G`` is random. The mean is
the same, the shortest walks carry no noise, and a row's later lengths are the mean of the walks
from all nodes that ``q`` steps lead to.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.memory import require_bytes
from grfpp.walks.by_length.deposits import LengthDeposits


def with_exact_head(
    deposits: LengthDeposits, graph: Graph, n_exact: int, *, n_jobs: int = -1
) -> LengthDeposits:
    """Put `n_exact` exact powers of the graph's ``W`` before the lengths that were walked on it.

    The length ``k`` of a deposit becomes ``k + n_exact``.
    """
    from grfpp.linalg.products import sparse_product

    if n_exact == 0:
        return deposits
    n, n_lengths = deposits.n_nodes, deposits.n_lengths + n_exact
    if n * n_lengths > np.iinfo(np.int32).max:
        raise InputError(
            f"{n} nodes and {n_lengths} lengths are too many for an exact head; use n_exact=0"
        )
    W = graph.adjacency
    powers = [sp.csr_array(sp.eye_array(n, format="csr"))]
    for _ in range(n_exact):
        powers.append(sparse_product(powers[-1], W, n_jobs))
    last = powers[n_exact]
    per_row = np.diff(np.concatenate([[0], deposits.ends])[deposits.indptr])
    require_bytes(
        int(36 * per_row[last.indices].sum()), f"an exact head of {n_exact} lengths for {n} nodes"
    )
    walked = sparse_product(last, _by_column_and_length(deposits, n_lengths, n_exact), n_jobs)
    head = _exact(powers[:n_exact], n_lengths)
    return _deposits(sp.csr_array(walked + head), n_lengths)


def _by_column_and_length(deposits: LengthDeposits, n_lengths: int, shift: int) -> sp.csr_array:
    """One matrix with a column for every node and length."""
    per_entry = np.diff(deposits.ends, prepend=0)
    columns = np.repeat(deposits.columns, per_entry) * n_lengths + deposits.lengths + shift
    indptr = np.concatenate([[0], deposits.ends])[deposits.indptr]
    n = deposits.n_nodes
    return sp.csr_array(
        (deposits.amounts, columns.astype(np.int32), indptr.astype(np.int32)),
        shape=(n, n * n_lengths),
    )


def _exact(powers: list[sp.csr_array], n_lengths: int) -> sp.csr_array:
    """The same kind of matrix for powers of ``W``."""
    n = powers[0].shape[0]
    head = sp.csr_array((n, n * n_lengths))
    for k, power in enumerate(powers):
        columns = (power.indices * n_lengths + k).astype(np.int32)
        head = head + sp.csr_array((power.data, columns, power.indptr), shape=head.shape)
    return head


def _deposits(matrix: sp.csr_array, n_lengths: int) -> LengthDeposits:
    """Back from one matrix to deposits by length."""
    matrix.sum_duplicates()  # sorts the columns too: by node, then by length
    columns: npt.NDArray[np.int32] = (matrix.indices // n_lengths).astype(np.int32)
    is_first = np.ones(len(columns), bool)
    is_first[1:] = columns[1:] != columns[:-1]
    row_begins = matrix.indptr[:-1][np.diff(matrix.indptr) > 0]
    is_first[row_begins] = True
    before = np.concatenate([[0], np.cumsum(is_first)])
    ends = np.append(np.flatnonzero(is_first)[1:], len(columns))
    return LengthDeposits(
        indptr=before[matrix.indptr].astype(np.int64),
        columns=columns[is_first],
        ends=ends.astype(np.int64),
        lengths=(matrix.indices % n_lengths).astype(np.int16),
        amounts=matrix.data,
        n_lengths=n_lengths,
    )
