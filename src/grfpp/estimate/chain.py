"""`Chain`: an ordered product of factors and transposes of factors, never formed as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp

from grfpp._memory import require_bytes
from grfpp.estimate.factor import Factor
from grfpp.linalg.csr import Block, GrowingMatrix, csr, sparse_product
from grfpp.typing import FloatArray, IntArray

Matrix = TypeVar("Matrix")

#: Entries of the rows that are multiplied at a time: 48 MB.
_BLOCK_ENTRIES = 4_000_000
#: Rows from which the number of entries of a product is extrapolated: their mean is known to a
#: tenth, which is added.
_PILOT_ROWS = 128


class Link(NamedTuple):
    """One matrix of a chain: a factor, or its transpose."""

    factor: Factor
    transposed: bool = False

    @property
    def T(self) -> Link:
        """The transpose."""
        return Link(self.factor, not self.transposed)


def stitched(factors: Sequence[Matrix], transpose: Callable[[Matrix], Matrix]) -> list[Matrix]:
    """The matrices of ``F_1 F_2ᵀ F_3 F_4ᵀ …``, whatever the factors are.

    Examples
    --------
    >>> stitched(["A", "B", "C", "D"], lambda name: name + "ᵀ")
    ['A', 'Bᵀ', 'C', 'Dᵀ']
    """
    return [transpose(factor) if i % 2 else factor for i, factor in enumerate(factors)]


@dataclass(frozen=True)
class Chain:
    """A product of links, multiplied from whichever end is cheaper.

    Parameters
    ----------
    links
        In the order of the product.
    n_jobs
        Threads; -1 for all cores.

    Examples
    --------
    >>> from grfpp.estimate.factor import StoredFactor
    >>> a, b = sp.csr_array([[1.0, 2.0], [0.0, 1.0]]), sp.csr_array([[1.0, 0.0], [3.0, 1.0]])
    >>> chain = Chain.stitched([StoredFactor(a), StoredFactor(b)])
    >>> chain @ np.eye(2)
    array([[1., 5.],
           [0., 1.]])
    >>> chain.T.rows([1]).toarray()
    array([[5., 1.]])
    """

    links: tuple[Link, ...]
    n_jobs: int = -1

    @classmethod
    def stitched(cls, factors: Sequence[Factor], n_jobs: int = -1) -> Chain:
        """The paper's order: ``F_1 F_2ᵀ F_3 F_4ᵀ …``."""
        links = stitched([Link(factor) for factor in factors], lambda link: link.T)
        return cls(tuple(links), n_jobs)

    @classmethod
    def by_rows(cls, factors: Sequence[Factor], n_jobs: int = -1) -> Chain:
        """The product ``F_1 F_2 F_3 …`` without transposes."""
        return cls(tuple(map(Link, factors)), n_jobs)

    @property
    def n_nodes(self) -> int:
        """Number of rows and of columns."""
        return self.links[0].factor.n_nodes

    @property
    def T(self) -> Chain:
        """The transpose."""
        return Chain(tuple(link.T for link in reversed(self.links)), self.n_jobs)

    def halves(self) -> tuple[Chain, Chain]:
        """Chains ``X`` and ``Y`` with ``self = X Yᵀ``."""
        middle = len(self.links) // 2
        return Chain(self.links[:middle], self.n_jobs), Chain(self.links[middle:], self.n_jobs).T

    def __matmul__(self, dense: FloatArray) -> FloatArray:
        """Multiply a dense block."""
        for factor, transposed in reversed(self.links):
            dense = factor.matmat(dense, self.n_jobs, transposed=transposed)
        return np.asarray(dense)

    def rows(self, nodes: IntArray | Sequence[int]) -> sp.csr_array:
        """Chosen rows of the product; of later factors only the rows that these reach."""
        (factor, transposed), *others = self.links
        chosen = np.asarray(nodes, dtype=np.int64)
        return self._push(factor.rows(chosen, self.n_jobs, transposed=transposed), others)

    def times_rows(self, X: sp.csr_array) -> sp.csr_array:
        """``X @ self`` for a sparse matrix with few rows."""
        return self._push(X, self.links)

    def _push(self, X: sp.csr_array, links: Sequence[Link]) -> sp.csr_array:
        for factor, transposed in links:
            require_bytes(32 * X.nnz, f"the nodes that {X.shape[0]} rows reach")
            reached, compact = compact_rows(X)
            rows = factor.rows(reached, self.n_jobs, transposed=transposed)
            X = sparse_product(compact, rows, self.n_jobs)
        return X

    def matrices(self) -> list[sp.csr_array]:
        """Every link as a sparse matrix; refused where they do not fit into memory."""
        # All links of one orientation have the size of the first.
        sizes = {flag: factor.csr_bytes(transposed=flag) for factor, flag in reversed(self.links)}
        n_bytes = sum(sizes[link.transposed] for link in self.links)
        require_bytes(n_bytes, f"{len(self.links)} factors of {self.n_nodes} nodes as matrices")
        return [factor.to_csr(self.n_jobs, transposed=flag) for factor, flag in self.links]

    def to_csr(self) -> sp.csr_array:
        """The whole product, sparse; refused where it does not fit into memory."""
        matrices = self.matrices()
        n_entries = _expected_entries(matrices, self.n_jobs)
        require_features(n_entries, self.n_nodes, len(matrices))
        return _to_csr(matrices, n_entries, self.n_jobs)

    def diagonal(self) -> FloatArray:
        """The diagonal of the product, from rows of both halves."""
        halves = [half.matrices() for half in self.halves()]
        n_entries = max(_expected_entries(matrices, self.n_jobs) for matrices in halves)
        blocks = (
            [_product([first[rows], *rest], self.n_jobs) for first, *rest in halves]
            for rows in _blocks(self.n_nodes, n_entries)
        )
        return np.concatenate([row_products(x, y) for x, y in blocks])

    def project(self, gaussian: Callable[[], FloatArray]) -> tuple[FloatArray, FloatArray]:
        """Dense ``X G, Y G`` with one random matrix ``G`` in the middle of the chain."""
        projection = gaussian()
        left, right = self.halves()
        return left @ projection, right @ projection

    def project_pairs(self, gaussian: Callable[[], FloatArray]) -> tuple[FloatArray, FloatArray]:
        """Dense features with a random matrix between the links of every pair.

        Associated so that nothing is ``N x N``.
        """
        X = Y = np.empty(0)
        for pair, (left, right) in enumerate(zip(self.links[::2], self.links[1::2], strict=True)):
            projection = gaussian()
            left_product = Chain((left,), self.n_jobs) @ projection
            # The right link of the pair before meets the left one of this: an r x r matrix.
            X = X @ (Y.T @ left_product) if pair else left_product
            Y = Chain((right.T,), self.n_jobs) @ projection
        return X, Y


def compact_rows(X: sp.csr_array) -> tuple[IntArray, sp.csr_array]:
    """The columns that are not empty, and the matrix of these columns."""
    reached, position = np.unique(X.indices, return_inverse=True)
    return reached, csr(X.data, position.astype(np.int32), X.indptr, len(reached))


def row_products(x: sp.csr_array, y: sp.csr_array) -> FloatArray:
    """Inner products of the rows of one matrix with the same rows of the other.

    A row's bits do not depend on the other rows of its block.
    """
    x, y = x.astype(np.float64, copy=True), y.copy()
    for matrix in (x, y):
        matrix.sort_indices()  # else the order of the sums depends on other rows
    return np.asarray(x.multiply(y).sum(axis=1))


def require_features(n_entries: int, n_nodes: int, degree: int) -> None:
    """Raise `InputError` where sparse features of `n_entries` entries do not fit into memory."""
    advice = "use K.project(n_components), whose size can be chosen"
    what = f"the sparse features of {n_nodes} nodes at degree {degree}"
    require_bytes(12 * n_entries, what, advice=advice)


def _blocks(n_rows: int, n_entries: int) -> Iterator[slice]:
    """Blocks of rows with about `_BLOCK_ENTRIES` entries, of a matrix with `n_entries`."""
    size = max(1, int(_BLOCK_ENTRIES * n_rows / max(n_entries, 1)))
    for start in range(0, n_rows, size):
        yield slice(start, start + size)


def _product(matrices: Sequence[sp.csr_array], n_jobs: int) -> sp.csr_array:
    return reduce(lambda product, matrix: sparse_product(product, matrix, n_jobs), matrices)


def _expected_entries(matrices: Sequence[sp.csr_array], n_jobs: int) -> int:
    """An upper estimate of the number of entries of a product, extrapolated from some rows."""
    first, *others = matrices
    n = first.shape[0]
    if not others:
        return int(first.nnz)
    if n <= 4 * _PILOT_ROWS:
        return int(n * n)
    pilots = np.linspace(0, n - 1, _PILOT_ROWS).astype(np.int64)
    n_entries = _product([first[pilots], *others], n_jobs).nnz
    return int((1 + _PILOT_ROWS**-0.5) * n_entries * n / _PILOT_ROWS) + 1


def _to_csr(matrices: Sequence[sp.csr_array], n_entries: int, n_jobs: int) -> sp.csr_array:
    """The product of sparse matrices with about `n_entries` entries, by blocks of rows."""
    first, *others = matrices
    if not others:
        return first.copy()  # shares no memory with the factor
    n = first.shape[0]
    product = GrowingMatrix(n, n, n_entries, np.dtype(np.float64))
    for rows in _blocks(n, n_entries):
        product.append(Block.of(_product([first[rows], *others], n_jobs)))
    return product.finish()


@dataclass(frozen=True)
class SignedChain:
    """``S = ± C`` for a chain ``C``, or symmetrised ``S = ± (C + Cᵀ) / 2``.

    Examples
    --------
    >>> from grfpp.estimate.factor import StoredFactor
    >>> a, b = sp.csr_array([[1.0, 2.0], [0.0, 1.0]]), sp.csr_array([[1.0, 0.0], [3.0, 1.0]])
    >>> chain = Chain.stitched([StoredFactor(a), StoredFactor(b)])
    >>> SignedChain(chain, sign=-1, symmetrized=True) @ np.eye(2)
    array([[-1. , -2.5],
           [-2.5, -1. ]])
    """

    chain: Chain
    sign: int = 1
    symmetrized: bool = False

    @property
    def T(self) -> SignedChain:
        """The transpose."""
        return self if self.symmetrized else replace(self, chain=self.chain.T)

    @property
    def plain(self) -> SignedChain:
        """The same without the average."""
        return replace(self, symmetrized=False)

    def _signed(self, values: Any) -> Any:
        return self.sign * values if self.sign != 1 else values

    def __matmul__(self, dense: FloatArray) -> FloatArray:
        """Multiply a dense block."""
        if self.symmetrized:
            return np.asarray(0.5 * self.sign * (self.chain @ dense + self.chain.T @ dense))
        return np.asarray(self._signed(self.chain @ dense))

    def times(self, dense: FloatArray, between: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """The product with a symmetric matrix between the halves: ``± X between(Yᵀ @ dense)``."""
        X, Y = self.chain.halves()
        product = X @ between(Y.T @ dense)
        if self.symmetrized:
            product = 0.5 * (product + Y @ between(X.T @ dense))
        return np.asarray(self._signed(product))

    def halves_times(self, dense: FloatArray) -> tuple[FloatArray, FloatArray]:
        """``± X @ dense`` and ``Y @ dense`` for the halves ``X Yᵀ`` of the chain."""
        X, Y = self.chain.halves()
        return self._signed(X @ dense), Y @ dense

    def rows(self, nodes: IntArray) -> sp.csr_array:
        """Chosen rows."""
        rows = self.chain.rows(nodes) * self.sign
        return 0.5 * (rows + self.chain.T.rows(nodes) * self.sign) if self.symmetrized else rows

    def entry(self, i: int, j: int) -> float:
        """One entry; symmetric to the last bit where it is an average."""
        X, Y = self.chain.halves()
        if not self.symmetrized:
            product = X.rows([i]).astype(np.float64) @ Y.rows([j]).T
            return float(self.sign * product.toarray()[0, 0])
        product = (X.rows([i, j]).astype(np.float64) @ Y.rows([i, j]).T).toarray()
        return float(0.5 * self.sign * (product[0, 1] + product[1, 0]))

    def diagonal(self) -> FloatArray:
        """The diagonal, which an average with the transpose leaves as it is."""
        return np.asarray(self.sign * self.chain.diagonal())

    def features(self) -> tuple[sp.csr_array, sp.csr_array]:
        """Sparse ``X, Y`` with ``S = X Yᵀ``; symmetrised, both sides hold both halves."""
        halves, n_jobs = [half.matrices() for half in self.chain.halves()], self.chain.n_jobs
        sizes = [_expected_entries(matrices, n_jobs) for matrices in halves]
        # Symmetrised: both halves, and each of them twice in the features.
        n_copies = 3 if self.symmetrized else 1
        require_features(n_copies * sum(sizes), self.chain.n_nodes, len(halves[0]))
        X, Y = (_to_csr(*half, n_jobs) for half in zip(halves, sizes, strict=True))
        return feature_sides(X, Y, self.sign, self.symmetrized)

    def project(
        self, gaussian: Callable[[], FloatArray], where: Literal["middle", "pairs"]
    ) -> tuple[FloatArray, FloatArray]:
        """Dense features; symmetrised, ``X`` and ``Y`` change places in half of the columns."""
        project = self.chain.project if where == "middle" else self.chain.project_pairs
        X, Y = project(gaussian)
        width = X.shape[1]
        if self.symmetrized and width > 1:
            first, others = slice(width - width // 2), slice(width - width // 2, width)
            X[:, others], Y[:, others] = Y[:, others].copy(), X[:, others].copy()
            # Both orders have the weight of one half, also where there is one column more of one.
            for side in (X, Y):
                side[:, first] *= np.sqrt(width / (2 * (width - width // 2)))
                side[:, others] *= np.sqrt(width / (2 * (width // 2)))
        return self._signed(X), Y

    def matrices(self) -> list[sp.csr_array]:
        """Sparse matrices whose product is ``S``; symmetrised, both orders stand in blocks."""
        first, *inner, last = self.chain.matrices()
        if not self.symmetrized:
            return [self._signed(first), *inner, last]
        last_T, *others_T = self.chain.T.matrices()
        weight = 0.5 * self.sign
        return sum_of_products([weight * first, *inner, last], [weight * last_T, *others_T])


def sum_of_products(a: Sequence[sp.csr_array], b: Sequence[sp.csr_array]) -> list[sp.csr_array]:
    """Block matrices whose product is ``a_1 a_2 … + b_1 b_2 …``.

    Examples
    --------
    >>> two, three = (sp.csr_array([[float(n)]]) for n in (2, 3))
    >>> left, right = sum_of_products([two, two], [three, three])
    >>> (left @ right).toarray()
    array([[13.]])
    """
    first, *pairs, last = zip(a, b, strict=True)
    inner = [sp.block_diag(pair, format="csr") for pair in pairs]
    return [sp.hstack(first, format="csr"), *inner, sp.vstack(last, format="csr")]


def feature_sides(
    X: sp.csr_array, Y: sp.csr_array, sign: int, symmetrized: bool
) -> tuple[sp.csr_array, sp.csr_array]:
    """Features from both halves of a chain, or from the same rows of both.

    Symmetrised, they are ``[X, Y] / √2`` and ``[Y, X] / √2``.
    """
    if symmetrized:
        X, Y = (sp.hstack(halves, format="csr") for halves in ([X, Y], [Y, X]))
        for side in (X, Y):
            side.data *= np.sqrt(0.5)
    return X if sign == 1 else sign * X, Y
