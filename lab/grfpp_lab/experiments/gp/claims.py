"""Gaussian processes: charts, tables and verdicts."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from grfpp_lab.experiments.claims import POOLED, chart, mean_curve, our_bar, select, values, verdict
from grfpp_lab.experiments.gp.data import LAM, NOISE, OUTPUTSCALE
from grfpp_lab.harness.experiment import Row, Rows, Verdict
from grfpp_lab.report.page import Table, TableGroup
from grfpp_lab.report.panels import Curve, Panel

EXACT, GRF, STITCHED, HEAD = "exact", "GRF", "GRF++", "GRF++, exact head"
PEER_DIFFUSION, PEER_GENERAL = "fast-graph-gp, diffusion", "fast-graph-gp, general"
#: Styles of their curves.
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


#: Our bars: an error relative to the exact process, seconds that count as minutes, and from how
#: many nodes on each is asked for.
_BAR, _SOME = 1.01, 2000
#: How far from it an error with pooled walks may be.
_POOLED_NEAR = 0.002
_COVERED = (0.93, 0.97)
_MINUTES, _MANY = 900.0, 100_000
_ACCURACY = (
    "nothing of Gaussian processes; our bar: a test error within 1 % of an exact process with the "
    "same kernel, at 2,000 nodes, and intervals that hold what they say"
)
_TIME = (
    "nothing of Gaussian processes; our bar: 10⁵ nodes train in minutes, and faster than "
    "fast-graph-gp on the same data"
)


def judge_accuracy(rows: Rows) -> Verdict:
    """How far the walks' processes are from the exact one."""
    facts, worst = [], []
    for method in METHODS[1:]:
        by_size = ratios(rows, method)
        if by_size:
            of_function = ratios(rows, method, "latent_rmse")
            words = ", ".join(
                f"× {np.mean(values):.3f} ({np.mean(of_function[n]):.3f}) at {n:,} nodes"
                for n, values in by_size.items()
            )
            facts.append(f"{method}: {words}")
        if method == HEAD:
            worst = [float(np.mean(values)) for n, values in by_size.items() if n >= _SOME]
    if not facts:
        return verdict(_ACCURACY)
    covered = [r["coverage"] for r in select(rows, method=HEAD) if r["n_nodes"] >= _SOME]
    if covered:
        facts.append(
            f"intervals of {HEAD} hold {100 * min(covered):.1f} to {100 * max(covered):.1f} % of "
            "the observations"
        )
    measured = (
        "test errors (and those of the function itself) relative to the exact process: "
        + "; ".join(facts)
    )
    if not worst:
        return verdict(_ACCURACY, [measured, "too small to judge"])
    hold = max(worst) <= _BAR and _COVERED[0] <= np.mean(covered) <= _COVERED[1]
    return verdict(_ACCURACY, measured, bool(hold))


def judge_pooled(rows: Rows) -> Verdict:
    """Pooled walks, by `GRFKernel`'s own settings, at the exact process."""
    bar = our_bar(
        f"a test error within {_POOLED_NEAR:.1%} of the exact process from {_SOME:,} nodes on"
    )
    found = {n: float(np.mean(each)) for n, each in ratios(rows, POOLED).items()}
    if not found:
        return verdict(bar)
    of_function = ratios(rows, POOLED, "latent_rmse")
    facts = "errors relative to the exact process (and those of the function itself): " + ", ".join(
        f"× {ratio:.4f} ({np.mean(of_function[n]):.4f}) at {n:,} nodes"
        for n, ratio in found.items()
    )
    large = [ratio for n, ratio in found.items() if n >= _SOME]
    if not large:
        return verdict(bar, [facts, "too small to judge"])
    return verdict(bar, facts, all(abs(ratio - 1) <= _POOLED_NEAR for ratio in large))


def judge_time(rows: Rows) -> Verdict:
    """Seconds at the largest size, and against the peer."""
    row = max(select(rows, method=HEAD), key=lambda row: row["n_nodes"], default=None)
    if row is None:
        return verdict(_TIME)
    facts = [
        f"{HEAD} at {row['n_nodes']:,} nodes, half of them observed: walks {_s(row, 'walk')}, "
        f"{row['n_steps']} steps of training {_s(row, 'train')}, predictions at all others "
        f"{_s(row, 'predict')}, on one thread"
    ]
    faster = []
    for method in (PEER_DIFFUSION, PEER_GENERAL):
        for n, (ours, theirs) in _side_by_side(rows, method).items():
            faster.append(theirs > ours)
            facts.append(f"{method} takes × {theirs / ours:.1f} the time at {n:,} nodes")
    if not faster:
        facts.append("fast-graph-gp was not run: GRFPP_PEERS names no command")
    enough = row["n_nodes"] >= _MANY
    if not enough:
        facts.append(f"too small to judge, the bar is for {_MANY:,} nodes")
    if not (enough and faster):
        return verdict(_TIME, facts)
    return verdict(_TIME, facts, row["train_seconds"] < _MINUTES and all(faster))


def _side_by_side(rows: Rows, method: str) -> dict[int, tuple[float, float]]:
    """Mean seconds of ours and of a peer, by size, where both were run."""
    found = {}
    for n in values(rows, "n_nodes"):
        ours, theirs = (
            [total(row) for row in select(rows, method=each, n_nodes=n)] for each in (HEAD, method)
        )
        if ours and theirs:
            found[n] = float(np.mean(ours)), float(np.mean(theirs))
    return found


def _s(row: Row, part: str) -> str:
    return f"{row[f'{part}_seconds']:.3g} s"
