"""Which way the linear solves of a Gaussian process on nodes go: a rule, and what it says.

One function with a stated cost model, apart from all else, so that a general planner can take over.
"""

from __future__ import annotations

from dataclasses import dataclass

from grfpp.arguments import one_of
from grfpp.memory import GRANTED, available_bytes

WAYS = ("columns", "products", "features")

#: Evaluations of the likelihood until training ends, and iterations of conjugate gradients in each.
_EVALUATIONS, _ITERATIONS = 40, 30
#: Right sides: the targets and the probes of the determinant.
_SIDES = 11
#: A multiplication of dense matrices, in multiplications of sparse ones.
_DENSE = 0.1
#: Matrices that span a family of kernels between observed nodes.
_SPAN = 25
#: Of `GRFKernel` by default: factors on both sides, and entries in a row of each.
_FACTORS, _ENTRIES = 8, 360
#: Walks leave a bias: they must be so much cheaper than what leaves none.
_WORTH_WALKING = 4.0
#: Up to so many multiplications (some ten seconds on two cores) deviations are exact by default.
EXACT_STD_WORK = 2e10


@dataclass(frozen=True)
class SolvePlan:
    """What is used and what it was chosen among.

    Attributes
    ----------
    how
        ``"columns"``: exact columns ``K[:, observed]``, dense algebra between observed nodes.
        ``"products"``: conjugate gradients with exact products. ``"features"``: conjugate
        gradients with the features of pooled walks.
    work
        Predicted multiplications of each, of those that fit into memory.
    reason
        In words.
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
    """Choose by predicted work.

    Parameters
    ----------
    n_nodes, n_entries
        Of the weight matrix.
    n_observed
        Nodes with targets.
    n_terms
        Of the polynomial that is the kernel.
    how
        One of the ways, which is then taken, or ``"auto"``.

    Examples
    --------
    >>> plan_solves(22_470, 342_000, 1000, 40).how
    'columns'
    >>> plan_solves(22_470, 342_000, 11_000, 40).how
    'products'
    >>> print(plan_solves(5_000, 25_000_000, 2_500, 40))
    features (13 times less work than by exact ways; multiplications: columns 2.6e+12, ...
    """
    one_of(how, "how", ("auto", *WAYS))
    training = _EVALUATIONS * _ITERATIONS * _SIDES
    work = {
        "columns": n_terms * n_entries * n_observed
        + _EVALUATIONS * (_SPAN * n_observed**2 + _DENSE * n_observed**3),
        "products": float(training * n_terms * n_entries),
        "features": float((training + 100) * _FACTORS * n_nodes * min(_ENTRIES, n_nodes)),
    }
    if how != "auto":
        return SolvePlan(how, work, "as asked for")
    # The span, and as much again for a moment while it is made, and a few matrices beside it.
    if 8 * (2 * _SPAN + 8) * n_observed**2 > GRANTED * available_bytes():
        del work["columns"]
    exact = min((name for name in work if name != "features"), key=work.__getitem__)
    ratio = work[exact] / work["features"]
    if ratio > _WORTH_WALKING:
        return SolvePlan("features", work, f"{ratio:.0f} times less work than by exact ways")
    return SolvePlan(exact, work, "least work among exact ways")
