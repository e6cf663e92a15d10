"""Graph node kernels from random walks: refined graph random features (GRFs++).

Begin with a graph, a kernel and `sample`::

    W = grfpp.Graph("edges.txt").normalized("sym")
    K = grfpp.sample(W, grfpp.Diffusion(1.0), seed=0)      # help(grfpp.sample) says more
    K @ V; K.rows([3, 7]); K.features(); K.meta["relative_error"]

Graphs      Graph; convert, update and compact write folders on disk
Estimates   sample, KernelEstimate, sample_submatrix, relative_error, WalkOptions
Rows        LocalKernel: rows, entries and nearest nodes at a cost free of the graph's size
Products    kernel_operator: exact to a tolerance, by the cheapest method
Kernels     Diffusion, SquaredDiffusion, HeatKernel, RegularizedLaplacian, InversePower, PStep,
            PersonalizedPageRank, Cosine, TaylorKernel; Kernel is their base
Lengths     Matched, Geometric, Poisson, NegativeBinomial, FixedLength, UniformLength,
            FirstStepThenGeometric, CustomLength; Termination is their base
Errors      InputError, DivergentSeriesError, InfiniteVarianceError, TruncationError
Modules     tasks (scikit-learn estimators), gp (Gaussian processes), datasets, torch and
            distributed (extras of these names), kernels, termination, errors
"""

import sys
from typing import Any

import lazy_loader

__version__ = "0.1.0"

# The stub ``__init__.pyi`` lists the public names; each is imported when it is first used.
_attribute, __dir__, _PUBLIC = lazy_loader.attach_stub(__name__, __file__)
#: They need the packages of extras.
_EXTRAS = ("distributed", "torch")


def __getattr__(name: str) -> Any:
    # `help(grfpp)` would print 5,000 lines on the members of `__all__`, and import the extras.
    is_help = sys._getframe(1).f_globals.get("__name__") in ("pydoc", "inspect")
    if is_help and name in ("__all__", *_EXTRAS):
        raise AttributeError(name)
    if name == "__all__":
        return [public for public in _PUBLIC if public not in _EXTRAS]
    return _attribute(name)
