"""Families of node kernels with one positive parameter, as functions of the eigenvalues of W."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import torch

from grfpp.arguments import one_of, positive


@dataclass(frozen=True)
class KernelFamily(ABC):
    """``K = g(L)``, ``L = I − W``, with ``g`` positive and at most 1.

    `parameter` is what the positive number is called, `bounds` are where it may be by default.
    """

    parameter: ClassVar[str]
    bounds: ClassVar[tuple[float, float]]

    @abstractmethod
    def log_value(self, gaps: torch.Tensor, number: torch.Tensor) -> torch.Tensor:
        """``log g`` at eigenvalues of ``L``."""


@dataclass(frozen=True)
class DiffusionFamily(KernelFamily):
    """``exp(−λ L)``.

    Examples
    --------
    >>> DiffusionFamily().log_value(torch.tensor([0.0, 1.0]), torch.tensor(3.0))
    tensor([-0., -3.])
    """

    parameter = "lam"
    bounds = (0.1, 1e4)

    def log_value(self, gaps: torch.Tensor, number: torch.Tensor) -> torch.Tensor:
        """``−λ x``."""
        return -number * gaps


@dataclass(frozen=True)
class RegularizedLaplacianFamily(KernelFamily):
    """``(I + σ² L)^−power``.

    Examples
    --------
    >>> RegularizedLaplacianFamily(2.0).log_value(torch.tensor([0.0, 1.0]), torch.tensor(3.0)).exp()
    tensor([1.0000, 0.0625])
    """

    power: float = 1.0

    parameter = "sigma2"
    bounds = (0.1, 1e3)

    def __post_init__(self) -> None:
        object.__setattr__(self, "power", positive(self.power, "power"))

    def log_value(self, gaps: torch.Tensor, number: torch.Tensor) -> torch.Tensor:
        """``−power · log(1 + σ² x)``."""
        # Beyond the spectrum by rounding, where the gap is below zero, nothing is lost.
        return -self.power * torch.log1p(number * gaps.clamp_min(0.0))


def family_of(name: str, power: float = 1.0) -> KernelFamily:
    """A family by its name.

    Examples
    --------
    >>> family_of("diffusion")
    DiffusionFamily()
    """
    one_of(name, "family", ("diffusion", "regularized-laplacian"))
    return DiffusionFamily() if name == "diffusion" else RegularizedLaplacianFamily(power)
