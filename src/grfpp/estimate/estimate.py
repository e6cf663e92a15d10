"""`KernelEstimate`: an ordered product of factors with the operations of a matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp._checks import one_of, truth, whole
from grfpp._memory import require_bytes
from grfpp._parallel import thread_count
from grfpp.errors import InputError
from grfpp.estimate import error_bars, files
from grfpp.estimate.chain import Chain, SignedChain, sum_of_products
from grfpp.estimate.deflation import Deflation
from grfpp.estimate.factor import Factor
from grfpp.estimate.node_matrix import NodeMatrix
from grfpp.io import matrices
from grfpp.kernels import kernel_from_dict
from grfpp.linalg.functions import finite
from grfpp.nodes import NodeNames
from grfpp.typing import FloatArray, IntArray

#: Columns of a dense block in one pass through the chain, which bounds intermediate blocks.
_BLOCK_COLUMNS = 128


class EstimateMeta(dict[str, Any]):
    """A dictionary whose values for the keys `MEASURED` are computed when they are first needed.

    They are needed by their keys, and by whoever goes through all: ``dict(meta)`` has them. Its
    `copy`, length and text have what is known.

    Examples
    --------
    >>> meta = EstimateMeta({"seed": 0}, lambda: dict.fromkeys(error_bars.MEASURED, 0.25))
    >>> "relative_error" in meta, meta["relative_error"], len(meta)
    (True, 0.25, 5)
    >>> sorted(dict(EstimateMeta({"seed": 0}, lambda: {"relative_error": 0.25})))
    ['relative_error', 'seed']
    """

    def __init__(
        self, known: Mapping[str, Any], measure: Callable[[], Mapping[str, Any] | None]
    ) -> None:
        super().__init__(known)
        self._measure = measure

    def __missing__(self, key: str) -> Any:
        measured = self._measure() if key in error_bars.MEASURED else None
        if measured is None:
            raise KeyError(key)
        self.update(measured)
        return self[key]

    def __contains__(self, key: object) -> bool:
        is_measured = key in error_bars.MEASURED
        return self.get(key) is not None if is_measured else super().__contains__(key)

    def get(self, key: Any, default: Any = None) -> Any:
        """The value, measured if necessary; `default` where there is none."""
        try:
            return self[key]
        except KeyError:
            return default

    def _with_measured(self) -> dict[str, Any]:
        self.get(error_bars.MEASURED[0])
        return self.copy()

    def __iter__(self) -> Iterator[str]:
        return iter(self._with_measured())

    def copy(self) -> dict[str, Any]:
        """What is known, as a plain dictionary."""
        return {key: self[key] for key in super().__iter__()}

    def keys(self) -> Any:
        """All keys, after measuring."""
        return self._with_measured().keys()

    def values(self) -> Any:
        """All values, after measuring."""
        return self._with_measured().values()

    def items(self) -> Any:
        """All keys and values, after measuring."""
        return self._with_measured().items()

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (self.copy(),)  # the function that measures belongs to the estimate


class KernelEstimate(NodeMatrix):
    """An unbiased estimate ``K̂ = ± K1_1 K2_1ᵀ · … · K1_l K2_lᵀ`` of a graph kernel matrix.

    Symmetrised, it is the mean of that product and of its transpose. Deflated by eigenvectors of
    the weights, it is exact on them, and the factors estimate the kernel on their complement
    (`grfpp.estimate.deflation.Deflation`).

    It is a scipy ``LinearOperator``: ``K @ V`` multiplies through the chain without forming it
    (the paper's option III), and scipy's iterative solvers take it as it is. ``K[i, j]``,
    ``K[rows]`` and ``numpy.asarray(K)`` are those of the array ``K.toarray()``. Usually made by
    `grfpp.sample`.

    Nodes are given by index, 0 … n-1, or by name, which is text; `index` converts names of any type
    to indices.

    Parameters
    ----------
    pairs
        The factors ``[(K1_1, K2_1), …]``.
    sign
        ``-1`` where the kernel has ``α_0 < 0`` and the factors estimate ``-K``.
    symmetrize
        Take the mean of the product and of its transpose, for kernels that are symmetric.
    deflation
        Eigenvectors that are taken exactly.
    meta
        Provenance as JSON values, kept when the estimate is saved. Its error is there too,
        measured when it is first needed (`measure_error`).
    n_jobs
        Threads for products; -1 for all cores.
    node_ids
        Names of the nodes in the order of the rows, if they have any.
    replicates
        Independent estimates of the same distribution, for error bars.
    origin
        The graph, the kernel and the walks (`grfpp.estimate.batches.WalkedOrigin`), for further
        replicates; not saved.

    Examples
    --------
    >>> import grfpp, networkx as nx
    >>> W = grfpp.Graph(nx.karate_club_graph()).normalized("sym")
    >>> K = grfpp.sample(W, grfpp.Diffusion(1.0), degree=2, n_walks=64, seed=0)
    >>> K
    KernelEstimate(n_nodes=34, degree=2, kernel=Diffusion(lam=1.0))
    >>> K.shape, K.rows([3, 7]).shape
    ((34, 34), (2, 34))
    >>> K[3, 7] == K.entry(3, 7), K[:2, [3, 7, 9]].shape
    (True, (2, 3))
    >>> X, Y = K.features()                               # option I
    >>> U, V = K.project(n_components=16, seed=0)         # option II
    >>> X.shape, U.shape, (K @ np.ones(34)).shape         # option III
    ((34, 68), (34, 16), (34,))

    References
    ----------
    Computationally-efficient Graph Modeling with Refined Graph Random Features, ICML 2026, section
    "Putting it all together": options I to III.
    W. B. Johnson and J. Lindenstrauss, Extensions of Lipschitz mappings into a Hilbert space,
    Contemp. Math. 26, 1984: option II.
    """

    def __init__(
        self,
        pairs: Sequence[tuple[Factor, Factor]],
        *,
        sign: int = 1,
        symmetrize: bool = False,
        deflation: Deflation | None = None,
        meta: Mapping[str, Any] | None = None,
        n_jobs: int = -1,
        node_ids: NodeNames | Sequence[Any] | None = None,
        replicates: Sequence[KernelEstimate] = (),
        origin: Any = None,
    ) -> None:
        if not pairs:
            raise InputError("a kernel estimate needs at least one pair of factors")
        factors = [factor for pair in pairs for factor in pair]
        sizes = {factor.n_nodes for factor in factors}
        if deflation is not None:
            sizes.add(len(deflation.vectors))
        if len(sizes) > 1:
            raise InputError(f"the factors of an estimate have one size, found {sorted(sizes)}")
        one_of(sign, "sign", (1, -1))
        (n,) = sizes
        super().__init__(np.dtype(np.float64), (n, n))
        chain = Chain.stitched(factors, n_jobs)
        self._signed_chain = SignedChain(chain, sign, truth(symmetrize, "symmetrize"))
        self.deflation = deflation
        self.replicates = tuple(replicates)
        self.origin = origin
        self._made_by = dict(meta or {})
        self.names = node_ids if isinstance(node_ids, NodeNames) else NodeNames(n, node_ids)
        if self.names.n_nodes != n:
            raise InputError(f"names of {self.names.n_nodes} nodes are not for an estimate of {n}")

    @property
    def chain(self) -> Chain:
        """The product of the factors."""
        return self._signed_chain.chain

    @property
    def sign(self) -> int:
        """``-1`` where the factors estimate ``-K``."""
        return self._signed_chain.sign

    @property
    def symmetrized(self) -> bool:
        """Whether this is the mean of a product and of its transpose."""
        return self._signed_chain.symmetrized

    @property
    def degree(self) -> int:
        """The stitching degree ``l``."""
        return len(self.chain.links) // 2

    @property
    def n_jobs(self) -> int:
        """Threads for products; -1 for all cores."""
        return self.chain.n_jobs

    @n_jobs.setter
    def n_jobs(self, n_jobs: int) -> None:
        thread_count(n_jobs)
        chain = replace(self.chain, n_jobs=n_jobs)
        self._signed_chain = replace(self._signed_chain, chain=chain)

    @property
    def _factors(self) -> list[Factor]:
        return [link.factor for link in self.chain.links]

    @property
    def factors(self) -> list[tuple[sp.csr_array, sp.csr_array]]:
        """The factors ``[(K1, K2), …]`` as scipy CSR arrays (columns not sorted)."""
        return _pairs(Chain.by_rows(self._factors, self.n_jobs).matrices())

    @cached_property
    def low_rank(self) -> tuple[FloatArray, FloatArray] | None:
        """``A, B`` with ``K̂ = S + A Bᵀ``, ``S`` the chain of factors; ``None`` if not deflated.

        Dense, with three columns an eigenvector, four where the estimate is symmetrised. Computed
        once, by products with the eigenvectors.
        """
        if self.deflation is None:
            return None
        n_bytes = 96 * self.deflation.vectors.size
        require_bytes(n_bytes, f"the low rank of {self.deflation.n_vectors} eigenvectors")
        return self.deflation.low_rank(self._signed_chain)

    def matrices(self) -> list[sp.csr_array]:
        """Sparse matrices whose product in this order is ``K̂``, for other libraries.

        The factors, every second one transposed, the first with the sign. A symmetrised estimate
        has both orders in blocks, ``[A, Dᵀ] · diag(B, Cᵀ) · diag(C, Bᵀ) · [D, Aᵀ]ᵀ / 2`` at degree
        2: twice the entries, and as many matrices. `low_rank` is a further block.
        """
        factors = self._signed_chain.matrices()
        if self.low_rank is None:
            return factors
        A, B = map(sp.csr_array, self.low_rank)
        inner = [sp.eye_array(A.shape[1], format="csr")] * (len(factors) - 2)
        return sum_of_products(factors, [A, *inner, B.T])

    def __repr__(self) -> str:
        text = f"{type(self).__name__}(n_nodes={self.n_nodes}, degree={self.degree}"
        if (kernel := self._made_by.get("kernel")) is not None:
            with suppress(InputError, TypeError, ValueError):  # of a file, or text already
                kernel = kernel_from_dict(kernel)
            text += f", kernel={kernel}"
        if (error := self._made_by.get(error_bars.MEASURED[0])) is not None:
            text += f", relative_error={error:.2g}"
        return f"{text})"

    # --- option III: products -------------------------------------------------------------------

    def _matmat(self, dense: Any) -> Any:
        if sp.issparse(dense):
            require_bytes(8 * dense.shape[0] * dense.shape[1], "the dense form of the right side")
            dense = (dense if np.iscomplexobj(dense) else matrices.checked(dense)).toarray()
        # The block in float64 and C order, and two or three intermediate products.
        what = f"a product with {dense.shape[0]} x {dense.shape[1]} numbers"
        n_bytes = 8 * dense.size * (4 if self.symmetrized else 3)
        require_bytes(n_bytes, what, advice="multiply fewer columns at a time")
        if np.iscomplexobj(dense):
            return self._matmat(dense.real) + 1j * self._matmat(dense.imag)
        block = np.ascontiguousarray(dense, dtype=np.float64)
        result = self._times(self._signed_chain, block)
        return finite(result) if np.isfinite(block).all() else result

    def _times(self, chain: SignedChain, block: FloatArray) -> FloatArray:
        return chain @ block if self.deflation is None else self.deflation.times(chain, block)

    def unsymmetrized_times(self, block: FloatArray) -> FloatArray:
        """``K̂ @ block`` without the average with the transpose, at half the cost."""
        return self._times(self._signed_chain.plain, block)

    def _transpose(self) -> KernelEstimate:
        if self.symmetrized:
            return self
        return type(self)(
            _pairs(self._factors[::-1]),
            sign=self.sign,
            deflation=self.deflation,
            meta=self._made_by,
            n_jobs=self.n_jobs,
            node_ids=self.names,
            replicates=[replicate.T for replicate in self.replicates],
            origin=None if self.origin is None else self.origin.T,
        )

    _adjoint = _transpose

    # --- option I: sparse features --------------------------------------------------------------

    def features(self) -> tuple[sp.csr_array, sp.csr_array]:
        """Sparse feature matrices ``X, Y`` with ``K̂ = X Yᵀ`` (the paper's option I).

        ``X`` is the first half of the chain and ``Y`` the transpose of the second, so rows of
        ``X`` and ``Y`` are the features of the nodes. A symmetrised estimate has both in both,
        twice as wide: ``[X, Y] / √2`` and ``[Y, X] / √2``. A deflated one has the columns of
        `low_rank` too, which are not sparse.

        Raises
        ------
        InputError
            When the products do not fit into memory; `project` gives features of any size.
        """
        X, Y = self._signed_chain.features()
        if self.low_rank is None:
            return X, Y
        A, B = self.low_rank
        return sp.hstack([X, A], format="csr"), sp.hstack([Y, B], format="csr")

    def feature_side(self, side: Literal["left", "right"]) -> sp.csr_array:
        """One of the two matrices of `features`; only that one is computed where possible."""
        one_of(side, "side", ("left", "right"))
        if self.symmetrized or self.deflation is not None:
            return self.features()[side == "right"]
        X, Y = self.chain.halves()
        return Y.to_csr() if side == "right" else self.sign * X.to_csr()

    # --- option II: projected features ----------------------------------------------------------

    def project(
        self,
        n_components: int = 64,
        seed: int | None = None,
        where: Literal["middle", "pairs"] = "middle",
    ) -> tuple[FloatArray, FloatArray]:
        """Dense features ``X, Y`` of shape ``(n_nodes, n_components)``, ``K̂ ≈ X Yᵀ`` (option II).

        Parameters
        ----------
        n_components
            Dimension ``r`` of the features.
        seed
            Of the Gaussian projections.
        where
            ``"middle"`` puts one projection ``G Gᵀ / r`` into the middle of the chain.
            ``"pairs"`` is the paper's rule, one between the factors of every pair: it is unbiased
            too, but the noise of the projections multiplies. On an Erdős–Rényi graph of 100 nodes
            with ``r = 64``, the relative error grows from 2.3 at degree 2 to 6.3 at degree 4; a
            single projection has 1.2 at both. It is not for deflated estimates.

        Notes
        -----
        For a symmetrised estimate ``X`` and ``Y`` change places in the second half of the columns,
        at no further product. A single component has one order only.

        For a deflated estimate the first columns are the leading eigenvectors themselves, without
        noise, each times ``√|g(λ)|``: as many as there are, but at most half of the components.
        """
        n_components = whole(n_components, "n_components", 1)
        n_vectors = 0 if self.deflation is None else self.deflation.n_vectors
        require_projection(self.n_nodes, n_components, n_vectors)
        rng = np.random.default_rng(None if seed is None else whole(seed, "seed", 0))
        one_of(where, "where", ("middle", "pairs"))
        if self.deflation is not None:
            if where == "pairs":
                problem = "'pairs' is not for deflated estimates"
                raise InputError(problem, argument="where", advice="use where='middle'")
            return self.deflation.project(self._signed_chain, n_components, rng)

        def gaussian() -> FloatArray:
            draws = rng.standard_normal((self.n_nodes, n_components))
            return np.asarray(draws / np.sqrt(n_components))

        return self._signed_chain.project(gaussian, where)

    # --- parts of the matrix --------------------------------------------------------------------

    def rows(self, nodes: npt.ArrayLike, *, sparse: bool = False, return_std: bool = False) -> Any:
        """Rows of ``K̂``, dense or as a CSR array; with `return_std` their standard errors too.

        The cost depends on the nodes that the walks of these rows reach, not on the number of nodes
        (after the first call, which transposes the right factors, and for symmetrised estimates all
        of them). Factors that are not stored are sampled for these rows: the left ones from the
        nodes that are reached, the transposed ones from all nodes. Rows of deflated estimates are
        dense, and the first call computes `low_rank`.

        `nodes` are indices or names, one or a list of them, a slice, or a mask with a truth value
        for every node.
        """
        chosen = self.names.numbers(nodes)
        if not sparse or self.deflation is not None:
            require_bytes(8 * len(chosen) * self.n_nodes, f"{len(chosen)} dense rows")
        if truth(return_std, "return_std"):
            return self._with_std(lambda K: K.rows(chosen, sparse=sparse))
        result = self._signed_chain.rows(chosen)
        if self.low_rank is not None:
            A, B = self.low_rank
            dense = result.toarray() + A[chosen] @ B.T
            return sp.csr_array(dense) if sparse else dense
        return result if sparse else result.toarray()

    def _rows(self, nodes: IntArray) -> Any:
        return self.rows(nodes, sparse=self.deflation is None)

    def entry(self, i: int | str, j: int | str, *, return_std: bool = False) -> Any:
        """The entry ``K̂[i, j]``; with `return_std` its standard error too.

        Standard errors come from the replicates of the estimate (``n_groups`` of `grfpp.sample`)
        or, where it has none, from 16 that are sampled for them.
        """
        row, column = (int(self.names.numbers([node])[0]) for node in (i, j))
        if truth(return_std, "return_std"):
            return self._with_std(lambda K: K._entry(row, column))
        return self._entry(row, column)

    def _entry(self, row: int, column: int) -> float:
        entry = self._signed_chain.entry(row, column)
        if self.low_rank is None:
            return entry
        A, B = self.low_rank
        exact = A[row] @ B[column]
        if self.symmetrized:
            exact = 0.5 * (exact + A[column] @ B[row])  # the same but for rounding
        return float(entry + exact)

    def diagonal(self, nodes: Any = None, *, return_std: bool = False) -> Any:
        """The diagonal of ``K̂``, or its entries for some nodes, as `rows` takes them.

        With `return_std` their standard errors too.
        """
        if truth(return_std, "return_std"):
            return self._with_std(lambda K: K.diagonal(nodes))
        if nodes is not None:
            chosen = self.names.numbers(nodes)
            return self._pairs(chosen, chosen)
        diagonal = self._chain_diagonal()
        if self.low_rank is None:
            return diagonal
        A, B = self.low_rank
        return np.asarray(diagonal + np.einsum("ij,ij->i", A, B))

    def _chain_diagonal(self) -> FloatArray:
        return self._signed_chain.diagonal()

    def toarray(self) -> FloatArray:
        """The whole matrix, dense; refused where it does not fit into memory."""
        n, n_matrices = self.n_nodes, 2 if self.symmetrized else 1
        n_bytes = 8 * n * (n_matrices * n + 3 * min(n, _BLOCK_COLUMNS))
        require_bytes(n_bytes, f"a dense matrix of {n} x {n} numbers")
        result = np.empty((n, n))
        for start in range(0, n, _BLOCK_COLUMNS):
            unit = np.eye(n, min(_BLOCK_COLUMNS, n - start), k=-start)
            result[:, start : start + _BLOCK_COLUMNS] = finite(self.unsymmetrized_times(unit))
        if self.symmetrized:  # at half the products, and symmetric to the last bit
            result += result.T
            result *= 0.5
        return result

    def to_torch(self, *, dtype: Any = None, device: Any = None, sort: bool = True) -> list[Any]:
        """The factors ``[(K1, K2), …]`` as torch sparse CSR tensors; ``K̂ = sign · Π K1 K2ᵀ``.

        For symmetrised and deflated estimates the factors alone do not make ``K̂``; `matrices` gives
        sparse matrices whose product it is.

        Needs the extra ``torch``. With ``sort=False`` and no other type or device, the tensors
        share the memory of the factors, whose columns are not sorted as torch requires (its
        products do not need it); else they are copies.
        """
        from grfpp.linalg.tensors import pairs_from_scipy

        return pairs_from_scipy(self.factors, dtype=dtype, device=device, sort=sort)

    # --- errors ---------------------------------------------------------------------------------

    def product(self, V: npt.ArrayLike, *, return_std: bool = False) -> Any:
        """``K̂ @ V``; with `return_std` the standard errors of its numbers too."""
        with_std = truth(return_std, "return_std")
        return self._with_std(lambda K: K @ V) if with_std else self @ V

    def measure_error(self) -> error_bars.EstimateError:
        """Measure the error of this estimate by random products, compared with exact ones.

        The numbers are in `meta` from then on: ``relative_error`` is ``‖K̂ − K‖_F / ‖K‖_F``,
        ``off_diagonal_error`` the same for the off-diagonal entries; ``relative_error_std`` and
        ``off_diagonal_error_std`` are their standard errors. The cost is some twenty products
        with a vector, of the estimate and of the kernel
        (`grfpp.estimate.error_bars.estimate_error`).
        """
        if self.origin is None:
            problem = "the error of this estimate cannot be measured without its graph"
            raise InputError(problem, advice="use grfpp.relative_error(K, kernel, W)")
        graph = self.origin.graph.reversed() if self.origin.transposed else self.origin.graph
        error = error_bars.estimate_error(self, self.origin.kernel, graph)
        self._made_by |= error.to_meta()
        return error

    @property
    def meta(self) -> EstimateMeta:
        """A copy of the provenance and, measured when it is first needed, the error."""

        # Not an attribute: a reference cycle would keep large factors from being freed.
        def measure() -> dict[str, float] | None:
            return None if self.origin is None else self.measure_error().to_meta()

        return EstimateMeta(self._made_by, measure)

    def _with_std(self, query: Callable[[KernelEstimate], Any]) -> tuple[Any, Any]:
        """``query(self)`` and its standard error.

        From the stored replicates, else from 16 that are sampled in turn, which takes as long as
        sampling 16 times, except for single rows and entries of large graphs.
        """
        n_stored = len(self.replicates)
        if n_stored == 1 or (n_stored == 0 and self.origin is None):
            problem = f"error bars need at least two replicates, this estimate has {n_stored}"
            raise InputError(problem, advice="sample it with n_groups=16")
        value = query(self)
        replicates = self.replicates or map(self.origin.replicate, range(error_bars.N_REPLICATES))
        return value, error_bars.standard_error(query, value, replicates)

    # --- files ----------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the estimate to an ``.npz`` file, whole or not at all.

        The file holds the replicates too, and the error of the estimate, which is measured if it
        was not before. Node names other than whole numbers are stored as text.
        """
        estimates = [self, *self.replicates]
        factors = [factor for estimate in estimates for factor in estimate._factors]

        def header() -> dict[str, Any]:
            self.meta.get(error_bars.MEASURED[0])  # measures the error, if it was not
            meta: dict[str, Any] = {"sign": self.sign, "symmetrize": self.symmetrized}
            sizes = {"n_estimates": len(estimates), "n_nodes": self.n_nodes}
            return {**meta, **sizes, "made_by": self.meta}

        chain = Chain.by_rows(factors, self.n_jobs)
        files.save(path, chain, header, self.deflation, self.names)

    @classmethod
    def load(cls, path: str | Path, *, n_jobs: int = -1) -> KernelEstimate:
        """Read an estimate that `save` wrote."""
        parts, options, made_by = files.load(path)
        first, *others = (cls(_pairs(factors), n_jobs=n_jobs, **options) for factors in parts)
        first._made_by, first.replicates = made_by, tuple(others)
        return first


def _pairs(items: Sequence[Any]) -> list[tuple[Any, Any]]:
    return list(zip(items[::2], items[1::2], strict=True))


def require_projection(n_nodes: int, n_components: int, n_vectors: int = 0) -> None:
    """Raise `InputError` where projected features do not fit into memory."""
    # Both sides, the projection, and an intermediate block; eigenvectors on both sides.
    n_bytes = (32 * n_components + 16 * n_vectors) * n_nodes
    what = f"features of {n_components} components for {n_nodes} nodes"
    require_bytes(n_bytes, what, advice="use fewer n_components")
