"""Meshes that are at hand, by the sizes of the paper's table."""

from __future__ import annotations

from pathlib import Path

from grfpp.datasets import dataset_info, mesh_table
from grfpp.datasets.fetch import find_file


def mesh_file(n_nodes: int) -> tuple[Path, str]:
    """Find the mesh file for a size of the paper's table.

    Returns
    -------
    path, remark
        The remark is empty for a mesh of this size, and tells of another that stands in for it.

    Raises
    ------
    FileNotFoundError
        When the data are not here.
    """
    mesh = next(mesh for mesh in mesh_table() if mesh.paper_vertices == n_nodes)
    (file,) = dataset_info(mesh.name).files
    path = find_file(file)
    if path is None:
        raise FileNotFoundError(f"{file.path} is not at hand: see `grfpp datasets`")
    return path, f"stand-in of {mesh.n_vertices:,}" if mesh.is_stand_in else ""
