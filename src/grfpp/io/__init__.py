"""Anything a user holds -> a weight matrix and the labels of its nodes."""

from grfpp.io.objects import read_adjacency

__all__ = ["read_adjacency"]
