"""Nodes clustered by kernels."""
