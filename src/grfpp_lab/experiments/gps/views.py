"""Metrics of the graph transformer as charts and as tables, ours beside the paper's."""

from __future__ import annotations

from collections.abc import Sequence

from grfpp_lab.experiments.gps.data import TASKS
from grfpp_lab.experiments.gps.encodings import ENCODINGS, GRF, GRF_PP, NONE
from grfpp_lab.experiments.gps.pairs import differences
from grfpp_lab.experiments.gps.paper import PAPER, PRINTED
from grfpp_lab.experiments.views import chart, distinct, mean_and_deviation, select, table
from grfpp_lab.harness.experiment import Rows
from grfpp_lab.report.page import Table, TableGroup
from grfpp_lab.report.panels import Curve, Panel

#: Columns of the paper's table.
_MAIN = {NONE: "Performer", GRF: "+ GRF", GRF_PP: "+ GRF++"}
#: Errors below this are drawn as this.
_LEAST_ERROR = 1e-3
_PAIRS = ((GRF_PP, NONE), (GRF_PP, GRF), (GRF, NONE))


def error_panels(rows: Rows) -> list[Panel]:
    """Errors with an encoding over those without, seed by seed, one chart a data set."""
    panels = []
    for name in distinct(rows, "dataset"):
        own = select(rows, dataset=name)
        without = _errors(own, NONE)
        curves = []
        for style, encoding in enumerate((GRF, GRF_PP)):
            ratios = {
                repeat: error / without[repeat]
                for repeat, error in _errors(own, encoding).items()
                if repeat in without
            }
            curves.append(_points(_MAIN[encoding], ratios, style))
        ends = [1, max(2, *(row["repeat"] + 1 for row in own))]
        curves.append(Curve("no difference", ends, [1.0, 1.0], (), 4, True))
        if name in PAPER:
            quoted = PAPER[name]
            ratio = (100 - quoted[GRF_PP]) / (100 - quoted[NONE])
            curves.append(Curve("paper, + GRF++", ends, [ratio, ratio], (), 1, True))
        panels.append(_panel(name, own, curves, "error, relative to no encoding"))
    return panels


def all_error_panels(rows: Rows) -> list[Panel]:
    """Errors with every encoding, seed by seed, one chart a data set."""
    panels = []
    for name in distinct(rows, "dataset"):
        own = select(rows, dataset=name)
        curves = [
            _points(encoding, _errors(own, encoding), style)
            for style, encoding in enumerate(ENCODINGS)
        ]
        panels.append(_panel(name, own, curves, f"1 − {TASKS[name].metric}"))
    return panels


def _errors(own: Rows, encoding: str) -> dict[int, float]:
    """What is missing of a perfect metric, by seed; never quite zero, so that it can divide."""
    return {
        row["repeat"]: max(1 - row["test"], _LEAST_ERROR) for row in select(own, encoding=encoding)
    }


def _points(name: str, by_seed: dict[int, float], style: int) -> Curve:
    numbers = [repeat + 1 for repeat in by_seed]
    return Curve(name, numbers, list(by_seed.values()), (), style, joined=False)


def _panel(name: str, own: Rows, curves: Sequence[Curve], y_label: str) -> Panel:
    note = f"{own[0]['n_train']:,} graphs, {own[0]['n_test']:,} to test on"
    return chart(TASKS[name].title, curves, "seed", y_label, note=note, log_x=False)


def paper_table(rows: Rows) -> Table:
    """The paper's columns, measured here and quoted."""
    measured = [
        [TASKS[name].title, TASKS[name].metric, *_cells(rows, name, tuple(_MAIN))]
        for name in distinct(rows, "dataset")
    ]
    quoted = []
    for name, values in PAPER.items():
        title = TASKS[name].title if name in TASKS else "Peptides-struct"
        if name in PRINTED:
            title += f" (printed as {PRINTED[name]})"
        metric = TASKS[name].metric if name in TASKS else "MAE × 100, lower is better"
        quoted.append([title, metric, *(f"{values[each]:.2f}" for each in _MAIN)])
    return Table(
        ["data", "metric", *_MAIN.values()],
        [
            TableGroup("measured here, small data and models", measured),
            TableGroup("quoted from the paper, not comparable", quoted),
        ],
        "Test metric in per cent, mean and standard deviation over the seeds. In the paper the "
        "rows of the two Peptides sets carry their names, and the arrow, the wrong way round; they "
        "are put right here. The targets of Peptides-struct are not at hand.",
        words=(0, 1),
        wraps=(0, 1),
    )


def pairs_table(rows: Rows) -> Table:
    """Differences seed by seed, and whether they are more than chance."""
    groups = []
    for first, second in _PAIRS:
        lines = [
            [
                TASKS[name].title,
                each.words(2, 100),
                f"{sum(value > 0 for value in each.values)} of {each.n}",
                "" if each.n < 2 else f"{each.p:.3f}",
                _quoted_gain(name, first, second),
            ]
            for name, each in differences(rows, first, second).items()
        ]
        groups.append(TableGroup(f"{_MAIN[first]} against {_MAIN[second]}", lines))
    return Table(
        ["data", "difference", "seeds above", "p", "paper"],
        groups,
        "Difference of the test metric in points, paired by seed, mean and standard error; p of a "
        "paired t-test.",
    )


def _quoted_gain(name: str, first: str, second: str) -> str:
    return f"{PAPER[name][first] - PAPER[name][second]:+.2f}" if name in PAPER else ""


def reference_table(rows: Rows) -> Table:
    """All encodings beside each other."""
    present = [each for each in ENCODINGS if select(rows, encoding=each)]
    lines = [
        [TASKS[name].title, *_cells(rows, name, present)] for name in distinct(rows, "dataset")
    ]
    caption = "Test metric in per cent, mean and standard deviation over the seeds."
    return table(["data", *present], lines, caption)


def _cells(rows: Rows, name: str, encodings: Sequence[str]) -> list[str]:
    return [
        mean_and_deviation(
            [100 * row["test"] for row in select(rows, dataset=name, encoding=encoding)]
        )
        for encoding in encodings
    ]
