"""Graph node kernels ``K = g(W) = Σ α_k W^k``: power series with a name."""

from grfpp.kernels import named
from grfpp.kernels.base import Kernel
from grfpp.kernels.named import *  # noqa: F403 - a new kernel is a class in `named` alone
from grfpp.kernels.registry import kernel_from_dict, kernel_from_spec, kernel_of, kernel_usages
from grfpp.kernels.taylor import TaylorKernel

__all__ = ["Kernel", "TaylorKernel", "kernel_from_dict", "kernel_from_spec", "kernel_of"]
__all__ += ["kernel_usages"]
__all__ += named.__all__
