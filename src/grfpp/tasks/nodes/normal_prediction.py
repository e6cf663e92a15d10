"""Hide the normals at most vertices of a mesh and predict them from the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from grfpp.arguments import probability, whole
from grfpp.errors import InputError, shown
from grfpp.graph import Graph
from grfpp.tasks.nodes.directions import angles, mean_cosine
from grfpp.tasks.nodes.interpolation import KernelInterpolator
from grfpp.tasks.nodes.vertex_normals import vertex_normals
from grfpp.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from grfpp.datasets import TriangleMesh


@dataclass(frozen=True, eq=False)
class HiddenNormals:
    """Normals of a mesh, and at which vertices they are hidden."""

    graph: Graph
    #: A row a vertex; zeros at those that have no normal, which are neither known nor hidden.
    normals: FloatArray
    #: Numbers of vertices, in order.
    known: IntArray
    hidden: IntArray
    #: Hidden vertices in parts of the mesh without a known one: nothing tells about them.
    n_cut_off: int


@dataclass(frozen=True, eq=False)
class PredictedNormals:
    """What became of hidden normals."""

    task: HiddenNormals
    #: A unit vector at every vertex; zeros at those out of reach.
    predicted: FloatArray
    #: Hidden vertices out of reach, those that are cut off among them.
    n_unreached: int
    #: How it was made, as `KernelInterpolator.method_` tells.
    method: str = ""

    @property
    def cosine(self) -> float:
        """Mean cosine similarity over the hidden vertices; 0 for those out of reach."""
        hidden = self.task.hidden
        return mean_cosine(self.predicted[hidden], self.task.normals[hidden])

    def angles(self) -> FloatArray:
        """Angle at every vertex in degrees, 90 out of reach, NaN where nothing was hidden."""
        truth, hidden = np.zeros_like(self.task.normals), self.task.hidden
        truth[hidden] = self.task.normals[hidden]
        return angles(self.predicted, truth)


def hide_normals(mesh: TriangleMesh, mask: float = 0.8, seed: int = 0) -> HiddenNormals:
    """Hide the normals at a share of the vertices, chosen at random.

    Parameters
    ----------
    mesh
        The mesh.
    mask
        The share, above 0 and below 1, of the vertices that have a normal.
    seed
        Of the choice.

    Examples
    --------
    >>> from grfpp.datasets import triangulated_sphere
    >>> task = hide_normals(triangulated_sphere(2), mask=0.8, seed=0)
    >>> len(task.known), len(task.hidden), task.n_cut_off
    (32, 130, 0)
    """
    if not all(hasattr(mesh, part) for part in ("graph", "vertices", "faces")):
        raise InputError(f"must be a TriangleMesh, found {shown(mesh)}", argument="mesh")
    return hide(mesh.graph, vertex_normals(mesh.vertices, mesh.faces), mask, seed)


def hide(graph: Graph, normals: FloatArray, mask: float = 0.8, seed: int = 0) -> HiddenNormals:
    """`hide_normals` with the graph and the normals of a mesh, computed before."""
    from scipy.sparse.csgraph import connected_components

    share = probability(mask, "mask", above_zero=True, below_one=True)
    rng = np.random.default_rng(whole(seed, "seed", 0))
    vertices = np.flatnonzero(normals.any(axis=1))
    if len(vertices) < 2:
        raise InputError(
            f"{len(vertices)} vertices of the mesh have a normal; at least two are needed, one to "
            "hide and one to know (triangles shrunk to lines have none)"
        )
    n_hidden = round(share * len(vertices))
    if not 0 < n_hidden < len(vertices):
        raise InputError(
            f"mask {share:g} hides {n_hidden} of the {len(vertices)} vertices that have a normal: "
            "at least one must be hidden and one known"
        )
    shuffled = rng.permutation(vertices)
    hidden, known = np.sort(shuffled[:n_hidden]), np.sort(shuffled[n_hidden:])
    _, part = connected_components(graph.adjacency, directed=False)
    n_cut_off = np.count_nonzero(~np.isin(part[hidden], part[known]))
    return HiddenNormals(graph, normals, known, hidden, int(n_cut_off))


def predict_normals(task: HiddenNormals, **parameters: Any) -> PredictedNormals:
    """Predict hidden normals by `KernelInterpolator`, whose parameters may follow.

    The default is kriging; ``how="paper"`` is the paper's sum.

    Examples
    --------
    >>> from grfpp.datasets import triangulated_sphere
    >>> task = hide_normals(triangulated_sphere(3), mask=0.8, seed=0)
    >>> round(predict_normals(task).cosine, 4)
    0.9999
    >>> round(predict_normals(task, how="paper", estimate="exact").cosine, 4)
    0.9931
    """
    filled = KernelInterpolator(task.graph, output="direction", **parameters)
    filled.fit(task.known, task.normals[task.known])
    n_unreached = int(np.count_nonzero(~filled.reached_[task.hidden]))
    return PredictedNormals(task, filled.field_, n_unreached, filled.method_)
