"""What a benchmark measures at each size, and the rows that it gives."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from grfpp.datasets import dataset_info, mesh_table
from grfpp.datasets.fetch import find_file
from grfpp.kernels import Diffusion
from grfpp.options import Walks
from grfpp.termination import Geometric
from grfpp_lab.graphs import LARGEST, PAPER_MESHES

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
    #: Largest graph that is also given to slow peers.
    slow_peers_up_to: int
    #: Families and numbers of nodes on which errors are compared at equal seconds.
    equal: tuple[tuple[str, int], ...]
    #: Numbers of nodes of the grids on which the growth of costs is measured.
    growth: tuple[int, ...]
    #: Nodes of the grid for ``storage="recompute"``.
    recompute: int
    #: Sizes from the paper's table.
    meshes: tuple[int, ...]
    #: Largest mesh that is also solved by dense brute force, which is extrapolated for the others.
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
#: Sizes of the quick set.
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


#: Estimated: scaled from a smaller run, as the note says. Quoted: from the paper.
Status = Literal["measured", "estimated", "quoted", "not run"]
Section = Literal["sampling", "equal", "growth", "paper", "uses"]


@dataclass(frozen=True)
class Row:
    """One method on one workload."""

    #: The part of the benchmark.
    section: Section
    #: What was done, by what, in which version.
    workload: str
    method: str
    version: str = ""
    #: Whether the numbers were measured in this run.
    status: Status = "measured"
    #: A remark, or the reason where nothing was run.
    note: str = ""
    #: What was measured, by name: ``seconds`` nearly always, and what the section is about.
    numbers: dict[str, float] = field(default_factory=dict)
    threads: int = 1
    hardware: str = ""

    def get(self, name: str) -> float | None:
        """One of the numbers, if it is there."""
        return self.numbers.get(name)

    def document(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def measured(method: str, note: str, **numbers: float) -> dict[str, Any]:
    """The part of a row that a measurement returns from another process."""
    return {"method": method, "note": note, "numbers": numbers}


def of_section(rows: Iterable[Row], section: str) -> list[Row]:
    """The rows of one part of the benchmark."""
    return [row for row in rows if row.section == section]


def find(
    rows: Iterable[Row], section: str, workload: str, method: str, number: str
) -> float | None:
    """A number of the row with this workload and method; ``None`` where it was not measured."""
    for row in rows:
        if (row.section, row.workload, row.method) == (section, workload, method):
            return row.get(number)
    return None


def workloads(rows: Sequence[Row], section: str) -> list[str]:
    """The workloads of a section, in their order."""
    return list(dict.fromkeys(row.workload for row in of_section(rows, section)))


def mesh_file(n_nodes: int) -> tuple[Path, str]:
    """Find the mesh file for a size of the paper's table.

    Returns
    -------
    path, remark
        The remark is empty for a mesh of this size; otherwise it names the size of the stand-in.

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
