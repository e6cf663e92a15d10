"""`KernelEstimate`: an ordered product of factors, and nothing about how they were made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from grfpp.arguments import whole
from grfpp.errors import InputError
from grfpp.factors import Factor, StoredFactor
from grfpp.io.archive import load_arrays, save_arrays
from grfpp.memory import require_bytes

FloatArray = npt.NDArray[np.float64]

_FORMAT = "grfpp-estimate-1"
#: Columns of a dense block that one pass through the chain carries.
_BLOCK_COLUMNS = 128
#: Rows of the sparse half-chains that are multiplied at a time.
_BLOCK_ROWS = 2048
_PILOT_ROWS = 128


class KernelEstimate(LinearOperator):  # type: ignore[misc]  # untyped base
    """An unbiased estimate ``K̂ = ± K1_1 K2_1ᵀ · … · K1_l K2_lᵀ`` of a graph kernel matrix.

    It is a scipy ``LinearOperator``: ``K @ V`` multiplies through the chain without forming it
    (the paper's option III), and scipy's iterative solvers take it as it is. Usually made by
    `grfpp.sample`.

    Parameters
    ----------
    pairs
        The factors ``[(K1_1, K2_1), …]``.
    sign
        ``-1`` where the kernel has ``α_0 < 0`` and the factors estimate ``-K``.
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
        meta: Mapping[str, Any] | None = None,
        n_jobs: int = -1,
    ) -> None:
        if not pairs:
            raise InputError("a kernel estimate needs at least one pair of factors")
        n = pairs[0][0].n_nodes
        sizes = {factor.n_nodes for pair in pairs for factor in pair}
        if sizes != {n}:
            raise InputError(f"the factors of an estimate have one size, found {sorted(sizes)}")
        if sign not in (1, -1):
            raise InputError(f"sign must be 1 or -1, not {sign!r}")
        super().__init__(np.dtype(np.float64), (n, n))
        self._pairs = [tuple(pair) for pair in pairs]
        self.sign = sign
        self.meta = dict(meta or {})
        self.n_jobs = n_jobs

    @property
    def degree(self) -> int:
        """The stitching degree ``l``."""
        return len(self._pairs)

    @property
    def n_nodes(self) -> int:
        """Number of rows and of columns."""
        return int(self.shape[0])

    @property
    def factors(self) -> list[tuple[sp.csr_array, sp.csr_array]]:
        """The factors ``[(K1, K2), …]`` as scipy CSR arrays (columns not sorted)."""
        return [(left.to_csr(), right.to_csr()) for left, right in self._pairs]

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
        for left, right in reversed(self._pairs):
            block = left.matmat(right.rmatmat(block, self.n_jobs), self.n_jobs)
        return self.sign * block if self.sign != 1 else block

    def _matvec(self, vector: Any) -> Any:
        return self._matmat(np.asarray(vector).reshape(-1, 1))

    def _transpose(self) -> KernelEstimate:
        return KernelEstimate(
            [(right, left) for left, right in reversed(self._pairs)],
            sign=self.sign,
            meta=self.meta,
            n_jobs=self.n_jobs,
        )

    _adjoint = _transpose

    def _rmatmat(self, dense: Any) -> Any:
        return self._transpose()._matmat(dense)

    def _rmatvec(self, vector: Any) -> Any:
        return self._transpose()._matvec(vector)

    # --- option I: sparse features --------------------------------------------------------------

    def features(self) -> tuple[sp.csr_array, sp.csr_array]:
        """Sparse feature matrices ``X, Y`` with ``K̂ = X Yᵀ`` (the paper's option I).

        ``X`` is the first half of the chain and ``Y`` the transpose of the second, so rows of
        ``X`` and ``Y`` are the features of the nodes.

        Raises
        ------
        InputError
            When the products do not fit into memory; `project` gives features of any size.
        """
        return self._half_chain(), self._transpose()._half_chain(signed=False)

    def _sparse_chain(self, length: int) -> list[sp.csr_array]:
        """The first matrices of the chain."""
        chain = [
            step for left, right in self._pairs for step in (left.to_csr, right.transposed_csr)
        ]
        return [step() for step in chain[:length]]

    def _product(self, chain: list[sp.csr_array], rows: Any) -> sp.csr_array:
        """The chosen rows of the product of a part of the chain."""
        from grfpp.walks.products import sparse_product

        product = chain[0][rows]
        for matrix in chain[1:]:
            product = sparse_product(product, matrix, self.n_jobs)
        return product

    def _half_chain(self, rows: Any = None, signed: bool = True) -> sp.csr_array:
        """The first half of the chain: chosen rows of it, or all if there is room for them."""
        chain = self._sparse_chain(self.degree)
        n = self.n_nodes
        if rows is None and self.degree > 1 and n > 4 * _PILOT_ROWS:
            pilot = self._product(chain, np.linspace(0, n - 1, _PILOT_ROWS).astype(np.int64))
            require_bytes(
                int(20 * pilot.nnz * n / _PILOT_ROWS),
                f"the sparse features of {n} nodes at degree {self.degree} (project() gives "
                "dense ones of a size you choose)",
            )
        half = self._product(chain, slice(None) if rows is None else rows)
        return half * self.sign if signed and self.sign != 1 else half

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

        if where == "middle":
            projection = gaussian()
            X = self._half_times(projection)
            Y = self._transpose()._half_times(projection)
        elif where == "pairs":
            X, Y = self._project_pairs(gaussian)
        else:
            raise InputError(f"where must be 'middle' or 'pairs', not {where!r}")
        return self.sign * X if self.sign != 1 else X, Y

    def _half_times(self, block: FloatArray) -> FloatArray:
        """First half of the chain times a dense block."""
        steps = [step for left, right in self._pairs for step in (left.matmat, right.rmatmat)]
        for step in reversed(steps[: self.degree]):
            block = step(block, self.n_jobs)
        return block

    def _project_pairs(self, gaussian: Any) -> tuple[FloatArray, FloatArray]:
        """The paper's per-pair projections, associated so that nothing is ``N x N``."""
        X: FloatArray | None = None
        Y = np.empty(0)
        for left, right in self._pairs:
            projection = gaussian()
            projected_left = left.matmat(projection, self.n_jobs)
            # K̂2ᵀ of the pair before meets K̂1 of this one: an r x r matrix.
            X = projected_left if X is None else X @ (Y.T @ projected_left)
            Y = right.matmat(projection, self.n_jobs)
        assert X is not None
        return X, Y

    # --- parts of the matrix --------------------------------------------------------------------

    def rows(self, nodes: npt.ArrayLike, *, sparse: bool = False) -> Any:
        """Rows of ``K̂``, dense or as a CSR array.

        The cost depends on what the walks of these rows reach, not on the number of nodes (after
        the first call, which transposes the right factors).
        """
        chosen = self._nodes(nodes)
        if not sparse:
            require_bytes(8 * len(chosen) * self.n_nodes, f"{len(chosen)} dense rows")
        result = self._product(self._sparse_chain(2 * self.degree), chosen) * self.sign
        return result if sparse else result.toarray()

    def entry(self, i: int, j: int) -> float:
        """One number ``K̂[i, j]``."""
        x = self._half_chain(self._nodes([i]))
        y = self._transpose()._half_chain(self._nodes([j]), signed=False)
        return float((x.astype(np.float64) @ y.T).toarray()[0, 0])

    def diagonal(self) -> FloatArray:
        """The diagonal of ``K̂``."""
        chains = [each._sparse_chain(self.degree) for each in (self, self._transpose())]
        parts = []
        for part in _ranges(self.n_nodes, _BLOCK_ROWS):
            x, y = (self._product(chain, slice(part.start, part.stop)) for chain in chains)
            parts.append(x.astype(np.float64).multiply(y).sum(axis=1))
        return np.asarray(self.sign * np.concatenate(parts))

    def toarray(self) -> FloatArray:
        """The whole matrix, dense; refused where it does not fit into memory."""
        n = self.n_nodes
        require_bytes(
            8 * n * (n + 3 * min(n, _BLOCK_COLUMNS)), f"a dense matrix of {n} x {n} numbers"
        )
        result = np.empty((n, n))
        for part in _ranges(n, _BLOCK_COLUMNS):
            unit = np.zeros((n, len(part)))
            unit[part, np.arange(len(part))] = 1.0
            result[:, part.start : part.stop] = self._matmat(unit)
        return result

    def to_torch(self, *, dtype: Any = None, device: Any = None, sort: bool = True) -> list[Any]:
        """The factors ``[(K1, K2), …]`` as torch sparse CSR tensors; ``K̂ = sign · Π K1 K2ᵀ``.

        Needs the extra ``torch``. With ``sort=False`` and no other type or device, the tensors
        share the memory of the factors, whose columns are not in the order that torch asks for
        (its products do not need it); else they are copies.
        """
        from grfpp.torch.convert import factors_to_torch

        return factors_to_torch(self, dtype=dtype, device=device, sort=sort)

    def _nodes(self, nodes: npt.ArrayLike) -> npt.NDArray[np.int64]:
        chosen = np.atleast_1d(np.asarray(nodes))
        if chosen.size == 0:
            return np.zeros(0, np.int64)
        if chosen.ndim != 1 or chosen.dtype.kind not in "iu":
            raise InputError(f"nodes must be whole numbers in a list, found {nodes!r}")
        if chosen.min() < 0 or chosen.max() >= self.n_nodes:
            raise InputError(
                f"nodes must lie between 0 and {self.n_nodes - 1}, "
                f"found {chosen.min()} to {chosen.max()}"
            )
        return chosen.astype(np.int64)

    # --- files ----------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the estimate to an ``.npz`` file, whole or not at all."""
        unique: list[Factor] = []
        order = []
        for factor in (factor for pair in self._pairs for factor in pair):
            if factor not in unique:
                unique.append(factor)
            order.append(unique.index(factor))
        arrays = {}
        for number, factor in enumerate(unique):
            matrix = factor.to_csr()
            for part in ("indptr", "indices", "data"):
                arrays[f"{part}_{number}"] = getattr(matrix, part)
        meta = {"sign": self.sign, "order": order, "n_nodes": self.n_nodes, "made_by": self.meta}
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
            pairs = list(zip(order[::2], order[1::2], strict=True))
            return cls(pairs, sign=int(meta["sign"]), meta=meta["made_by"], n_jobs=n_jobs)
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


def _ranges(n: int, size: int) -> list[range]:
    return [range(start, min(start + size, n)) for start in range(0, n, size)]
