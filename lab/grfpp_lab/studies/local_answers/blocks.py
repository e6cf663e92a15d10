"""``K[S, S]`` between 1,000 nodes of a million: two-sided pools beside sparse Chebyshev vectors."""

from functools import partial
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from grfpp.graph import Graph
from grfpp.kernels import Diffusion, Kernel
from grfpp.linalg import chebyshev
from grfpp.linalg.csr import CsrProduct
from grfpp.linalg.functions import unit_columns
from grfpp.local import LocalKernel
from grfpp.typing import FloatArray, IntArray
from grfpp_lab.benchmark.timing import best_seconds, timed
from grfpp_lab.graphs import grid, grid_patch, random_nodes, scale_free
from grfpp_lab.studies.local_answers.asking import SEED, Lines, Measured, Verdict
from grfpp_lab.studies.local_answers.rivals import FORMS, coefficients, held_entries, plain

#: Columns on which errors are measured: exact ones of all would take hours.
N_COLUMNS = 24
#: Rows that are timed where all would take too long.
N_ROWS = 32
#: Entries of sparse vectors that the rival may hold at a time, 12 bytes each.
MOST_ENTRIES = 2e8
_LONG = 20.0


class Case(NamedTuple):
    """A block to be computed, and how many times as fast as the rival it should be."""

    title: str
    W: Graph
    nodes: IntArray
    kernel: Kernel
    budget: float
    bar: float


def cases(n_nodes: int, n_rows: int) -> list[Case]:
    """Adjacent and scattered nodes of a grid, and scattered nodes of a scale-free graph."""
    flat = grid(n_nodes).normalized("sym")
    rough = scale_free(n_nodes, 5, seed=0).normalized("sym")
    near, far = Diffusion(1.0), Diffusion(5.0)
    patch, apart = grid_patch(flat, n_rows), random_nodes(flat, n_rows, SEED)
    return [
        Case("grid, adjacent nodes, exp(W)", flat, patch, near, 300, 1.0),
        Case("grid, scattered nodes, exp(W)", flat, apart, near, 300, 1.0),
        Case("grid, adjacent nodes, exp(5 W)", flat, patch, far, 2000, 1.0),
        Case("grid, scattered nodes, exp(5 W)", flat, apart, far, 2000, 1.0),
        Case("scale-free, exp(W)", rough, random_nodes(rough, n_rows, SEED), near, 4096, 5.0),
    ]


def run(case: Case) -> Lines:
    """Time pools, then the rival with as few terms as are no worse, in both its forms."""
    W, nodes, kernel = case.W, case.nodes, case.kernel
    some = slice(0, N_COLUMNS)
    terms = _Terms(W, kernel, nodes, nodes[some])
    near = LocalKernel(W, kernel, budget=case.budget, seed=SEED)
    own_error = terms.error(near.block(nodes)[:, some])
    own = best_seconds(lambda: near.block(nodes), most=5)
    note = f"error {own_error:.1e}, budget {case.budget:,.0f}"
    lines: list[Measured | Verdict | str] = [Measured("LocalKernel.block(S)", own, note=note)]
    degree = terms.least_degree(own_error)
    c = coefficients(W, kernel, degree)
    best = np.inf
    for name, form in FORMS.items():
        if name == "doubled" and (held := held_entries(W, nodes, degree)) > MOST_ENTRIES:
            lines.append(f"Chebyshev, {name}: its vectors would have {held:.1e} entries")
            continue
        few = nodes[:N_ROWS]
        _, seconds = timed(partial(plain, W, c, few))
        seconds *= len(nodes) / len(few)
        note = f"degree {degree}"
        if name == "doubled" or seconds < _LONG:
            block = form(W, c, nodes)
            seconds = best_seconds(partial(form, W, c, nodes), most=5)
            note = f"error {terms.error(block[:, some]):.1e}, degree {degree}"
        else:
            note += f", from {len(few)} of {len(nodes):,} rows"
        lines.append(Measured(f"Chebyshev on sparse vectors, {name}", seconds, note=note))
        best = min(best, seconds)
    ratio = best / own
    words = "not slower" if case.bar == 1 else f"at least {case.bar:g} times as fast"
    found = f"{ratio:.2f} times as fast as the faster form"
    return [*lines, Verdict(f"{words}, error no larger", found, ratio >= case.bar)]


class _Terms:
    """``T_j(W)[nodes, columns]`` for all ``j``, to measure what any number of them leaves out."""

    def __init__(self, W: Graph, kernel: Kernel, nodes: IntArray, columns: IntArray) -> None:
        radius = W.spectral_radius()
        c = chebyshev.coefficients_of(kernel.value, radius, 1e-15)
        start = unit_columns(W.n_nodes, columns)
        terms = chebyshev.recurrence(CsrProduct(W.adjacency), radius, start)
        self._parts = [weight * term[nodes] for weight, term in zip(c, terms, strict=False)]
        self._exact: FloatArray = np.sum(self._parts, axis=0)

    def error(self, block: FloatArray) -> float:
        """Relative error in the Frobenius norm."""
        return float(np.linalg.norm(block - self._exact) / np.linalg.norm(self._exact))

    def least_degree(self, error: float) -> int:
        """The least degree whose error is no larger."""
        errors = map(self.error, accumulate(self._parts))
        good = (degree for degree, value in enumerate(errors) if value <= error)
        return next(good, len(self._parts) - 1)
