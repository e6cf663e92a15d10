"""What is measured: the paper's walks, and how large the graphs of each set are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from grfpp.kernels import Diffusion
from grfpp.options import Walks
from grfpp.termination import Geometric
from grfpp_lab.meshes import LARGEST, PAPER_MESHES

KERNEL = Diffusion(1.0)
N_WALKS = 16
P_HALT = 0.1
LAW = Geometric(P_HALT)
WALKS: Walks = "independent"
SEED = 0


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    #: Families of graphs and numbers of nodes that are sampled.
    sampling: tuple[tuple[str, int], ...]
    #: Graphs of at most so many nodes are also given to peers that need seconds for those.
    slow_peers_up_to: int
    #: Families and numbers of nodes on which errors are compared at equal seconds.
    equal: tuple[tuple[str, int], ...]
    #: Numbers of nodes of the grids on which costs are followed.
    growth: tuple[int, ...]
    #: Nodes of the grid for ``storage="recompute"``.
    recompute: int
    #: Sizes from the paper's table.
    meshes: tuple[int, ...]
    #: Meshes of at most so many nodes are also solved by dense brute force, which is estimated for
    #: the others.
    dense_up_to: int
    #: Nodes of the piece of a mesh from which dense brute force is estimated.
    dense_pilot: int
    #: Nodes of the grid from which a submatrix is wanted, and the number of its rows.
    local: tuple[int, int]
    #: Nodes of the dense graph, and their average degree.
    dense: tuple[int, int]
    #: Nodes of the grid for a single product.
    sparse: int
    #: Seconds for repeating one measurement.
    budget: float
    #: Seconds after which a measurement is stopped.
    timeout: float
    #: Seconds after which no further measurement begins.
    limit: float


_FULL = Sizes(
    sampling=(
        ("grid", 10**4),
        ("mesh", LARGEST.n_nodes),
        ("grid", 10**6),
        ("regular", 10**6),
        ("scale-free", 10**6),
    ),
    slow_peers_up_to=LARGEST.n_nodes,
    equal=(("grid", 10**6), ("regular", 10**6), ("scale-free", 10**6)),
    growth=(10**3, 10**4, 10**5, 10**6, 10**7),
    recompute=10**7,
    meshes=tuple(mesh.n_nodes for mesh in PAPER_MESHES),
    dense_up_to=PAPER_MESHES[0].n_nodes,
    dense_pilot=2_000,
    local=(10**6, 1_000),
    dense=(10**4, 2_500),
    sparse=10**6,
    budget=6.0,
    timeout=1200,
    limit=3600,
)
#: What the quick set has less of.
_LESS: dict[str, Any] = {
    **{"slow_peers_up_to": 10**4, "growth": _FULL.growth[:-1], "recompute": 10**5},
    **{"equal": tuple((family, 10**5) for family, _ in _FULL.equal)},
    **{"dense_up_to": 0, "budget": 2.0, "timeout": 60, "limit": 285},
}
SETS = {
    "smoke": Sizes(
        sampling=(("grid", 400), ("scale-free", 300)),
        slow_peers_up_to=400,
        equal=(("grid", 400), ("scale-free", 300)),
        growth=(100, 400, 1600),
        recompute=400,
        meshes=_FULL.meshes[:1],
        dense_up_to=0,
        dense_pilot=100,
        local=(400, 16),
        dense=(200, 50),
        sparse=400,
        budget=0.05,
        timeout=60,
        limit=120,
    ),
    "quick": replace(_FULL, **_LESS),
    "full": _FULL,
}
