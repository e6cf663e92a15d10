"""Kernels as differentiable functions of their modulation."""
