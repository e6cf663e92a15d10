"""Metrics of the graph transformer as charts and as tables, ours beside the paper's."""

from __future__ import annotations

from collections.abc import Sequence

from grfpp_lab.experiments.gps.data import TASKS
from grfpp_lab.experiments.gps.encodings import ENCODINGS, GRF, GRF_PP, NONE, OURS
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
#: What the paper's table calls a data set whose targets are others here.
_QUOTED = {"peptides-struct": "Peptides-struct"}


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
            missing = {e: v if TASKS[name].is_error else 100 - v for e, v in quoted.items()}
            ratio = missing[GRF_PP] / missing[NONE]
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
        metric = TASKS[name].metric
        panels.append(
            _panel(name, own, curves, metric if TASKS[name].is_error else f"1 − {metric}")
        )
    return panels


def _errors(own: Rows, encoding: str) -> dict[int, float]:
    """What is missing of a perfect metric, by seed; never quite zero, so that it can divide."""
    return {
        row["repeat"]: max(
            row["test"] if TASKS[row["dataset"]].is_error else 1 - row["test"], _LEAST_ERROR
        )
        for row in select(own, encoding=encoding)
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
        [TASKS[name].title, _metric(name), *_cells(rows, name, tuple(_MAIN))]
        for name in distinct(rows, "dataset")
    ]
    quoted = []
    for name, values in PAPER.items():
        title = _QUOTED.get(name, TASKS[name].title)
        if name in PRINTED:
            title += f" (printed as {PRINTED[name]})"
        quoted.append([title, _metric(name), *(f"{values[each]:.2f}" for each in _MAIN)])
    return Table(
        ["data", "metric", *_MAIN.values()],
        [
            TableGroup("measured here, small data and models", measured),
            TableGroup("quoted from the paper, not comparable", quoted),
        ],
        "Test metric in per cent, mean and standard deviation over the seeds. In the paper the "
        "rows of the two Peptides sets carry their names, and the arrow, the wrong way round; they "
        "are put right here. The targets of Peptides-struct are not at hand: those measured are "
        "shapes of other conformers, of small molecules, and not comparable.",
        words=(0, 1),
        wraps=(0, 1),
    )


def _metric(name: str) -> str:
    task = TASKS[name]
    return f"{task.metric} × 100, lower is better" if task.is_error else task.metric


def pairs_table(rows: Rows) -> Table:
    """Differences seed by seed, and whether they are more than chance."""
    return _differences_table(rows, _PAIRS)


def kinds_table(rows: Rows) -> Table:
    """As `pairs_table`, for encodings without random numbers against none."""
    return _differences_table(rows, [(each, NONE) for each in OURS])


def _differences_table(rows: Rows, pairs: Sequence[tuple[str, str]]) -> Table:
    groups = []
    for first, second in pairs:
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
        titles = [_MAIN.get(each, f"+ {each}") for each in (first, second)]
        groups.append(TableGroup(" against ".join(titles), lines))
    return Table(
        ["data", "difference", "seeds above", "p", "paper"],
        groups,
        "Difference of the test metric in points, paired by seed, mean and standard error; of "
        "errors, by how much they are lower. p of a paired t-test.",
    )


def _quoted_gain(name: str, first: str, second: str) -> str:
    quoted = PAPER.get(name, {})
    if first not in quoted or second not in quoted:
        return ""
    gain = quoted[first] - quoted[second]
    return f"{-gain if TASKS[name].is_error else gain:+.2f}"


def reference_table(rows: Rows) -> Table:
    """All encodings beside each other."""
    present = [each for each in ENCODINGS if select(rows, encoding=each)]
    lines = [
        [TASKS[name].title, *_cells(rows, name, present)] for name in distinct(rows, "dataset")
    ]
    caption = (
        "Test metric in per cent (MAE × 100 of Peptides-struct, where less is better), mean and "
        "standard deviation over the seeds."
    )
    return table(["data", *present], lines, caption)


def _cells(rows: Rows, name: str, encodings: Sequence[str]) -> list[str]:
    return [
        mean_and_deviation(
            [100 * row["test"] for row in select(rows, dataset=name, encoding=encoding)]
        )
        for encoding in encodings
    ]
