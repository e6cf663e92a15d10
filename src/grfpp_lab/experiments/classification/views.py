"""Accuracies as charts: a panel a data set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from grfpp_lab.experiments.classification.paper import NETWORKS, OWN, quoted
from grfpp_lab.experiments.classification.scores import (
    DIFFUSION,
    EXACT,
    GRAPH_KERNEL,
    GRF,
    GRFPP,
    LABEL_FEATURES,
    SPECTRUM,
    SQUARED,
    Scores,
    data_sets,
    of_kernel,
    scores,
)
from grfpp_lab.experiments.experiment import Rows
from grfpp_lab.report.panels import Curve, Panel

_ERROR = "error, %"
_STYLES = {GRF: 0, GRFPP: 1, EXACT: 2}
#: Errors are drawn on a logarithmic axis, where zero has no place.
_LEAST = 0.1
_FEATURES = (SPECTRUM, *LABEL_FEATURES)
#: What the numbers on the axis of labelled features stand for.
NUMBERED = ", ".join(f"{i} {kind}" for i, kind in enumerate(_FEATURES, start=1))


def panels(rows: Rows) -> list[Panel]:
    """Error against walks for the diffusion kernel."""
    return _against_walks(of_kernel(rows, DIFFUSION))


def squared_panels(rows: Rows) -> list[Panel]:
    """Error against walks for exp(W²)."""
    return _against_walks(of_kernel(rows, SQUARED))


def _against_walks(rows: Rows) -> list[Panel]:
    found = []
    walks = sorted({row["n_walks"] for row in rows if row["n_walks"]})
    for name in data_sets(rows):
        own = [row for row in rows if row["dataset"] == name]
        curves = []
        for method in (GRF, GRFPP):
            at = {n: scores(own, method=method, n_walks=n) for n in walks}
            curves.append(_curve(method, at, _STYLES[method]))
        exact = scores(own, method=EXACT)
        curves.append(_curve(EXACT, dict.fromkeys(walks, exact), _STYLES[EXACT], dashed=True))
        found.append(Panel(name, [each for each in curves if len(each.x)], "walks", _ERROR))
    return found


def kernels_panels(rows: Rows) -> list[Panel]:
    """Errors of graph kernels, the best first, beside ours."""
    found = []
    for name in data_sets(rows, lambda row: row["features"] == GRAPH_KERNEL):
        here = _sorted([each for _, each in kernels_here(rows, name)])
        told = _sorted([each.mean for each in kernels_quoted(name).values()])
        longest = max(len(here), len(told), 2)
        curves = [
            _ranked("graph kernels, run here", here, 3),
            _ranked("graph kernels, quoted", told, 4, dashed=True),
        ]
        for method in (GRFPP, EXACT):
            own = scores(of_kernel(rows, DIFFUSION), dataset=name, method=method)
            if own is not None:
                error = max(100 - own.mean, _LEAST)
                ends, style = [1, longest], _STYLES[method]
                curves.append(Curve(method, ends, [error] * 2, (), style, method == EXACT))
        shown = [curve for curve in curves if len(curve.x)]
        found.append(Panel(name, shown, "rank", _ERROR, log_x=False))
    return found


def labels_panels(rows: Rows) -> list[Panel]:
    """Error with each kind of features."""
    found = []
    for name in data_sets(rows, lambda row: row["features"] in _FEATURES[1:]):
        curves = []
        for method in (GRFPP, EXACT):
            at = {
                number: scores(rows, dataset=name, method=method, features=kind, kernel=DIFFUSION)
                for number, kind in enumerate(_FEATURES, start=1)
            }
            curves.append(_curve(method, at, _STYLES[method], dashed=method == EXACT))
        shown = [replace(curve, joined=False) for curve in curves if len(curve.x)]
        found.append(Panel(name, shown, "features", _ERROR, log_x=False))
    return found


def kernels_here(rows: Rows, dataset: str) -> list[tuple[str, float]]:
    """Mean accuracies of the graph kernels that ended within their time."""
    own = [row for row in rows if row["dataset"] == dataset and row["features"] == GRAPH_KERNEL]
    methods = dict.fromkeys(row["method"] for row in own)
    found = ((method, scores(own, method=method)) for method in methods)
    return [(method, each.mean) for method, each in found if each is not None]


def kernels_quoted(dataset: str) -> dict[str, Scores]:
    """Mean accuracies of graph kernels that the paper quotes."""
    others = {*OWN, *NETWORKS}
    return {
        method: Scores({(0, 0): cell.mean})
        for (method, data), cell in quoted().items()
        if data == dataset and method not in others and cell.mean is not None
    }


def _curve(name: str, at: dict[int, Scores | None], style: int, dashed: bool = False) -> Curve:
    known = {x: each for x, each in at.items() if each is not None}
    return Curve(
        name,
        list(known),
        [max(100 - each.mean, _LEAST) for each in known.values()],
        [each.standard_error for each in known.values()],
        style,
        dashed,
    )


def _ranked(name: str, accuracies: Sequence[float], style: int, dashed: bool = False) -> Curve:
    ranks = list(range(1, len(accuracies) + 1))
    return Curve(name, ranks, [max(100 - each, _LEAST) for each in accuracies], (), style, dashed)


def _sorted(accuracies: Sequence[float]) -> list[float]:
    return sorted(accuracies, reverse=True)
