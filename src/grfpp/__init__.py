"""Graph node kernels from random walks: refined graph random features (GRFs++)."""

from importlib import import_module
from types import ModuleType

from grfpp.accuracy import relative_error
from grfpp.conversion import convert
from grfpp.errors import DivergentSeriesError, InfiniteVarianceError, InputError, TruncationError
from grfpp.estimate import KernelEstimate
from grfpp.graph import Graph
from grfpp.imports.moved import find_moved_modules
from grfpp.kernels import (
    Cosine,
    Diffusion,
    HeatKernel,
    InversePower,
    Kernel,
    PersonalizedPageRank,
    PStep,
    RegularizedLaplacian,
    SquaredDiffusion,
    TaylorKernel,
)
from grfpp.local import LocalKernel, sample_submatrix
from grfpp.options import WalkOptions
from grfpp.planner import kernel_operator
from grfpp.sampling import sample
from grfpp.termination import (
    CustomLength,
    FirstStepThenGeometric,
    FixedLength,
    Geometric,
    Matched,
    NegativeBinomial,
    Poisson,
    Termination,
    UniformLength,
)

__version__ = "0.1.0"

find_moved_modules()

__all__ = [
    "Cosine",
    "CustomLength",
    "Diffusion",
    "DivergentSeriesError",
    "FirstStepThenGeometric",
    "FixedLength",
    "Geometric",
    "Graph",
    "HeatKernel",
    "InfiniteVarianceError",
    "InputError",
    "InversePower",
    "Kernel",
    "KernelEstimate",
    "LocalKernel",
    "Matched",
    "NegativeBinomial",
    "PStep",
    "PersonalizedPageRank",
    "Poisson",
    "RegularizedLaplacian",
    "SquaredDiffusion",
    "TaylorKernel",
    "Termination",
    "TruncationError",
    "UniformLength",
    "WalkOptions",
    "convert",
    "kernel_operator",
    "relative_error",
    "sample",
    "sample_submatrix",
]


def __getattr__(name: str) -> ModuleType:
    """Import the packages that nobody needs who does not name them."""
    if name in ("datasets", "distributed", "tasks", "torch"):
        return import_module(f"grfpp.{name}")
    raise AttributeError(f"module 'grfpp' has no attribute {name!r}")
