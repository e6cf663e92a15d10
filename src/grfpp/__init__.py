"""Graph node kernels from random walks: refined graph random features (GRFs++).

Names are imported when they are first used, so that ``import grfpp`` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from grfpp._imports import lazy_names

if TYPE_CHECKING:
    from grfpp.conversion import convert as convert
    from grfpp.errors import DivergentSeriesError as DivergentSeriesError
    from grfpp.errors import InfiniteVarianceError as InfiniteVarianceError
    from grfpp.errors import InputError as InputError
    from grfpp.errors import TruncationError as TruncationError
    from grfpp.estimate import KernelEstimate as KernelEstimate
    from grfpp.estimate.accuracy import relative_error as relative_error
    from grfpp.estimate.sampling import sample as sample
    from grfpp.graph import Graph as Graph
    from grfpp.kernels import Cosine as Cosine
    from grfpp.kernels import Diffusion as Diffusion
    from grfpp.kernels import HeatKernel as HeatKernel
    from grfpp.kernels import InversePower as InversePower
    from grfpp.kernels import Kernel as Kernel
    from grfpp.kernels import PersonalizedPageRank as PersonalizedPageRank
    from grfpp.kernels import PStep as PStep
    from grfpp.kernels import RegularizedLaplacian as RegularizedLaplacian
    from grfpp.kernels import SquaredDiffusion as SquaredDiffusion
    from grfpp.kernels import TaylorKernel as TaylorKernel
    from grfpp.local import LocalKernel as LocalKernel
    from grfpp.local import sample_submatrix as sample_submatrix
    from grfpp.operators import kernel_operator as kernel_operator
    from grfpp.options import WalkOptions as WalkOptions
    from grfpp.termination import CustomLength as CustomLength
    from grfpp.termination import FirstStepThenGeometric as FirstStepThenGeometric
    from grfpp.termination import FixedLength as FixedLength
    from grfpp.termination import Geometric as Geometric
    from grfpp.termination import Matched as Matched
    from grfpp.termination import NegativeBinomial as NegativeBinomial
    from grfpp.termination import Poisson as Poisson
    from grfpp.termination import Termination as Termination
    from grfpp.termination import UniformLength as UniformLength

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

#: Type checkers read the imports above, which have the same names.
__all__ = [name for names in _NAMES.values() for name in names.split()]

_get, __dir__ = lazy_names(__name__, _NAMES)


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"grfpp.{name}")
    value = globals()[name] = _get(name)
    return value
