"""Kriging: the mean of a Gaussian process on nodes, its settings and its standard errors."""
