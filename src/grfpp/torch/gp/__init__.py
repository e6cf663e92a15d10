"""Gaussian processes on the nodes of a graph, as models, kernels and operators of gpytorch."""
