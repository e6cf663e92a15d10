"""Normals of triangle meshes: compute them, hide some of them, predict those."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from grfpp._checks import instance_of, probability, whole
from grfpp._imports import require
from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.io.meshes import merged
from grfpp.linalg.csr import connected_to
from grfpp.tasks.interpolation import KernelInterpolator, cosines, mean_cosine
from grfpp.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from grfpp.datasets import TriangleMesh


@dataclass(frozen=True, eq=False)
class HiddenNormals:
    """Normals of a mesh, and the vertices at which they are hidden."""

    graph: Graph
    #: One row per vertex; zeros at those without a normal, which are neither known nor hidden.
    normals: FloatArray
    #: Indices of vertices, ascending.
    known: IntArray
    hidden: IntArray
    #: Number of hidden vertices in components without a known one.
    n_cut_off: int


@dataclass(frozen=True, eq=False)
class PredictedNormals:
    """Predictions of hidden normals."""

    task: HiddenNormals
    #: One unit vector per vertex; zeros at vertices that no known one reaches.
    predicted: FloatArray
    #: Number of hidden vertices that are not reached, including those that are cut off.
    n_unreached: int
    #: `KernelInterpolator.method_`.
    method: str = ""

    @property
    def cosine(self) -> float:
        """Mean cosine similarity over the hidden vertices; 0 for those that are not reached."""
        hidden = self.task.hidden
        return mean_cosine(self.predicted[hidden], self.task.normals[hidden])

    def angles(self) -> FloatArray:
        """Angle at every vertex in degrees, 90 if it is not reached, NaN if it is not hidden."""
        truth, hidden = np.zeros_like(self.task.normals), self.task.hidden
        truth[hidden] = self.task.normals[hidden]
        return np.degrees(np.arccos(cosines(self.predicted, truth)))


def hide_normals(mesh: TriangleMesh, mask: float = 0.8, seed: int = 0) -> HiddenNormals:
    """Hide the normals at a share of the vertices, chosen at random.

    Parameters
    ----------
    mesh
        The mesh.
    mask
        The share, above 0 and below 1, of the vertices that have a normal.
    seed
        Seed of the choice.

    References
    ----------
    Choromanski, Dubey, Sehanobish, Reid: Computationally-efficient graph modeling with refined
    graph random features. ICML 2026, "Normal prediction" (with ``mask=0.8``).

    Examples
    --------
    >>> from grfpp.datasets import triangulated_sphere
    >>> task = hide_normals(triangulated_sphere(2), mask=0.8, seed=0)
    >>> len(task.known), len(task.hidden), task.n_cut_off
    (32, 130, 0)
    """
    from grfpp.datasets import TriangleMesh

    instance_of(mesh, "mesh", TriangleMesh)
    return hide(mesh.graph, vertex_normals(mesh.vertices, mesh.faces), mask, seed)


def hide(graph: Graph, normals: FloatArray, mask: float = 0.8, seed: int = 0) -> HiddenNormals:
    """`hide_normals` for a graph and its normals."""
    share = probability(mask, "mask", above_zero=True, below_one=True)
    rng = np.random.default_rng(whole(seed, "seed", 0))
    vertices = np.flatnonzero(normals.any(axis=1))
    n_hidden = round(share * len(vertices))
    if not 0 < n_hidden < len(vertices):
        problem = f"must hide at least one of the {len(vertices)} vertices that have a normal, and "
        raise InputError(f"{problem}leave one, found {share:g}", argument="mask")
    shuffled = rng.permutation(vertices)
    hidden, known = np.sort(shuffled[:n_hidden]), np.sort(shuffled[n_hidden:])
    n_cut_off = int(np.count_nonzero(~connected_to(graph.adjacency, known)[hidden]))
    return HiddenNormals(graph, normals, known, hidden, n_cut_off)


def predict_normals(task: HiddenNormals, **parameters: Any) -> PredictedNormals:
    """Predict hidden normals by `KernelInterpolator`.

    Parameters
    ----------
    task
        The mesh, with some of its normals hidden.
    parameters
        Parameters of `KernelInterpolator`. The default is kriging; ``how="paper"`` is the sum
        ``Σ_j K(i, j) F_j`` of the paper.

    References
    ----------
    Choromanski, Dubey, Sehanobish, Reid: Computationally-efficient graph modeling with refined
    graph random features. ICML 2026, "Normal prediction".

    Examples
    --------
    >>> from grfpp.datasets import triangulated_sphere
    >>> task = hide_normals(triangulated_sphere(3), mask=0.8, seed=0)
    >>> round(predict_normals(task).cosine, 4)
    0.9999
    >>> round(predict_normals(task, how="paper", estimate="exact").cosine, 4)
    0.9931
    """
    fitted = KernelInterpolator(task.graph, output="direction", **parameters)
    fitted.fit(task.known, task.normals[task.known])
    n_unreached = int(np.count_nonzero(~fitted.reached_[task.hidden]))
    return PredictedNormals(task, fitted.field_, n_unreached, fitted.method_)


def vertex_normals(vertices: npt.ArrayLike, faces: npt.ArrayLike) -> FloatArray:
    """Unit normals at vertices: means over the adjacent triangles, weighted by their angles there.

    They do not depend on the triangulation of a flat face. Needs trimesh, of the extra ``mesh``.

    Parameters
    ----------
    vertices, faces
        The mesh; the vertices of a triangle are counter-clockwise, seen from outside.

    Returns
    -------
    numpy.ndarray
        One row per vertex; zeros where a vertex has no triangle, where all its triangles are
        degenerate, or where their normals cancel.

    References
    ----------
    Thürmer, Wüthrich: Computing vertex normals from polygonal facets. J. Graphics Tools 3, 1998.

    Examples
    --------
    >>> corner = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    >>> vertex_normals(corner, [[0, 2, 1], [0, 1, 3], [0, 3, 2]])[0]
    array([-0.57735027, -0.57735027, -0.57735027])
    """
    mesh = merged(vertices, faces)  # checks the arguments; points are not merged below
    if mesh.vertices.shape[1] != 3 or mesh.largest > 3 or not len(mesh.faces):
        shapes = f"{np.shape(faces)} and {np.shape(vertices)}"
        raise InputError(f"must have shape (n, 3), as vertices, found {shapes}", argument="faces")
    points = np.asarray(vertices, dtype=np.float64)
    points = points - points.mean(axis=0)
    # In units of the mesh's size no product leaves the range of float64.
    points /= np.abs(points).max() or 1.0
    trimesh = require("trimesh", "normals of a mesh")
    surface = trimesh.Trimesh(points, np.asarray(faces, np.int64), process=False)
    normals = np.array(surface.vertex_normals)
    normals[np.linalg.norm(normals, axis=1) < 0.5] = 0.0  # sums that cancel leave rounding
    return normals
