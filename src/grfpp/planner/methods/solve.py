"""``method="solve"``: inverse powers by conjugate gradients."""

from __future__ import annotations

import math

import numpy as np

from grfpp.errors import InputError
from grfpp.kernels.powers import InversePowerForm, inverse_power_form
from grfpp.linalg.norms import frobenius
from grfpp.linalg.solvers.conjugate_gradients import inverse_times
from grfpp.planner.costs import Costs
from grfpp.planner.methods.base import Method, Multiplier, Product
from grfpp.planner.methods.polynomials import step_seconds
from grfpp.planner.plan import Offer
from grfpp.planner.problem import Problem
from grfpp.typing import FloatArray

_MOST_STEPS = 20_000


class Solve(Method):
    """``factor · (I − c W^of)^-power @ V`` as linear systems, one after the other."""

    name = "solve"

    def offer(self, problem: Problem, n_columns: int, costs: Costs) -> Offer:
        """From the interval of the spectrum, or from the steps that Lanczos' method took."""
        form = _form(problem)
        if isinstance(form, str):
            return self._out(form)
        n_steps = _predicted_steps(problem, form)
        width = min(n_columns, self.chunk)
        each = form.of * step_seconds(problem, width, costs, 1) + 9 * (
            problem.n_nodes * width * costs.machine.number
        )
        n_bytes = 8 * problem.n_nodes * (6 * width + 2 * n_columns)
        note = f"{n_steps} steps of conjugate gradients"
        note += f", {form.power} times" if form.power > 1 else ""
        seconds = form.power * (n_steps + 1) * each
        return self._offer(costs, 0.0, seconds * n_columns / width, n_bytes, note)

    def check(self, problem: Problem) -> None:
        """Whole inverse powers on undirected graphs."""
        self.prepare(problem)

    def prepare(self, problem: Problem) -> Multiplier:
        """Nothing but a check."""
        form = _form(problem)
        if isinstance(form, str):
            raise InputError(f"method='solve': {form}")
        return _Solver(problem, form)


def _form(problem: Problem) -> InversePowerForm | str:
    """The kernel as an inverse power of a positive matrix, or why it is none."""
    form = inverse_power_form(problem.kernel)
    if form is None:
        return "the kernel is no inverse power"
    if form.power != int(form.power):
        return f"the power {form.power:g} is no whole number"
    if problem.graph.is_directed:
        return "the graph is directed: the matrix is not symmetric"
    return form


def _ends(problem: Problem, form: InversePowerForm) -> tuple[float, float]:
    """Between what the eigenvalues of ``I − c W^of`` lie."""
    reach = form.c * problem.radius**form.of
    return 1 - reach, 1 + reach if form.of == 1 else 1.0


def _predicted_steps(problem: Problem, form: InversePowerForm) -> int:
    low, high = _ends(problem, form)
    ratio = float(high / low)
    whole_power = int(form.power)
    share = min(1.0, problem.share)
    # What the bound asks for: the residual over the smallest eigenvalue.
    digits = math.log(2 * math.sqrt(ratio) / (problem.tol * share)) + (whole_power - 1) * math.log(
        ratio
    )
    steps = max(2, math.ceil(0.5 * math.sqrt(ratio) * digits))
    known = problem.krylov_steps
    if known is not None and form.of == 1:
        steps = min(steps, known + 2 * (whole_power - 1))
    return min(steps, problem.n_nodes)


class _Solver:
    def __init__(self, problem: Problem, form: InversePowerForm) -> None:
        self._problem, self._form = problem, form

    def times(self, block: FloatArray, tol: float) -> Product:
        form, (low, high) = self._form, _ends(self._problem, self._form)
        power, error, steps = int(form.power), 0.0, 0
        found = block if form.factor == 1 else form.factor * block
        norm = frobenius(found)
        for number in range(1, power + 1):
            # Later solves can make an error larger and the product smaller, by so much at most.
            later = power - number
            wanted = tol / power * (low / high) ** later
            solved = inverse_times(self._multiply, low, found, 0.9 * wanted, _MOST_STEPS)
            if solved.product is None:
                return Product(np.zeros_like(block), 1.0, 1.0, 0.0, "no convergence")
            found, norm, steps = solved.product, solved.norm, steps + solved.n_steps
            error += solved.error / low**later
        note = f"{steps} steps of conjugate gradients"
        return Product(found, 1.0, error, norm, note)

    def _multiply(self, block: FloatArray) -> FloatArray:
        turned = block
        for _ in range(self._form.of):
            turned = self._problem.weights.times(turned)
        turned *= -self._form.c
        turned += block
        return turned
