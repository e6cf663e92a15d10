"""Sparse and dense linear algebra that knows nothing of walks."""
