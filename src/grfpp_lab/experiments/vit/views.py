"""Accuracies of vision transformers as charts and as a table, beside the paper's."""

from __future__ import annotations

import numpy as np

from grfpp_lab.experiments.paired import Difference
from grfpp_lab.experiments.views import chart, distinct, mean_and_deviation, mean_curve, select
from grfpp_lab.experiments.vit.data import TITLES
from grfpp_lab.experiments.vit.paper import LEARNED, MASKED, METHODS, PAPER, PLAIN
from grfpp_lab.experiments.vit.scores import accuracies, final, gain
from grfpp_lab.harness.experiment import Rows
from grfpp_lab.report.page import Table, TableGroup
from grfpp_lab.report.panels import Panel


def panels(rows: Rows) -> list[Panel]:
    """Test error against epochs, a chart a data set."""
    found = []
    for name in distinct(rows, "dataset"):
        own = select(rows, dataset=name)
        curves = [
            mean_curve(
                method,
                select(own, method=method),
                "epoch",
                lambda row: 100 * (1 - float(row["accuracy"])),
                style,
            )
            for style, method in enumerate(METHODS)
        ]
        axes = {"log_x": False, "log_y": False}
        note = f"{own[0]['n_train']:,} pictures, {own[0]['n_tokens']} tokens"
        found.append(chart(TITLES[name], curves, "epochs", "test error, %", note=note, **axes))
    return found


def table(rows: Rows) -> Table:
    """Accuracies after training, paired differences, and what the paper has."""
    measured = []
    for name in distinct(rows, "dataset"):
        found = [accuracies(rows, name, method) for method in METHODS]
        measured.append(
            [
                TITLES[name],
                *(mean_and_deviation(list(each.values())) for each in found),
                *_columns(gain(rows, name, MASKED, PLAIN)),
                *_columns(gain(rows, name, LEARNED, PLAIN)),
                str(max(len(each) for each in found)),
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
    learned = [row["lam"] for row in select(final(rows), method=LEARNED)]
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


def _columns(difference: Difference) -> tuple[str, str]:
    if difference.n < 2:
        return "", ""
    return difference.words(2), f"{difference.p:.2g}"
