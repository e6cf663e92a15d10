"""Accuracies as charts: a panel a data set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from grfpp_lab.experiments.classification import scores as s
from grfpp_lab.experiments.classification.graph_sets import SIZES
from grfpp_lab.experiments.classification.paper import NETWORKS, OWN, quoted
from grfpp_lab.experiments.classification.scores import DIFFUSION, EXACT, GRF, GRFPP
from grfpp_lab.experiments.views import POOLED, chart, distinct, select, values
from grfpp_lab.harness.experiment import Rows
from grfpp_lab.report.panels import Curve, Panel

_ERROR = "error, %"
_STYLES = {GRF: 0, GRFPP: 1, EXACT: 2, POOLED: 4}
#: Errors are drawn on a logarithmic axis, where zero has no place.
_LEAST = 0.1
_FEATURES = (s.SPECTRUM, *s.LABEL_FEATURES)
#: What the numbers on the axis of labelled features stand for.
NUMBERED = ", ".join(f"{i} {kind}" for i, kind in enumerate(_FEATURES, start=1))


def panels(rows: Rows) -> list[Panel]:
    """Error against walks for the diffusion kernel."""
    return _against_walks(s.of_kernel(rows, DIFFUSION))


def squared_panels(rows: Rows) -> list[Panel]:
    """Error against walks for exp(W²)."""
    return _against_walks(s.of_kernel(rows, s.SQUARED))


def _against_walks(rows: Rows) -> list[Panel]:
    found = []
    walks = [n for n in values(rows, "n_walks") if n]
    for name in distinct(rows, "dataset"):
        own = select(rows, dataset=name)
        curves = [
            _curve(method, {n: s.scores(own, method=method, n_walks=n) for n in walks})
            for method in (GRF, GRFPP, POOLED)
        ]
        curves.append(_curve(EXACT, dict.fromkeys(walks, s.scores(own, method=EXACT))))
        found.append(chart(name, curves, "walks", _ERROR))
    return found


def pooled_panels(rows: Rows) -> list[Panel]:
    """How far accuracies are from that of the exact kernel."""
    own = s.of_kernel(rows, DIFFUSION)
    curves = []
    for method in (GRF, GRFPP, POOLED):
        far = {name: abs(gap.mean) for name, gap in s.above(own, method, EXACT).items()}
        graphs = [SIZES[name][0] for name in far]
        style = _STYLES[method]
        curves.append(Curve(method, graphs, list(far.values()), (), style, joined=False))
    return [chart("Beside the exact kernel", curves, "graphs", "points", log_y=False)]


def kernels_panels(rows: Rows) -> list[Panel]:
    """Errors of graph kernels, the best first, beside ours."""
    found = []
    for name in distinct(select(rows, features=s.GRAPH_KERNEL), "dataset"):
        here, told = kernels_here(rows, name), kernels_quoted(name)
        longest = max(len(here), len(told), 2)
        curves = [
            _ranked("graph kernels, run here", here, 3),
            _ranked("graph kernels, quoted", told, 4, dashed=True),
        ]
        for method in (GRFPP, EXACT):
            own = s.scores(s.of_kernel(rows, DIFFUSION), dataset=name, method=method)
            curves.append(replace(_curve(method, {1: own, longest: own}), spread=()))
        found.append(chart(name, curves, "rank", _ERROR, log_x=False))
    return found


def labels_panels(rows: Rows) -> list[Panel]:
    """Error with each kind of features."""
    found = []
    for name in s.labelled_sets(rows):
        own = select(rows, dataset=name, kernel=DIFFUSION)
        curves = [
            _curve(
                method,
                {
                    number: s.scores(own, method=method, features=kind)
                    for number, kind in enumerate(_FEATURES, start=1)
                },
            )
            for method in (GRFPP, EXACT)
        ]
        shown = [replace(each, joined=False) for each in curves]
        found.append(chart(name, shown, "features", _ERROR, log_x=False))
    return found


def walks_panels(rows: Rows) -> list[Panel]:
    """Errors of walks by length and of Weisfeiler–Lehman, a point a data set."""
    curves = []
    for method, features, style in ((s.WALK_METHOD, s.WALKS, 1), (s.RIVAL, s.GRAPH_KERNEL, 3)):
        at = {
            SIZES[name][0]: s.scores(rows, dataset=name, features=features, method=method)
            for name in distinct(select(rows, features=s.WALKS), "dataset")
        }
        curves.append(replace(_curve(method, at, style), joined=False))
    return [chart("Beside Weisfeiler–Lehman", curves, "graphs", _ERROR)]


def kernels_here(rows: Rows, dataset: str) -> list[float]:
    """Mean accuracies of the graph kernels that ended within their time."""
    own = select(rows, dataset=dataset, features=s.GRAPH_KERNEL)
    found = (s.scores(own, method=method) for method in distinct(own, "method"))
    return [each.mean for each in found if each is not None]


def kernels_quoted(dataset: str) -> list[float]:
    """Mean accuracies of graph kernels that the paper quotes."""
    return [
        cell.mean
        for (method, data), cell in quoted().items()
        if data == dataset and method not in (*OWN, *NETWORKS) and cell.mean is not None
    ]


def _curve(method: str, at: dict[int, s.Scores | None], style: int | None = None) -> Curve:
    known = {x: each for x, each in at.items() if each is not None}
    return Curve(
        method,
        list(known),
        [max(100 - each.mean, _LEAST) for each in known.values()],
        [each.standard_error for each in known.values()],
        _STYLES[method] if style is None else style,
        method == EXACT,
    )


def _ranked(name: str, accuracies: Sequence[float], style: int, dashed: bool = False) -> Curve:
    errors = sorted(max(100 - each, _LEAST) for each in accuracies)
    return Curve(name, list(range(1, len(errors) + 1)), errors, (), style, dashed)
