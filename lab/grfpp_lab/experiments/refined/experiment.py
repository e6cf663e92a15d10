"""Ours: what pooled walks, averages and deflation gain, against steps, seconds and memory."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from grfpp.errors import InputError
from grfpp_lab.experiments.measuring import EIGHT, at_hand
from grfpp_lab.experiments.refined import claims
from grfpp_lab.experiments.refined import measuring as graphs
from grfpp_lab.experiments.study.errors import chosen, geometric, listed
from grfpp_lab.harness import experiment as lab

ALL = tuple(graphs.KERNELS)
#: Steps a node, all factors counted: 4, 16 and 64 walks of nine steps at degree 2.
BUDGETS = (144, 576, 2304)
#: Entries a row of the kernel's own largest ones.
ENTRIES = tuple(round(18 * 2 ** (power / 2)) for power in range(15))
#: Of the eigenvectors that are taken exactly, at most; a tenth of the nodes on small graphs.
N_VECTORS = 64
#: Fast kernels have nothing that a few vectors hold.
DEFLATED_KERNELS = (graphs.SLOW, graphs.SLOW_INVERSE)


@dataclass(frozen=True)
class Scene:
    """Graphs that are measured in one way."""

    graphs: tuple[str, ...]
    repeats: int
    #: Columns of the kernel that errors are measured at.
    columns: int
    kernels: tuple[str, ...] = ALL
    budgets: tuple[int, ...] = BUDGETS
    degrees: tuple[int, ...] = (2, 4, 8)
    #: Degrees with eigenvectors, and how many of those at most.
    deflated: tuple[int, ...] = (4, 8)
    n_vectors: int = N_VECTORS


@dataclass(frozen=True)
class Parameters:
    """All that is measured; a mesh is replaced by a sphere where there are no data."""

    scenes: tuple[Scene, ...]
    sphere: str = graphs.SPHERE
    words: dict[str, str] = field(default_factory=dict)


_WEIGHTED = (graphs.NEIGHBOURS, graphs.DENSE, graphs.RANDOM + graphs.LOG_NORMAL)
_MIDDLE = (graphs.SCALE_FREE, graphs.CORA, graphs.CORA + graphs.LOG_NORMAL)
_WIDE = (graphs.GRID, graphs.MESH)
_LARGE = (graphs.LARGE_SCALE_FREE, graphs.LARGE_REGULAR)

PARAMETERS = {
    lab.Size.FULL: Parameters(
        (
            Scene((*EIGHT[:-1], f"football{graphs.LOG_NORMAL}"), 5, 200),
            Scene((EIGHT[-1], *_MIDDLE, *_WEIGHTED), 2, 400, budgets=(144, 288, 576)),
            Scene((*_WIDE, graphs.MESH + graphs.LOG_NORMAL), 1, 100, deflated=(8,)),
            Scene(_LARGE, 1, 16, budgets=(144, 576), degrees=(2, 8), deflated=(8,), n_vectors=1),
        )
    ),
    lab.Size.QUICK: Parameters(
        (
            Scene(EIGHT, 2, 200, budgets=(144, 576), kernels=(graphs.FAST, graphs.SLOW)),
            Scene((graphs.CORA,), 1, 100, budgets=(144, 576)),
            Scene(
                (*_WEIGHTED, graphs.SCALE_FREE),
                *(1, 100, (graphs.FAST, graphs.MIDDLE), (144, 576), (2,), ()),
            ),
            Scene(_WIDE, 1, 30, (graphs.FAST,), BUDGETS, (2,), ()),
        )
    ),
    lab.Size.TINY: Parameters(
        (
            Scene(("er-20", "karate"), 2, 40, (graphs.FAST, graphs.SLOW), (144, 576), (2, 8), ()),
            Scene(
                (f"karate{graphs.LOG_NORMAL}",),
                2,
                20,
                (graphs.FAST, graphs.SLOW_INVERSE),
                (576,),
                (2,),
                (),
            ),
        )
    ),
}


def plan(settings: lab.Settings) -> lab.Plan:
    """A cell for every graph, kernel and method; all budgets of steps are in it."""
    mine, (_, p_halt) = PARAMETERS[settings.size], chosen(settings)
    names = [name for scene in mine.scenes for name in scene.graphs]
    found, skipped = at_hand(names, graphs.why_not)
    cells: list[lab.Cell] = []
    for scene in mine.scenes:
        for name in scene.graphs:
            graph = name if name in found else name.replace(graphs.MESH, mine.sphere)
            if graph == name and name not in found:
                continue
            shared = {"graph": graph, "termination": geometric(p_halt), "seed": settings.seed}
            cells += [{**shared, **cell} for cell in _cells(scene, graph, settings.scale)]
    scenes = mine.scenes
    described = {
        "kernels": listed(list(dict.fromkeys(k for scene in scenes for k in scene.kernels))),
        "weights": "W = D^-1/2 A D^-1/2",
        "independent walks": f"degree {graphs.DEGREE}, geometric lengths with p_halt = {p_halt:g}",
        "pooled walks": "the library's own settings",
        "steps per node": listed(sorted({b for scene in scenes for b in scene.budgets})),
        "columns": "; ".join(
            f"{scene.columns:,} at most for {len(scene.graphs)} graphs" for scene in scenes
        ),
        "threads": "1",
    }
    return lab.Plan(cells, described, skipped)


def _cells(scene: Scene, graph: str, scale: float | None) -> Iterator[dict[str, Any]]:
    n = graphs.n_nodes_of(graph)
    for name in scene.kernels:
        kernel, own_scale = graphs.KERNELS[name]
        if scale is not None and scale >= 1 > own_scale:
            raise InputError(f"refined: with --scale {scale:g} the series of {name} diverges")
        shared = {
            **{"kernel": kernel, "scale": own_scale if scale is None else scale, "name": name},
            **{"repeats": scene.repeats, "columns": min(scene.columns, n)},
        }
        walks = {**shared, "budgets": list(scene.budgets)}
        yield {**walks, "method": graphs.INDEPENDENT, "degree": graphs.DEGREE}
        for degree in scene.degrees:
            yield {**walks, "method": graphs.POOLED, "degree": degree}
        for degree in scene.deflated if name in DEFLATED_KERNELS else ():
            vectors = max(1, min(scene.n_vectors, n // 10))
            yield {**walks, "method": graphs.DEFLATED, "degree": degree, "vectors": vectors}
        yield {**shared, "method": graphs.CHEBYSHEV, "degree": None}
        yield {**shared, "method": graphs.LARGEST, "degree": None, "entries": list(ENTRIES)}


EXPERIMENT = lab.Experiment(
    name="refined", plan=plan, run=graphs.rows_of, claims=claims.CLAIMS, timings=("seconds",)
)
