"""``method="solve"``: inverse powers by conjugate gradients."""

from __future__ import annotations

import math

import numpy as np

from grfpp.errors import InputError
from grfpp.kernels.base import InversePowerForm
from grfpp.linalg.cg import inverse_times
from grfpp.linalg.csr import frobenius
from grfpp.operators.costs import Costs
from grfpp.operators.methods.base import Method, Product
from grfpp.operators.problem import CostEstimate, Problem
from grfpp.operators.thresholds import MAX_SOLVE_STEPS
from grfpp.typing import FloatArray


class Solve(Method):
    """``factor · (I − c W^of)^-power @ V`` as linear systems, one after the other."""

    name = "solve"

    def estimate(self, n_columns: int, costs: Costs) -> CostEstimate:
        """From the interval of the spectrum, or from the steps that Lanczos' method took."""
        problem, form = self.problem, _form(self.problem)
        if isinstance(form, str):
            return self._ineligible(form)
        n_steps = _predicted_steps(problem, form)
        width = min(n_columns, self.chunk)
        each = form.of * self._step_seconds(width, costs, 1) + 9 * (
            problem.n_nodes * width * costs.machine.number
        )
        n_bytes = 8 * problem.n_nodes * (6 * width + 2 * n_columns)
        note = f"{n_steps} steps of conjugate gradients"
        note += f", {form.power} times" if form.power > 1 else ""
        seconds = form.power * (n_steps + 1) * each
        return self._estimate(costs, 0.0, seconds * n_columns / width, n_bytes, note)

    def check(self) -> None:
        """Whole inverse powers on undirected graphs."""
        self._require_form()

    def _require_form(self) -> InversePowerForm:
        form = _form(self.problem)
        if isinstance(form, str):
            raise InputError(f"method='solve': {form}")
        return form

    def times(self, block: FloatArray, tol: float) -> Product:
        """One linear system after the other, each by conjugate gradients."""
        form = self._require_form()
        low, high = _ends(self.problem, form)
        power, error, n_steps = int(form.power), 0.0, 0
        product = block if form.factor == 1 else form.factor * block
        norm = frobenius(product)
        weights = self.problem.weights

        def multiply(vectors: FloatArray) -> FloatArray:
            """``(I − c W^of) @ vectors``."""
            image = vectors
            for _ in range(form.of - 1):
                image = weights(image)
            return weights(image, scale=-form.c, base=vectors, keep=1.0)

        for n_later in reversed(range(power)):
            # Later solves can make an error larger and the product smaller, by so much at most.
            wanted = 0.9 * tol / power * (low / high) ** n_later
            solved = inverse_times(multiply, low, product, wanted, MAX_SOLVE_STEPS)
            if solved.product is None:
                return Product(np.zeros_like(block), 1.0, 1.0, 0.0, "no convergence")
            product, norm, n_steps = solved.product, solved.norm, n_steps + solved.n_steps
            error += solved.error / low**n_later
        return Product(product, 1.0, error, norm, f"{n_steps} steps of conjugate gradients")


def _form(problem: Problem) -> InversePowerForm | str:
    """The kernel as an inverse power of a positive matrix, or why it is none."""
    form = problem.kernel.inverse_power_form
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
    norm = min(1.0, problem.typical_norm)
    # What the bound asks for: the residual over the smallest eigenvalue.
    digits = math.log(2 * math.sqrt(ratio) / (problem.tol * norm)) + (whole_power - 1) * math.log(
        ratio
    )
    steps = max(2, math.ceil(0.5 * math.sqrt(ratio) * digits))
    known = problem.lanczos_steps
    if known is not None and form.of == 1:
        steps = min(steps, known + 2 * (whole_power - 1))
    return min(steps, problem.n_nodes)
