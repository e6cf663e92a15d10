"""Readers of graphs and meshes: any source -> a weight matrix and the names of its nodes."""

from grfpp.io.files import load_mesh
from grfpp.io.objects import read_adjacency

__all__ = ["load_mesh", "read_adjacency"]
