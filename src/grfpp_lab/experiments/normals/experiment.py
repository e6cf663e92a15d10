"""Tab. metrics_vertec_normal_all: hidden vertex normals, predicted by the diffusion kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from grfpp.datasets import mesh_table
from grfpp_lab.experiments.graphs import at_hand
from grfpp_lab.experiments.normals import parts, verdicts, views
from grfpp_lab.experiments.normals.paper import AL_MOHY, BRUTE, GRF, REUSED, STITCHED
from grfpp_lab.experiments.normals.parts import COSINES, PICTURE, PICTURED_MESH, SECONDS
from grfpp_lab.experiments.study.grid import chosen, geometric, listed, matched
from grfpp_lab.experiments.views import POOLED
from grfpp_lab.harness import experiment as lab
from grfpp_lab.meshes import spheres, why_absent
from grfpp_lab.report.meshes import Surface

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
    #: Up to so many the dense kernel is formed.
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
        (
            *(502, 992, 1849, 2996, 4025, 5985, 8011, *_LARGE),
            *(48652, 95604, 106485, 151438),
        ),
        4_100,
        PICTURED_MESH,
        (1, 2, 3, 4),
    ),
    lab.Size.QUICK: Parameters(
        4_100,
        lambda n: (_between(1, 3_000 // n, 8), _between(2, 4_000 // n, 8)),
        (992, 1849, _LARGE[0], _LARGE[-1]),
        1_900,
        PICTURED_MESH,
        (1, 2, 3),
    ),
    lab.Size.TINY: Parameters(100, lambda n: (1, 2), (64,), 200, "mesh 60246", (1,)),
}

#: Numbers of walks of each method; none where there are no walks.
_WALKS_OF: dict[str, tuple[int | None, ...]] = {
    BRUTE: (None,),
    AL_MOHY: (None,),
    GRF: parts.GRF_WALKS,
    STITCHED: parts.N_WALKS,
    REUSED: parts.N_WALKS,
    POOLED: parts.N_WALKS,
    **dict.fromkeys(parts.BESIDE, (None,)),
}


def plan(settings: lab.Settings) -> lab.Plan:
    """A cell for every mesh and method; spheres where no meshes are at hand."""
    mine, (_, p_halt) = PARAMETERS[settings.size], chosen(settings)
    sigmas = parts.SIGMAS if settings.scale is None else (settings.scale**0.5,)
    shared = {"termination": geometric(p_halt), "seed": settings.seed}
    pools: dict[str, dict[str, Any]] = {
        POOLED: {"termination": matched(p_halt), "walks": POOLED},
        # They have no width to be chosen on masks of its own, or choose it on the known vertices.
        **{method: {"sigmas": [None]} for method in parts.BESIDE},
    }
    one = {"sigma": TIMED_SIGMA if settings.scale is None else sigmas[0]}
    meshes, skipped = _meshes(mine)
    cells: list[lab.Cell] = []
    for mesh in (each for each in meshes if each["n_nodes"] <= mine.most):
        n_choosing, repeats = mine.masks(mesh["n_nodes"])
        many = {"sigmas": list(sigmas), "n_choosing": n_choosing, "repeats": repeats}
        cells += [
            {
                **{**mesh, "part": COSINES, "method": method, "n_walks": list(n_walks)},
                **many,
                **shared,
                **pools.get(method, {}),
            }
            for method, n_walks in _WALKS_OF.items()
        ]
    for mesh in (each for each in meshes if _is_timed(each, mine)):
        cells += [
            {
                **{**mesh, "part": SECONDS, "method": method, "n_walks": TIMED_WALKS},
                **{**one, **shared, **pools.get(method, {})},
            }
            for method in parts.TIMED
            if method != parts.DENSE or mesh["n_nodes"] <= mine.most_brute
        ]
    drawn = next((each for each in meshes if each["graph"] == mine.drawn), meshes[-1])
    cells.append({**drawn, "part": PICTURE, "method": "all", **one, **shared})
    described = {
        "meshes": "Thingi10K" if meshes[0]["paper_size"] else "spheres (no meshes here)",
        "hidden": f"{parts.MASK:.0%} of the vertices",
        "kernel": "exp(W)",
        "weights": "W = σ² D^-1/2 A D^-1/2, all edges of weight 1",
        "σ": listed(sigmas),
        "walks": f"{listed(parts.N_WALKS)}, p_halt = {p_halt:g}; pooled ones take as many steps",
        "GRF++, pooled": f"degree {parts.DEGREE}",
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

    return {COSINES: cosine_rows, SECONDS: second_rows, PICTURE: picture_rows}[cell["part"]](cell)


def picture_panels(rows: lab.Rows) -> list[Surface]:
    """The mesh, once for every method."""
    from grfpp_lab.experiments.normals import picture

    return picture.picture_panels(rows)


def cost(cell: lab.Cell) -> float:
    """A guess of the seconds that a cell takes."""
    n, method = cell["n_nodes"], cell["method"]
    if method == parts.DENSE:
        return float(3e-10 * n**3 + 0.1)
    n_times = 2
    if cell["part"] == COSINES:
        n_times = (cell["n_choosing"] + cell["repeats"]) * len(cell["sigmas"])
    if method in (parts.KRIGING, parts.KRIGING_END):
        return float(n_times * (1e-4 * n + 0.5))
    if method in (BRUTE, AL_MOHY, parts.EXACT, *parts.BESIDE):
        return float(n_times * (3e-6 * n + 0.003))
    n_walks = sum(cell["n_walks"]) if cell["part"] == COSINES else TIMED_WALKS
    per_walk = {GRF: 5e-7, REUSED: 3e-7}.get(method, 1e-6)
    return float(n_times * (per_walk * n * n_walks + 0.01) + 0.1)


EXPERIMENT = lab.Experiment(
    name="normals",
    title="Vertex normals on meshes",
    source="Tabs. metrics_node, metrics_vertec_normal_all",
    about=[
        "The normals at four fifths of a mesh's vertices are hidden and predicted from the "
        "others: `F_i = Σ_j K(i, j) F_j` over the known `j`, with `K = exp(W)`. What counts is "
        "the cosine of the angle to the true normal, its mean over the hidden vertices; one "
        "that no known vertex tells about counts as 0. Normals are those of trimesh: means over "
        "the triangles around a vertex, weighted by their angles at it. The paper does not say "
        "what `σ` multiplies; here `W = σ² D^-1/2 A D^-1/2`.",
        "Each method has the `σ` and the number of walks that are best on masks kept for that; "
        "the numbers are from other masks, the same ones for all methods. Brute force is the "
        "exact product `K·F`, by Chebyshev polynomials to twelve digits; where the dense kernel "
        "is formed, for the sake of its time, it gives the same cosines. Al-Mohy is scipy's "
        "`expm_multiply`, exact too: the paper's numbers for it are below those of brute force, "
        "ours are the same. GRF++r uses one set of walks for all factors. Eight meshes of the "
        "paper are not to be had; others of nearly the same size stand in for them (marked ∗) "
        "and take no part in the verdicts. Pooled walks are ours: see `refined`.",
        "Kriging is ours too, and what `KernelInterpolator` does by default: the mean of a "
        "Gaussian process, its kernel and noise chosen on the known vertices alone. Harmonic and "
        "biharmonic functions stand beside it. All use the graph alone, not the positions.",
    ],
    plan=plan,
    run=run,
    claims=[
        lab.Claim(
            "normals",
            "Cosine similarity",
            "A point a mesh. Left: mean cosine. Right: how much is missing to brute force.",
            views.cosine_panels,
            verdicts.judge_cosines,
            (views.cosine_table,),
        ),
        lab.Claim(
            "normals-pooled",
            "Pooled walks beside brute force",
            "A point a mesh: how far the mean cosine is from that of brute force, above or below.",
            views.pooled_panels,
            verdicts.judge_pooled,
        ),
        lab.Claim(
            "normals-kriging",
            "Kriging beside harmonic and biharmonic functions",
            "A point a mesh. Left: mean cosine. Right: how much is missing to 1.",
            views.kriging_panels,
            verdicts.judge_kriging,
        ),
        lab.Claim(
            "normals-reuse",
            "The same walks for every factor",
            "A point a mesh. Left: mean cosine. Right: how much is missing to brute force.",
            views.reuse_panels,
            verdicts.judge_reuse,
        ),
        lab.Claim(
            "normals-paper",
            "Beside the paper's numbers",
            "Mean cosine here against the paper's, a point a mesh. Stand-ins are left out.",
            views.paper_panels,
            verdicts.judge_paper,
        ),
        lab.Claim(
            "normals-seconds",
            "Time",
            "Seconds on one thread against the number of vertices, both logarithmic: from the "
            "known normals to the prediction, and from the file to the mean cosine.",
            views.second_panels,
            verdicts.judge_seconds,
            (views.second_table,),
        ),
        lab.Claim(
            "normals-picture",
            "Where the errors are",
            "Angle between the true and the predicted normal, with four walks. Grey: triangles of "
            "which no normal was hidden.",
            picture_panels,
            verdicts.judge_picture,
        ),
    ],
    timings=("seconds",),
    cost=cost,
    parts=("tasks",),
)
