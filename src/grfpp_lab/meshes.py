"""The paper's meshes: its running times on them, whether they are at hand, spheres instead."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from grfpp.datasets import TriangleMesh, dataset_info, load_mesh, triangulated_sphere
from grfpp.datasets.fetch import find_file


class PaperMesh(NamedTuple):
    """A mesh of the paper's table of running times."""

    #: Its size in the paper.
    n_nodes: int
    #: Of brute force, ``None`` where that did not end, and of GRFs++.
    dense_seconds: float | None
    grf_seconds: float


#: Tab. mesh_runtime_new.
PAPER_MESHES = (
    PaperMesh(11_700, 1_661.74, 314.98),
    PaperMesh(15_527, 4_833.51, 727.48),
    PaperMesh(24_194, 14_062.08, 1_724.71),
    PaperMesh(35_300, None, 5_591.42),
)
LARGEST = PAPER_MESHES[-1]
#: What the paper says of smaller ones, and about where its comparison begins.
FASTER = "1.7 to 2.2 times faster{} at 2,000 to 4,000"
LEAST = 1800


def why_absent(name: str) -> str | None:
    """Why a mesh of Thingi10K cannot be had without a download, or ``None`` when it can."""
    (file,) = dataset_info(name).files
    return None if find_file(file) else f"{file.path} is not at hand"


def spheres(levels: tuple[int, ...]) -> list[tuple[str, int]]:
    """Names and sizes of triangulated spheres.

    Examples
    --------
    >>> spheres((1, 2))
    [('sphere 1', 42), ('sphere 2', 162)]
    """
    return [(f"sphere {level}", 10 * 4**level + 2) for level in levels]


@lru_cache(maxsize=2)
def mesh_named(name: str) -> TriangleMesh:
    """A mesh of Thingi10K by number, or a triangulated sphere; kept for the next cell."""
    kind, _, number = name.partition(" ")
    if kind == "sphere":
        return triangulated_sphere(int(number))
    return load_mesh(number, download=False)
