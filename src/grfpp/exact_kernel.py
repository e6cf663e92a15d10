"""A kernel without randomness that multiplies and gives features as an estimate does."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from grfpp.arguments import whole
from grfpp.estimate.indexing import NodeMatrix
from grfpp.graph import Graph
from grfpp.kernels import Kernel
from grfpp.linalg.functions import chebyshev, taylor
from grfpp.memory import require_bytes
from grfpp.typing import FloatArray, IntArray

#: Up to so many nodes the dense kernel is computed once; beyond, every product is a polynomial.
DENSE_NODES = 1000
_TOL = 1e-10


class ExactKernel(NodeMatrix):
    """The kernel ``K = g(W)`` itself, with the methods of `grfpp.KernelEstimate` that tasks use.

    Examples
    --------
    >>> import grfpp
    >>> W = grfpp.Graph([[0, 1], [1, 0]]).normalized("sym")
    >>> K = ExactKernel(W, grfpp.Diffusion(1.0))
    >>> K @ np.array([1.0, 0.0])
    array([1.543, 1.175])
    """

    def __init__(self, W: Graph, kernel: Kernel) -> None:
        kernel.check_converges(W)
        super().__init__(np.dtype(np.float64), (W.n_nodes, W.n_nodes))
        self.W = W
        self.kernel = kernel
        self.names = W.names

    def __repr__(self) -> str:
        return f"ExactKernel(n_nodes={self.n_nodes}, kernel={self.kernel!r})"

    @property
    def meta(self) -> dict[str, Any]:
        """What made the operator."""
        return {"kernel": repr(self.kernel), "exact": True}

    @cached_property
    def _dense(self) -> FloatArray:
        return self.kernel.exact(self.W)

    def _matmat(self, block: Any) -> Any:
        if np.iscomplexobj(block):
            return self._matmat(block.real) + 1j * self._matmat(block.imag)
        if self.n_nodes <= DENSE_NODES:
            return self._dense @ np.asarray(block, dtype=np.float64)
        if block.shape[1] == 0:  # not every method of `apply` takes no vectors at all
            return np.zeros(block.shape)
        return self.kernel.apply(self.W, block, tol=_TOL)

    def _transpose(self) -> ExactKernel:
        return ExactKernel(self.W.reversed(), self.kernel) if self.W.is_directed else self

    _adjoint = _transpose

    def toarray(self) -> FloatArray:
        """The whole matrix, dense; refused where it does not fit into memory."""
        return self._dense.copy()

    def rows(self, nodes: npt.ArrayLike) -> FloatArray:
        """Rows of ``K``, by the places or the names of their nodes."""
        chosen = self.names.numbers(nodes)
        require_bytes(16 * len(chosen) * self.n_nodes, f"{len(chosen)} dense rows")
        units = np.zeros((self.n_nodes, len(chosen)))
        units[chosen, np.arange(len(chosen))] = 1.0
        result: FloatArray = (self.T @ units).T
        return result

    def _rows(self, nodes: IntArray) -> FloatArray:
        return self._dense[nodes] if self.n_nodes <= DENSE_NODES else self.rows(nodes)

    def entry(self, i: int | str, j: int | str) -> float:
        """One number ``K[i, j]``, of nodes by their places or names."""
        row, column = (int(self.names.numbers([node])[0]) for node in (i, j))
        return self._entry(row, column)

    def _entry(self, row: int, column: int) -> float:
        return float(self._rows(np.array([row]))[0, column])

    def diagonal(self, nodes: Any = None) -> FloatArray:
        """The diagonal of ``K``, from the dense matrix, or its entries for some nodes."""
        diagonal: FloatArray = self._dense.diagonal()
        return diagonal.copy() if nodes is None else diagonal[self.names.numbers(nodes)]

    def features(self) -> tuple[FloatArray, FloatArray]:
        """Dense ``X, Y`` with ``K = X Yᵀ``: what the walks' features are on average.

        ``X`` is ``± g^½(W)`` and ``Y`` is ``g^½(Wᵀ)``, equal for undirected graphs but for the
        sign of a kernel with ``α_0 < 0``.
        """
        n = self.n_nodes
        require_bytes(5 * 8 * n * n, f"exact features of {n} nodes")
        return self._halves(np.eye(n))

    def project(
        self, n_components: int = 64, seed: int | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Dense ``X, Y`` of shape ``(n_nodes, n_components)``, ``K ≈ X Yᵀ``.

        One Gaussian projection between the two halves, as `KernelEstimate.project` has it.
        """
        r = whole(n_components, "n_components", 1)
        require_bytes(48 * self.n_nodes * r, f"features of {r} components for {self.n_nodes} nodes")
        rng = np.random.default_rng(None if seed is None else whole(seed, "seed", 0))
        return self._halves(rng.standard_normal((self.n_nodes, r)) / np.sqrt(r))

    def _halves(self, block: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Both halves of the kernel, times a block."""
        self.kernel.check_converges(self.W, 1)
        left = self._half_times(self.W, block)
        right = self._half_times(self.W.reversed(), block) if self.W.is_directed else left
        return (-left if self.kernel.sign < 0 else left), right

    def _half_times(self, W: Graph, block: FloatArray) -> FloatArray:
        """``h(W) @ block`` with ``h² = ± g``."""
        kernel = self.kernel
        if not W.is_directed:
            # No zero of g lies within the radius checked above: |g| is ± g.
            return chebyshev.apply(W, lambda x: np.sqrt(np.abs(kernel.value(x))), block, 1e-13)
        return taylor.apply(
            W,
            lambda n, scale: kernel.modulation(1, n, scale=scale),
            kernel.modulation_radius(1),
            block,
            1e-12,
        )
