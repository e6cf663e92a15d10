"""Normals of meshes, hidden at most vertices and filled in from the others."""
