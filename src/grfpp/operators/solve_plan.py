"""How the linear systems of a Gaussian process on nodes are solved: `plan_solves`."""

from __future__ import annotations

from dataclasses import dataclass

from grfpp._memory import GRANTED, available_bytes
from grfpp.operators import thresholds

#: The methods; see `SolvePlan`.
SOLVERS = ("columns", "products", "features")


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
    n_evaluations, span = thresholds.TRAINING_EVALUATIONS, thresholds.SPAN_SIZE
    training = n_evaluations * thresholds.STEPS_PER_EVALUATION * thresholds.TRAINING_SIDES
    dense = span * n_observed**2 + thresholds.DENSE_COST * n_observed**3
    entries = n_nodes * min(thresholds.FEATURE_ENTRIES, n_nodes)
    work = {
        "columns": n_terms * n_entries * n_observed + n_evaluations * dense,
        "products": float(training * n_terms * n_entries),
        "features": float((training + 100) * thresholds.FEATURE_FACTORS * entries),
    }
    if how != "auto":
        return SolvePlan(how, work, "as asked for")
    # The span, a copy while it is computed, and a few matrices.
    if 8 * (2 * span + 8) * n_observed**2 > GRANTED * available_bytes():
        del work["columns"]
    exact = min((name for name in work if name != "features"), key=work.__getitem__)
    ratio = work[exact] / work["features"]
    if ratio > thresholds.MIN_SPEEDUP_OF_WALKS:
        return SolvePlan("features", work, f"{ratio:.0f} times less work than exact methods")
    return SolvePlan(exact, work, "least work among exact methods")
