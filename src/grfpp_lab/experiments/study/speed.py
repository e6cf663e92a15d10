"""Fig. speed_reuse (b): time of walking and of stitching, by degree."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

from grfpp.datasets import connected_random
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
from grfpp_lab.experiments.measuring import mean_and_error, seeds
from grfpp_lab.experiments.study.grid import DIFFUSION, chosen, geometric, listed
from grfpp_lab.experiments.views import values
from grfpp_lab.report.page import Table, TableGroup
from grfpp_lab.report.panels import Curve, Panel

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
    Size.FULL: Parameters(500, (0.01, 0.001), (1, 2, 3, 4, 5, 6), 256, 5),
    Size.QUICK: Parameters(500, (0.01, 0.001), (1, 2, 4, 6), 64, 2),
    Size.TINY: Parameters(40, (0.01,), (1, 2), 8, 2),
}


def plan(settings: Settings) -> Plan:
    """One cell for every base of `p_halt`, degree, and whether walks may end early."""
    mine, (sigma2, _) = PARAMETERS[settings.size], chosen(settings)
    bases = mine.p_bases if settings.p_halt is None else (settings.p_halt,)
    cells = [
        {
            "n_nodes": mine.n_nodes,
            "kernel": DIFFUSION,
            "sigma2": sigma2,
            "p_base": base,
            "termination": geometric(min(base * degree, 0.99)),
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
        "weights": f"W = σ² D^-1/2 A D^-1/2 with σ² = {sigma2:g}",
        "walk lengths": f"geometric, p_halt = {listed(bases)} times the degree",
        "degrees": listed(mine.degrees),
        "walks a node and factor": str(mine.n_walks),
        "threads": "1",
    }
    return Plan(cells, described)


def run(cell: Cell) -> list[Row]:
    """Seconds to walk all factors and seconds to multiply them, on several graphs."""
    kernel = kernel_from_spec(cell["kernel"])
    law = termination_from_spec(cell["termination"])
    walking, stitching, entries, steps = [], [], [], 0.0
    for number, seed in enumerate(seeds(cell["n_graphs"], **cell)):
        p = MEAN_DEGREE / (cell["n_nodes"] - 1)
        graph = connected_random(cell["n_nodes"], min(p, 1.0), seed=number)
        W = graph.normalized("sym", cell["sigma2"])
        # What is computed once for a kernel and a law is not a part of walking.
        sample(W, kernel, cell["degree"], 1, law, seed, n_jobs=1).toarray()
        began = perf_counter()
        K = sample(
            *(W, kernel, cell["degree"], cell["n_walks"], law, seed),
            n_jobs=1,
            full_walks=cell["full_walks"],
        )
        walked = perf_counter()
        K.toarray()
        stitching.append(perf_counter() - walked)
        walking.append(walked - began)
        entries.append(sum(matrix.nnz for pair in K.factors for matrix in pair))
        steps = K.meta["steps_per_node"]
    names = ("n_nodes", "kernel", "sigma2", "p_base", "termination", "degree", "n_walks")
    row: dict[str, Any] = {name: cell[name] for name in names}
    row |= {
        "full_walks": cell["full_walks"],
        "n_graphs": cell["n_graphs"],
        "steps_per_node": steps,
        "n_entries": round(sum(entries) / len(entries)),
    }
    row["walk_seconds"], row["walk_seconds_error"] = mean_and_error(walking)
    row["stitch_seconds"], row["stitch_seconds_error"] = mean_and_error(stitching)
    return [row]


def cost(cell: Cell) -> float:
    """A guess of the seconds that a cell takes."""
    law = termination_from_spec(cell["termination"])
    length = law.mean if cell["full_walks"] else min(law.mean, 100.0)
    steps = 2 * cell["degree"] * cell["n_nodes"] * cell["n_walks"] * length
    return float(cell["n_graphs"] * (steps / 4e7 + 0.04 * cell["degree"]) + 0.05)


def panels(rows: Rows) -> list[Panel]:
    """Walking and stitching for every base of `p_halt`."""
    found = []
    for base in sorted(values(rows, "p_base"), reverse=True):
        own = [row for row in rows if row["p_base"] == base]
        full = [row for row in own if row["full_walks"]]
        cut = [row for row in own if not row["full_walks"]]
        note = f"p_halt = {base:g} · degree"
        walking = [
            _curve("all factors, one after the other", full, "walk_seconds", 0),
            Curve(
                "one factor (all at a time)",
                [row["degree"] for row in full],
                [row["walk_seconds"] / (2 * row["degree"]) for row in full],
                (),
                1,
            ),
            _curve("all factors, walks end where f(k) is zero", cut, "walk_seconds", 2, True),
        ]
        found.append(Panel("Walking", walking, "degree", "seconds", note, log_x=False))
        stitching = [_curve("product of all factors", full, "stitch_seconds", 3)]
        found.append(
            Panel("Stitching", stitching, "degree", "seconds", note, log_x=False, log_y=False)
        )
    return found


def _curve(name: str, rows: Rows, column: str, style: int, dashed: bool = False) -> Curve:
    return Curve(
        name,
        [row["degree"] for row in rows],
        [row[column] for row in rows],
        [row[f"{column}_error"] for row in rows],
        style,
        dashed,
    )


def judge(rows: Rows) -> Verdict:
    """Both times fall from degree 1 to the highest one."""
    paper = "as the degree increases, both the walk time and the stitching time decrease"
    told, answers = [], []
    for base in sorted(values(rows, "p_base"), reverse=True):
        own = [row for row in rows if row["p_base"] == base and row["full_walks"]]
        first, last = (
            next((row for row in own if row["degree"] == degree), None)
            for degree in (1, max(values(own, "degree"), default=1))
        )
        if first is None or last is None or first is last:
            continue
        walk = (first["walk_seconds"], last["walk_seconds"])
        each = (walk[0] / 2, walk[1] / (2 * last["degree"]))
        stitch = (first["stitch_seconds"], last["stitch_seconds"])
        told.append(
            f"p_halt {base:g}, degree 1 → {last['degree']}: walking {_arrow(walk)} s for all "
            f"factors one after the other, {_arrow(each)} s for one factor; stitching "
            f"{_arrow(stitch)} s"
        )
        answers.append(walk[1] < walk[0] and stitch[1] < stitch[0])
    if not answers:
        return Verdict(paper, "nothing to compare", Holds.OPEN)
    return Verdict(paper, "; ".join(told), Holds.YES if all(answers) else Holds.NO)


def _arrow(pair: tuple[float, float]) -> str:
    return f"{pair[0]:.3g} → {pair[1]:.3g}"


def table(rows: Rows) -> Table:
    """Seconds by degree."""
    groups = []
    for base in sorted(values(rows, "p_base"), reverse=True):
        full = [row for row in rows if row["p_base"] == base and row["full_walks"]]
        cut = {r["degree"]: r for r in rows if r["p_base"] == base and not r["full_walks"]}
        lines = [
            [
                str(row["degree"]),
                f"{row['steps_per_node']:,.0f}",
                f"{row['walk_seconds']:.3f}",
                f"{row['walk_seconds'] / (2 * row['degree']):.3f}",
                f"{cut[row['degree']]['walk_seconds']:.3f}" if row["degree"] in cut else "",
                f"{row['stitch_seconds']:.3f}",
            ]
            for row in full
        ]
        groups.append(TableGroup(f"p_halt = {base:g} · degree", lines))
    return Table(
        [
            "degree",
            "steps per node",
            "walking, s",
            "one factor, s",
            "walks cut short, s",
            "stitching, s",
        ],
        groups,
        "Means over the graphs, one thread. “Walks cut short” end where all later f(k) are zero "
        "in float64, which changes no number; it is what `sample` does unless told otherwise.",
    )


EXPERIMENT = Experiment(
    name="speed",
    title="Walk time and stitching time",
    source="Fig. speed_reuse (b)",
    about=[
        "Degree `l` halts with probability `l · p_halt`, so that all degrees take about the same "
        "number of steps, all factors counted. Walking one factor takes less time the higher the "
        "degree; walking all of them one after the other does not, but they can be walked at the "
        "same time. Stitching multiplies `2 l` matrices.",
    ],
    plan=plan,
    run=run,
    claims=[
        Claim(
            "speed",
            "Time by degree",
            "Seconds on one thread, mean and standard error over the graphs. Walking: logarithmic "
            "scale.",
            panels,
            judge,
            (table,),
        )
    ],
    timings=TIMINGS,
    cost=cost,
)
