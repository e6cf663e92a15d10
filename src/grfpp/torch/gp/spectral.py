"""A family of kernels as polynomials of the weight matrix, whose coefficients are differentiable.

``K(λ) = Σ_k c_k(λ) T_k(W / ρ)``. The coefficients of all λ up to a bound lie, to within rounding,
in a space of some twenty dimensions: between observed nodes, that many matrices hold every kernel
of the family.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch

from grfpp.linalg.functions import chebyshev
from grfpp.linalg.functions.chebyshev_terms import ChebyshevTerms, chebyshev_points
from grfpp.torch.gp.families import KernelFamily
from grfpp.typing import FloatArray, IntArray

#: Parameters whose kernels tell the space that all of them span.
_SAMPLED = 160
_DOUBLE = torch.float64


class FamilyPolynomials:
    """The coefficients ``c_k`` as a function of the family's parameter.

    Parameters
    ----------
    family
        The family.
    radius
        The polynomials are for eigenvalues of ``W`` up to this size.
    tol
        What is left out of a kernel is at most this share of its largest value.
    """

    def __init__(self, family: KernelFamily, radius: float, tol: float) -> None:
        self.family, self.radius, self.tol = family, radius, tol
        self._points: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    def n_terms(self, number: float, power: float = 1.0) -> int:
        """How many terms a parameter needs."""

        def function(x: FloatArray) -> FloatArray:
            gaps, at = torch.from_numpy(1 - x), torch.tensor(number, dtype=_DOUBLE)
            values: FloatArray = torch.exp(power * self.family.log_value(gaps, at)).numpy()
            return values

        return len(chebyshev.coefficients_of(function, self.radius, self.tol))

    def coefficients(
        self, number: torch.Tensor, n_terms: int | None = None, power: float = 1.0
    ) -> torch.Tensor:
        """Coefficients of ``g^power``; as many as they need if not told."""
        count = self.n_terms(float(number.detach()), power) if n_terms is None else n_terms
        # Twice as many points as a power of two that holds them all.
        n_points = max(32, 2 << math.ceil(math.log2(count)))
        if n_points not in self._points:
            x, matrix = chebyshev_points(n_points, self.radius)
            self._points[n_points] = torch.from_numpy(1 - x), torch.from_numpy(matrix)
        gaps, matrix = self._points[n_points]
        values = torch.exp(power * self.family.log_value(gaps, number.to(_DOUBLE)))
        return matrix[:count] @ values


@dataclass(frozen=True)
class KernelSpan:
    """Matrices between nodes that span the kernels of a family, up to a bound of its parameter.

    Attributes
    ----------
    nodes
        Rows and columns.
    reach
        The largest parameter.
    directions
        Of the space of coefficients, a row each.
    matrices
        Their polynomials, of shape ``(n_directions, n, n)``.
    """

    nodes: IntArray
    reach: float
    directions: torch.Tensor
    matrices: torch.Tensor

    @classmethod
    def of(
        cls,
        terms: ChebyshevTerms,
        polynomials: FamilyPolynomials,
        nodes: IntArray,
        bounds: tuple[float, float],
    ) -> KernelSpan:
        """The span of the kernels within bounds of the parameter."""
        n_terms = polynomials.n_terms(bounds[1])
        sampled = torch.tensor(np.geomspace(*bounds, _SAMPLED), dtype=_DOUBLE)
        table = torch.stack([polynomials.coefficients(each, n_terms) for each in sampled])
        _, sizes, directions = torch.linalg.svd(table, full_matrices=False)
        kept = directions[sizes > 0.1 * polynomials.tol * sizes[0]].contiguous()
        found = terms.entries(kept.numpy(), nodes, nodes)
        # Equal but for rounding; factorisations read one half only.
        matrices = torch.from_numpy(0.5 * (found + found.transpose(0, 2, 1)))
        return cls(nodes, bounds[1], kept, matrices)

    def kernel(self, coefficients: torch.Tensor) -> torch.Tensor:
        """``Σ_k c_k T_k`` between the nodes."""
        weights = self.directions @ coefficients
        n = len(self.nodes)
        return (weights @ self.matrices.reshape(len(weights), -1)).reshape(n, n)

    @property
    def n_terms(self) -> int:
        """Coefficients that are asked for."""
        return int(self.directions.shape[1])
