"""Laws of the walk length: how many steps a walker takes before it stops.

Every law gives the probability of each length, the survival ``τ(k) = P(length ≥ k)`` by which a
deposit after ``k`` steps is divided, and its mean. The estimate is unbiased for every law that
lets walks grow as long as the kernel's series needs; its variance depends on the law a great deal.
"""

from grfpp.termination.base import Termination
from grfpp.termination.bounded import CustomLength, FixedLength, UniformLength
from grfpp.termination.matched import Matched
from grfpp.termination.registry import termination_from_dict, termination_from_spec
from grfpp.termination.unbounded import (
    FirstStepThenGeometric,
    Geometric,
    NegativeBinomial,
    Poisson,
)

__all__ = [
    "CustomLength",
    "FirstStepThenGeometric",
    "FixedLength",
    "Geometric",
    "Matched",
    "NegativeBinomial",
    "Poisson",
    "Termination",
    "UniformLength",
    "termination_from_dict",
    "termination_from_spec",
]
