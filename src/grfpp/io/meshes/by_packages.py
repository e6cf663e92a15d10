"""Mesh files that other packages read: glTF by trimesh, VTK by meshio."""

from __future__ import annotations

import io
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from grfpp.errors import InputError
from grfpp.imports.optional import require
from grfpp.io.meshes.polygons import Polygons
from grfpp.typing import FloatArray

#: What faces are called in VTK files. Points and lines are no part of a surface.
_FACES, _LESS = ("triangle", "quad", "polygon"), ("vertex", "line", "polyline")


def read_glb(data: bytes, name: str) -> tuple[FloatArray, Polygons]:
    """Read a binary glTF file; the meshes of its scene, where it puts them, become one."""
    trimesh = require("trimesh", f"{name}: reading .glb files")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of numpy, about numbers that are checked later
            scene = trimesh.load_scene(io.BytesIO(data), file_type="glb", process=False)
            mesh = scene.to_mesh()
    except Exception as error:  # any part of trimesh may fail, each in its own way
        raise InputError(f"{name} is not a glTF file that trimesh reads ({error})") from None
    return np.asarray(mesh.vertices, dtype=np.float64), np.asarray(mesh.faces, dtype=np.int64)


def read_vtk(data: bytes, name: str) -> tuple[FloatArray, Polygons]:
    """Read the triangles, quads and polygons of a legacy VTK file."""
    return _by_meshio(data, name, "vtk")


def read_vtu(data: bytes, name: str) -> tuple[FloatArray, Polygons]:
    """Read those of an XML file of an unstructured grid."""
    return _by_meshio(data, name, "vtu")


def _by_meshio(data: bytes, name: str, kind: str) -> tuple[FloatArray, Polygons]:
    meshio = require("meshio", f"{name}: reading .{kind} files")
    with tempfile.TemporaryDirectory() as folder:  # its readers take no bytes
        path = Path(folder) / f"mesh.{kind}"
        path.write_bytes(data)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                mesh = getattr(meshio, kind).read(path)
        except (Exception, SystemExit) as error:
            raise InputError(f"{name} is not a VTK file that meshio reads ({error})") from None
    return faces_of(mesh, name)


def faces_of(mesh: Any, name: str) -> tuple[FloatArray, Polygons]:
    """Points and faces of a ``meshio.Mesh``."""
    polygons: list[list[int]] = []
    for block in mesh.cells:
        if block.type in _FACES or block.type.startswith("polygon"):
            polygons += np.asarray(block.data).tolist()
        elif block.type not in _LESS:
            raise InputError(
                f"{name} holds cells of type {block.type}; a surface is made of triangles, quads "
                "and polygons"
            )
    return np.asarray(mesh.points, dtype=np.float64), polygons
