"""`kernel_operator`: a kernel that multiplies, by what is best for the graph and the task."""

from __future__ import annotations

from typing import Any

import numpy as np

from grfpp.arguments import finite, one_of, whole
from grfpp.errors import InputError, shown
from grfpp.exact_kernel import ExactKernel
from grfpp.graph import Graph, as_graph
from grfpp.kernels import Kernel, kernel_of
from grfpp.memory import require_bytes
from grfpp.options import LEAST_TOLERANCE
from grfpp.parallel import thread_count
from grfpp.planner.costs import Costs, current_costs
from grfpp.planner.methods import METHODS
from grfpp.planner.plan import Plan
from grfpp.planner.problem import Problem
from grfpp.planner.running import Runner


class KernelOperator(ExactKernel):
    """``K = g(W)`` as an operator whose products are right to a tolerance; see `kernel_operator`.

    Whole matrices, diagonals and features are those of the exact kernel.
    """

    def __init__(
        self,
        W: Graph,
        kernel: Kernel,
        tol: float = 1e-3,
        n_columns: int | None = None,
        method: str = "auto",
        *,
        seed: int | None = None,
        n_jobs: int = -1,
        costs: Costs | None = None,
    ) -> None:
        super().__init__(W, kernel)
        self.tol = tol
        self._runner = Runner(
            Problem(W, kernel, tol, n_jobs, seed), costs or current_costs(), n_columns, method
        )

    def __repr__(self) -> str:
        how = self._runner.name or self._runner.method
        return f"KernelOperator(n_nodes={self.n_nodes}, kernel={self.kernel!r}, method={how!r})"

    @property
    def plan(self) -> Plan:
        """What multiplies, what the other methods would cost, and why."""
        return self._runner.plan

    @property
    def used(self) -> str:
        """How the last product was made, in words; empty before the first."""
        runner = self._runner
        return f"{runner.name}: {runner.used}" if runner.used else ""

    @property
    def meta(self) -> dict[str, Any]:
        """What made the operator."""
        return {
            "kernel": repr(self.kernel),
            "exact": True,
            "tol": self.tol,
            "method": self._runner.name or self._runner.method,
            "used": self.used,
        }

    def _matmat(self, block: Any) -> Any:
        if np.iscomplexobj(block):
            return self._matmat(block.real) + 1j * self._matmat(block.imag)
        if block.shape[1] == 0 or self.n_nodes == 0:
            return np.zeros(block.shape)
        self.W.require_unchanged()
        require_bytes(
            24 * block.size,
            f"a product with {block.shape[0]} x {block.shape[1]} numbers",
            most_rows=lambda room: f"{room // (24 * self.n_nodes)} columns",
        )
        return self._runner.times(np.ascontiguousarray(block, dtype=np.float64))

    def _matvec(self, x: Any) -> Any:
        return self._matmat(x.reshape(-1, 1))

    def _transpose(self) -> KernelOperator:
        if not self.W.is_directed:
            return self
        runner, problem = self._runner, self._runner.problem
        return KernelOperator(
            self.W.reversed(),
            self.kernel,
            self.tol,
            runner.n_columns,
            runner.method,
            seed=problem.seed,
            n_jobs=problem.n_jobs,
            costs=runner.costs,
        )

    _adjoint = _transpose


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
    """Make an operator that multiplies with a kernel, by the method that takes least time.

    Parameters
    ----------
    W
        The weight matrix: a `Graph` (usually normalised), or anything that `Graph` takes.
    kernel
        The kernel ``g(W)``, such as ``Diffusion(5)``, or how the command line writes it.
    tol
        Products are right to ``‖K̂V − KV‖ ≤ tol · ‖KV‖``, in Frobenius' norm, from 1e-12 up. Every
        method knows or measures its error, and another one steps in where it is too large. Where
        ``K V`` is so small against ``‖K‖ · ‖V‖`` that rounding is more, a warning says so.
    n_columns
        Columns that will be multiplied in all, where that is known: many of them are worth more
        preparation. Without it each product is planned by its own columns, and eigenvectors are
        found once products have taken as long.
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
        Whether the method is picked by the arguments and the machine's constants alone, and not
        by how long products took in this process too: then the same call gives the same numbers.
        Without it two calls agree to `tol`.

    Returns
    -------
    KernelOperator
        A scipy ``LinearOperator``: ``K @ V``, ``K.T``, ``K[i, j]``, ``K.rows(nodes)``. ``K.plan``
        prints what was picked and what the others would have cost, ``K.used`` how the last product
        was made.

    Raises
    ------
    DivergentSeriesError
        When the kernel diverges on this graph.
    InputError
        When the kernel's values exceed the range of float64 on this graph, which is normalised
        then; and for anything else that cannot be used.

    Examples
    --------
    >>> import grfpp, networkx as nx
    >>> graph = grfpp.Graph(nx.karate_club_graph())
    >>> K = grfpp.kernel_operator(graph.normalized("sym"), grfpp.Diffusion(5.0))
    >>> (K @ np.eye(34, 2)).shape
    (34, 2)
    >>> K.plan.method
    'dense'
    """
    graph = as_graph(W)
    accuracy = finite(tol, "tol")
    if not LEAST_TOLERANCE <= accuracy < 1:
        problem = f"must be at least {LEAST_TOLERANCE:g} and below 1, found {shown(tol)}"
        raise InputError(problem, argument="tol")
    one_of(method, "method", ("auto", *METHODS))
    columns = None if n_columns is None else whole(n_columns, "n_columns", 1)
    drawn = None if seed is None else whole(seed, "seed", 0)
    thread_count(n_jobs)
    costs = current_costs()
    return KernelOperator(
        graph,
        kernel_of(kernel),
        accuracy,
        columns,
        method,
        seed=drawn,
        n_jobs=n_jobs,
        costs=Costs(costs.machine, learns=False) if repeatable else costs,
    )
