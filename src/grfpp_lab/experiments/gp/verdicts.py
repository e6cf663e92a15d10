"""Verdicts on Gaussian processes: our own bars, as the paper has none."""

from __future__ import annotations

import numpy as np

from grfpp_lab.experiments.gp.views import (
    HEAD,
    METHODS,
    PEER_DIFFUSION,
    PEER_GENERAL,
    ratios,
    total,
)
from grfpp_lab.experiments.pooled import our_bar
from grfpp_lab.experiments.verdicts import verdict
from grfpp_lab.experiments.views import POOLED, select, values
from grfpp_lab.harness.experiment import Row, Rows, Verdict

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
    told, worst = [], []
    for method in METHODS[1:]:
        by_size = ratios(rows, method)
        if by_size:
            of_function = ratios(rows, method, "latent_rmse")
            words = ", ".join(
                f"× {np.mean(values):.3f} ({np.mean(of_function[n]):.3f}) at {n:,} nodes"
                for n, values in by_size.items()
            )
            told.append(f"{method}: {words}")
        if method == HEAD:
            worst = [float(np.mean(values)) for n, values in by_size.items() if n >= _SOME]
    if not told:
        return verdict(_ACCURACY)
    covered = [r["coverage"] for r in select(rows, method=HEAD) if r["n_nodes"] >= _SOME]
    if covered:
        told.append(
            f"intervals of {HEAD} hold {100 * min(covered):.1f} to {100 * max(covered):.1f} % of "
            "the observations"
        )
    measured = (
        "test errors (and those of the function itself) relative to the exact process: "
        + "; ".join(told)
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
    told = "errors relative to the exact process (and those of the function itself): " + ", ".join(
        f"× {ratio:.4f} ({np.mean(of_function[n]):.4f}) at {n:,} nodes"
        for n, ratio in found.items()
    )
    large = [ratio for n, ratio in found.items() if n >= _SOME]
    if not large:
        return verdict(bar, [told, "too small to judge"])
    return verdict(bar, told, all(abs(ratio - 1) <= _POOLED_NEAR for ratio in large))


def judge_time(rows: Rows) -> Verdict:
    """Seconds at the largest size, and against the peer."""
    row = max(select(rows, method=HEAD), key=lambda row: row["n_nodes"], default=None)
    if row is None:
        return verdict(_TIME)
    told = [
        f"{HEAD} at {row['n_nodes']:,} nodes, half of them observed: walks {_s(row, 'walk')}, "
        f"{row['n_steps']} steps of training {_s(row, 'train')}, predictions at all others "
        f"{_s(row, 'predict')}, on one thread"
    ]
    faster = []
    for method in (PEER_DIFFUSION, PEER_GENERAL):
        for n, (ours, theirs) in _side_by_side(rows, method).items():
            faster.append(theirs > ours)
            told.append(f"{method} takes × {theirs / ours:.1f} the time at {n:,} nodes")
    if not faster:
        told.append("fast-graph-gp was not run: GRFPP_PEERS names no command")
    enough = row["n_nodes"] >= _MANY
    if not enough:
        told.append(f"too small to judge, the bar is for {_MANY:,} nodes")
    if not (enough and faster):
        return verdict(_TIME, told)
    return verdict(_TIME, told, row["train_seconds"] < _MINUTES and all(faster))


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
