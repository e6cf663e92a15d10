"""The smallest eigenvalues of many graphs' kernels, estimated or exact.

Graphs of one size are solved together, so that small ones, of which there are thousands, cost no
Python each. A large graph's estimate is never formed: its smallest eigenvalues come from products
with its factors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp.linalg.functions import finite
from grfpp.linalg.symmetric import symmetric_eigenvalues
from grfpp.memory import require_bytes
from grfpp.typing import FloatArray, IntArray

#: What stands in the place of eigenvalues that a small graph does not have.
PADDING = 0.0
#: Up to so many nodes graphs of one size are solved together.
TOGETHER_NODES = 128
#: Beyond so many nodes, and so many nodes an eigenvalue, an estimate is not formed: there Lanczos'
#: method is faster (measured on discussions of REDDIT-BINARY).
LANCZOS_NODES, LANCZOS_RATIO = 1000, 25
#: Numbers in the dense blocks that are worked on at a time.
_CHUNK = 2**20
_TOL = 1e-8


def estimated_spectra(
    factors: Sequence[sp.csr_array], starts: IntArray, k: int, sign: int = 1
) -> FloatArray:
    """The `k` smallest eigenvalues of ``(K̂ + K̂ᵀ) / 2`` for each graph of a batch.

    Parameters
    ----------
    factors
        Block-diagonal factors of the batch, an even number of them: ``K̂ = ± F_1 F_2ᵀ F_3 F_4ᵀ …``.
    starts
        The first row of each block, and the number of all rows.
    k
        How many; blocks with fewer rows are filled up with `PADDING`.
    sign
        Of the kernel.

    Returns
    -------
    ndarray of shape ``(n_graphs, k)``
        Each row ascending, the padding last.
    """
    found = np.full((len(starts) - 1, k), PADDING)
    for size, graphs in _groups(starts):
        if size > TOGETHER_NODES:
            for graph in graphs.tolist():
                rows = slice(int(starts[graph]), int(starts[graph + 1]))
                blocks = [each[rows, rows] for each in factors]
                found[graph, : min(size, k)] = _smallest_of_product(blocks, k, sign)
            continue
        blocks = [_dense_blocks(each, starts[graphs], size) for each in factors]
        K = _chain(blocks, lambda a, b: a @ b, lambda a: a.transpose(0, 2, 1))
        K = K + K.transpose(0, 2, 1)
        found[graphs, : min(size, k)] = np.linalg.eigvalsh(0.5 * sign * K)[:, :k]
    return found


def exact_spectra(
    weights: sp.csr_array, starts: IntArray, k: int, function: Callable[[FloatArray], FloatArray]
) -> FloatArray:
    """The `k` smallest eigenvalues of ``function(W)`` for each block of a symmetric matrix.

    They are `function` of the eigenvalues of ``W``: no kernel is formed. Parameters and result
    are those of `estimated_spectra`.
    """
    found = np.full((len(starts) - 1, k), PADDING)
    for size, graphs in _groups(starts):
        if size > TOGETHER_NODES:
            for graph in graphs.tolist():
                rows = slice(int(starts[graph]), int(starts[graph + 1]))
                values = np.sort(finite(function(symmetric_eigenvalues(weights[rows, rows]))))
                found[graph, : min(size, k)] = values[:k]
            continue
        dense = _dense_blocks(weights, starts[graphs], size)
        eigenvalues = np.asarray(np.linalg.eigvalsh(dense), dtype=np.float64)
        values = np.sort(finite(function(eigenvalues)), axis=1)
        found[graphs, : min(size, k)] = values[:, :k]
    return found


def _groups(starts: IntArray) -> Iterator[tuple[int, npt.NDArray[np.intp]]]:
    """Graphs of one size, not more at a time than fit well into memory."""
    sizes = np.diff(starts)
    order = np.argsort(sizes, kind="stable")
    for own in np.split(order, np.flatnonzero(np.diff(sizes[order])) + 1):
        size = int(sizes[own[0]])
        at_once = max(1, _CHUNK // size**2)
        for first in range(0, len(own), at_once):
            yield size, own[first : first + at_once]


def _dense_blocks(matrix: sp.csr_array, starts: IntArray, size: int) -> FloatArray:
    """Diagonal blocks of one size as an array of shape ``(n_blocks, size, size)``."""
    n_blocks = len(starts)
    chosen = matrix[(starts[:, np.newaxis] + np.arange(size)).ravel()]
    rows = np.repeat(np.arange(n_blocks * size), np.diff(chosen.indptr))
    columns = chosen.indices - starts[rows // size]
    dense = np.zeros(n_blocks * size * size)
    dense[rows * size + columns] = chosen.data
    return dense.reshape(n_blocks, size, size)


def _chain(factors: Sequence[Any], times: Callable[[Any, Any], Any], turn: Any) -> Any:
    """``F_1 F_2ᵀ F_3 F_4ᵀ …``."""
    product = factors[0]
    for number, factor in enumerate(factors[1:], start=1):
        product = times(product, turn(factor) if number % 2 else factor)
    return product


def _smallest_of_product(factors: Sequence[sp.csr_array], k: int, sign: int) -> FloatArray:
    n = factors[0].shape[0]
    # From the right end of the chain: K x goes through `forth`, Kᵀ x through `back`.
    turned = [each.T.tocsr() for each in factors]
    forth = [turned[i] if i % 2 else factors[i] for i in reversed(range(len(factors)))]
    if n > LANCZOS_NODES and n > LANCZOS_RATIO * k:
        back = [factors[i] if i % 2 else turned[i] for i in range(len(factors))]
        return _lanczos(forth, back, k, sign)
    require_bytes(4 * 8 * n * n, f"the kernel of a graph of {n} nodes")
    K = forth[0].toarray()
    for factor in forth[1:]:
        K = factor @ K
    K = K + K.T
    return np.asarray(np.linalg.eigvalsh(0.5 * sign * K)[:k])


def _lanczos(
    forth: Sequence[sp.csr_array], back: Sequence[sp.csr_array], k: int, sign: int
) -> FloatArray:
    """By Lanczos' method: only products with the factors, never the matrix.

    Chance leaves no two eigenvalues equal but those of isolated nodes, and ARPACK finds all of
    them: it starts anew where its vectors leave nothing out.
    """
    from scipy.sparse.linalg import LinearOperator, eigsh

    def product(vector: FloatArray) -> FloatArray:
        ahead = behind = vector
        for a, b in zip(forth, back, strict=True):
            ahead, behind = a @ ahead, b @ behind
        return 0.5 * sign * (ahead + behind)

    n = forth[0].shape[0]
    values = eigsh(
        LinearOperator((n, n), matvec=product, dtype=np.float64),
        k=k,
        which="SA",
        v0=np.random.default_rng(0).standard_normal(n),
        ncv=min(n, 3 * k + 20),
        tol=_TOL,
        maxiter=10_000,
        return_eigenvectors=False,
    )
    return np.sort(values)
