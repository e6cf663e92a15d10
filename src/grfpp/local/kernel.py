"""`LocalKernel`: rows, entries, blocks and nearest nodes, at a cost independent of the graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
import scipy.sparse as sp

from grfpp._checks import listed, one_of, positive, probability, truth, whole
from grfpp._memory import require_bytes
from grfpp._parallel import thread_count
from grfpp.errors import InputError, shown
from grfpp.estimate.error_bars import N_REPLICATES, standard_error
from grfpp.graph import as_graph
from grfpp.kernels import Kernel, kernel_of
from grfpp.linalg.csr import csr
from grfpp.local.confidence import certain_top_k
from grfpp.local.neighbours import neighbour_folder, neighbour_matrix, padded_rows
from grfpp.local.pilot import budget_for, default_budget, plan_ranking
from grfpp.local.plan import LocalPlan
from grfpp.local.queries import (
    Choice,
    as_matrix,
    degree_of,
    in_parts,
    local_resolutions,
    local_top_k,
    local_values,
    pool_rows,
)
from grfpp.local.seeds import Seeds
from grfpp.typing import FloatArray, IntArray
from grfpp.walks.sampling import Progress

#: Standard deviation, over its size, of a contribution that is sampled with the probability
#: ``p = 1 / N_REPLICATES``: about ``√p``. Rarer ones are usually in no replicate, whose spread then
#: does not show them.
_UNSEEN = N_REPLICATES**-0.5


class LocalKernel:
    """Rows, entries and blocks of ``K = g(W)``, by pools that start at the nodes of a query.

    There is no preparation: a query reads only the nodes that its pools reach, independently of the
    size of the graph. Estimates are unbiased, and the same seed gives the same bits, independently
    of other queries and of the number of threads.

    Parameters
    ----------
    W
        A `Graph`, in memory or on disk, or anything that `Graph` takes.
    kernel
        Any kernel whose series converges on `W`, also as text such as ``"diffusion:5"``. Its
        ``α_0`` may have any sign: local queries need no root of the series.
    tol
        Relative error of rows: the root mean square of ``‖K̂[i, :] − K[i, :]‖ / ‖K[i, :]‖`` over the
        walks and over random nodes ``i`` with edges. It is converted into a budget by sampling 16
        rows four times each, with growing budgets. Entries and blocks have less error than rows.
    budget
        Number of edges that the pool of a row may follow, instead of `tol`. Without both it is 4096
        times the mean number of steps of the series, from 4096 to 2^20; for `top_k` up to 16 times
        as many within 2^20, if the ten nearest nodes need them (see `ranking_plan`).
    seed
        Seed of the random numbers.
    n_jobs
        Threads for queries of many nodes; -1: all cores.

    Attributes
    ----------
    plan
        The request as one immutable value: `grfpp.local.local_rows` and `grfpp.local.local_top_k`
        are pure functions of it.

    References
    ----------
    R. Andersen, F. Chung and K. Lang, Local graph partitioning using PageRank vectors, FOCS 2006:
    pushing residuals above a threshold.

    L.-H. Lim and J. Weare, Fast randomized iteration: diffusion Monte Carlo through the lens of
    numerical linear algebra, SIAM Review 59, 2017: sampling below it.

    Examples
    --------
    >>> import grfpp, networkx as nx
    >>> W = grfpp.Graph(nx.karate_club_graph()).normalized("sym")
    >>> near = grfpp.LocalKernel(W, grfpp.Diffusion(1.0), seed=0)
    >>> nodes, values = near.top_k(0, 3, include_self=False)
    >>> nodes, values.round(3)
    (array([11,  4,  1]), array([0.282, 0.217, 0.215]))
    >>> round(near.entry(0, 33), 4)
    0.027
    """

    def __init__(
        self,
        W: Any,
        kernel: Kernel | str,
        tol: float | None = None,
        budget: float | None = None,
        seed: int = 0,
        n_jobs: int = -1,
    ) -> None:
        kernel = kernel_of(kernel)
        if tol is not None and budget is not None:
            raise InputError(
                "and budget exclude each other", argument="tol", advice="leave out one of them"
            )
        self.tol = None if tol is None else probability(tol, "tol", above_zero=True, below_one=True)
        steps = None if budget is None else positive(budget, "budget")
        self.kernel = kernel
        self._n_threads = thread_count(n_jobs)
        self.graph = as_graph(W)
        kernel.check_weights(self.graph)
        plan = LocalPlan.of(self.graph, kernel, 1.0, whole(seed, "seed", 0))
        if self.tol is not None:
            steps = budget_for(plan, kernel, self.tol)
        self.plan = plan.with_budget(default_budget(plan) if steps is None else steps)
        self._has_default_budget = steps is None

    def __repr__(self) -> str:
        return f"LocalKernel({self.graph!r}, {self.kernel!r}, budget={self.budget:g})"

    @property
    def budget(self) -> float:
        """Number of edges that the pool of a row may follow."""
        return self.plan.budget

    @cached_property
    def ranking_plan(self) -> LocalPlan:
        """The plan of `top_k`, made by the first one.

        With `tol` or `budget` it is `plan`. By default its budget gives a precision of 0.95 of the
        ten nearest nodes, measured on 32 random nodes; where the largest budget does not reach it,
        a warning has the precision.
        """
        return plan_ranking(self.plan) if self._has_default_budget else self.plan

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the whole kernel."""
        return self.graph.n_nodes, self.graph.n_nodes

    @overload
    def rows(
        self, nodes: Any = ..., return_std: Literal[False] = ..., *, seeds: Any = ...
    ) -> sp.csr_array: ...
    @overload
    def rows(
        self, nodes: Any = ..., *, return_std: Literal[True], seeds: Any = ...
    ) -> tuple[sp.csr_array, sp.csr_array]: ...
    @overload
    def rows(self, nodes: Any, return_std: Literal[True]) -> tuple[sp.csr_array, sp.csr_array]: ...
    @overload
    def rows(
        self, nodes: Any = ..., *, seeds: Any = ..., kernels: Sequence[Kernel | str]
    ) -> list[sp.csr_array]: ...
    def rows(
        self,
        nodes: Any = None,
        return_std: bool = False,
        *,
        seeds: Any = None,
        kernels: Sequence[Kernel | str] | None = None,
    ) -> Any:
        """Rows of the kernel as a sparse matrix; entries of nodes that no pool reached are zero.

        Parameters
        ----------
        nodes
            Indices or names of nodes, as for `KernelEstimate.rows`; one, or a list of them.
        return_std
            Also return standard errors, from 16 further rows each. They are at least as large as
            what 16 rows may miss: edges that are sampled with a probability of 1/16. Entries that
            no pool reached have an error of this size too, which the matrix does not hold.
        seeds
            Sets of weighted nodes instead of `nodes`, as for `top_k`: ``Σ_i weight_i K[i, :]``.
        kernels
            Several kernels instead of the one, whose rows are sums over the same pool; its budget
            is shared by all steps that they need. Not with `return_std`.

        Returns
        -------
        csr_array of shape ``(len(nodes), n_nodes)``, or two; or one for each of the kernels
        """
        chosen = self._starts(nodes, seeds)
        if kernels is not None:
            plan, number = self._plan_of(self.plan, kernels, chosen, return_std), len(kernels)
            rows = self._rows(plan, chosen)
            return [rows[first::number] for first in range(number)]
        result = self._with_errors(lambda plan: self._rows(plan, chosen), return_std)
        if not return_std:
            return result
        rows, errors = result
        reached = csr(np.ones(rows.nnz), rows.indices, rows.indptr, rows.shape[1])
        at = (reached + errors).tocoo().coords
        least = sp.csr_array((self._least_errors(chosen, *at), at), rows.shape)
        return rows, errors.maximum(least)

    def top_k(
        self,
        nodes: Any = None,
        k: int = 10,
        return_std: bool = False,
        include_self: bool = True,
        *,
        seeds: Any = None,
        among: Any = None,
        exclude: Any = None,
        normalize: Literal["degree"] | None = None,
        kernels: Sequence[Kernel | str] | None = None,
        confidence: float | None = None,
    ) -> tuple[Any, ...]:
        """The `k` nodes with the largest entries in the rows of `nodes`, largest first.

        On undirected graphs the best ``2 k + 16`` nodes of a row are recomputed from their
        neighbours, with an exact last step, as far as their edges fit into four times the budget;
        the values are more accurate than those of `rows`. Without `confidence` the pool does not
        stop early by rank; its budget is that of `ranking_plan`.
        Of equal entries the lower node comes first. Only positive entries have a node: where fewer
        than `k` are positive, as where the pool reached fewer nodes, the other nodes are -1 and
        their values 0. A graph on disk is read through its memory map.

        Parameters
        ----------
        nodes
            Indices or names of nodes; one, or a list of them.
        k
            Number of nodes for each row.
        return_std
            Also return standard errors of the values, from 16 further rows each.
        include_self
            Whether a node, or a seed, may be among its own nearest nodes.
        seeds
            Sets of weighted nodes instead of `nodes`: a dictionary ``{node: weight}``, a list of
            these, or a sparse matrix with a row for each query and a column for each node. The row
            of a set is ``Σ_i weight_i K[i, :]``, from one pool that starts at all its nodes, with
            the budget of one. A negative weight subtracts its row: ``{"a": 1, "b": -1}`` ranks what
            is nearer to ``a`` than to ``b``. Such a row has entries of both signs, of which only
            positive ones are listed; it is no distribution, also where rows of PageRank are. Nodes
            of negative weight have a pool of their own, with a share of the budget.
        among, exclude
            Nodes that alone may be listed, and nodes that may not: indices or names, or a truth
            value for each node.
        normalize
            ``"degree"`` ranks by ``K[i, j] / d_j``, with the weighted degree ``d_j = Σ_v A[v, j]``
            of the target in the weights ``A`` before they were normalised (one for nodes without
            edges), so that hubs do not come first. For PageRank on undirected graphs this is
            symmetric in ``i`` and ``j``.
        kernels
            Several kernels instead of the one, which share a pool as in `rows`. Not with
            `return_std` or `confidence`.
        confidence
            Probability, such as 0.99, with which the set of the `k` nodes shall be right. Further
            pools, with growing budgets, are averaged until the `k`-th and the next entry differ by
            more than their errors explain, or until this is out of reach (see
            `grfpp.local.confidence`). Not with `return_std`.

        Returns
        -------
        nodes, values
            Of shape ``(len(nodes), k)``, or ``(k,)`` for one node or set, with a leading axis for
            `kernels`.
        std
            With `return_std`, the standard errors.
        certain
            With `confidence`, of the same shape: whether the first ``r`` nodes are the ``r``
            nearest, as a set. It holds for each entry with the given probability, and exactly where
            pools followed all edges.
        """
        chosen, k = self._starts(nodes, seeds), whole(k, "k", 1)
        with_errors = truth(return_std, "return_std")
        choice = self._choice(include_self, among, exclude, normalize)
        n_kernels = 1 if kernels is None else len(kernels)
        require_bytes(64 * k * len(chosen) * n_kernels, f"{k} nodes for each of {len(chosen)}")
        plan = self.ranking_plan
        if confidence is not None:
            if with_errors or kernels is not None:
                problem = "excludes return_std and kernels"
                raise InputError(problem, argument="confidence", advice="ask for one at a time")
            level = probability(confidence, "confidence", above_zero=True, below_one=True)
        if kernels is not None:
            plan = self._plan_of(plan, kernels, chosen, with_errors)

        def work(part: Seeds) -> tuple[Any, ...]:
            if confidence is not None:
                return certain_top_k(plan, part, k, choice, level)
            return local_top_k(plan, part, k, choice)

        parts = in_parts(work, plan, chosen, self._n_threads)
        result = [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]
        if with_errors:
            columns, values = result
            divisor = degree_of(plan, choice, columns) if choice.by_degree else np.ones(1)
            errors = self._errors_of_values(chosen, columns, values * divisor)
            result.append(errors / divisor)
        if _is_single(nodes) if seeds is None else isinstance(seeds, Mapping):
            return tuple(array[0] for array in result)
        return tuple(result if kernels is None else (array.swapaxes(0, 1) for array in result))

    @overload
    def entry(
        self, i: Any = ..., j: Any = ..., return_std: Literal[False] = ..., *, seeds: Any = ...
    ) -> float: ...
    @overload
    def entry(
        self, i: Any = ..., j: Any = ..., *, return_std: Literal[True], seeds: Any = ...
    ) -> tuple[float, float]: ...
    @overload
    def entry(self, i: Any, j: Any, return_std: Literal[True]) -> tuple[float, float]: ...
    def entry(
        self, i: Any = None, j: Any = None, return_std: bool = False, *, seeds: Any = None
    ) -> Any:
        """One entry of the kernel; on undirected graphs from pools that start at both nodes.

        Parameters
        ----------
        i, j
            Indices or names of nodes.
        return_std
            Also return the standard error, from 16 further entries.
        seeds
            A dictionary ``{node: weight}`` instead of `i`: ``Σ_i weight_i K[i, j]``.
        """
        start, column = self._starts(i, seeds, "i"), self._indices(j, "j")
        for node, name in ((0 if i is None else i, "i"), (j, "j")):
            if not _is_single(node):
                raise InputError(
                    f"must be one node, found {shown(node)}",
                    argument=name,
                    advice="use block(S, T) for several",
                )
        if seeds is not None and not isinstance(seeds, Mapping):
            problem = f"must be one dictionary, found {shown(seeds)}"
            raise InputError(problem, argument="seeds", advice="pass {node: weight}")
        parts, signs = start.by_sign()
        found = self._block(parts, column, 1, return_std, signs)
        if not return_std:
            return float(found[0, 0])
        return float(found[0][0, 0]), float(found[1][0, 0])

    @overload
    def block(self, S: Any, T: Any = ..., return_std: Literal[False] = ...) -> FloatArray: ...
    @overload
    def block(self, S: Any, T: Any, return_std: Literal[True]) -> tuple[FloatArray, FloatArray]: ...
    def block(self, S: Any, T: Any = None, return_std: bool = False) -> Any:
        """The block ``K[S, T]`` as a dense array.

        On undirected graphs pools start at the nodes of both sides. Where one side has far more
        nodes (15 times as many), and on directed graphs, the block is read from the rows of `S` or
        the columns of `T`.

        Parameters
        ----------
        S, T
            Indices or names of nodes; `T` are the same as `S` by default.
        return_std
            Also return standard errors, from 16 further blocks.

        Returns
        -------
        ndarray of shape ``(len(S), len(T))``, or two
        """
        rows = self._indices(S, "S")
        columns = rows if T is None else self._indices(T, "T")
        require_bytes(
            (48 if return_std else 16) * len(rows) * len(columns),
            f"a {len(rows)} x {len(columns)} matrix",
        )
        return self._block(rows, columns, self._n_threads, return_std)

    def neighbors_graph(
        self,
        k: int,
        output: str | Path | None = None,
        include_self: bool = False,
        progress: bool | Progress = False,
        *,
        return_std: bool = False,
    ) -> Any:
        """The `k` nearest nodes of every node, as by `top_k`, in a sparse matrix.

        In memory and on disk it has the same entries, which are positive.

        Parameters
        ----------
        k
            Number of neighbours of each node.
        output
            A folder (``….grf``) to write the graph to, in blocks of rows, for `Graph.open`. It is
            written completely or not at all.
        include_self
            Whether a node may be among its own nearest nodes.
        progress
            ``True`` for a bar on the terminal, or a function of the number of finished rows and the
            number of all rows.
        return_std
            Also return standard errors, from 16 further rows each; only without `output`.

        Returns
        -------
        csr_array of shape ``(n_nodes, n_nodes)``, or two; or the `Graph` that was written
        """
        k = min(whole(k, "k", 1), self.graph.n_nodes)
        include_self = truth(include_self, "include_self")
        with_errors = truth(return_std, "return_std")
        if with_errors and output is not None:
            problem = "is not available for graphs that are written to a folder"
            raise InputError(problem, argument="return_std", advice="leave out output")
        request = (self.ranking_plan, k, include_self, self._n_threads, progress)
        if output is not None:
            return neighbour_folder(output, *request)
        matrix = neighbour_matrix(*request)
        if not with_errors:
            return matrix
        nodes = np.arange(self.graph.n_nodes)
        columns, values = padded_rows(matrix, k)
        errors = self._errors_of_values(nodes, columns, values)
        return matrix, csr(errors[columns >= 0], matrix.indices, matrix.indptr, len(nodes))

    def _block(
        self,
        rows: Seeds | IntArray,
        columns: IntArray,
        n_threads: int,
        return_std: bool,
        signs: FloatArray | None = None,
    ) -> Any:
        """A block; of seeds, the combinations of its rows by the entries of `signs`."""
        from grfpp.local.blocks import kernel_block

        def query(plan: LocalPlan) -> FloatArray:
            block = kernel_block(plan, rows, columns, n_threads)
            return block if signs is None else signs @ block

        result = self._with_errors(query, return_std)
        if not return_std:
            return result
        block, errors = result
        weights, ratio = self.plan.weights, np.ones((1, 1))
        if signs is not None:
            at = np.arange(len(rows))[:, np.newaxis]
            least = self._least_errors(rows, at, columns)
            return block, np.where(errors > 0, errors, np.abs(signs) @ least)
        assert isinstance(rows, np.ndarray)
        if is_tall := len(rows) > len(columns) and weights.is_reversible:
            ratio = weights.ratio_to_transpose(self.graph, rows, columns)
            rows, columns = columns, rows
        least = self._least_errors(rows, np.arange(len(rows))[:, np.newaxis], columns)
        return block, np.where(errors > 0, errors, (least.T if is_tall else least) * ratio)

    def _indices(self, nodes: Any, argument: str = "nodes") -> IntArray:
        return self.graph.names.numbers(nodes, argument)

    def _starts(self, nodes: Any, seeds: Any, argument: str = "nodes") -> Seeds:
        """Where the pools of a query start: at nodes, or at sets of seeds."""
        if (nodes is None) == (seeds is None):
            found = "neither is given" if nodes is None else "both are given"
            raise InputError(f"or seeds must be passed, {found}", argument=argument)
        if seeds is None:
            return Seeds.of_nodes(self._indices(nodes, argument))
        return Seeds.of(self.graph.names, seeds)

    def _choice(self, include_self: Any, among: Any, exclude: Any, normalize: Any) -> Choice:
        """Check what may be listed, and what entries are divided by."""
        by_degree = one_of(normalize, "normalize", (None, "degree")) is not None
        choice = Choice(truth(include_self, "include_self"), by_degree=by_degree)
        if by_degree:
            choice = choice._replace(strength=self._strength)
        if among is None and exclude is None:
            return choice
        is_allowed = np.full(self.graph.n_nodes, among is None)
        if among is not None:
            is_allowed[self._indices(among, "among")] = True
        if exclude is not None:
            is_allowed[self._indices(exclude, "exclude")] = False
        return choice._replace(is_allowed=is_allowed)

    @cached_property
    def _strength(self) -> FloatArray:
        """Weighted in-degrees before the normalisation; empty where they are the out-degrees."""
        weights = self.plan.weights
        if len(weights.into):
            return weights.into
        if not self.graph.is_directed and (len(weights.out) or not len(weights.base)):
            return weights.out
        # Not the base of `weights`: that of an updated graph has the rows before.
        arriving = np.bincount(self.graph.indices, self.graph.scaled.base, self.graph.n_nodes)
        return np.asarray(arriving, np.float64)

    def _plan_of(self, plan: LocalPlan, kernels: Any, starts: Seeds, return_std: bool) -> LocalPlan:
        """The plan of several kernels, checked."""
        chosen = [kernel_of(kernel) for kernel in listed(kernels, "kernels")]
        if not chosen:
            raise InputError("must not be empty", argument="kernels")
        if truth(return_std, "return_std") or starts.are_signed:
            problem = "exclude return_std and negative weights"
            raise InputError(problem, argument="kernels", advice="ask for one kernel at a time")
        for kernel in chosen:
            kernel.check_weights(self.graph)
        plan = plan.with_kernels(chosen)
        if not self._has_default_budget:
            return plan
        return plan.with_budget(max(plan.budget, default_budget(plan)))

    def _rows(self, plan: LocalPlan, nodes: Seeds | IntArray) -> sp.csr_array:
        blocks = in_parts(lambda part: pool_rows(plan, part), plan, nodes, self._n_threads)
        return as_matrix(list(blocks), self.graph.n_nodes)

    def _values(self, plan: LocalPlan, nodes: Seeds | IntArray, columns: IntArray) -> FloatArray:
        def work(part: IntArray) -> FloatArray:
            some = slice(*(part[[0, -1]] + [0, 1])) if len(part) else slice(0)
            return local_values(plan, nodes[some], columns[some])

        positions = np.arange(len(nodes))
        return np.concatenate(list(in_parts(work, plan, positions, self._n_threads)))

    def _with_errors(self, query: Callable[[LocalPlan], Any], return_std: bool) -> Any:
        """The result of a query, and its standard error with `return_std`."""
        with_errors = truth(return_std, "return_std")
        result = query(self.plan)
        if not with_errors:
            return result
        return result, _standard_error(self.plan, query, result)

    def _errors_of_values(
        self, nodes: Seeds | IntArray, columns: IntArray, values: FloatArray
    ) -> FloatArray:
        plan = self.ranking_plan
        errors = _standard_error(plan, lambda plan: self._values(plan, nodes, columns), values)
        least = self._least_errors(nodes, np.arange(len(nodes))[:, np.newaxis], columns, plan)
        return np.where((errors > 0) | (columns < 0), errors, least)

    def _least_errors(
        self,
        nodes: Seeds | IntArray,
        at: IntArray,
        columns: IntArray,
        plan: LocalPlan | None = None,
    ) -> FloatArray:
        """Errors that replicates may not show, at entries of the rows ``nodes[at]``."""
        plan = plan or self.plan
        parts = in_parts(lambda part: local_resolutions(plan, part), plan, nodes, self._n_threads)
        missed = np.concatenate(list(parts))[at]
        inverse = plan.weights.inverse_potential(self.graph, columns)
        return np.asarray(_UNSEEN * missed * inverse)


def _standard_error(plan: LocalPlan, query: Callable[[LocalPlan], Any], result: Any) -> Any:
    """The spread of the result of a plan and of 16 replicates.

    The result counts as one of them, so that an amount that it alone has by chance is seen.
    """
    replicates = [plan.with_replicate(number) for number in range(1, N_REPLICATES + 1)]
    return standard_error(
        lambda other: result if other is plan else query(other), result, [plan, *replicates]
    )


def _is_single(nodes: Any) -> bool:
    return isinstance(nodes, str | int | np.integer) or np.ndim(nodes) == 0
