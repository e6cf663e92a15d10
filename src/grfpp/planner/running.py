"""Products to a tolerance: one method is picked, its error is checked, another one steps in."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from grfpp.errors import InputError, InputWarning, warn_user
from grfpp.graph import Graph
from grfpp.linalg.functions.shared import TOO_LARGE
from grfpp.linalg.norms import frobenius
from grfpp.planner.choose import choose
from grfpp.planner.costs import Costs
from grfpp.planner.methods import METHODS, Multiplier, Product
from grfpp.planner.methods.lanczos import MOST_STEPS, KrylovMultiplier
from grfpp.planner.methods.walks import WalkedMultiplier
from grfpp.planner.plan import Plan
from grfpp.planner.problem import Problem
from grfpp.planner.weights import fits
from grfpp.typing import FloatArray

#: Up to so many nodes eigenvectors take less time than any thought about it.
_TINY = 48
#: Seconds that are not worth a plan.
_QUICK = 1.5e-3
#: From so many terms on it may pay to look how far Lanczos' method comes with one column, which
#: has to need so much less.
_WORTH_A_LOOK, _LESS = 10, 0.75
#: Columns for which a plan is made when nobody has said how many.
USUAL_COLUMNS = 16
#: Up to so many nodes eigenvectors step in where rounding is too much for another method.
_STEPS_IN = 6000


class Runner:
    """Multiplies with a kernel, by what is best for each product.

    Attributes
    ----------
    plan
        That of the last product; before the first, that for the columns expected.
    used
        How the last product was made, in words; empty before the first.
    """

    def __init__(
        self, problem: Problem, costs: Costs, n_columns: int | None = None, method: str = "auto"
    ) -> None:
        self.problem, self.costs = problem, costs
        self.n_columns, self.method = n_columns, method
        if method != "auto":
            METHODS[method].check(problem)
        self.used, self.name = "", ""
        self._plans: dict[int, Plan] = {}
        self._ready: dict[str, Multiplier] = {}
        self._spent = 0.0
        self._last_width = min(n_columns or USUAL_COLUMNS, 1024)

    @property
    def plan(self) -> Plan:
        """What is used for products like the last one, and what else there is."""
        plan = self._chosen(self._last_width, thorough=True)
        if not self.name or self.name == plan.method:
            return plan
        # What ran may not be what is best by now: the first columns tell about the others.
        return replace(plan, method=self.name, why="which multiplied last")

    def plan_for(self, width: int) -> Plan:
        """The plan for products with so many columns."""
        if width not in self._plans:
            self._plans[width] = self._chosen(width, thorough=False)
        return self._plans[width]

    def _chosen(self, width: int, *, thorough: bool) -> Plan:
        n_products = max(1.0, (self.n_columns or 0) / width)
        return choose(self.problem, width, self.costs, n_products, self.method, thorough=thorough)

    def times(self, block: FloatArray) -> FloatArray:
        """``K @ block`` for a C-contiguous block of real numbers with a column at least."""
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
            raise InputError(
                f"the values of {self.problem.kernel!r} exceed the range of float64 on this graph, "
                f"whose spectral radius is {self.problem.radius:.6g}",
                **_smaller(self.problem.radius),
            ) from None
        self.used = product.note
        # As foreseen, not as measured: the same products are made in the same way again.
        self._spent += METHODS[self.name].offer(self.problem, block.shape[1], self.costs).product
        return result

    def _rescaled(self, block: FloatArray) -> FloatArray:
        largest = float(np.abs(block).max())
        if not np.isfinite(largest):
            raise InputError("V must be finite, found NaN or infinity")
        exponent = int(np.frexp(largest)[1])
        product = self.times(np.ldexp(block, -exponent))
        with np.errstate(over="ignore"):
            product = np.ldexp(product, exponent)
        if not np.isfinite(product).all():
            raise InputError(
                f"the product leaves the range of float64: V has numbers up to {largest:.3g}; "
                "scale it down"
            )
        return product

    def _product(self, block: FloatArray) -> Product:
        if self.method != "auto":
            return self._by(self.method, block)
        if self.problem.n_nodes <= _TINY:
            return self._by("dense", block)
        width = block.shape[1]
        if self._is_quick(width):
            return self._by("chebyshev", block)
        plan = self.plan_for(width)
        name = self._dense_by_now(plan) or plan.method
        if name == "walks":
            found = self._walked(block)
            if found is not None:
                return found
            del self._plans[width]
            return self._product(block)
        if name in ("chebyshev", "solve") and self._is_worth_a_look(width):
            first = self._look(block)
            name = self.plan_for(width).method
            if first is not None:
                if width == 1:
                    self.name = "lanczos"
                    return first
                return _joined([first, self._by(name, block[:, 1:])])
        return self._by(name, block)

    def _is_quick(self, width: int) -> bool:
        """Whether polynomials take so little that comparing methods would take as long."""
        problem, machine = self.problem, self.costs.machine
        expansion = problem.expansion
        if isinstance(expansion, str) or "dense" in self._ready or self.n_columns is not None:
            return False
        n = float(problem.n_nodes)
        each = machine.product(problem.n_entries, n, width)
        took = expansion.n_terms(problem.tol) * each
        # Many of them are another matter: then eigenvectors may pay.
        return took < min(_QUICK, machine.eigen_square * n * n) and self._spent < 20 * _QUICK

    def _walked(self, block: FloatArray) -> Product | None:
        """The product by walks, if it is right; else the tolerance is out of their reach."""
        multiplier = self._multiplier("walks")
        assert isinstance(multiplier, WalkedMultiplier)
        found = multiplier.attempt(block, self.problem.tol)
        if found.error <= self.problem.tol * found.norm:
            self.name = "walks"
            return found
        self.problem.walks_fail = found.error / found.norm
        return None

    def _is_worth_a_look(self, width: int) -> bool:
        """Whether Lanczos' method would pay if it took as few steps as can be hoped for."""
        problem = self.problem
        if problem.krylov_steps is not None or isinstance(problem.expansion, str):
            return False
        if problem.n_terms < _WORTH_A_LOOK:
            return False
        polynomials = METHODS["chebyshev"].offer(problem, width, self.costs).product
        problem.krylov_steps = problem.hoped_steps
        # One column is done once it has been looked at, and that by Lanczos' method.
        names = ("lanczos", "solve") if width > 1 else ("lanczos",)
        hoped = [METHODS[name].offer(problem, width, self.costs) for name in names]
        look = METHODS["lanczos"].offer(problem, 1, self.costs).product if width > 1 else 0.0
        problem.krylov_steps = None
        return look + min(each.product for each in hoped if not each.out) < _LESS * polynomials

    def _look(self, block: FloatArray) -> Product | None:
        """Multiply the first column by Lanczos' method: how far it comes tells about the others."""
        problem = self.problem
        most = problem.n_terms + 8 if block.shape[1] == 1 else int(_LESS * problem.n_terms)
        column = np.ascontiguousarray(block[:, :1])
        if not column.any() or not fits(8 * (most + 4) * problem.n_nodes):
            problem.krylov_steps = problem.n_terms
            return None
        found = KrylovMultiplier(problem).attempt(column, problem.tol, min(most, MOST_STEPS))
        if found is None:
            problem.krylov_steps = problem.n_terms
        self._plans.clear()
        return found

    def _dense_by_now(self, plan: Plan) -> str | None:
        """Whether eigenvectors would have paid already, had one known of so many products."""
        if "dense" in self._ready:
            return "dense"
        dense = plan["dense"]
        if dense.out or self._spent < dense.setup:
            return None
        return "dense" if dense.product < 0.8 * plan[plan.method].product else None

    def _multiplier(self, name: str) -> Multiplier:
        if name not in self._ready:
            self._ready[name] = METHODS[name].prepare(self.problem)
        return self._ready[name]

    def _by(self, name: str, block: FloatArray) -> Product:
        """The product by one method, some columns at a time."""
        self.name = name
        is_new = name not in self._ready
        multiplier = self._multiplier(name)
        began = perf_counter()
        tol, chunk, width = self.problem.tol, METHODS[name].chunk, block.shape[1]
        products = [
            multiplier.times(np.ascontiguousarray(block[:, start : start + chunk]), tol)
            for start in range(0, width, chunk)
        ]
        if not is_new and width in self._plans:
            predicted = self._plans[width][name]
            self.costs.observe(name, predicted.product, perf_counter() - began)
        return _joined(products)

    def _checked(self, product: Product, block: FloatArray) -> Product:
        """The product if it is right; else another method's, if that does better."""
        tol = self.problem.tol
        if product.error <= tol * product.norm:
            return product
        if self.method == "walks":
            raise InputError(
                f"{product.note} have an error of {product.error / product.norm:.2g} on this "
                f"product, and more would not bring it to tol={tol:g}; use method='auto', "
                "or a larger tol"
            )
        part = self._on_components(block)
        if part is not None:
            return part
        n = self.problem.n_nodes
        if self.name != "dense" and n <= _STEPS_IN and fits(40 * n * n):
            again = self._by("dense", block)
            if again.error <= tol * again.norm:
                return again
        warn_user(
            InputWarning(
                f"the product with {self.problem.kernel!r} is so much smaller than the kernel's "
                f"norm times that of V that rounding may be more than tol={tol:g} of it",
            )
        )
        return product

    def _on_components(self, block: FloatArray) -> Product | None:
        """The product on those components only that the block touches, where there are others.

        On them the kernel may be smaller by orders of magnitude, and rounding with it.
        """
        graph = self.problem.graph
        _, component = connected_components(graph.adjacency, directed=False)
        touched = np.unique(component[np.any(block != 0, axis=1)])
        nodes = np.flatnonzero(np.isin(component, touched))
        if len(nodes) == graph.n_nodes:
            return None
        part = Problem(
            Graph(graph.adjacency[nodes][:, nodes], directed=graph.is_directed or None),
            self.problem.kernel,
            self.problem.tol,
            self.problem.n_jobs,
            self.problem.seed,
        )
        inner = Runner(part, self.costs, method=self.method)
        result = np.zeros_like(block)
        result[nodes] = inner.times(np.ascontiguousarray(block[nodes]))
        self.name = inner.name
        return Product(result, 1.0, 0.0, 1.0, f"{inner.used}, on {len(nodes):,} nodes")


def _smaller(radius: float) -> dict[str, Any]:
    """What helps against values that are too large."""
    return {"scale": 1.0} if radius > 1 + 1e-6 else {"other": "take a kernel that grows less"}


def _joined(products: list[Product]) -> Product:
    """Columns side by side."""
    if len(products) == 1:
        return products[0]
    unit = products[-1].unit
    factors = [each.unit / unit for each in products]
    scaled = np.empty((len(products[0].scaled), sum(each.scaled.shape[1] for each in products)))
    start = 0
    for each, factor in zip(products, factors, strict=True):
        stop = start + each.scaled.shape[1]
        np.multiply(each.scaled, factor, out=scaled[:, start:stop])
        start = stop
    error = np.linalg.norm(
        [each.error * factor for each, factor in zip(products, factors, strict=True)]
    )
    norm = np.linalg.norm(
        [each.norm * factor for each, factor in zip(products, factors, strict=True)]
    )
    return Product(scaled, unit, float(error), float(norm), products[-1].note)
