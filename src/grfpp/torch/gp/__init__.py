"""Gaussian processes on the nodes of a graph."""

from grfpp.imports.lazy import lazy_names

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "kernel": "GRFKernel",
        "node_gp": "NodeGP",
        "node_kernel": "NodeKernel",
        "operator": "KernelLinearOperator",
        "pathwise": "posterior_samples",
        "regressor": "NodeGPRegressor",
    },
)
