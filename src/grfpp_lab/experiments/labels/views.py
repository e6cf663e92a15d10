"""Accuracies of predicted labels as charts and as tables."""

from __future__ import annotations

import numpy as np

from grfpp_lab.experiments.labels.data import PLANETOID, RANDOM, title_of
from grfpp_lab.experiments.labels.rivals import RIVALS
from grfpp_lab.experiments.views import chart, distinct, select
from grfpp_lab.harness.experiment import Row, Rows
from grfpp_lab.report.page import Table, TableGroup
from grfpp_lab.report.panels import Curve, Panel

#: With the defaults of `KernelLabelPropagation` and a validation set; by folds alone; and each way
#: to read labels out, with a validation set.
OURS, FOLDS = "grfpp", "grfpp, no validation set"
BY_HOW = {f"grfpp, {how}": how for how in ("propagation", "svm", "kriging")}
METHODS = (OURS, FOLDS, *BY_HOW, *RIVALS)
_STYLES = {method: number for number, method in enumerate(METHODS)}


def accuracy_panels(rows: Rows) -> list[Panel]:
    """Accuracy on each split: a chart a graph; the first split is Planetoid's."""
    panels = []
    for data in distinct(rows, "data"):
        own = select(rows, data=data)
        curves = []
        for method in METHODS:
            mine = select(own, method=method)
            places = [0 if row["split"] == PLANETOID else row["repeat"] + 1 for row in mine]
            shares = [100 * row["accuracy"] for row in mine]
            curves.append(Curve(method, places, shares, (), _STYLES[method], joined=False))
        panels.append(
            chart(
                *(title_of(data), curves, "split (0: Planetoid)", "accuracy, %"),
                note=f"{own[0]['n_nodes']:,} nodes",
                log_x=False,
                log_y=False,
            )
        )
    return panels


def calibration_panels(rows: Rows) -> list[Panel]:
    """Calibration error on each split, of methods that give probabilities."""
    panels = []
    for data in distinct(rows, "data"):
        own = [row for row in select(rows, data=data) if row["calibration_error"] is not None]
        curves = []
        for method in METHODS:
            mine = select(own, method=method)
            places = [0 if row["split"] == PLANETOID else row["repeat"] + 1 for row in mine]
            errors = [row["calibration_error"] for row in mine]
            curves.append(Curve(method, places, errors, (), _STYLES[method], joined=False))
        panels.append(
            chart(
                *(title_of(data), curves, "split (0: Planetoid)", "calibration error"),
                log_x=False,
                log_y=False,
            )
        )
    return panels


def table(rows: Rows) -> Table:
    """All methods on all splits."""
    groups = []
    for data in distinct(rows, "data"):
        lines = []
        for method in METHODS:
            own = select(rows, data=data, method=method)
            if own:
                lines.append([method, *_cells(own)])
        groups.append(TableGroup(title_of(data), lines))
    return Table(
        [
            "",
            *("Planetoid, %", "calibration error", "seconds", "chosen"),
            *("random splits, %", "calibration error, mean", "splits"),
        ],
        groups,
        "Share of test nodes whose label is right; random splits: mean and standard deviation. "
        "Seconds of fit and prediction on one thread, with the choice of kernel.",
    )


def _cells(rows: Rows) -> list[str]:
    public, random = select(rows, split=PLANETOID), select(rows, split=RANDOM)
    first = [""] * 4
    if public:
        row = public[0]
        first = [
            f"{100 * row['accuracy']:.1f}",
            _error([row]),
            f"{row['seconds']:.2g}",
            row["chosen"] or "",
        ]
    return [*first, spread_of(random), _error(random), str(len(random)) if random else ""]


def spread_of(rows: Rows) -> str:
    """Mean and standard deviation in percent."""
    if not rows:
        return ""
    shares = [100 * row["accuracy"] for row in rows]
    deviation = f" ± {np.std(shares, ddof=1):.1f}" if len(shares) > 1 else ""
    return f"{np.mean(shares):.1f}{deviation}"


def _error(rows: Rows) -> str:
    known: list[Row] = [row for row in rows if row["calibration_error"] is not None]
    return f"{np.mean([row['calibration_error'] for row in known]):.3f}" if known else ""
