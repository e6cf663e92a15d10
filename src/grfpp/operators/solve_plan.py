"""How the linear systems of a Gaussian process on nodes are solved: `plan_solves`."""

from __future__ import annotations

from dataclasses import dataclass

from grfpp._memory import GRANTED, available_bytes

#: The methods; see `SolvePlan`.
SOLVERS = ("columns", "products", "features")

# The cost model, in multiplications.
#: Evaluations of the likelihood in training, and conjugate gradient steps in each.
_EVALUATIONS, _STEPS = 40, 30
#: Right-hand sides: the targets and the probes of the determinant.
_SIDES = 11
#: Cost of a multiplication of dense matrices, relative to sparse ones.
_DENSE_COST = 0.1
#: Matrices that span a family of kernels between observed nodes.
_SPAN_SIZE = 25
#: Factors of `GRFKernel` by default on both sides, and entries in a row of each.
_FACTORS, _ENTRIES = 8, 360
#: Walks have a bias, so they must be this many times cheaper than exact methods.
_MIN_SPEEDUP_OF_WALKS = 4.0


@dataclass(frozen=True)
class SolvePlan:
    """How the linear systems of a process are solved.

    Attributes
    ----------
    how
        ``"columns"``: exact columns ``K[:, observed]``, dense algebra between observed nodes.
        ``"products"``: conjugate gradients with exact products. ``"features"``: conjugate
        gradients with the features of pooled walks.
    work
        Predicted multiplications of each method that fits into memory.
    reason
        Why this method was chosen.
    """

    how: str
    work: dict[str, float]
    reason: str

    def __str__(self) -> str:
        costs = ", ".join(f"{name} {work:.1e}" for name, work in self.work.items())
        return f"{self.how} ({self.reason}; multiplications: {costs})"


def plan_solves(
    n_nodes: int, n_entries: int, n_observed: int, n_terms: int, how: str = "auto"
) -> SolvePlan:
    """Choose the method of the lowest predicted cost.

    Parameters
    ----------
    n_nodes, n_entries
        Of the weight matrix.
    n_observed
        Nodes with targets.
    n_terms
        Of the polynomial that is the kernel.
    how
        A method, which is then used, or ``"auto"``.

    Examples
    --------
    >>> plan_solves(22_470, 342_000, 1000, 40).how
    'columns'
    >>> plan_solves(22_470, 342_000, 11_000, 40).how
    'products'
    >>> print(plan_solves(5_000, 25_000_000, 2_500, 40))
    features (13 times less work than exact methods; multiplications: columns 2.6e+12, ...
    """
    training = _EVALUATIONS * _STEPS * _SIDES
    dense = _SPAN_SIZE * n_observed**2 + _DENSE_COST * n_observed**3
    work = {
        "columns": n_terms * n_entries * n_observed + _EVALUATIONS * dense,
        "products": float(training * n_terms * n_entries),
        "features": float((training + 100) * _FACTORS * n_nodes * min(_ENTRIES, n_nodes)),
    }
    if how != "auto":
        return SolvePlan(how, work, "as asked for")
    # The span, a copy while it is computed, and a few matrices.
    if 8 * (2 * _SPAN_SIZE + 8) * n_observed**2 > GRANTED * available_bytes():
        del work["columns"]
    exact = min((name for name in work if name != "features"), key=work.__getitem__)
    ratio = work[exact] / work["features"]
    if ratio > _MIN_SPEEDUP_OF_WALKS:
        return SolvePlan("features", work, f"{ratio:.0f} times less work than exact methods")
    return SolvePlan(exact, work, "least work among exact methods")
