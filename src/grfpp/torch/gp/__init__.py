"""Gaussian processes on the nodes of a graph."""
