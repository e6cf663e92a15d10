"""`kernel_operator`: a kernel without randomness, by the best method for graph and product."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from grfpp._checks import finite, one_of, whole
from grfpp._memory import require_bytes
from grfpp._parallel import thread_count
from grfpp.errors import InputError, shown
from grfpp.estimate.node_matrix import NodeMatrix
from grfpp.graph import Graph, as_graph
from grfpp.kernels import Kernel, kernel_of
from grfpp.linalg import chebyshev
from grfpp.linalg.functions import taylor_times, unit_columns
from grfpp.operators.costs import Costs, current_costs
from grfpp.operators.methods import METHODS
from grfpp.operators.planner import Runner
from grfpp.operators.problem import Plan, Problem
from grfpp.operators.thresholds import EXACT_DENSE_NODES, EXACT_TOL
from grfpp.options import MIN_TOLERANCE
from grfpp.typing import FloatArray, IntArray


class KernelOperator(NodeMatrix):
    """``K = g(W)`` as an operator whose products reach a tolerance; see `kernel_operator`.

    It has the methods of `grfpp.KernelEstimate` that tasks use. Whole matrices, diagonals and
    features are exact to rounding.

    Examples
    --------
    >>> import grfpp
    >>> K = grfpp.kernel_operator([[0, 1], [1, 0]], "diffusion:1", tol=1e-6)
    >>> K @ np.array([1.0, 0.0])
    array([1.543, 1.175])
    >>> K.rows([0]).shape, round(K.entry(0, 1), 3)
    ((1, 2), 1.175)
    """

    def __init__(self, runner: Runner) -> None:
        W, kernel = runner.problem.graph, runner.problem.kernel
        kernel.check_converges(W)
        super().__init__(np.dtype(np.float64), (W.n_nodes, W.n_nodes))
        self.W, self.kernel, self.names, self.tol = W, kernel, W.names, runner.problem.tol
        self._runner = runner

    @classmethod
    def exact(cls, W: Graph, kernel: Kernel, n_jobs: int = -1) -> KernelOperator:
        """An operator with products to 1e-10, always by the same method.

        Examples
        --------
        >>> import grfpp
        >>> W = grfpp.Graph([[0, 1], [1, 0]]).normalized("sym")
        >>> K = KernelOperator.exact(W, grfpp.Diffusion(1.0))
        >>> K @ np.array([1.0, 0.0])
        array([1.543, 1.175])
        """
        method = "dense" if W.n_nodes <= EXACT_DENSE_NODES else "chebyshev"
        problem = Problem(W, kernel, EXACT_TOL, n_jobs)
        return cls(Runner(problem, Costs(learns=False), method=method, warn=False))

    def __repr__(self) -> str:
        method = self.meta["method"]
        return f"KernelOperator(n_nodes={self.n_nodes}, kernel={self.kernel!r}, method={method!r})"

    @property
    def plan(self) -> Plan:
        """Which method multiplies, what the other methods would cost, and why."""
        return self._runner.plan

    @property
    def used(self) -> str:
        """How the last product was computed, in words; empty before the first."""
        runner = self._runner
        return f"{runner.name}: {runner.used}" if runner.used else ""

    @property
    def meta(self) -> dict[str, Any]:
        """Provenance: kernel, tolerance and method."""
        method = self._runner.name or self._runner.method
        what = {"kernel": repr(self.kernel), "exact": True, "tol": self.tol}
        return {**what, "method": method, "used": self.used}

    def _matmat(self, block: Any) -> Any:
        if np.iscomplexobj(block):
            return self._matmat(block.real) + 1j * self._matmat(block.imag)
        if block.shape[1] == 0 or self.n_nodes == 0:
            return np.zeros(block.shape)
        self.W.require_unchanged()
        what = f"a product with {block.shape[0]} x {block.shape[1]} numbers"
        require_bytes(24 * block.size, what)
        return self._runner.times(np.ascontiguousarray(block, dtype=np.float64))

    def _transpose(self) -> KernelOperator:
        if not self.W.is_directed:
            return self
        runner = self._runner
        problem = replace(runner.problem, graph=self.W.reversed())
        options = (runner.costs, runner.n_columns, runner.method)
        return KernelOperator(Runner(problem, *options, warn=runner.warn))

    _adjoint = _transpose

    @cached_property
    def _dense(self) -> FloatArray:
        return self.kernel.exact(self.W)

    def toarray(self) -> FloatArray:
        """The whole matrix, dense; refused where it does not fit into memory."""
        return self._dense.copy()

    def rows(self, nodes: npt.ArrayLike) -> FloatArray:
        """Rows of ``K``, by the indices or the names of their nodes."""
        return self._rows(self.names.numbers(nodes))

    def _rows(self, nodes: IntArray) -> FloatArray:
        if self.n_nodes <= EXACT_DENSE_NODES:
            return np.asarray(self._dense[nodes])
        require_bytes(16 * len(nodes) * self.n_nodes, f"{len(nodes)} dense rows")
        return np.asarray((self.T @ unit_columns(self.n_nodes, nodes)).T)

    def entry(self, i: int | str, j: int | str) -> float:
        """One number ``K[i, j]``, of nodes by their indices or names."""
        row, column = (int(self.names.numbers([node])[0]) for node in (i, j))
        return self._entry(row, column)

    def _entry(self, row: int, column: int) -> float:
        return float(self._rows(np.array([row]))[0, column])

    def diagonal(self, nodes: Any = None) -> FloatArray:
        """The diagonal of ``K``, from the dense matrix, or its entries for some nodes."""
        diagonal: FloatArray = self._dense.diagonal()
        return diagonal.copy() if nodes is None else diagonal[self.names.numbers(nodes)]

    def features(self) -> tuple[FloatArray, FloatArray]:
        """Dense ``X, Y`` with ``K = X Yᵀ``: the mean of the walks' features.

        ``X = ± g^½(W)`` and ``Y = g^½(Wᵀ)``, with the minus sign for kernels with ``α_0 < 0``.
        """
        n = self.n_nodes
        require_bytes(5 * 8 * n * n, f"exact features of {n} nodes")
        return self._halves(np.eye(n))

    def project(
        self, n_components: int = 64, seed: int | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Dense ``X, Y`` of shape ``(n_nodes, n_components)``, ``K ≈ X Yᵀ``.

        One Gaussian projection between the two halves, as in `KernelEstimate.project`.
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

        def coefficients(n: int, scale: float) -> FloatArray:
            return kernel.modulation(1, n, scale=scale)

        return taylor_times(W, coefficients, kernel.modulation_radius(1), block, 1e-12)


def kernel_operator(
    W: Any,
    kernel: Kernel | str,
    tol: float = 1e-3,
    n_columns: int | None = None,
    method: str = "auto",
    *,
    seed: int | None = None,
    n_jobs: int = -1,
    repeatable: bool = False,
) -> KernelOperator:
    """An operator that multiplies with a kernel by the method of least predicted time.

    Parameters
    ----------
    W
        The weight matrix: a `Graph` (usually normalised), or anything that `Graph` takes.
    kernel
        The kernel ``g(W)``, such as ``Diffusion(5)``, or how the command line writes it.
    tol
        Relative error of products in the Frobenius norm, ``‖K̂V − KV‖ ≤ tol · ‖KV‖``, at least
        1e-12. Every method bounds or measures its error, and where it is too large another method
        is used. A warning says where rounding alone may exceed it, as where ``K V`` is far smaller
        than ``‖K‖ · ‖V‖``.
    n_columns
        Columns that will be multiplied in all, where that is known: eigenvectors, computed once,
        pay for many columns. Without it each product is planned by its number of columns, and
        eigenvectors are computed once products have taken as long as they would.
    method
        ``"auto"``, or one of these.
        ``"dense"``: all eigenvectors.
        ``"chebyshev"``: polynomials of ``W``; its power series for directed graphs.
        ``"lanczos"``: each column's own Krylov space, with a bound on the error.
        ``"solve"``: conjugate gradients, for inverse powers.
        ``"walks"``: pooled walks (`grfpp.sample`), as many as the tolerance needs.
    seed
        Of the walks, where there are any.
    n_jobs
        Threads; -1 for all cores.
    repeatable
        Whether the method is chosen by the arguments and the machine's constants alone, not by
        observed times of products and what this process has imported: then the same call gives the
        same numbers. Without it two calls agree to `tol`.

    Returns
    -------
    KernelOperator
        A scipy ``LinearOperator``: ``K @ V``, ``K.T``, ``K[i, j]``, ``K.rows(nodes)``. ``K.plan``
        prints the chosen method and the predicted costs of all, ``K.used`` how the last product
        was computed.

    Raises
    ------
    DivergentSeriesError
        When the kernel diverges on this graph.
    InputError
        When the kernel's values exceed the range of float64 on this graph (normalise it), and for
        other invalid arguments.

    Examples
    --------
    >>> import grfpp, networkx as nx
    >>> graph = grfpp.Graph(nx.karate_club_graph())
    >>> K = grfpp.kernel_operator(graph.normalized("sym"), grfpp.Diffusion(5.0))
    >>> (K @ np.eye(34, 2)).shape
    (34, 2)
    >>> K.plan.method
    'dense'

    References
    ----------
    J. C. Mason and D. C. Handscomb, Chebyshev Polynomials, 2002.
    T. Chen et al., Error bounds for Lanczos-based matrix function approximation, SIAM J. Matrix
    Anal. Appl. 43, 2022.
    M. R. Hestenes and E. Stiefel, Methods of conjugate gradients for solving linear systems, 1952.
    A. H. Al-Mohy and N. J. Higham, Computing the action of the matrix exponential, with an
    application to exponential integrators, SIAM J. Sci. Comput. 33, 2011.
    """
    graph = as_graph(W)
    accuracy = finite(tol, "tol")
    if not MIN_TOLERANCE <= accuracy < 1:
        wanted = f"at least {MIN_TOLERANCE:g} and below 1"
        raise InputError(f"must be {wanted}, found {shown(tol)}", argument="tol")
    one_of(method, "method", ("auto", *METHODS))
    columns = None if n_columns is None else whole(n_columns, "n_columns", 1)
    checked_seed = None if seed is None else whole(seed, "seed", 0)
    thread_count(n_jobs)
    costs = Costs(learns=False) if repeatable else current_costs()
    problem = Problem(graph, kernel_of(kernel), accuracy, n_jobs, checked_seed)
    return KernelOperator(Runner(problem, costs, columns, method))
