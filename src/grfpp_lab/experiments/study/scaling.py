"""Fig. time_grf_plus, Tab. mesh_runtime_new: GRF++ against dense brute force over mesh sizes."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from grfpp.datasets import at_hand, dataset_info, load_mesh, mesh_table, triangulated_sphere
from grfpp.graph import Graph
from grfpp.kernels.registry import kernel_from_spec
from grfpp.sampling import sample
from grfpp.termination import termination_from_spec
from grfpp_lab.experiments.experiment import (
    Cell,
    Claim,
    Experiment,
    Holds,
    Plan,
    Row,
    Rows,
    Settings,
    Size,
    Verdict,
)
from grfpp_lab.experiments.measuring import seeds
from grfpp_lab.experiments.study.grid import DIFFUSION, chosen, geometric
from grfpp_lab.report.page import Table, TableGroup
from grfpp_lab.report.panels import Curve, Panel

WALKS, DENSE, CHEBYSHEV = "GRF++", "brute force", "Chebyshev"
PRODUCT, WHOLE, WHOLE_DENSE = "K·F", "all entries", "dense matrix"
#: Seconds of the paper's table by the size of the mesh: brute force, GRF++.
PAPER: dict[int, tuple[float | None, float | None]] = {
    11700: (1661.74, 314.98),
    15527: (4833.51, 727.48),
    24194: (14062.08, 1724.71),
    35300: (None, 5591.42),
}
DEGREE, N_WALKS, N_COLUMNS = 2, 16, 3
TIMINGS = ("seconds",)
#: About where the paper's comparison begins.
_LARGE = 1800


@dataclass(frozen=True)
class Parameters:
    """Sizes of the meshes, and up to which the kernel is formed and brute force is run."""

    sizes: tuple[int, ...]
    spheres: tuple[int, ...]
    most_sparse: int
    most_dense: int
    most_brute: int


PARAMETERS = {
    Size.FULL: Parameters(
        (992, 1849, 2996, 4025, 5985, 8011, 11700, 15527, 24194, 35300),
        (3, 4, 5, 6),
        50_000,
        12_000,
        8_100,
    ),
    Size.QUICK: Parameters((992, 1849, 2996, 11700, 35300), (3, 4, 5), 12_000, 5_000, 3_000),
    Size.TINY: Parameters((64, 146), (1, 2), 400, 400, 400),
}


def plan(settings: Settings) -> Plan:
    """A cell for every mesh and method; spheres where no meshes are at hand."""
    mine, (sigma2, p_halt) = PARAMETERS[settings.size], chosen(settings)
    names, skipped = [], {}
    of_size = {mesh.paper_vertices: mesh for mesh in mesh_table() if mesh.paper_vertices}
    for size in mine.sizes:
        mesh = of_size[size]
        if at_hand(mesh.name):
            names.append((f"mesh {mesh.name}", mesh.n_vertices, size))
        else:
            file = dataset_info(mesh.name).files[0].path
            skipped[f"mesh {mesh.name}"] = f"{file} is not at hand"
    if not names:
        names = [(f"sphere {n}", 10 * 4**n + 2, 0) for n in mine.spheres]
    cells: list[Cell] = []
    for name, n_nodes, paper_size in names:
        shared = {
            "graph": name,
            "n_nodes": n_nodes,
            "paper_size": paper_size,
            "kernel": DIFFUSION,
            "sigma2": sigma2,
            "seed": settings.seed,
        }
        walks = {
            "method": WALKS,
            "degree": DEGREE,
            "n_walks": N_WALKS,
            "termination": geometric(p_halt),
            "forms_sparse": n_nodes <= mine.most_sparse,
            "forms_dense": n_nodes <= mine.most_dense,
        }
        cells.append({**shared, **walks})
        cells.append({**shared, "method": CHEBYSHEV})
        if n_nodes <= mine.most_brute:
            cells.append({**shared, "method": DENSE})
    described = {
        "graphs": "meshes of Thingi10K" if names[0][2] else "triangulated spheres (no meshes here)",
        "kernel": "exp(W)",
        "weights": f"W = σ² D^-1/2 A D^-1/2 with σ² = {sigma2:g}",
        "GRF++": f"degree {DEGREE}, {N_WALKS} walks, geometric lengths with p_halt = {p_halt:g}",
        "brute force": f"all eigenvectors (LAPACK), up to {mine.most_brute:,} nodes",
        "threads": "1",
    }
    return Plan(cells, described, skipped)


def graph_named(name: str) -> Graph:
    """A mesh of Thingi10K by number, or a triangulated sphere."""
    kind, _, number = name.partition(" ")
    if kind == "sphere":
        return triangulated_sphere(int(number)).graph
    return load_mesh(number, download=False).graph


def run(cell: Cell) -> list[Row]:
    """Seconds of one method on one mesh, for a product and for all entries."""
    W = graph_named(cell["graph"]).normalized("sym", cell["sigma2"])
    columns = np.random.default_rng(0).standard_normal((W.n_nodes, N_COLUMNS))
    kernel = kernel_from_spec(cell["kernel"])
    if cell["method"] == DENSE:
        began = perf_counter()
        K = kernel.exact(W)
        formed = perf_counter() - began
        K @ columns
        product = perf_counter() - began
        return [_row(cell, WHOLE_DENSE, formed), _row(cell, PRODUCT, product)]
    if cell["method"] == CHEBYSHEV:
        kernel.apply(W, columns)
        began = perf_counter()
        kernel.apply(W, columns)
        return [_row(cell, PRODUCT, perf_counter() - began)]
    return _walk(cell, W, columns)


def _walk(cell: Cell, W: Graph, columns: Any) -> list[Row]:
    kernel = kernel_from_spec(cell["kernel"])
    law = termination_from_spec(cell["termination"])
    (seed,) = seeds(1, **cell)
    settings = (W, kernel, cell["degree"], cell["n_walks"], law, seed)
    sample(*settings, n_jobs=1) @ columns
    began = perf_counter()
    K = sample(*settings, n_jobs=1)
    walked = perf_counter() - began
    found = K @ columns
    product = perf_counter() - began
    exact = kernel.apply(W, columns)
    error = float(np.linalg.norm(found - exact) / np.linalg.norm(exact))
    rows = [_row(cell, PRODUCT, product, error=error)]
    if cell["forms_sparse"]:
        began = perf_counter()
        per_row = K.rows(np.arange(W.n_nodes), sparse=True).nnz / W.n_nodes
        seconds = walked + perf_counter() - began
        rows.append(_row(cell, WHOLE, seconds, entries_per_row=per_row))
    if cell["forms_dense"]:
        began = perf_counter()
        K.toarray()
        rows.append(_row(cell, WHOLE_DENSE, walked + perf_counter() - began))
    return rows


def _row(cell: Cell, task: str, seconds: float, **more: float) -> Row:
    brute, walks = PAPER.get(cell["paper_size"], (None, None))
    paper = {DENSE: brute, WALKS: walks}.get(cell["method"]) if task != PRODUCT else None
    return {
        "graph": cell["graph"],
        "n_nodes": cell["n_nodes"],
        "method": cell["method"],
        "task": task,
        "paper_seconds": paper,
        **more,
        "seconds": seconds,
    }


def cost(cell: Cell) -> float:
    """A guess of the seconds that a cell takes."""
    n = cell["n_nodes"]
    if cell["method"] == DENSE:
        return float(3e-10 * n**3 + 0.1)
    if cell["method"] == CHEBYSHEV:
        return float(1e-5 * n + 0.3)
    formed = (1e-3 * n if cell["forms_sparse"] else 0) + (
        6e-8 * n * n if cell["forms_dense"] else 0
    )
    return float(6e-5 * n + 0.3 + formed)


_CURVES = (
    (f"{DENSE}, {WHOLE_DENSE}", DENSE, WHOLE_DENSE, 1, False),
    (f"{WALKS}, {WHOLE_DENSE}", WALKS, WHOLE_DENSE, 0, False),
    (f"{WALKS}, {WHOLE} (sparse)", WALKS, WHOLE, 2, False),
    (f"{WALKS}, {PRODUCT}", WALKS, PRODUCT, 0, True),
    (f"{CHEBYSHEV}, {PRODUCT}", CHEBYSHEV, PRODUCT, 3, True),
)


def panels(rows: Rows) -> list[Panel]:
    """Seconds against nodes: forming the kernel, and multiplying with it."""
    whole = [_curve(rows, each) for each in _CURVES[:3]]
    brute, walks = (
        Curve(
            f"paper, {name}",
            [n for n, pair in PAPER.items() if pair[place] is not None],
            [seconds for pair in PAPER.values() if (seconds := pair[place]) is not None],
            (),
            style,
            True,
        )
        for name, place, style in ((DENSE, 0, 1), (WALKS, 1, 4))
    )
    found = [
        Panel(
            "The whole kernel",
            [curve for curve in [*whole, brute, walks] if len(curve.x)],
            "nodes",
            "seconds",
        )
    ]
    product = [curve for curve in (_curve(rows, each) for each in _CURVES[3:]) if len(curve.x)]
    if product:
        found.append(Panel(f"{PRODUCT}, {N_COLUMNS} columns", product, "nodes", "seconds"))
    return found


def _curve(rows: Rows, which: tuple[str, str, str, int, bool]) -> Curve:
    name, method, task, style, dashed = which
    own = sorted(_chosen(rows, method, task), key=lambda row: row["n_nodes"])
    return Curve(name, [r["n_nodes"] for r in own], [r["seconds"] for r in own], (), style, dashed)


def _chosen(rows: Rows, method: str, task: str) -> list[Row]:
    return [row for row in rows if row["method"] == method and row["task"] == task]


def judge(rows: Rows) -> Verdict:
    """GRF++ faster than brute force where both form the whole kernel."""
    paper = (
        "GRF++ is 1.7 to 2.2 times faster than brute force at 2,000 to 4,000 nodes, about 3 times "
        "at 6,000 to 10,000, and 5 to 8 times at 11,700 to 24,194"
    )
    brute = {row["n_nodes"]: row["seconds"] for row in _chosen(rows, DENSE, WHOLE_DENSE)}
    walks = {row["n_nodes"]: row["seconds"] for row in _chosen(rows, WALKS, WHOLE_DENSE)}
    sizes = sorted(set(brute) & set(walks))
    if not sizes:
        return Verdict(paper, "nothing to compare", Holds.OPEN)
    ratios = {n: brute[n] / walks[n] for n in sizes}
    told = [
        "GRF++ forms the dense kernel "
        + ", ".join(f"{ratio:.1f} times faster at {n:,} nodes" for n, ratio in ratios.items())
    ]
    entries = _chosen(rows, WALKS, WHOLE)
    largest = max(entries, key=lambda row: row["n_nodes"], default=None)
    if largest is not None:
        against = (
            f" (the paper's GRF++: {largest['paper_seconds']:,.0f} s)"
            if largest["paper_seconds"]
            else ""
        )
        told.append(
            f"all entries at {largest['n_nodes']:,} nodes, in sparse form: "
            f"{largest['seconds']:.3g} s{against}"
        )
    told += _products(rows)
    large = [ratio for n, ratio in ratios.items() if n >= _LARGE]
    if not large:
        told.append(f"too small to judge, the paper begins at {_LARGE:,} nodes")
        return Verdict(paper, "; ".join(told), Holds.OPEN)
    return Verdict(paper, "; ".join(told), Holds.YES if min(large) > 1 else Holds.NO)


def _products(rows: Rows) -> list[str]:
    """What the fair rival of GRF++ does where only products are wanted."""
    walks = {row["n_nodes"]: row for row in _chosen(rows, WALKS, PRODUCT)}
    exact = {row["n_nodes"]: row for row in _chosen(rows, CHEBYSHEV, PRODUCT)}
    common = sorted(set(walks) & set(exact))
    if not common:
        return []
    n = common[-1]
    return [
        f"where only K·F is wanted, Chebyshev polynomials give it to ten digits in "
        f"{exact[n]['seconds']:.2g} s at {n:,} nodes, GRF++ with error {walks[n]['error']:.2g} in "
        f"{walks[n]['seconds']:.2g} s"
    ]


def table(rows: Rows) -> Table:
    """Seconds of all methods, and the paper's."""
    lines = []
    for n in sorted({row["n_nodes"] for row in rows}):
        own = {(row["method"], row["task"]): row for row in rows if row["n_nodes"] == n}
        lines.append(
            [
                f"{n:,}",
                *(
                    _seconds(own.get(key))
                    for key in (
                        (DENSE, WHOLE_DENSE),
                        (WALKS, WHOLE_DENSE),
                        (WALKS, WHOLE),
                        (WALKS, PRODUCT),
                        (CHEBYSHEV, PRODUCT),
                    )
                ),
                *_paper(own),
            ]
        )
    return Table(
        [
            "nodes",
            "brute force",
            "GRF++, dense",
            "GRF++, sparse",
            "GRF++, K·F",
            "Chebyshev, K·F",
            "paper, brute force",
            "paper, GRF++",
        ],
        [TableGroup("", lines)],
        "Seconds, one thread; sampling the factors is a part of them, reading the mesh is not. "
        "Empty: not run, because it takes too long or does not fit. Chebyshev is exact to ten "
        "digits.",
    )


def _seconds(row: Row | None) -> str:
    return "" if row is None else f"{row['seconds']:.3g}"


def _paper(own: dict[tuple[str, str], Row]) -> list[str]:
    """The paper's seconds, also where we ran no brute force."""
    walks = own.get((WALKS, WHOLE))
    if walks is None or walks["paper_seconds"] is None:
        return ["", ""]
    brute = next(pair[0] for pair in PAPER.values() if pair[1] == walks["paper_seconds"])
    return ["out of time" if brute is None else f"{brute:,.0f}", f"{walks['paper_seconds']:,.0f}"]


EXPERIMENT = Experiment(
    name="scaling",
    title="Large meshes against brute force",
    source="Fig. time_grf_plus, Tab. mesh_runtime_new",
    about=[
        "The paper builds the whole kernel of a mesh, by GRF++ and by brute force. We do the "
        "same: as a dense matrix where it fits, and as a sparse one that holds every entry that "
        "is not zero. Most uses need only products `K·F`, here with three columns; for those, "
        "Chebyshev polynomials (`kernel.apply`) are the method to beat. The meshes are those of "
        "the paper's sizes; the paper's seconds are from another machine.",
    ],
    plan=plan,
    run=run,
    claims=[
        Claim(
            "scaling",
            "Time against size",
            "Seconds on one thread against the number of nodes, both logarithmic. Dashed in the "
            "first chart: the paper's seconds.",
            panels,
            judge,
            (table,),
        )
    ],
    timings=TIMINGS,
    cost=cost,
)
