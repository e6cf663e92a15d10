"""Fig. speed_reuse (b): time of walking and of stitching, by degree."""

from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

from grfpp.datasets import connected_random
from grfpp.kernels.registry import kernel_from_spec
from grfpp.termination import termination_from_spec
from grfpp_lab.experiments.claims import curve, select, values, verdict
from grfpp_lab.experiments.measuring import mean_and_error, paper_sample, pick, seeds
from grfpp_lab.experiments.study import errors as grid
from grfpp_lab.harness import experiment as lab
from grfpp_lab.report.page import Table, TableGroup
from grfpp_lab.report.panels import Panel

#: Mean degree of the random graphs: comfortably connected.
MEAN_DEGREE = 10
TIMINGS = ("walk_seconds", "walk_seconds_error", "stitch_seconds", "stitch_seconds_error")


@dataclass(frozen=True)
class Parameters:
    """What is varied; each graph is one repeat."""

    n_nodes: int
    p_bases: tuple[float, ...]
    degrees: tuple[int, ...]
    n_walks: int
    n_graphs: int


PARAMETERS = {
    lab.Size.FULL: Parameters(500, (0.01, 0.001), (1, 2, 3, 4, 5, 6), 256, 5),
    lab.Size.QUICK: Parameters(500, (0.01, 0.001), (1, 2, 4, 6), 64, 2),
    lab.Size.TINY: Parameters(40, (0.01,), (1, 2), 8, 2),
}


def plan(settings: lab.Settings) -> lab.Plan:
    """One cell for every base of `p_halt`, degree, and whether walks may end early."""
    mine, (scale, _) = PARAMETERS[settings.size], grid.chosen(settings)
    bases = mine.p_bases if settings.p_halt is None else (settings.p_halt,)
    cells = [
        {
            "n_nodes": mine.n_nodes,
            "kernel": grid.DIFFUSION,
            "scale": scale,
            "p_base": base,
            "termination": grid.geometric(min(base * degree, 0.99)),
            "degree": degree,
            "n_walks": mine.n_walks,
            "full_walks": full,
            "n_graphs": mine.n_graphs,
            "seed": settings.seed,
        }
        for base in bases
        for degree in mine.degrees
        for full in (True, False)
    ]
    described = {
        "graphs": f"{mine.n_graphs} connected random graphs of {mine.n_nodes} nodes, "
        f"mean degree {MEAN_DEGREE}",
        "kernel": "exp(W)",
        "weights": grid.weights_in_words(scale, ""),
        "walk lengths": f"geometric, p_halt = {grid.listed(bases)} times the degree",
        "degrees": grid.listed(mine.degrees),
        "walks a node and factor": str(mine.n_walks),
        "threads": "1",
    }
    return lab.Plan(cells, described)


def run(cell: lab.Cell) -> list[lab.Row]:
    """Seconds to walk all factors and seconds to multiply them, on several graphs."""
    kernel = kernel_from_spec(cell["kernel"])
    law = termination_from_spec(cell["termination"])
    walking, stitching, entries, steps = [], [], [], 0.0
    for number, seed in enumerate(seeds(cell["n_graphs"], **cell)):
        p = MEAN_DEGREE / (cell["n_nodes"] - 1)
        graph = connected_random(cell["n_nodes"], min(p, 1.0), seed=number)
        W = graph.normalized("sym", cell["scale"])
        # What is computed once for a kernel and a law is not a part of walking.
        paper_sample(W, kernel, cell["degree"], 1, law, seed).toarray()
        began = perf_counter()
        K = paper_sample(
            *(W, kernel, cell["degree"], cell["n_walks"], law, seed), full_walks=cell["full_walks"]
        )
        after_walking = perf_counter()
        K.toarray()
        stitching.append(perf_counter() - after_walking)
        walking.append(after_walking - began)
        entries.append(sum(matrix.nnz for pair in K.factors for matrix in pair))
        steps = K.meta["steps_per_node"]
    row: dict[str, Any] = {
        **pick(cell, "n_nodes", "kernel", "scale", "p_base", "termination", "degree", "n_walks"),
        **pick(cell, "full_walks", "n_graphs"),
        "steps_per_node": steps,
        "n_entries": round(sum(entries) / len(entries)),
    }
    row["walk_seconds"], row["walk_seconds_error"] = mean_and_error(walking)
    row["stitch_seconds"], row["stitch_seconds_error"] = mean_and_error(stitching)
    return [row]


def _bases(rows: lab.Rows) -> list[float]:
    return sorted(values(rows, "p_base"), reverse=True)


def panels(rows: lab.Rows) -> list[Panel]:
    """Walking and stitching for every base of `p_halt`."""
    found = []
    for base in _bases(rows):
        full, cut = (select(rows, p_base=base, full_walks=each) for each in (True, False))
        each = [{**row, "one_factor": row["walk_seconds"] / (2 * row["degree"])} for row in full]
        walk, stitch = (
            partial(curve, x="degree", y=f"{part}_seconds", spread=f"{part}_seconds_error")
            for part in ("walk", "stitch")
        )
        walking = [
            walk("all factors, one after the other", full),
            curve("one factor (all at a time)", each, "degree", "one_factor", 1),
            walk("all factors, walks end where f(k) is zero", cut, style=2, dashed=True),
        ]
        stitching = [stitch("product of all factors", full, style=3)]
        axes = ("degree", "seconds", f"p_halt = {base:g} · degree", False)
        found.append(Panel("Walking", walking, *axes))
        found.append(Panel("Stitching", stitching, *axes, log_y=False))
    return found


def judge(rows: lab.Rows) -> lab.Verdict:
    """Both times fall from degree 1 to the highest one."""
    paper = "as the degree increases, both the walk time and the stitching time decrease"
    facts, answers = [], []
    for base in _bases(rows):
        by_degree = {r["degree"]: r for r in select(rows, p_base=base, full_walks=True)}
        top = max(by_degree, default=1)
        if 1 not in by_degree or top == 1:
            continue
        ends = by_degree[1], by_degree[top]
        walk, stitch = ([row[f"{part}_seconds"] for row in ends] for part in ("walk", "stitch"))
        each = [walk[0] / 2, walk[1] / (2 * top)]
        facts.append(
            f"p_halt {base:g}, degree 1 → {top}: walking {_arrow(walk)} s for all "
            f"factors one after the other, {_arrow(each)} s for one factor; stitching "
            f"{_arrow(stitch)} s"
        )
        answers.append(walk[1] < walk[0] and stitch[1] < stitch[0])
    if not answers:
        return verdict(paper)
    return verdict(paper, facts, all(answers), min(row["n_graphs"] for row in rows))


def _arrow(pair: list[float]) -> str:
    return f"{pair[0]:.3g} → {pair[1]:.3g}"


def table(rows: lab.Rows) -> Table:
    """Seconds by degree."""
    groups = []
    for base in _bases(rows):
        full, cut = (select(rows, p_base=base, full_walks=each) for each in (True, False))
        short = {row["degree"]: f"{row['walk_seconds']:.3f}" for row in cut}
        lines = [
            [
                str(row["degree"]),
                f"{row['steps_per_node']:,.0f}",
                f"{row['walk_seconds']:.3f}",
                f"{row['walk_seconds'] / (2 * row['degree']):.3f}",
                short.get(row["degree"], ""),
                f"{row['stitch_seconds']:.3f}",
            ]
            for row in full
        ]
        groups.append(TableGroup(f"p_halt = {base:g} · degree", lines))
    steps = ("degree", "steps per node", "walking, s", "one factor, s")
    return Table(
        [*steps, "walks cut short, s", "stitching, s"],
        groups,
        "Means over the graphs, one thread. “Walks cut short” end where all later f(k) are zero "
        "in float64, which changes no number; it is what `sample` does by default.",
    )


EXPERIMENT = lab.Experiment(
    name="speed",
    plan=plan,
    run=run,
    claims=[lab.Claim("speed", panels, judge, (table,))],
    timings=TIMINGS,
)
