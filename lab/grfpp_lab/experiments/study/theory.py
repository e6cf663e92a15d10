"""The lemma on the error of degree 2 and the theorem on its fall with the degree, measured."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from grfpp.kernels.registry import kernel_from_spec
from grfpp.termination import termination_from_spec
from grfpp.typing import FloatArray
from grfpp_lab.experiments import claims, measuring
from grfpp_lab.experiments.claims import table as plain_table
from grfpp_lab.experiments.study.errors import DIFFUSION, chosen, geometric, listed
from grfpp_lab.harness import experiment as lab
from grfpp_lab.harness.experiment import but
from grfpp_lab.report.page import Table
from grfpp_lab.report.panels import Panel

LEMMA, THEOREM = "lemma", "theorem"
#: Kernels of the theorem, with their scale and what people call them.
KERNELS = {
    DIFFUSION: (1.0, "exp(W)"),
    "diffusion:4": (1.0, "exp(4 W)"),
    "inverse-power:4:1": (0.5, "(I − W)^-4"),
}
#: Estimates that are made at a time.
_AT_ONCE = 250
_BATCHES = 20


@dataclass(frozen=True)
class Parameters:
    """What is varied, and for each graph the number of independent estimates."""

    graphs: dict[str, int]
    kernels: tuple[str, ...]
    degrees: tuple[int, ...]
    n_walks: tuple[int, ...]


PARAMETERS = {
    lab.Size.FULL: Parameters(
        {"er-20": 4000, "karate": 2000, "binary-tree": 400},
        tuple(KERNELS),
        (1, 2, 4, 8),
        (1, 2, 4, 8, 16),
    ),
    lab.Size.QUICK: Parameters(
        {"er-20": 1000, "karate": 500}, tuple(KERNELS), (1, 2, 4, 8), (1, 4, 16)
    ),
    lab.Size.TINY: Parameters({"er-20": 100}, (DIFFUSION,), (1, 2, 4), (2, 8)),
}


def plan(settings: lab.Settings) -> lab.Plan:
    """Cells for the lemma (degree 2) and for the theorem (all degrees)."""
    mine, (asked, p_halt) = PARAMETERS[settings.size], chosen(settings)
    graphs, skipped = measuring.at_hand(mine.graphs)
    cells: list[lab.Cell] = []
    kernels = [kernel for kernel in mine.kernels if _exists(kernel, asked, p_halt)]
    for kernel in kernels:
        scale = KERNELS[kernel][0] * asked
        for graph in graphs:
            for n_walks in mine.n_walks:
                shared = {
                    "graph": graph,
                    "kernel": kernel,
                    "scale": scale,
                    "termination": geometric(p_halt),
                    "n_walks": n_walks,
                    "estimates": mine.graphs[graph],
                    "seed": settings.seed,
                }
                if kernel == DIFFUSION:
                    cells.append({"part": LEMMA, "degree": 2, **shared})
                cells += [{"part": THEOREM, "degree": d, **shared} for d in mine.degrees]
    described = {
        "kernels": ", ".join(
            f"{KERNELS[kernel][1]} with σ² = {KERNELS[kernel][0] * asked:g}" for kernel in kernels
        ),
        "walk lengths": f"geometric, p_halt = {p_halt:g}",
        "degrees": listed(mine.degrees),
        "walks a node and factor": listed(mine.n_walks),
        "independent estimates": listed(list(mine.graphs.values())),
    }
    return lab.Plan(cells, described, skipped)


def _exists(kernel: str, asked: float, p_halt: float) -> bool:
    """Whether a kernel converges and its estimates have a finite variance at the asked scale."""
    scale, _ = KERNELS[kernel]
    return kernel.startswith("diffusion") or (scale * asked) ** 2 < 1 - p_halt


def run(cell: lab.Cell) -> list[lab.Row]:
    """Mean squared errors, measured, and for the lemma also by its formula."""
    graph = measuring.load(cell["graph"])
    kernel = kernel_from_spec(cell["kernel"])
    exact = kernel.exact(graph.normalized("sym", cell["scale"]))
    size = float(np.linalg.norm(exact) ** 2)
    law = termination_from_spec(cell["termination"])
    n_runs = max(1, round(cell["estimates"] / _AT_ONCE))
    n_copies = -(-cell["estimates"] // n_runs)
    many = measuring.copies(graph, n_copies).normalized("sym", cell["scale"])
    squares: list[FloatArray] = []
    left, right = [], []
    for seed in measuring.seeds(n_runs, **but(cell, "estimates")):
        K = measuring.paper_sample(many, kernel, cell["degree"], cell["n_walks"], law, seed)
        difference = K.sign * measuring.blocks(K.chain, graph.n_nodes) - exact
        squares.append(np.sum(difference**2, axis=(1, 2)))
        if cell["part"] == LEMMA:
            # K is X Yᵀ, and the lemma speaks of XᵀX and of YᵀY.
            X, Y = (measuring.blocks(half, graph.n_nodes) for half in K.chain.halves())
            left.append(_batch_means(X.transpose(0, 2, 1) @ X))
            right.append(_batch_means(Y.transpose(0, 2, 1) @ Y))
    measured = np.concatenate(squares) / size
    row: dict[str, Any] = {
        **measuring.pick(cell, "part", "graph"),
        "n_nodes": graph.n_nodes,
        **measuring.pick(cell, "kernel", "scale", "termination", "degree", "n_walks"),
        "estimates": len(measured),
        "error": float(measured.mean()),
        "standard_error": float(measured.std(ddof=1) / np.sqrt(len(measured))),
    }
    if cell["part"] == LEMMA:
        row |= _formula(measured, np.concatenate(left), np.concatenate(right), size)
    return [row]


def _batch_means(matrices: FloatArray) -> FloatArray:
    """Means over batches of copies, of shape ``(batches, n, n)``."""
    parts = np.array_split(matrices, min(_BATCHES, len(matrices)))
    return np.stack([part.mean(axis=0) for part in parts])


def _formula(
    measured: FloatArray, left: FloatArray, right: FloatArray, size: float
) -> Mapping[str, float]:
    """``‖E[X1ᵀX1]‖² − ‖K‖²`` relative to ``‖K‖²``, and how surely it differs from the measured.

    The squared norm of a mean is estimated without bias by the product of two independent means,
    those of ``X1ᵀ X1`` and of ``X2 X2ᵀ``, which have the same expectation.
    """
    n = len(left)
    total_left, total_right = left.sum(axis=0), right.sum(axis=0)
    value = float(np.sum(total_left * total_right)) / n**2 / size - 1
    # By leaving out one batch at a time, of the estimates and of the moments alike.
    parts = np.array_split(measured, n)
    without = np.array(
        [
            (measured.sum() - part.sum()) / (len(measured) - len(part))
            - (np.sum((total_left - a) * (total_right - b)) / (n - 1) ** 2 / size - 1)
            for part, a, b in zip(parts, left, right, strict=True)
        ]
    )
    spread = float(np.sqrt((n - 1) / n * np.sum((without - without.mean()) ** 2)))
    return {
        "formula": value,
        "difference": float(measured.mean()) - value,
        "difference_error": spread,
    }


def lemma_panels(rows: lab.Rows) -> list[Panel]:
    """A chart a graph: measured points and the formula's curve."""
    panels = []
    for graph in claims.distinct(_part(rows, LEMMA), "graph"):
        own = _part(rows, LEMMA, graph=graph)
        curves = [
            claims.error_curve("measured", own, "n_walks", 0),
            claims.curve("formula", own, "n_walks", "formula", 1, dashed=True),
        ]
        note = f"{own[0]['n_nodes']} nodes, exp(W), degree 2"
        panels.append(Panel(measuring.title_of(graph), curves, "walks", "relative MSE", note=note))
    return panels


def lemma_judge(rows: lab.Rows) -> lab.Verdict:
    """Measured and formula agree within their standard errors."""
    own = _part(rows, LEMMA)
    paper = "the mean squared error at degree 2 is ‖E[X1ᵀX1]‖² − ‖K‖²"
    if not own:
        return claims.verdict(paper)
    scores = {id(r): abs(r["difference"]) / max(r["difference_error"], 1e-300) for r in own}
    worst_row = max(own, key=lambda row: scores[id(row)])
    ratios = [row["error"] / row["formula"] for row in own]
    agree = all(score < claims.NOISE for score in scores.values())
    return claims.verdict(
        paper,
        f"measured over formula is {min(ratios):.3f} to {max(ratios):.3f} in {len(own)} settings; "
        f"the largest difference, on {measuring.title_of(worst_row['graph'])} with "
        f"{worst_row['n_walks']} walks, is {scores[id(worst_row)]:.1f} standard errors "
        f"({worst_row['error']:.4g} against {worst_row['formula']:.4g})",
        agree,
    )


def lemma_table(rows: lab.Rows) -> Table:
    """Measured and formula side by side."""
    lines = [
        [
            measuring.title_of(row["graph"]),
            str(row["n_walks"]),
            f"{row['error']:.4g} ± {row['standard_error']:.1g}",
            f"{row['formula']:.4g}",
            f"{row['difference'] / max(row['difference_error'], 1e-300):+.1f}",
        ]
        for row in _part(rows, LEMMA)
    ]
    columns = ["graph", "walks", "measured", "formula", "difference / its error"]
    return plain_table(columns, lines, "Mean squared error relative to ‖K‖².")


def theorem_panels(rows: lab.Rows) -> list[Panel]:
    """A chart a graph and kernel: MSE against the degree, a curve a number of walks."""
    panels = []
    own = _part(rows, THEOREM)
    for kernel, graph in product(claims.distinct(own, "kernel"), claims.distinct(own, "graph")):
        here = claims.select(own, kernel=kernel, graph=graph)
        curves = [
            claims.error_curve(
                "1 walk" if n_walks == 1 else f"{n_walks} walks",
                claims.select(here, n_walks=n_walks),
                "degree",
                number,
            )
            for number, n_walks in enumerate(claims.values(here, "n_walks"))
        ]
        note = f"{here[0]['n_nodes']} nodes, {KERNELS[kernel][1]}"
        panels.append(Panel(measuring.title_of(graph), curves, "degree", "relative MSE", note=note))
    return panels


def theorem_judge(rows: lab.Rows) -> lab.Verdict:
    """MSE(2 l) ≤ MSE(l) for every graph, kernel and number of walks."""
    own = _part(rows, THEOREM)
    degrees = claims.values(own, "degree")
    return claims.judged(
        "MSE(1) ≥ MSE(2) ≥ MSE(4) ≥ … at equal numbers of walks",
        [
            claims.compare(
                own,
                f"MSE({2 * degree}) below MSE({degree})",
                {"degree": 2 * degree},
                {"degree": degree},
                ("graph", "kernel", "n_walks"),
            )
            for degree in degrees
            if 2 * degree in degrees
        ],
    )


def _part(rows: lab.Rows, part: str, **wanted: Any) -> list[lab.Row]:
    return claims.select(rows, part=part, **wanted)


EXPERIMENT = lab.Experiment(
    name="theory",
    plan=plan,
    run=run,
    claims=[
        lab.Claim("theory-lemma", lemma_panels, lemma_judge, (lemma_table,)),
        lab.Claim("theory-theorem", theorem_panels, theorem_judge),
    ],
)
