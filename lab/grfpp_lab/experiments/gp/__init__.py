"""Gaussian processes on a surface."""
