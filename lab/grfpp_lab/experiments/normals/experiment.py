"""Tab. metrics_vertec_normal_all: hidden vertex normals, predicted by the diffusion kernel."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from grfpp.datasets import mesh_table
from grfpp_lab.experiments.claims import POOLED
from grfpp_lab.experiments.measuring import at_hand
from grfpp_lab.experiments.normals import claims
from grfpp_lab.experiments.study.errors import chosen, geometric, listed, matched
from grfpp_lab.graphs import spheres, why_absent
from grfpp_lab.harness import experiment as lab
from grfpp_lab.report.panels import Surface

TIMED_SIGMA, TIMED_WALKS = 0.8, 16


@dataclass(frozen=True)
class Parameters:
    """How much of it."""

    #: Vertices of the largest mesh whose cosines are compared.
    most: int
    #: Of a mesh by its size: how many to choose settings by, and how many to measure with.
    masks: Callable[[int], tuple[int, int]]
    #: Vertices of the meshes that are timed.
    timed: tuple[int, ...]
    #: Largest mesh for which the dense kernel is formed.
    most_brute: int
    #: The mesh of the picture.
    drawn: str
    #: In place of meshes where there are none.
    spheres: tuple[int, ...]


#: Of our meshes for the paper's running times, one of which stands in for another.
_LARGE = tuple(mesh.n_vertices for mesh in mesh_table() if mesh.role == "scaling")


def _between(low: int, value: int, high: int) -> int:
    return max(low, min(value, high))


PARAMETERS = {
    lab.Size.FULL: Parameters(
        10_000,
        lambda n: (_between(1, 10_000 // n, 24), _between(4, 20_000 // n, 24)),
        (*(502, 992, 1849, 2996, 4025, 5985, 8011, *_LARGE), *(48652, 95604, 106485, 151438)),
        4_100,
        claims.PICTURED_MESH,
        (1, 2, 3, 4),
    ),
    lab.Size.QUICK: Parameters(
        4_100,
        lambda n: (_between(1, 3_000 // n, 8), _between(2, 4_000 // n, 8)),
        (992, 1849, _LARGE[0], _LARGE[-1]),
        1_900,
        claims.PICTURED_MESH,
        (1, 2, 3),
    ),
    lab.Size.TINY: Parameters(100, lambda n: (1, 2), (64,), 200, "mesh 60246", (1,)),
}

#: Numbers of walks of each method; none where there are no walks.
_WALKS_OF = {name: walks for name, (source, walks) in claims.COMPARED.items() if name == source}
_WALKS_OF[claims.GRF] = claims.GRF_WALKS


def plan(settings: lab.Settings) -> lab.Plan:
    """A cell for every mesh and method; spheres where no meshes are at hand."""
    mine, (_, p_halt) = PARAMETERS[settings.size], chosen(settings)
    sigmas = claims.SIGMAS if settings.scale is None else (settings.scale**0.5,)
    shared = {"termination": geometric(p_halt), "seed": settings.seed}
    pools: dict[str, dict[str, Any]] = {
        POOLED: {"termination": matched(p_halt), "walks": POOLED},
        # They have no width to be chosen on masks of its own, or choose it on the known vertices.
        **{method: {"sigmas": [None]} for method in claims.BESIDE},
    }
    one = {"sigma": TIMED_SIGMA if settings.scale is None else sigmas[0]}
    meshes, skipped = _meshes(mine)
    cells: list[lab.Cell] = []
    for mesh in (each for each in meshes if each["n_nodes"] <= mine.most):
        n_choosing, repeats = mine.masks(mesh["n_nodes"])
        many = {"sigmas": list(sigmas), "n_choosing": n_choosing, "repeats": repeats}
        cells += [
            {
                **{**mesh, "part": claims.COSINES, "method": method, "n_walks": list(n_walks)},
                **many,
                **shared,
                **pools.get(method, {}),
            }
            for method, n_walks in _WALKS_OF.items()
        ]
    for mesh in (each for each in meshes if _is_timed(each, mine)):
        cells += [
            {
                **{**mesh, "part": claims.SECONDS, "method": method, "n_walks": TIMED_WALKS},
                **{**one, **shared, **pools.get(method, {})},
            }
            for method in claims.TIMED
            if method != claims.DENSE or mesh["n_nodes"] <= mine.most_brute
        ]
    drawn = next((each for each in meshes if each["graph"] == mine.drawn), meshes[-1])
    cells.append({**drawn, "part": claims.PICTURE, "method": "all", **one, **shared})
    described = {
        "meshes": f"{len(meshes)} of {len(meshes) + len(skipped)}, Thingi10K"
        if meshes[0]["graph"].startswith("mesh")
        else "spheres, which are not the paper's: no mesh is at hand",
        "hidden": f"{claims.MASK:.0%} of the vertices",
        "kernel": "exp(W)",
        "weights": "W = σ² D^-1/2 A D^-1/2, all edges of weight 1",
        "σ": listed(sigmas),
        "walks": f"{listed(claims.N_WALKS)}, p_halt = {p_halt:g}; pooled ones take as many steps",
        "GRF++, pooled": f"degree {claims.DEGREE}",
        "kriging": "the default of KernelInterpolator; harmonic and biharmonic: D - A",
        "timed": f"σ = {one['sigma']:g}, {TIMED_WALKS} walks, one thread",
    }
    return lab.Plan(cells, described, skipped)


def _meshes(mine: Parameters) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """The meshes that are wanted and at hand, and why others are not."""
    wanted: dict[str, dict[str, Any]] = {}
    for info in mesh_table():
        mesh = {
            "graph": f"mesh {info.name}",
            "n_nodes": info.n_vertices,
            "paper_size": info.paper_vertices or 0,
            "stand_in": info.is_stand_in,
        }
        is_compared = info.role == "normals" and info.n_vertices <= mine.most
        if is_compared or _is_timed(mesh, mine) or mesh["graph"] == mine.drawn:
            wanted[f"mesh {info.name}"] = mesh
    found, skipped = at_hand(wanted, lambda name: why_absent(name.removeprefix("mesh ")))
    generated = [
        {"graph": name, "n_nodes": n, "paper_size": 0, "stand_in": False}
        for name, n in spheres(mine.spheres)
    ]
    return [wanted[name] for name in found] or generated, skipped


def _is_timed(mesh: dict[str, Any], mine: Parameters) -> bool:
    return mesh["n_nodes"] in mine.timed or mesh["graph"].startswith("sphere")


def run(cell: lab.Cell) -> list[lab.Row]:
    """Cosines, seconds or the picture's numbers of one mesh."""
    from grfpp_lab.experiments.normals.measuring import cosine_rows, second_rows
    from grfpp_lab.experiments.normals.picture import picture_rows

    return {claims.COSINES: cosine_rows, claims.SECONDS: second_rows, claims.PICTURE: picture_rows}[
        cell["part"]
    ](cell)


def picture_panels(rows: lab.Rows) -> list[Surface]:
    """The mesh, once for every method."""
    from grfpp_lab.experiments.normals import picture

    return picture.picture_panels(rows)


EXPERIMENT = lab.Experiment(
    name="normals",
    plan=plan,
    run=run,
    claims=[
        lab.Claim("normals", claims.cosine_panels, claims.judge_cosines, (claims.cosine_table,)),
        lab.Claim("normals-pooled", claims.pooled_panels, claims.judge_pooled),
        lab.Claim("normals-kriging", claims.kriging_panels, claims.judge_kriging),
        lab.Claim("normals-reuse", claims.reuse_panels, claims.judge_reuse),
        lab.Claim("normals-paper", claims.paper_panels, claims.judge_paper),
        lab.Claim(
            "normals-seconds", claims.second_panels, claims.judge_seconds, (claims.second_table,)
        ),
        lab.Claim("normals-picture", picture_panels, claims.judge_picture),
    ],
    timings=("seconds",),
    parts=("tasks",),
)
