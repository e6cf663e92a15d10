"""Estimates of graph kernels: products of factors, and what they know about themselves."""

from grfpp.estimate.estimate import KernelEstimate, require_projection

__all__ = ["KernelEstimate", "require_projection"]
