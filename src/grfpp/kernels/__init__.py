"""Graph node kernels ``K = g(W) = Σ α_k W^k``: power series with a name."""

from grfpp.kernels.base import Kernel
from grfpp.kernels.named import (
    Cosine,
    Diffusion,
    HeatKernel,
    InversePower,
    PersonalizedPageRank,
    PStep,
    RegularizedLaplacian,
    SquaredDiffusion,
)
from grfpp.kernels.registry import kernel_from_dict, kernel_from_spec, kernel_of
from grfpp.kernels.taylor import TaylorKernel

__all__ = [
    "Cosine",
    "Diffusion",
    "HeatKernel",
    "InversePower",
    "Kernel",
    "PStep",
    "PersonalizedPageRank",
    "RegularizedLaplacian",
    "SquaredDiffusion",
    "TaylorKernel",
    "kernel_from_dict",
    "kernel_from_spec",
    "kernel_of",
]
