"""Products to a tolerance: choose a method, check its error, use another one where it is large."""

from __future__ import annotations

import sys
from dataclasses import replace
from time import perf_counter

import numpy as np

from grfpp._memory import fits, readable_bytes
from grfpp.errors import InputError, InputWarning, warn_user
from grfpp.graph import Graph
from grfpp.linalg.csr import connected_to, frobenius
from grfpp.linalg.functions import TOO_LARGE
from grfpp.operators import thresholds
from grfpp.operators.costs import Costs
from grfpp.operators.methods import METHODS, Method, Product, Walks, predicted_walk_error
from grfpp.operators.problem import CostEstimate, Plan, Problem
from grfpp.typing import FloatArray


def choose(
    problem: Problem,
    n_columns: int,
    costs: Costs,
    n_products: float = 1.0,
    method: str = "auto",
    *,
    predict_walks: bool = True,
) -> Plan:
    """Compare all methods and choose that of least predicted time.

    Parameters
    ----------
    n_columns
        Of each product.
    n_products
        Number of products, which share the work that is done once.
    method
        ``"auto"``, or the name of the method that the caller asks for.
    predict_walks
        Whether to predict the error of walks, which takes some ten products with ``W``.

    Examples
    --------
    >>> import grfpp, networkx as nx
    >>> from grfpp.operators.costs import MachineCosts
    >>> W = grfpp.Graph(nx.path_graph(10_000)).normalized("sym")
    >>> problem = Problem(W, grfpp.Diffusion(1.0), 1e-3)
    >>> choose(problem, 1, Costs(MachineCosts())).method
    'chebyshev'
    """
    estimates = {name: make(problem).estimate(n_columns, costs) for name, make in METHODS.items()}
    for name, estimate in estimates.items():
        if estimate.ineligible_reason is None and not fits(estimate.n_bytes):
            reason = f"needs {readable_bytes(int(estimate.n_bytes))} of memory"
            estimates[name] = replace(estimate, ineligible_reason=reason)
    # Predicting the error of walks takes numba, which is slow to import: it is done where numba is
    # loaded, and where choices must not depend on that (`repeatable`).
    predict_walks = predict_walks and ("numba" in sys.modules or not costs.learns)
    estimates["walks"] = _checked_walks(problem, estimates, n_products, predict=predict_walks)
    eligible = [e for e in estimates.values() if e.ineligible_reason is None]
    if method != "auto":
        chosen, reason = method, "as asked for"
    elif eligible:
        chosen = min(eligible, key=lambda estimate: estimate.seconds(n_products)).method
        reason = "the least time" if len(eligible) > 1 else "the only one"
    else:
        reasons = "; ".join(f"{name}: {e.ineligible_reason}" for name, e in estimates.items())
        raise InputError(f"no method can multiply with {problem.kernel!r} of this graph: {reasons}")
    product = (repr(problem.kernel), problem.n_nodes, problem.n_entries, problem.tol, n_columns)
    return Plan(*product, chosen, tuple(estimates.values()), reason, n_products)


def _checked_walks(
    problem: Problem, estimates: dict[str, CostEstimate], n_products: float, *, predict: bool
) -> CostEstimate:
    """The estimate of walks, ineligible where trying them does not pay."""
    walks, tol = estimates["walks"], problem.tol
    eligible = [e for e in estimates.values() if e.ineligible_reason is None]
    others = [estimate for estimate in eligible if estimate is not walks]
    if walks not in eligible or not others:
        return walks
    best = min(others, key=lambda estimate: estimate.seconds(n_products))
    is_quick = problem.n_entries < thresholds.MAX_PREDICTED_ENTRIES
    error = predicted_walk_error(problem) if predict and is_quick else None
    seconds = walks.seconds(n_products)
    if error is not None and error > thresholds.MAX_WALK_ERROR_RATIO * tol:
        reason = f"would have an error of about {error:.2g}; {best.method} reaches {tol:g}"
    elif tol < (min_tol := thresholds.MIN_WALK_TOLERANCE):
        reason = f"random: for tolerances from {min_tol:g} on; {best.method} reaches {tol:g}"
    elif seconds > thresholds.MAX_WALK_SHARE * best.seconds(n_products):
        reason = f"{seconds:.2g} s at least; {best.method} takes less"
    else:
        return walks
    return replace(walks, ineligible_reason=reason)


class Runner:
    """Multiplies with a kernel by the best method for each product.

    Parameters
    ----------
    problem, costs
        The product, and the costs of this machine.
    n_columns, method
        As for `grfpp.kernel_operator`.
    warn
        Whether to try other methods, then warn, where rounding exceeds the tolerance.

    Attributes
    ----------
    name
        The method of the last product; empty before the first.
    used
        How the last product was computed, in words; empty before the first.
    """

    def __init__(
        self,
        problem: Problem,
        costs: Costs,
        n_columns: int | None = None,
        method: str = "auto",
        *,
        warn: bool = True,
    ) -> None:
        self.problem, self.costs = problem, costs
        self.n_columns, self.method, self.warn = n_columns, method, warn
        self._methods: dict[str, Method] = {name: make(problem) for name, make in METHODS.items()}
        if method != "auto":
            self._methods[method].check()
        self.used, self.name = "", ""
        self._plans: dict[int, Plan] = {}
        self._seconds_spent = 0.0
        self._last_width = min(n_columns or thresholds.USUAL_COLUMNS, 1024)

    @property
    def plan(self) -> Plan:
        """The plan for products of the last number of columns, or of the expected one."""
        plan = self._plan(self._last_width, predict_walks=True)
        if not self.name or self.name == plan.method:
            return plan
        # Observed times have changed the predictions since the last product.
        return replace(plan, method=self.name, reason="which multiplied last")

    def _plan(self, width: int, *, predict_walks: bool = False) -> Plan:
        """The plan for products with `width` columns."""
        n_products = max(1.0, (self.n_columns or 0) / width)
        arguments = (self.problem, width, self.costs, n_products, self.method)
        return choose(*arguments, predict_walks=predict_walks)

    def times(self, block: FloatArray) -> FloatArray:
        """``K @ block`` for a C-contiguous block of real numbers with at least one column."""
        length = frobenius(block)
        if length == 0 and not block.any():
            return np.zeros_like(block)
        if not 1e-100 < length < 1e100:
            return self._rescaled(block)
        self._last_width = block.shape[1]
        try:
            product = self._checked(self._product(block), block)
            result = product.scaled
            if product.unit != 1:
                with np.errstate(over="ignore"):
                    result *= product.unit
                if product.unit > 1e100 and not np.isfinite(result).all():
                    raise InputError(TOO_LARGE)
        except InputError as error:
            if error.problem != TOO_LARGE:
                raise
            kernel, radius = self.problem.kernel, self.problem.radius
            problem = f"the values of {kernel!r} exceed float64 at the spectral radius {radius:.6g}"
            is_large = radius > 1 + 1e-6
            advice = "use the normalisation 'sym'" if is_large else "take a kernel that grows less"
            raise InputError(problem, advice=advice) from None
        self.used = product.note
        # Predicted seconds: with `repeatable`, where observed times do not correct predictions, the
        # same calls choose the same methods.
        estimate = self._methods[self.name].estimate(block.shape[1], self.costs)
        self._seconds_spent += estimate.product
        return result

    def _rescaled(self, block: FloatArray) -> FloatArray:
        largest = float(np.abs(block).max())
        if not np.isfinite(largest):
            raise InputError("must be finite, found NaN or infinity", argument="V")
        exponent = int(np.frexp(largest)[1])
        product = self.times(np.ldexp(block, -exponent))
        with np.errstate(over="ignore"):
            product = np.ldexp(product, exponent)
        if not np.isfinite(product).all():
            problem = f"has numbers up to {largest:.3g}: the product exceeds the range of float64"
            raise InputError(problem, argument="V", advice="scale V down")
        return product

    def _product(self, block: FloatArray) -> Product:
        """Choose a method by the first rule that applies, and multiply.

        1. The method that the caller has named.
        2. ``"dense"`` for tiny graphs, whose eigenvectors take less time than comparing methods.
        3. ``"dense"`` once the products so far have taken as long as eigenvectors would.
        4. The method of least predicted time (`choose`). Walks that miss the tolerance are
           ineligible afterwards.
        """
        width = block.shape[1]
        if self.method != "auto":
            return self._multiply_by(self.method, block)
        if self.problem.n_nodes <= thresholds.TINY_NODES:
            return self._multiply_by("dense", block)
        if width not in self._plans:
            self._plans[width] = self._plan(width)
        plan = self._plans[width]
        name = "dense" if self._is_dense_due(plan) else plan.method
        if name == "walks":
            walks = self._methods["walks"]
            assert isinstance(walks, Walks)
            product = walks.attempt(block, self.problem.tol)
            if product.reaches(self.problem.tol):
                self.name = "walks"
                return product
            self.problem.walk_error = product.error / product.norm  # walks are ineligible now
            del self._plans[width]
            return self._product(block)
        return self._multiply_by(name, block)

    def _is_dense_due(self, plan: Plan) -> bool:
        """Whether the products so far have taken as long as eigenvectors would have."""
        if self._methods["dense"].is_prepared:
            return True
        dense, share = plan["dense"], thresholds.DENSE_TAKEOVER_SHARE
        if dense.ineligible_reason is not None or self._seconds_spent < dense.setup:
            return False
        return dense.product < share * plan[plan.method].product

    def _multiply_by(self, name: str, block: FloatArray) -> Product:
        """The product by one method, some columns at a time."""
        self.name = name
        method = self._methods[name]
        began = perf_counter()
        tol, chunk, width = self.problem.tol, method.chunk, block.shape[1]
        parts = np.split(block, range(chunk, width, chunk), axis=1)
        products = [method.times(np.ascontiguousarray(part), tol) for part in parts]
        if method.is_prepared and width in self._plans:
            predicted = self._plans[width][name].product
            self.costs.observe(name, predicted, perf_counter() - began)
        method.is_prepared = True
        return _joined(products)

    def _checked(self, product: Product, block: FloatArray) -> Product:
        """The product, or that of another method where only that reaches the tolerance."""
        problem, tol = self.problem, self.problem.tol
        if product.reaches(tol) or (not self.warn and product.norm > 0):
            return product
        if self.method == "walks":
            error = f"an error of {product.error / product.norm:.2g} on this product"
            what = f"{product.note} have {error}, which more walks do not lower to tol={tol:g}"
            raise InputError(what, advice="use method='auto', or a larger tol")
        part = self._on_components(block)
        if part is not None:
            return part
        n = problem.n_nodes
        is_possible = n <= thresholds.FALLBACK_DENSE_NODES and fits(40 * n * n)
        if self.name != "dense" and is_possible:
            again = self._multiply_by("dense", block)
            if again.reaches(tol):
                return again
        warning = "may be exceeded by rounding, since K V is far smaller than ‖K‖ ‖V‖"
        warn_user(InputWarning(warning, argument="tol", tol=tol))
        return product

    def _on_components(self, block: FloatArray) -> Product | None:
        """The product on the connected components where the block is not zero; ``None`` for all.

        The kernel may be smaller by orders of magnitude on them, and so is rounding.
        """
        graph = self.problem.graph
        touched = np.flatnonzero(np.any(block != 0, axis=1))
        nodes = np.flatnonzero(connected_to(graph.adjacency, touched))
        if len(nodes) == graph.n_nodes:
            return None
        part = Graph(graph.adjacency[nodes][:, nodes], directed=graph.is_directed or None)
        inner = Runner(replace(self.problem, graph=part), self.costs, method=self.method)
        result = np.zeros_like(block)
        result[nodes] = inner.times(np.ascontiguousarray(block[nodes]))
        self.name = inner.name
        return Product(result, 1.0, 0.0, 1.0, f"{inner.used}, on {len(nodes):,} nodes")


def _joined(products: list[Product]) -> Product:
    """Columns side by side, in the unit of the last."""
    if len(products) == 1:
        return products[0]
    unit, note = products[-1].unit, products[-1].note
    factors = np.array([product.unit / unit for product in products])
    columns = [product.scaled * factor for product, factor in zip(products, factors, strict=True)]
    error = float(np.linalg.norm(factors * [product.error for product in products]))
    norm = float(np.linalg.norm(factors * [product.norm for product in products]))
    return Product(np.hstack(columns), unit, error, norm, note)
