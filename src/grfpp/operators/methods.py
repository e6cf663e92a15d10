"""The methods of multiplying with a kernel: each predicts its cost, and bounds its error."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np

from grfpp.errors import InputError
from grfpp.estimate import KernelEstimate
from grfpp.estimate.degree import predicted_error
from grfpp.estimate.sampling import sample_estimate
from grfpp.kernels.base import InversePowerForm
from grfpp.linalg.cg import inverse_times
from grfpp.linalg.chebyshev import Expansion
from grfpp.linalg.csr import frobenius
from grfpp.linalg.functions import dense_spectrum
from grfpp.linalg.lanczos import function_times
from grfpp.operators import thresholds
from grfpp.operators.costs import Costs, stays_in_cache
from grfpp.operators.problem import CostEstimate, Problem
from grfpp.options import WalkOptions
from grfpp.typing import FloatArray

_EPS = float(np.finfo(np.float64).eps)


class Product(NamedTuple):
    """``K @ block``, with a bound on its error."""

    #: In units of `unit`, which may be near the end of the range of float64.
    scaled: FloatArray
    unit: float
    #: Bound on the error, and norm of the product, both Frobenius and in units of `unit`.
    error: float
    norm: float
    #: How it was computed, in words.
    note: str

    def reaches(self, tol: float) -> bool:
        """Whether the relative error is at most `tol`."""
        return self.error <= tol * self.norm


class Method(ABC):
    """A method of multiplying with a kernel, for one problem."""

    name: ClassVar[str]
    #: Columns that are multiplied at a time.
    chunk: ClassVar[int] = 64

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        #: Whether a product was computed, and with it what all products share.
        self.is_prepared = False

    @abstractmethod
    def estimate(self, n_columns: int, costs: Costs) -> CostEstimate:
        """Predict the cost, without computing a product."""

    def check(self) -> None:  # noqa: B027 - most serve all problems
        """Raise `InputError` for kernels or graphs that the method does not serve."""

    @abstractmethod
    def times(self, block: FloatArray, tol: float) -> Product:
        """``K @ block`` to `tol`, or the most accurate product, with a bound on its error."""

    def _ineligible(self, reason: str) -> CostEstimate:
        return CostEstimate(self.name, ineligible_reason=reason)

    def _estimate(
        self, costs: Costs, setup: float, product: float, n_bytes: float, note: str
    ) -> CostEstimate:
        factor = costs.correction(self.name)
        return CostEstimate(self.name, factor * setup, factor * product, n_bytes, note)

    def _step_seconds(self, width: int, costs: Costs, passes: float = 3) -> float:
        """Predicted time of one product with ``W`` and `passes` passes over the block."""
        problem, machine, n = self.problem, costs.machine, float(self.problem.n_nodes)
        if problem.weights.prefers_dense:
            per_column = n * n * machine.dense * (1 + 15 / width) + passes * n * machine.number
            return machine.step + width * per_column
        scattered = 0.0 if stays_in_cache(n, width) else problem.scattered
        return machine.product(problem.n_entries, n, width, passes, scattered)


class Chebyshev(Method):
    """Chebyshev polynomials on the interval of the spectrum."""

    name = "chebyshev"

    def estimate(self, n_columns: int, costs: Costs) -> CostEstimate:
        """One product with ``W`` for each term of the series."""
        problem, width, passes = self.problem, min(n_columns, self.chunk), 3
        if problem.graph.is_directed:
            n_terms, passes = self._taylor_terms(), 4
            note = f"the power series, about {n_terms} terms"
        elif isinstance(problem.expansion, str):
            return self._ineligible(problem.expansion)
        else:
            n_terms, note = problem.n_terms, f"{problem.n_terms - 1} products with W"
        seconds = n_terms * self._step_seconds(width, costs, passes)
        n_bytes = 8 * problem.n_nodes * ((passes + 2) * width + 2 * n_columns)
        return self._estimate(costs, 0.0, seconds * n_columns / width, n_bytes, note)

    def _taylor_terms(self) -> int:
        """Terms of the power series: about twice those of the Chebyshev series."""
        problem = self.problem
        try:
            expansion = Expansion.of(problem.kernel.value, problem.radius)
        except InputError:
            return thresholds.USUAL_TERMS
        return 2 * expansion.n_terms(problem.tol / problem.n_nodes)

    def times(self, block: FloatArray, tol: float) -> Product:
        """The Chebyshev series; the power series where the graph is directed."""
        if self.problem.graph.is_directed:
            return self._taylor_times(block, tol)
        expansion = self.problem.require_expansion()
        product, error, norm, n_terms = expansion.times(self.problem.weights, block, tol)
        return Product(product, expansion.peak, error, norm, f"{n_terms - 1} products with W")

    def _taylor_times(self, block: FloatArray, tol: float) -> Product:
        """The power series, whose errors are relative to the largest entry of a column."""
        graph, kernel = self.problem.graph, self.problem.kernel
        accuracy = max(1e-14, 0.9 * tol / graph.n_nodes**0.5)
        try:
            product, note = kernel.apply(graph, block, accuracy, "taylor"), "the power series"
        except InputError:
            # Terms that cancel, or too many of them.
            product, note = kernel.apply(graph, block, 1e-12), "expm_multiply"
        unit = float(np.abs(product).max(initial=0.0)) or 1.0
        product /= unit
        norm = frobenius(product)
        return Product(product, unit, accuracy * graph.n_nodes**0.5 * norm, norm, note)


class Dense(Method):
    """Dense linear algebra, to rounding."""

    name = "dense"
    chunk = 4096

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self._unit, self._n_columns = 1.0, 0
        #: ``g(Λ)`` and ``U`` of an undirected graph, and the kernel, all over `_unit`.
        self._values: FloatArray | None = None
        self._vectors: FloatArray | None = None
        self._kernel: FloatArray | None = None

    def estimate(self, n_columns: int, costs: Costs) -> CostEstimate:
        """Eigenvectors take ``n³``, products ``n²``."""
        n, machine = float(self.problem.n_nodes), costs.machine
        setup = 4 * machine.step + machine.eigen_square * n**2 + machine.eigen_cube * n**3
        product = 2 * machine.step + 2 * n * n * machine.dense * max(n_columns, 4)
        if not self.problem.graph.is_directed:
            note, n_arrays = "all eigenvectors once, two dense products each time", 4
        else:
            note, n_arrays = "the dense kernel once, a dense product each time", 12
            setup, product = 3 * setup + 30 * n**3 * machine.dense, product / 2
        n_bytes = 8 * n * (n_arrays * n + 2 * n_columns)
        return self._estimate(costs, setup, product, n_bytes, note)

    def _prepare(self) -> FloatArray:
        """Compute the eigenvectors and ``g(Λ)``, or the kernel of a directed graph."""
        graph, kernel = self.problem.graph, self.problem.kernel
        if graph.is_directed:
            values = self._kernel = kernel.exact(graph)
        else:
            values, self._vectors = dense_spectrum(graph, kernel.value)
        self._unit = float(np.abs(values).max(initial=0.0)) or 1.0
        values /= self._unit
        return values

    def times(self, block: FloatArray, tol: float) -> Product:
        """By ``U g(Λ) Uᵀ``, and by the kernel itself once it costs less than both factors."""
        if self._values is None:
            self._values = self._prepare()
        (n, width), U, g = block.shape, self._vectors, self._values
        error, note = 4 * _EPS * n * frobenius(block), f"the dense kernel of {n} nodes"
        if U is not None:
            error, note = 2 * _EPS * n**0.5 * frobenius(block), f"eigenvectors of {n} nodes"
            self._n_columns += width
            if self._kernel is None and self._n_columns > n:
                self._kernel = (U * g) @ U.T
        if self._kernel is None:
            assert U is not None
            product = U @ (g[:, np.newaxis] * (U.T @ block))
        else:
            product = self._kernel @ block
        return Product(product, self._unit, error, frobenius(product), note)


class Lanczos(Method):
    """Lanczos' method, with a bound on its error."""

    name = "lanczos"
    chunk = 16

    def estimate(self, n_columns: int, costs: Costs) -> CostEstimate:
        """One product with ``W`` a step: as many steps as last time, or as polynomials take."""
        problem = self.problem
        if isinstance(problem.expansion, str):
            return self._ineligible(problem.expansion)
        known = problem.lanczos_steps
        n_steps = min(problem.optimistic_steps if known is None else known, problem.n_nodes)
        if n_steps > thresholds.MAX_LANCZOS_STEPS:
            return self._ineligible(f"may take more than {thresholds.MAX_LANCZOS_STEPS} steps")
        width = min(n_columns, self.chunk)
        # The recurrence, and the sum of all vectors at the end.
        seconds = n_steps * self._step_seconds(width, costs, 12)
        seconds += 0.5 * n_steps * costs.machine.check * width**0.5
        seconds *= thresholds.LANCZOS_OVERHEAD
        n_bytes = 8 * problem.n_nodes * ((n_steps + 4) * width + 2 * n_columns)
        note = f"{n_steps} products with W{' at least' * (known is None)}"
        return self._estimate(costs, 0.0, seconds * n_columns / width, n_bytes, note)

    def times(self, block: FloatArray, tol: float) -> Product:
        """The product; one with an infinite error where too many steps would be needed."""
        problem = self.problem
        function = (problem.weights, problem.scaled_value, problem.radius)
        first, n_jobs = max(2, problem.optimistic_steps // 2), problem.n_jobs
        krylov = function_times(
            *function, block, tol, thresholds.MAX_LANCZOS_STEPS, first_check=first, n_jobs=n_jobs
        )
        if krylov.product is None:
            note = f"no convergence in {thresholds.MAX_LANCZOS_STEPS} steps"
            return Product(np.zeros_like(block), 1.0, 1.0, 0.0, note)
        problem.lanczos_steps = krylov.n_steps
        note = f"{krylov.n_steps} products with W"
        peak = problem.require_expansion().peak
        return Product(krylov.product, peak, krylov.error, krylov.norm, note)


class Solve(Method):
    """``factor · (I − c W^of)^-power @ V`` by `power` linear systems in turn."""

    name = "solve"

    def estimate(self, n_columns: int, costs: Costs) -> CostEstimate:
        """From the condition number, or from the steps that Lanczos' method took."""
        problem, form = self.problem, _form(self.problem)
        if isinstance(form, str):
            return self._ineligible(form)
        n_steps = _predicted_steps(problem, form)
        width = min(n_columns, self.chunk)
        step_seconds = form.of * self._step_seconds(width, costs, 1)
        step_seconds += 9 * problem.n_nodes * width * costs.machine.number
        n_bytes = 8 * problem.n_nodes * (6 * width + 2 * n_columns)
        note = f"{n_steps} steps of conjugate gradients"
        note += f", {form.power} times" if form.power > 1 else ""
        seconds = form.power * (n_steps + 1) * step_seconds
        return self._estimate(costs, 0.0, seconds * n_columns / width, n_bytes, note)

    def check(self) -> None:
        """Whole inverse powers on undirected graphs."""
        if isinstance(form := _form(self.problem), str):
            raise InputError(f"method='solve': {form}")

    def times(self, block: FloatArray, tol: float) -> Product:
        """The linear systems in turn, each by conjugate gradients."""
        form = _form(self.problem)
        assert not isinstance(form, str)  # checked, or chosen where it is not
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
            # Each later solve raises the relative error by the condition number at most.
            solve_tol = 0.9 * tol / power * (low / high) ** n_later
            solved = inverse_times(multiply, low, product, solve_tol, thresholds.MAX_SOLVE_STEPS)
            if solved.product is None:
                return Product(np.zeros_like(block), 1.0, 1.0, 0.0, "no convergence")
            product, norm, n_steps = solved.product, solved.norm, n_steps + solved.n_steps
            error += solved.error / low**n_later
        return Product(product, 1.0, error, norm, f"{n_steps} steps of conjugate gradients")


def _form(problem: Problem) -> InversePowerForm | str:
    """The kernel as an inverse power of a positive definite matrix, or why it is none."""
    form = problem.kernel.inverse_power_form
    if form is None:
        return "the kernel is no inverse power"
    if form.power != int(form.power):
        return f"the power {form.power:g} is no whole number"
    if problem.graph.is_directed:
        return "the graph is directed: the matrix is not symmetric"
    return form


def _ends(problem: Problem, form: InversePowerForm) -> tuple[float, float]:
    """Bounds of the eigenvalues of ``I − c W^of``."""
    reach = form.c * problem.radius**form.of
    return 1 - reach, 1 + reach if form.of == 1 else 1.0


def _predicted_steps(problem: Problem, form: InversePowerForm) -> int:
    low, high = _ends(problem, form)
    ratio = float(high / low)
    whole_power = int(form.power)
    norm = min(1.0, problem.typical_norm)
    # The bound on the error is the residual over the smallest eigenvalue.
    digits = math.log(2 * math.sqrt(ratio) / (problem.tol * norm))
    digits += (whole_power - 1) * math.log(ratio)
    steps = max(2, math.ceil(0.5 * math.sqrt(ratio) * digits))
    known = problem.lanczos_steps
    if known is not None and form.of == 1:  # conjugate gradients converge as Lanczos' method does
        steps = min(steps, known + 2 * (whole_power - 1))
    return min(steps, problem.n_nodes)


class Walks(Method):
    """The estimate of `grfpp.sample`, with as many walks as the tolerance needs."""

    name = "walks"
    chunk = 1024

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self._reference = Chebyshev(problem)
        self._estimated: KernelEstimate | None = None
        self._n_walks = thresholds.FIRST_WALKS

    def estimate(self, n_columns: int, costs: Costs) -> CostEstimate:
        """The cost of the smallest number of walks; whether it suffices is known once sampled."""
        problem = self.problem
        if problem.walk_error is not None:
            return self._ineligible(f"walks left an error of {problem.walk_error:.2g}")
        n, machine = float(problem.n_nodes), costs.machine
        n_factors = 2 * _degree(problem)
        n_steps = thresholds.STEPS_PER_NODE
        entries = n * n_steps * min(1.0, n / n_steps)
        setup = 2e-3 + n_factors * n * n_steps * machine.walk
        # Symmetrised: both orders of the factors.
        product = 2 * n_factors * machine.product(entries, n, min(n_columns, 64), 1)
        product *= max(1.0, n_columns / 64)
        checks = self._reference.estimate(thresholds.N_CHECKED_COLUMNS, costs).product
        n_bytes = 12 * n_factors * entries + 32 * n * n_columns
        note = f"{n_factors * n_steps} steps a node at least, then a check"
        return self._estimate(costs, setup, product + checks, n_bytes, note)

    def times(self, block: FloatArray, tol: float) -> Product:
        """The product by as many walks as `tol` needs, or the last product that missed it."""
        while True:
            product = self.attempt(block, tol)
            is_last = self._n_walks * thresholds.WALKS_GROWTH > thresholds.MAX_WALKS
            if is_last or product.reaches(tol):
                return product
            # Errors fall at least with the root of the number of walks.
            if not product.reaches(2 * tol * (thresholds.MAX_WALKS / self._n_walks) ** 0.5):
                return product
            self._n_walks *= thresholds.WALKS_GROWTH
            self._estimated = None

    def attempt(self, block: FloatArray, tol: float) -> Product:
        """The product by the current number of walks, with an estimate of its error."""
        if self._estimated is None:
            options = _options(self.problem, self._n_walks)
            self._estimated = sample_estimate(self.problem.graph, self.problem.kernel, options)
        K, width = self._estimated, block.shape[1]
        product = np.asarray(K @ block)
        # The mean square of the differences for random signs is the square of the error in the
        # Frobenius norm.
        signs, safety, n_checked = np.eye(width), 1.0, thresholds.N_CHECKED_COLUMNS
        if width > n_checked:
            signs = np.random.default_rng(0).choice([-1.0, 1.0], (width, n_checked))
            signs /= n_checked**0.5
            safety = thresholds.CHECK_SAFETY
        exact = self._reference.times(np.ascontiguousarray(block @ signs), 0.1 * tol)
        product /= exact.unit
        error = safety * (frobenius(product @ signs - exact.scaled) + exact.error)
        steps = K.meta["steps_per_node"]
        note = f"pooled walks of degree {K.degree}, {steps:.0f} steps a node"
        return Product(product, exact.unit, error, frobenius(product), note)


def _degree(problem: Problem) -> int:
    return 2 if problem.n_terms <= thresholds.MAX_TERMS_OF_DEGREE_TWO else 4


def _options(problem: Problem, n_walks: int) -> WalkOptions:
    seed, n_jobs = problem.seed, problem.n_jobs
    return WalkOptions.of(degree=_degree(problem), n_walks=n_walks, seed=seed, n_jobs=n_jobs)


def predicted_walk_error(problem: Problem) -> float | None:
    """The relative error of the smallest number of walks; ``None`` where it is not predicted."""
    if problem.graph.is_directed:
        return None
    try:
        options = _options(problem, thresholds.FIRST_WALKS)
        return predicted_error(problem.graph, problem.kernel, options)
    except InputError:
        return None


#: By name, in the order in which plans list them.
METHODS: dict[str, type[Method]] = {m.name: m for m in (Dense, Chebyshev, Lanczos, Solve, Walks)}
