"""The smallest eigenvalues of many graphs' kernels, estimated or exact.

Graphs of one size are solved together, so that small ones, of which there are thousands, cost no
Python each. A large graph's estimate is never formed: its smallest eigenvalues come from products
with its factors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np
import scipy.sparse as sp

from grfpp.chain import Chain, stitched
from grfpp.linalg.functions.shared import finite
from grfpp.linalg.spectra.symmetric import symmetric_eigenvalues
from grfpp.memory import require_bytes
from grfpp.tasks.graphs.batch_kernels import stored_chain
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

    ``K̂ = ± F_1 F_2ᵀ F_3 F_4ᵀ …`` with an even number of block-diagonal factors; `starts` has the
    first row of each block, and the number of all rows. Gives a row a graph, ascending; for blocks
    with fewer rows it is filled up with `PADDING`.
    """

    def of_one(rows: slice) -> FloatArray:
        chain = stored_chain([each[rows, rows] for each in factors])
        n = chain.n_nodes
        if n > LANCZOS_NODES and n > LANCZOS_RATIO * k:
            return _lanczos(chain, k, sign)
        require_bytes(4 * 8 * n * n, f"the kernel of a graph of {n} nodes")
        K = chain @ np.eye(n)
        return _eigenvalues(0.5 * sign * (K + K.T))

    def of_many(starts: IntArray, size: int) -> FloatArray:
        blocks = [_dense_blocks(each, starts, size) for each in factors]
        K = reduce(np.matmul, stitched(blocks, _transposed))
        return _eigenvalues(0.5 * sign * (K + _transposed(K)))

    return _by_size(starts, k, of_one, of_many)


def exact_spectra(
    weights: sp.csr_array, starts: IntArray, k: int, function: Callable[[FloatArray], FloatArray]
) -> FloatArray:
    """The `k` smallest eigenvalues of ``function(W)`` for each block of a symmetric matrix.

    They are `function` of the eigenvalues of ``W``: no kernel is formed. Parameters and result
    are those of `estimated_spectra`.
    """

    def of_one(rows: slice) -> FloatArray:
        return np.sort(finite(function(symmetric_eigenvalues(weights[rows, rows]))))

    def of_many(starts: IntArray, size: int) -> FloatArray:
        values = _eigenvalues(_dense_blocks(weights, starts, size))
        return np.sort(finite(function(values)), axis=1)

    return _by_size(starts, k, of_one, of_many)


def _by_size(
    starts: IntArray,
    k: int,
    of_one: Callable[[slice], FloatArray],
    of_many: Callable[[IntArray, int], FloatArray],
) -> FloatArray:
    """Ascending eigenvalues of each block, of which the first `k` count.

    Large blocks are solved by `of_one`, given their rows; small ones of one size together by
    `of_many`, given their first rows, as many at a time as fit well into memory.
    """
    require_bytes(8 * (len(starts) - 1) * k, f"{k} eigenvalues of {len(starts) - 1} graphs")
    spectra = np.full((len(starts) - 1, k), PADDING)
    sizes = np.diff(starts)
    for size in np.unique(sizes).tolist():
        alike = np.flatnonzero(sizes == size)
        at_once = 1 if size > TOGETHER_NODES else max(1, _CHUNK // size**2)
        for graphs in np.split(alike, range(at_once, len(alike), at_once)):
            first = starts[graphs]
            if size > TOGETHER_NODES:
                values = of_one(slice(int(first[0]), int(first[0]) + size))
            else:
                values = of_many(first, size)
            spectra[graphs, : min(size, k)] = values[..., :k]
    return spectra


def _dense_blocks(matrix: sp.csr_array, starts: IntArray, size: int) -> FloatArray:
    """Diagonal blocks of one size as an array of shape ``(n_blocks, size, size)``."""
    n_blocks = len(starts)
    chosen = matrix[(starts[:, np.newaxis] + np.arange(size)).ravel()]
    rows = np.repeat(np.arange(n_blocks * size), np.diff(chosen.indptr))
    columns = chosen.indices - starts[rows // size]
    dense = np.zeros(n_blocks * size * size)
    dense[rows * size + columns] = chosen.data
    return dense.reshape(n_blocks, size, size)


def _eigenvalues(symmetric: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.eigvalsh(symmetric), dtype=np.float64)


def _transposed(blocks: FloatArray) -> FloatArray:
    return blocks.transpose(0, 2, 1)


def _lanczos(chain: Chain, k: int, sign: int) -> FloatArray:
    """By Lanczos' method: only products with the factors, never the matrix.

    Chance leaves no two eigenvalues equal but those of isolated nodes, and ARPACK finds all of
    them: it starts anew where its vectors leave nothing out.
    """
    from scipy.sparse.linalg import LinearOperator, eigsh

    # Hundreds of products with one vector: worth having every matrix by its rows, those transposed
    # too, and scipy's products, which lose nothing to threads.
    forth, back = ([link.to_csr() for link in each.links[::-1]] for each in (chain, chain.T))

    def product(vector: FloatArray) -> FloatArray:
        ahead = behind = vector
        for a, b in zip(forth, back, strict=True):
            ahead, behind = a @ ahead, b @ behind
        return 0.5 * sign * (ahead + behind)

    n = chain.n_nodes
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
