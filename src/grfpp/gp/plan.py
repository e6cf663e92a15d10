"""How the linear systems of a Gaussian process on nodes are solved: `plan_gp`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from grfpp._checks import one_of
from grfpp.gp.covariance import Covariance, FactorizedCovariance, Family
from grfpp.gp.posterior import DensePosterior, Observations, Posterior, PrecisionPosterior, Spectrum
from grfpp.typing import IntArray

#: The methods; see `GraphGP`.
METHODS = ("columns", "precision")
#: Largest number of observed nodes whose covariance is dense.
_MAX_COLUMNS = 2000
#: Largest number of observed nodes that parameters are chosen on.
_MAX_SELECTION = 1000


@dataclass(frozen=True)
class GPPlan:
    """How the linear systems of a process are solved.

    Attributes
    ----------
    method
        See `GraphGP`.
    factorize
        Whether kernels are multiplied by a sparse factorisation, else by polynomials.
    reason
        Why this method was chosen.
    """

    method: str
    factorize: bool
    reason: str

    def __str__(self) -> str:
        return f"{self.method} ({self.reason})"

    def selection_subset(self, n: int) -> IntArray | None:
        """Positions of the observed nodes that parameters are chosen on; ``None`` for all."""
        limit = _MAX_COLUMNS if self.method == "columns" else _MAX_SELECTION
        if n <= limit:
            return None
        return np.sort(np.random.default_rng(0).choice(n, limit, replace=False))

    def conditioner(
        self, prior: Covariance, scale: float, seen: Observations
    ) -> Callable[[float], Posterior]:
        """A function from the ratio of noise to the posterior."""
        if self.method == "precision":
            assert isinstance(prior, FactorizedCovariance)
            return lambda ratio: PrecisionPosterior(prior, scale, seen, ratio)
        spectrum = Spectrum(scale * prior.block(seen.nodes), seen.noise)
        return lambda ratio: DensePosterior(prior, scale, seen, ratio, spectrum)


def plan_gp(family: Family, n_observed: int, method: str = "auto") -> GPPlan:
    """Choose the method of the lowest predicted cost."""
    one_of(method, "method", ("auto", *METHODS))
    can_factorize = family.inverse_form(1.0) is not None
    if method != "auto":
        return GPPlan(method, can_factorize, "as asked for")
    if n_observed <= _MAX_COLUMNS or not can_factorize:
        return GPPlan("columns", can_factorize, "few observed nodes")
    return GPPlan("precision", can_factorize, "many observed nodes")
