"""`KernelEstimate`: an ordered product of factors, and nothing about how they were made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from grfpp.arguments import node_numbers, one_of, truth, whole
from grfpp.chain import Chain
from grfpp.errors import InputError
from grfpp.factors import Factor, StoredFactor
from grfpp.io.archive import load_arrays, save_arrays
from grfpp.memory import require_bytes
from grfpp.parallel import thread_count
from grfpp.typing import FloatArray

Item = TypeVar("Item")

_FORMAT = "grfpp-estimate-1"
#: Columns of a dense block that one pass through the chain carries.
_BLOCK_COLUMNS = 128


class KernelEstimate(LinearOperator):  # type: ignore[misc]  # untyped base
    """An unbiased estimate ``K̂ = ± K1_1 K2_1ᵀ · … · K1_l K2_lᵀ`` of a graph kernel matrix.

    Symmetrised, it is the mean of that product and of its transpose.

    It is a scipy ``LinearOperator``: ``K @ V`` multiplies through the chain without forming it
    (the paper's option III), and scipy's iterative solvers take it as it is. Usually made by
    `grfpp.sample`.

    Parameters
    ----------
    pairs
        The factors ``[(K1_1, K2_1), …]``.
    sign
        ``-1`` where the kernel has ``α_0 < 0`` and the factors estimate ``-K``.
    symmetrize
        Take the mean of the product and of its transpose, for kernels that are symmetric.
    meta
        What made the estimate: JSON-able values, kept when it is saved.
    n_jobs
        Threads for products; -1 for all cores.

    Examples
    --------
    >>> import grfpp, networkx as nx
    >>> W = grfpp.Graph(nx.karate_club_graph()).normalized("sym")
    >>> K = grfpp.sample(W, grfpp.Diffusion(1.0), degree=2, n_walks=64, seed=0)
    >>> K
    KernelEstimate(n_nodes=34, degree=2)
    >>> K.shape, K.rows([3, 7]).shape
    ((34, 34), (2, 34))
    """

    def __init__(
        self,
        pairs: Sequence[tuple[Factor, Factor]],
        *,
        sign: int = 1,
        symmetrize: bool = False,
        meta: Mapping[str, Any] | None = None,
        n_jobs: int = -1,
    ) -> None:
        if not pairs:
            raise InputError("a kernel estimate needs at least one pair of factors")
        factors = [factor for pair in pairs for factor in pair]
        sizes = {factor.n_nodes for factor in factors}
        if len(sizes) > 1:
            raise InputError(f"the factors of an estimate have one size, found {sorted(sizes)}")
        if sign not in (1, -1):
            raise InputError(f"sign must be 1 or -1, not {sign!r}")
        (n,) = sizes
        super().__init__(np.dtype(np.float64), (n, n))
        self.chain = Chain.stitched(factors, n_jobs)
        self.sign = sign
        self.symmetrized = truth(symmetrize, "symmetrize")
        self.meta = dict(meta or {})

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
        self.chain = replace(self.chain, n_jobs=n_jobs)

    @property
    def _factors(self) -> list[Factor]:
        return [link.factor for link in self.chain.links]

    @property
    def n_nodes(self) -> int:
        """Number of rows and of columns."""
        return int(self.shape[0])

    @property
    def factors(self) -> list[tuple[sp.csr_array, sp.csr_array]]:
        """The factors ``[(K1, K2), …]`` as scipy CSR arrays (columns not sorted)."""
        return list(_pairs([factor.to_csr(self.n_jobs) for factor in self._factors]))

    def matrices(self) -> list[sp.csr_array]:
        """Sparse matrices whose product in this order is ``K̂``, for others who multiply.

        The factors, each second one transposed, the first with the sign. A symmetrised estimate has
        both orders in blocks, ``[A, Dᵀ] · diag(B, Cᵀ) · diag(C, Bᵀ) · [D, Aᵀ]ᵀ / 2`` at degree 2:
        twice the entries, and as many matrices.
        """
        first, *inner, last = (link.to_csr(self.n_jobs) for link in self.chain.links)
        if not self.symmetrized:
            return [self._signed(first), *inner, last]
        *turned, turned_first = (link.to_csr(self.n_jobs) for link in self.chain.T.links)
        weight = 0.5 * self.sign
        return [
            sp.hstack([weight * first, weight * turned.pop(0)], format="csr"),
            *(sp.block_diag(both, format="csr") for both in zip(inner, turned, strict=True)),
            sp.vstack([last, turned_first], format="csr"),
        ]

    def __repr__(self) -> str:
        return f"KernelEstimate(n_nodes={self.n_nodes}, degree={self.degree})"

    # --- option III: products -------------------------------------------------------------------

    def _matmat(self, dense: Any) -> Any:
        if sp.issparse(dense):
            require_bytes(8 * dense.shape[0] * dense.shape[1], "the dense form of the right side")
            dense = dense.toarray()
        if np.iscomplexobj(dense):
            return self._matmat(dense.real) + 1j * self._matmat(dense.imag)
        block = np.ascontiguousarray(dense, dtype=np.float64)
        if self.symmetrized:
            return 0.5 * self.sign * (self.chain @ block + self.chain.T @ block)
        return self._signed(self.chain @ block)

    def _signed(self, values: Any) -> Any:
        return self.sign * values if self.sign != 1 else values

    def _transpose(self) -> KernelEstimate:
        if self.symmetrized:
            return self
        return KernelEstimate(
            list(_pairs(self._factors[::-1])), sign=self.sign, meta=self.meta, n_jobs=self.n_jobs
        )

    _adjoint = _transpose

    # --- option I: sparse features --------------------------------------------------------------

    def features(self) -> tuple[sp.csr_array, sp.csr_array]:
        """Sparse feature matrices ``X, Y`` with ``K̂ = X Yᵀ`` (the paper's option I).

        ``X`` is the first half of the chain and ``Y`` the transpose of the second, so rows of
        ``X`` and ``Y`` are the features of the nodes. A symmetrised estimate has both in both,
        twice as wide: ``[X, Y] / √2`` and ``[Y, X] / √2``.

        Raises
        ------
        InputError
            When the products do not fit into memory; `project` gives features of any size.
        """
        X, Y = (half.to_csr() for half in self.chain.halves())
        if not self.symmetrized:
            return self._signed(X), Y
        return self._signed(_side_by_side(X, Y)), _side_by_side(Y, X)

    def feature_side(self, side: Literal["left", "right"]) -> sp.csr_array:
        """One of the two matrices that `features` gives, without the work for the other."""
        one_of(side, "side", ("left", "right"))
        if self.symmetrized:
            return self.features()[side == "right"]
        X, Y = self.chain.halves()
        return self._signed(X.to_csr()) if side == "left" else Y.to_csr()

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
            single projection has 1.2 at both.

        Notes
        -----
        For a symmetrised estimate ``X`` and ``Y`` change places in the second half of the columns,
        at no further product. A single component has one order only.
        """
        n_components = whole(n_components, "n_components", 1)
        require_bytes(
            32 * self.n_nodes * n_components,
            f"features of {n_components} components for {self.n_nodes} nodes",
        )
        rng = np.random.default_rng(None if seed is None else whole(seed, "seed", 0))

        def gaussian() -> FloatArray:
            draws = rng.standard_normal((self.n_nodes, n_components))
            return np.asarray(draws / np.sqrt(n_components))

        one_of(where, "where", ("middle", "pairs"))
        project = self.chain.project if where == "middle" else self.chain.project_pairs
        X, Y = project(gaussian)
        if self.symmetrized:
            _swap_half(X, Y)
        return self._signed(X), Y

    # --- parts of the matrix --------------------------------------------------------------------

    def rows(self, nodes: npt.ArrayLike, *, sparse: bool = False) -> Any:
        """Rows of ``K̂``, dense or as a CSR array.

        The cost depends on what the walks of these rows reach, not on the number of nodes (after
        the first call, which transposes the right factors, and for symmetrised estimates all of
        them). Factors that are not stored are walked for these rows: the left ones from where they
        come only, those that are transposed from all nodes.
        """
        chosen = node_numbers(nodes, self.n_nodes)
        if not sparse:
            require_bytes(8 * len(chosen) * self.n_nodes, f"{len(chosen)} dense rows")
        result = self.chain.rows(chosen) * self.sign
        if self.symmetrized:
            result = 0.5 * (result + self.chain.T.rows(chosen) * self.sign)
        return result if sparse else result.toarray()

    def entry(self, i: int, j: int) -> float:
        """One number ``K̂[i, j]``."""
        X, Y = self.chain.halves()
        pair = np.concatenate([node_numbers([node], self.n_nodes) for node in (i, j)])
        if not self.symmetrized:
            block = X.rows(pair[:1]).astype(np.float64) @ Y.rows(pair[1:]).T
            return float(self.sign * block.toarray()[0, 0])
        block = (X.rows(pair).astype(np.float64) @ Y.rows(pair).T).toarray()
        return float(0.5 * self.sign * (block[0, 1] + block[1, 0]))

    def diagonal(self) -> FloatArray:
        """The diagonal of ``K̂``."""
        return np.asarray(self.sign * self.chain.diagonal())

    def toarray(self) -> FloatArray:
        """The whole matrix, dense; refused where it does not fit into memory."""
        n, n_matrices = self.n_nodes, 2 if self.symmetrized else 1
        require_bytes(
            8 * n * (n_matrices * n + 3 * min(n, _BLOCK_COLUMNS)),
            f"a dense matrix of {n} x {n} numbers",
        )
        result = np.empty((n, n))
        for part in _ranges(n, _BLOCK_COLUMNS):
            unit = np.zeros((n, len(part)))
            unit[part, np.arange(len(part))] = 1.0
            result[:, part.start : part.stop] = self._signed(self.chain @ unit)
        if self.symmetrized:  # at half the products, and symmetric to the last bit
            result += result.T
            result *= 0.5
        return result

    def to_torch(self, *, dtype: Any = None, device: Any = None, sort: bool = True) -> list[Any]:
        """The factors ``[(K1, K2), …]`` as torch sparse CSR tensors; ``K̂ = sign · Π K1 K2ᵀ``.

        Of a symmetrised estimate they are the factors all the same: `K̂` is the mean of that
        product and of its transpose.

        Needs the extra ``torch``. With ``sort=False`` and no other type or device, the tensors
        share the memory of the factors, whose columns are not in the order that torch asks for
        (its products do not need it); else they are copies.
        """
        from grfpp.linalg.tensors import pairs_from_scipy

        return pairs_from_scipy(self.factors, dtype=dtype, device=device, sort=sort)

    # --- files ----------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the estimate to an ``.npz`` file, whole or not at all."""
        unique: list[Factor] = []
        order = []
        for factor in self._factors:
            if factor not in unique:
                unique.append(factor)
            order.append(unique.index(factor))
        arrays = {}
        for number, factor in enumerate(unique):
            matrix = factor.to_csr(self.n_jobs)
            for part in ("indptr", "indices", "data"):
                arrays[f"{part}_{number}"] = getattr(matrix, part)
        meta = {
            "sign": self.sign,
            "symmetrize": self.symmetrized,
            "order": order,
            "n_nodes": self.n_nodes,
            "made_by": self.meta,
        }
        save_arrays(path, _FORMAT, arrays, meta)

    @classmethod
    def load(cls, path: str | Path, *, n_jobs: int = -1) -> KernelEstimate:
        """Read an estimate that `save` wrote."""
        arrays, meta = load_arrays(path, _FORMAT)
        try:
            n = int(meta["n_nodes"])
            factors = [
                StoredFactor(_checked_csr(arrays, number, n))
                for number in range(max(meta["order"]) + 1)
            ]
            if min(meta["order"]) < 0:
                raise ValueError("a factor has a negative number")
            order = [factors[number] for number in meta["order"]]
            return cls(
                list(_pairs(order)),
                sign=int(meta["sign"]),
                symmetrize=meta.get("symmetrize", False),  # not in files from before there was any
                meta=meta["made_by"],
                n_jobs=n_jobs,
            )
        except (KeyError, ValueError, TypeError, IndexError) as error:
            raise InputError(f"{path}: the stored estimate is damaged ({error})") from None


def _checked_csr(arrays: Mapping[str, Any], number: int, n: int) -> sp.csr_array:
    matrix = sp.csr_array(
        tuple(arrays[f"{part}_{number}"] for part in ("data", "indices", "indptr")), shape=(n, n)
    )
    matrix.check_format(full_check=True)
    if matrix.nnz != len(arrays[f"data_{number}"]):
        raise ValueError(f"the rows of factor {number} do not hold all of its values")
    if matrix.dtype not in (np.float32, np.float64) or not np.isfinite(matrix.data).all():
        raise ValueError(f"the values of factor {number} are not finite real numbers")
    return matrix


def _side_by_side(left: sp.csr_array, right: sp.csr_array) -> sp.csr_array:
    """``[left, right] / √2``."""
    both = sp.hstack([left, right], format="csr")
    both.data *= np.sqrt(0.5)
    return both


def _swap_half(X: FloatArray, Y: FloatArray) -> None:
    """Make projected features of ``X Yᵀ`` those of ``(X Yᵀ + Y Xᵀ) / 2``, in place."""
    n_components = X.shape[1]
    n_others = n_components // 2
    if n_others == 0:
        return
    n_first = n_components - n_others
    X[:, n_first:], Y[:, n_first:] = Y[:, n_first:].copy(), X[:, n_first:].copy()
    # Both orders have the weight of one half, also where there is one column more of one.
    for side in (X, Y):
        side[:, :n_first] *= np.sqrt(n_components / (2 * n_first))
        side[:, n_first:] *= np.sqrt(n_components / (2 * n_others))


def _pairs(items: Sequence[Item]) -> Iterator[tuple[Item, Item]]:
    return zip(items[::2], items[1::2], strict=True)


def _ranges(n: int, size: int) -> list[range]:
    return [range(start, min(start + size, n)) for start in range(0, n, size)]
