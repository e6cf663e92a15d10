"""Text edge lists: one edge ``u v [w]`` a line."""

from grfpp.io.edge_list.reader import SUFFIXES, read_edge_list

__all__ = ["SUFFIXES", "read_edge_list"]
