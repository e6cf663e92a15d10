"""Graph node kernels from random walks: refined graph random features (GRFs++).

Names are imported when they are first used, so that ``import grfpp`` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from grfpp._imports import lazy_names

if TYPE_CHECKING:
    from grfpp.conversion import convert
    from grfpp.errors import (
        DivergentSeriesError,
        InfiniteVarianceError,
        InputError,
        TruncationError,
    )
    from grfpp.estimate import KernelEstimate
    from grfpp.estimate.accuracy import relative_error
    from grfpp.estimate.sampling import sample
    from grfpp.graph import Graph
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
    from grfpp.operators import kernel_operator
    from grfpp.options import WalkOptions
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

_NAMES = {
    "conversion": "convert",
    "errors": "DivergentSeriesError InfiniteVarianceError InputError TruncationError",
    "estimate": "KernelEstimate",
    "estimate.accuracy": "relative_error",
    "estimate.sampling": "sample",
    "graph": "Graph",
    "kernels": "Cosine Diffusion HeatKernel InversePower Kernel PersonalizedPageRank PStep "
    "RegularizedLaplacian SquaredDiffusion TaylorKernel",
    "local": "LocalKernel sample_submatrix",
    "operators": "kernel_operator",
    "options": "WalkOptions",
    "termination": "CustomLength FirstStepThenGeometric FixedLength Geometric Matched "
    "NegativeBinomial Poisson Termination UniformLength",
}
_PACKAGES = ("datasets", "distributed", "errors", "kernels", "tasks", "termination", "torch")

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

_get, __dir__ = lazy_names(__name__, _NAMES)


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"grfpp.{name}")
    value = globals()[name] = _get(name)
    return value
