"""Anything a user holds -> a weight matrix and the labels of its nodes."""

from grfpp.io.files import load_mesh
from grfpp.io.objects import read_adjacency

__all__ = ["load_mesh", "read_adjacency"]
