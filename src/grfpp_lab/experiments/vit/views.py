"""Accuracies of vision transformers as charts and as a table, beside the paper's."""

from __future__ import annotations

import numpy as np

from grfpp_lab.experiments.experiment import Rows
from grfpp_lab.experiments.measuring import mean_and_error
from grfpp_lab.experiments.vit.data import TITLES
from grfpp_lab.experiments.vit.paper import LEARNED, MASKED, METHODS, PAPER, PLAIN
from grfpp_lab.experiments.vit.scores import PairedDifference, accuracies, data_sets, final, gain
from grfpp_lab.report.page import Table, TableGroup
from grfpp_lab.report.panels import Curve, Panel


def panels(rows: Rows) -> list[Panel]:
    """Test error against epochs, a chart a data set."""
    found = []
    for name in data_sets(rows):
        own = [row for row in rows if row["dataset"] == name]
        curves = [_curve(own, method, style) for style, method in enumerate(METHODS)]
        found.append(
            Panel(
                TITLES[name],
                [curve for curve in curves if len(curve.x)],
                "epochs",
                "test error, %",
                note=f"{own[0]['n_train']:,} pictures, {own[0]['n_tokens']} tokens",
                log_x=False,
                log_y=False,
            )
        )
    return found


def _curve(rows: Rows, method: str, style: int) -> Curve:
    own = [row for row in rows if row["method"] == method]
    epochs = sorted({row["epoch"] for row in own})
    points = [
        mean_and_error([100 * (1 - row["accuracy"]) for row in own if row["epoch"] == epoch])
        for epoch in epochs
    ]
    return Curve(
        method, epochs, [mean for mean, _ in points], [error for _, error in points], style
    )


def table(rows: Rows) -> Table:
    """Accuracies after training, paired differences, and what the paper has."""
    measured = []
    for name in data_sets(rows):
        seeds = {len(accuracies(rows, name, method)) for method in METHODS}
        measured.append(
            [
                TITLES[name],
                *(_mean(accuracies(rows, name, method)) for method in METHODS),
                *_columns(gain(rows, name, MASKED, PLAIN)),
                *_columns(gain(rows, name, LEARNED, PLAIN)),
                str(max(seeds)),
            ]
        )
    quoted = [
        [
            TITLES[name],
            f"{own[PLAIN]:.2f}",
            f"{own[MASKED]:.2f}",
            "",
            f"{own[MASKED] - own[PLAIN]:+.2f}",
            *("", "", "", ""),
        ]
        for name, own in PAPER.items()
    ]
    learned = [row["lam"] for row in final(rows) if row["method"] == LEARNED]
    strength = f" Learned λ: {np.mean(learned):.2f} on average." if learned else ""
    return Table(
        ["data", *METHODS, "mask − ViT", "p", "learned − ViT", "p", "seeds"],
        [
            TableGroup("measured here", measured),
            TableGroup(
                "quoted from the paper: other data, far larger models, not comparable", quoted
            ),
        ],
        "Top-1 accuracy in per cent on test pictures, mean ± standard deviation over seeds; "
        "differences seed by seed, mean ± standard error, with the p-value of the paired "
        f"t-test.{strength}",
    )


def _mean(values: dict[int, float]) -> str:
    if not values:
        return ""
    numbers = list(values.values())
    spread = f" ± {np.std(numbers, ddof=1):.2f}" if len(numbers) > 1 else ""
    return f"{np.mean(numbers):.2f}{spread}"


def _columns(difference: PairedDifference | None) -> tuple[str, str]:
    if difference is None:
        return "", ""
    mean, error = difference.mean, difference.standard_error
    return f"{mean:+.2f} ± {error:.2f}", f"{difference.p:.2g}"
