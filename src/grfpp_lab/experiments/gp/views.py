"""Gaussian processes: errors and seconds as charts and as a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from grfpp_lab.experiments.gp.data import LAM, NOISE, OUTPUTSCALE
from grfpp_lab.experiments.views import POOLED, chart, mean_curve, select, values
from grfpp_lab.harness.experiment import Row, Rows
from grfpp_lab.report.page import Table, TableGroup
from grfpp_lab.report.panels import Curve, Panel

EXACT, GRF, STITCHED, HEAD = "exact", "GRF", "GRF++", "GRF++, exact head"
PEER_DIFFUSION, PEER_GENERAL = "fast-graph-gp, diffusion", "fast-graph-gp, general"
#: How their curves look.
_STYLES = {
    **{EXACT: 0, GRF: 1, STITCHED: 2, HEAD: 3, POOLED: 4},
    **{PEER_DIFFUSION: 5, PEER_GENERAL: 5},
}
METHODS = tuple(_STYLES)
#: The parts of the time that it takes.
PARTS = ("walk", "train", "predict")


def total(row: Row) -> float:
    """Seconds of everything."""
    return float(sum(row[f"{part}_seconds"] for part in PARTS))


def error_panels(rows: Rows) -> list[Panel]:
    """Test error and coverage against nodes."""
    return [
        _panel(rows, "Error at nodes not observed", lambda r: float(r["rmse"]), "root mean square"),
        _panel(
            rows,
            "Intervals of 95 %",
            lambda r: float(r["coverage"]),
            "share of observations inside",
        ),
    ]


def ratios(rows: Rows, method: str, column: str = "rmse") -> dict[int, list[float]]:
    """Test errors relative to the exact process on the same data, by size."""
    exact = {(row["n_nodes"], row["repeat"]): row[column] for row in select(rows, method=EXACT)}
    found: dict[int, list[float]] = {}
    for row in sorted(select(rows, method=method), key=lambda row: row["n_nodes"]):
        key = (row["n_nodes"], row["repeat"])
        if key in exact:
            found.setdefault(row["n_nodes"], []).append(row[column] / exact[key])
    return found


def pooled_panels(rows: Rows) -> list[Panel]:
    """How far the mean test errors are from that of the exact process."""
    curves = []
    for method in (GRF, STITCHED, HEAD, POOLED):
        far = {n: 100 * abs(float(np.mean(each)) - 1) for n, each in ratios(rows, method).items()}
        curves.append(Curve(method, list(far), list(far.values()), (), _STYLES[method]))
    return [chart("Beside the exact process", curves, "nodes", "difference, %")]


def time_panels(rows: Rows) -> list[Panel]:
    """Seconds against nodes."""
    return [_panel(rows, "Walk, train, predict", total, "seconds", bars=False)]


def _panel(
    rows: Rows, title: str, y: Callable[[Row], float], label: str, bars: bool = True
) -> Panel:
    curves = [
        mean_curve(method, select(rows, method=method), "n_nodes", y, style, bars)
        for method, style in _STYLES.items()
    ]
    dashed = [replace(each, dashed=each.name == PEER_GENERAL) for each in curves]
    return chart(title, dashed, "nodes", label)


def table(rows: Rows) -> Table:
    """All numbers, means over repeats."""
    groups = []
    for n in values(rows, "n_nodes"):
        lines = []
        for method in METHODS:
            own = select(rows, method=method, n_nodes=n)
            if own:
                numbers = [_mean(own, column, digits) for column, (_, digits) in _COLUMNS.items()]
                lines.append([method, *numbers, str(len(own))])
        groups.append(TableGroup(f"{n:,} nodes", lines))
    return Table(
        ["", *(name for name, _ in _COLUMNS.values()), "repeats"],
        groups,
        "At the nodes that were not observed: root mean square error against noisy observations "
        "and against the function itself, share of observations in intervals of 95 %, negative "
        f"log predictive density; what was learned (λ = {LAM:g}, size {OUTPUTSCALE:g}, noise "
        f"{NOISE:g} made the data); seconds on one thread. fast-graph-gp's general kernel has no λ "
        "and no size.",
    )


#: Names of the table's columns, and their digits.
_COLUMNS = {
    "rmse": ("RMSE", 4),
    "latent_rmse": ("of the function", 4),
    "coverage": ("95 % hold", 3),
    "nlpd": ("NLPD", 3),
    "lam": ("λ", 3),
    "outputscale": ("size", 3),
    "noise": ("noise", 2),
    **{f"{part}_seconds": (f"{part}, s", 3) for part in PARTS},
}


def _mean(rows: Rows, column: str, digits: int) -> str:
    known = [row[column] for row in rows if row[column] is not None]
    return f"{np.mean(known):.{digits}g}" if known else ""
