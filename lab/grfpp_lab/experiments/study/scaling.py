"""Fig. time_grf_plus, Tab. mesh_runtime_new: GRF++ against dense brute force over mesh sizes."""

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from grfpp.datasets import mesh_table
from grfpp.graph import Graph
from grfpp.kernels.registry import kernel_from_spec
from grfpp.termination import termination_from_spec
from grfpp_lab.experiments.claims import chart, curve, select, values, verdict
from grfpp_lab.experiments.claims import table as plain_table
from grfpp_lab.experiments.measuring import at_hand, paper_sample, pick, relative_error, seeds
from grfpp_lab.experiments.study import errors as grid
from grfpp_lab.graphs import FASTER, LEAST, PAPER_MESHES, mesh_named, spheres, why_absent
from grfpp_lab.harness import experiment as lab
from grfpp_lab.report.page import Table
from grfpp_lab.report.panels import Curve, Panel

WALKS, DENSE, CHEBYSHEV = "GRF++", "brute force", "Chebyshev"
PRODUCT, WHOLE, WHOLE_DENSE = "K·F", "all entries", "dense matrix"
#: The paper's seconds by the size of the mesh.
PAPER = {
    mesh.n_nodes: {DENSE: mesh.dense_seconds, WALKS: mesh.grf_seconds} for mesh in PAPER_MESHES
}
DEGREE, N_WALKS, N_COLUMNS = 2, 16, 3
TIMINGS = ("seconds",)


@dataclass(frozen=True)
class Parameters:
    """Sizes of the meshes, and up to which the kernel is formed and brute force is run."""

    sizes: tuple[int, ...]
    spheres: tuple[int, ...]
    most_sparse: int
    most_dense: int
    most_brute: int


PARAMETERS = {
    lab.Size.FULL: Parameters(
        (992, 1849, 2996, 4025, 5985, 8011, *PAPER), (3, 4, 5, 6), 50_000, 12_000, 8_100
    ),
    lab.Size.QUICK: Parameters(
        (992, 1849, 2996, min(PAPER), max(PAPER)), (3, 4, 5), 12_000, 5_000, 3_000
    ),
    lab.Size.TINY: Parameters((64, 146), (1, 2), 400, 400, 400),
}


def plan(settings: lab.Settings) -> lab.Plan:
    """A cell for every mesh and method; spheres where no meshes are at hand."""
    mine, (scale, p_halt) = PARAMETERS[settings.size], grid.chosen(settings)
    of_size = {mesh.paper_vertices: mesh for mesh in mesh_table() if mesh.paper_vertices}
    wanted = {f"mesh {of_size[size].name}": (of_size[size].n_vertices, size) for size in mine.sizes}
    found, skipped = at_hand(wanted, lambda name: why_absent(name.removeprefix("mesh ")))
    graphs = {name: wanted[name] for name in found}
    cells: list[lab.Cell] = []
    for name, (n_nodes, size) in (
        graphs or {name: (n, 0) for name, n in spheres(mine.spheres)}
    ).items():
        shared = {
            **{"graph": name, "n_nodes": n_nodes, "paper_size": size},
            **{"kernel": grid.DIFFUSION, "scale": scale, "seed": settings.seed},
        }
        walks = {
            "method": WALKS,
            "degree": DEGREE,
            "n_walks": N_WALKS,
            "termination": grid.geometric(p_halt),
            "forms_sparse": n_nodes <= mine.most_sparse,
            "forms_dense": n_nodes <= mine.most_dense,
        }
        cells += [{**shared, **walks}, {**shared, "method": CHEBYSHEV}]
        if n_nodes <= mine.most_brute:
            cells.append({**shared, "method": DENSE})
    described = {
        "graphs": _described(len(graphs), len(wanted)),
        "kernel": "exp(W)",
        "weights": grid.weights_in_words(scale, ""),
        "GRF++": f"degree {DEGREE}, {N_WALKS} walks, geometric lengths with p_halt = {p_halt:g}",
        "brute force": f"all eigenvectors (LAPACK), up to {mine.most_brute:,} nodes",
        "threads": "1",
    }
    return lab.Plan(cells, described, skipped)


def _described(n_found: int, n_wanted: int) -> str:
    if not n_found:
        return "triangulated spheres, not of the paper's sizes: no mesh is at hand"
    return f"{n_found} of {n_wanted} meshes of Thingi10K, of the paper's sizes or nearly"


def run(cell: lab.Cell) -> list[lab.Row]:
    """Seconds of one method on one mesh, for a product and for all entries."""
    W = mesh_named(cell["graph"]).graph.normalized("sym", cell["scale"])
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


def _walk(cell: lab.Cell, W: Graph, columns: Any) -> list[lab.Row]:
    kernel = kernel_from_spec(cell["kernel"])
    law = termination_from_spec(cell["termination"])
    (seed,) = seeds(1, **cell)
    settings = (W, kernel, cell["degree"], cell["n_walks"], law, seed)
    paper_sample(*settings) @ columns
    began = perf_counter()
    K = paper_sample(*settings)
    walk_seconds = perf_counter() - began
    found = K @ columns
    product = perf_counter() - began
    error = relative_error(found, kernel.apply(W, columns))
    rows = [_row(cell, PRODUCT, product, error=error)]
    if cell["forms_sparse"]:
        began = perf_counter()
        per_row = K.rows(np.arange(W.n_nodes), sparse=True).nnz / W.n_nodes
        seconds = walk_seconds + perf_counter() - began
        rows.append(_row(cell, WHOLE, seconds, entries_per_row=per_row))
    if cell["forms_dense"]:
        began = perf_counter()
        K.toarray()
        rows.append(_row(cell, WHOLE_DENSE, walk_seconds + perf_counter() - began))
    return rows


def _row(cell: lab.Cell, task: str, seconds: float, **more: float) -> lab.Row:
    paper = PAPER.get(cell["paper_size"], {}) if task != PRODUCT else {}
    return {
        **pick(cell, "graph", "n_nodes", "method"),
        "task": task,
        "paper_seconds": paper.get(cell["method"]),
        **more,
        "seconds": seconds,
    }


#: What the charts show and what columns the table has: curve, column, method, task, style.
_WHOLE_CURVES = (
    (f"{DENSE}, {WHOLE_DENSE}", "brute force", DENSE, WHOLE_DENSE, 1),
    (f"{WALKS}, {WHOLE_DENSE}", "GRF++, dense", WALKS, WHOLE_DENSE, 0),
    (f"{WALKS}, {WHOLE} (sparse)", "GRF++, sparse", WALKS, WHOLE, 2),
)
_PRODUCT_CURVES = (
    (f"{WALKS}, {PRODUCT}", "GRF++, K·F", WALKS, PRODUCT, 0),
    (f"{CHEBYSHEV}, {PRODUCT}", "Chebyshev, K·F", CHEBYSHEV, PRODUCT, 3),
)


def panels(rows: lab.Rows) -> list[Panel]:
    """Seconds against nodes: forming the kernel, and multiplying with it."""
    formed, product = (
        [
            curve(
                *(name, select(rows, method=method, task=task), "n_nodes", "seconds", style),
                dashed=task == PRODUCT,
            )
            for name, _, method, task, style in curves
        ]
        for curves in (_WHOLE_CURVES, _PRODUCT_CURVES)
    )
    paper = []
    for method, style in ((DENSE, 1), (WALKS, 4)):
        known = {n: seconds for n, each in PAPER.items() if (seconds := each[method]) is not None}
        paper.append(Curve(f"paper, {method}", list(known), list(known.values()), (), style, True))
    found = [chart("The whole kernel", [*formed, *paper], "nodes", "seconds")]
    if any(len(each.x) for each in product):
        found.append(chart(f"{PRODUCT}, {N_COLUMNS} columns", product, "nodes", "seconds"))
    return found


def _by_size(rows: lab.Rows, method: str, task: str) -> dict[int, lab.Row]:
    own = select(rows, method=method, task=task)
    return {row["n_nodes"]: row for row in sorted(own, key=lambda row: row["n_nodes"])}


def judge(rows: lab.Rows) -> lab.Verdict:
    """GRF++ faster than brute force where both form the whole kernel."""
    paper = (
        f"GRF++ is {FASTER.format(' than brute force')} nodes, about 3 times "
        "at 6,000 to 10,000, and 5 to 8 times at "
        f"{PAPER_MESHES[0].n_nodes:,} to {PAPER_MESHES[2].n_nodes:,}"
    )
    brute, walks = (_by_size(rows, method, WHOLE_DENSE) for method in (DENSE, WALKS))
    ratios = {n: brute[n]["seconds"] / walks[n]["seconds"] for n in brute if n in walks}
    if not ratios:
        return verdict(paper)
    facts = [
        "GRF++ forms the dense kernel "
        + ", ".join(f"{ratio:.1f} times faster at {n:,} nodes" for n, ratio in ratios.items())
    ]
    entries = _by_size(rows, WALKS, WHOLE)
    if entries:
        largest = entries[max(entries)]
        quoted = largest["paper_seconds"]
        against = f" (the paper's GRF++: {quoted:,.0f} s)" if quoted else ""
        facts.append(
            f"all entries at {largest['n_nodes']:,} nodes, in sparse form: "
            f"{largest['seconds']:.3g} s{against}"
        )
    facts += _products(rows)
    large = [ratio for n, ratio in ratios.items() if n >= LEAST]
    if not large:
        return verdict(paper, [*facts, f"too small to judge, the paper begins at {LEAST:,} nodes"])
    return verdict(paper, facts, min(large) > 1, len(large))


def _products(rows: lab.Rows) -> list[str]:
    """What the fair rival of GRF++ does where only products are wanted."""
    walks, exact = (_by_size(rows, method, PRODUCT) for method in (WALKS, CHEBYSHEV))
    common = set(walks) & set(exact)
    if not common:
        return []
    n = max(common)
    return [
        f"where only K·F is wanted, Chebyshev polynomials give it to ten digits in "
        f"{exact[n]['seconds']:.2g} s at {n:,} nodes, GRF++ with error {walks[n]['error']:.2g} in "
        f"{walks[n]['seconds']:.2g} s"
    ]


def table(rows: lab.Rows) -> Table:
    """Seconds of all methods, and the paper's."""
    lines = []
    for n in values(rows, "n_nodes"):
        own = {(row["method"], row["task"]): row for row in select(rows, n_nodes=n)}
        cells = [
            own.get((method, task)) for _, _, method, task, _ in (*_WHOLE_CURVES, *_PRODUCT_CURVES)
        ]
        measured = ("" if row is None else f"{row['seconds']:.3g}" for row in cells)
        lines.append([f"{n:,}", *measured, *_paper(own.get((WALKS, WHOLE)))])
    columns = [column for _, column, *_ in (*_WHOLE_CURVES, *_PRODUCT_CURVES)]
    return plain_table(
        ["nodes", *columns, "paper, brute force", "paper, GRF++"],
        lines,
        "Seconds, one thread; sampling the factors is a part of them, reading the mesh is not. "
        "Empty: not run, because it takes too long or does not fit. Chebyshev is exact to ten "
        "digits.",
    )


def _paper(walks: lab.Row | None) -> list[str]:
    """The paper's seconds, also where we ran no brute force."""
    if walks is None or walks["paper_seconds"] is None:
        return ["", ""]
    brute = next(each[DENSE] for each in PAPER.values() if each[WALKS] == walks["paper_seconds"])
    return ["out of time" if brute is None else f"{brute:,.0f}", f"{walks['paper_seconds']:,.0f}"]


EXPERIMENT = lab.Experiment(
    name="scaling",
    plan=plan,
    run=run,
    claims=[lab.Claim("scaling", panels, judge, (table,))],
    timings=TIMINGS,
)
