"""Graph node kernels ``K = g(W) = Σ α_k W^k``: power series with a name."""

from grfpp.kernels.base import Kernel
from grfpp.kernels.exponentials import Cosine, Diffusion, SquaredDiffusion
from grfpp.kernels.powers import InversePower, PStep, RegularizedLaplacian
from grfpp.kernels.random_walks import HeatKernel, PersonalizedPageRank
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
