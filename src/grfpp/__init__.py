"""Graph node kernels from random walks: refined graph random features (GRFs++)."""

__version__ = "0.1.0"
