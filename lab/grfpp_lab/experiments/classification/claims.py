"""Accuracies of classification: the paper's, charts and tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from grfpp.options import WalkOptions
from grfpp_lab.experiments import claims
from grfpp_lab.experiments.claims import number, table
from grfpp_lab.experiments.classification.graph_sets import GRAPH_KERNEL, SIZES
from grfpp_lab.experiments.measuring import mean_and_error
from grfpp_lab.harness.experiment import Row, Rows
from grfpp_lab.report.page import Table, TableGroup
from grfpp_lab.report.panels import Curve, Panel


@dataclass(frozen=True)
class Quoted:
    """A cell of a table: mean and standard deviation, or why there is none."""

    mean: float | None
    deviation: float | None = None
    why_not: str = ""

    def __str__(self) -> str:
        return self.why_not if self.mean is None else f"{self.mean:.1f} ± {self.deviation:.1f}"


#: Tab. kernel_results, the kernel exp(W²), by data set and method. Its column of the exact kernel
#: is, to the digit, that of the diffusion kernel in the other tables.
PAPER_SQUARED = {
    place: float(cell)
    for place, cell in claims.quoted_cells("classification", "squared.txt").items()
}

#: Rows of the tables that are no graph kernels of others.
OWN, NETWORKS = ("Diffusion", "GRF", "GRF++"), ("DGCNN", "GraphSAGE", "DiffPool", "GIN")


@cache
def quoted() -> dict[tuple[str, str], Quoted]:
    """All cells of Tabs. results_labeled and results_unlabeled, by method and data set.

    Examples
    --------
    >>> str(quoted()["Diffusion", "MUTAG"]), str(quoted()["SM", "DD"])
    ('86.2 ± 4.2', 'out of memory')
    """
    tables = (claims.quoted_cells("classification", f"{n}.txt") for n in ("labelled", "unlabelled"))
    return {place: _cell(cell) for table in tables for place, cell in table.items()}


def _cell(text: str) -> Quoted:
    if text in ("time", "memory"):
        return Quoted(None, None, f"out of {text}")
    mean, deviation = text.split("±")
    return Quoted(float(mean), float(deviation))


DIFFUSION, SQUARED = "diffusion:1", "squared-diffusion:1"
EXACT, GRF, GRFPP = "exact", "GRF", "GRF++"
#: Of pooled walks, where one number is asked for: the library's default.
DEFAULT_WALKS = WalkOptions().n_walks
#: What becomes a feature; see `grfpp.tasks.graphs.selection`.
SPECTRUM, LABEL_FEATURES = "spectrum", ("same-label", "both-spectra", "spectrum-and-pairs")
#: Features from walks by length and labels, of which the set and the learner are chosen in the
#: folds; see `grfpp.tasks.graphs.selection`.
WALKS, WALK_METHOD = "walk-labels", "walks by length"
#: What they are to be compared with.
RIVAL = "WL-VH"

#: A cross-validation and one of its folds.
Place = tuple[int, int]


@dataclass(frozen=True)
class Scores:
    """Accuracies of one method on one data set, in per cent, by repeat and fold.

    Examples
    --------
    >>> found = Scores({(0, 0): 80.0, (0, 1): 90.0})
    >>> str(found), found.above(Scores({(0, 0): 79.0, (0, 1): 87.0})).words()
    ('85.0 ± 5.0', '+2.0 ± 1.0')
    """

    by_fold: dict[Place, float]

    @property
    def mean(self) -> float:
        """Over all folds."""
        return float(np.mean(list(self.by_fold.values())))

    @property
    def standard_error(self) -> float:
        """Of the mean, as if folds were independent."""
        return mean_and_error(list(self.by_fold.values()))[1]

    def above(self, other: Scores) -> claims.Difference:
        """By how many points it is above another method, fold by fold."""
        return claims.paired(self.by_fold, other.by_fold)

    def __str__(self) -> str:
        return f"{self.mean:.1f} ± {self.standard_error:.1f}"


def scores(rows: Rows, **wanted: Any) -> Scores | None:
    """Accuracies of the rows that have these values.

    Where several are left for a fold, which differ in what the call does not name (such as the
    number of walks), the one counts that did best in the choice made on the other folds.
    """
    best: dict[Place, Row] = {}
    for row in claims.select(rows, **wanted):
        if row.get("accuracy") is None:
            continue
        place = (row["repeat"], row["fold"])
        if place not in best or row["inner"] > best[place]["inner"]:
            best[place] = row
    if not best:
        return None
    return Scores({place: 100 * row["accuracy"] for place, row in sorted(best.items())})


def of_method(rows: Rows, dataset: str, method: str) -> Scores | None:
    """Accuracies of a method: the number of walks chosen within the folds, but for pooled walks.

    Those have the library's default.
    """
    fixed = {"n_walks": DEFAULT_WALKS} if method == claims.POOLED else {}
    return scores(rows, dataset=dataset, method=method, **fixed)


def above(rows: Rows, method: str, rival: str) -> dict[str, claims.Difference]:
    """By how much one method is above another, by data set, where both were run."""
    found = {}
    for name in claims.distinct(rows, "dataset"):
        ours, other = (of_method(rows, name, each) for each in (method, rival))
        if ours is not None and other is not None:
            found[name] = ours.above(other)
    return found


def of_kernel(rows: Rows, kernel: str) -> Rows:
    """Rows of plain spectra of one kernel."""
    return claims.select(rows, kernel=kernel, features=SPECTRUM)


def beside_rival(rows: Rows) -> dict[str, tuple[Scores, Scores]]:
    """Accuracies of walks by length and of Weisfeiler–Lehman, by data set, where both were run."""
    found = {}
    for name in claims.distinct(claims.select(rows, features=WALKS), "dataset"):
        ours = scores(rows, dataset=name, features=WALKS)
        rival = scores(rows, dataset=name, features=GRAPH_KERNEL, method=RIVAL)
        if ours is not None and rival is not None:
            found[name] = (ours, rival)
    return found


def labelled_sets(rows: Rows) -> list[str]:
    """The data sets that were run with labels."""
    return claims.distinct([row for row in rows if row["features"] in LABEL_FEATURES], "dataset")


def with_labels(rows: Rows, dataset: str, method: str) -> Rows:
    """Rows with and without labels, of the number of walks that both were run with."""
    own = claims.select(rows, dataset=dataset, method=method, kernel=DIFFUSION)
    walks = {row["n_walks"] for row in own if row["features"] in LABEL_FEATURES}
    return [row for row in own if row["n_walks"] in walks]


_ERROR = "error, %"
_STYLES = {GRF: 0, GRFPP: 1, EXACT: 2, claims.POOLED: 4}
#: Errors are drawn on a logarithmic axis, where zero has no place.
_LEAST = 0.1
_FEATURES = (SPECTRUM, *LABEL_FEATURES)


def panels(rows: Rows) -> list[Panel]:
    """Error against walks for the diffusion kernel."""
    return _against_walks(of_kernel(rows, DIFFUSION))


def squared_panels(rows: Rows) -> list[Panel]:
    """Error against walks for exp(W²)."""
    return _against_walks(of_kernel(rows, SQUARED))


def _against_walks(rows: Rows) -> list[Panel]:
    found = []
    walks = [n for n in claims.values(rows, "n_walks") if n]
    for name in claims.distinct(rows, "dataset"):
        own = claims.select(rows, dataset=name)
        curves = [
            _curve(method, {n: scores(own, method=method, n_walks=n) for n in walks})
            for method in (GRF, GRFPP, claims.POOLED)
        ]
        curves.append(_curve(EXACT, dict.fromkeys(walks, scores(own, method=EXACT))))
        found.append(claims.chart(name, curves, "walks", _ERROR))
    return found


def pooled_panels(rows: Rows) -> list[Panel]:
    """How far accuracies are from that of the exact kernel."""
    own = of_kernel(rows, DIFFUSION)
    curves = []
    for method in (GRF, GRFPP, claims.POOLED):
        far = {name: abs(gap.mean) for name, gap in above(own, method, EXACT).items()}
        graphs = [SIZES[name][0] for name in far]
        style = _STYLES[method]
        curves.append(Curve(method, graphs, list(far.values()), (), style, joined=False))
    return [claims.chart("Beside the exact kernel", curves, "graphs", "points", log_y=False)]


def kernels_panels(rows: Rows) -> list[Panel]:
    """Errors of graph kernels, the best first, beside ours."""
    found = []
    for name in claims.distinct(claims.select(rows, features=GRAPH_KERNEL), "dataset"):
        here, printed = kernels_here(rows, name), kernels_quoted(name)
        longest = max(len(here), len(printed), 2)
        curves = [
            _ranked("graph kernels, run here", here, 3),
            _ranked("graph kernels, quoted", printed, 4, dashed=True),
        ]
        for method in (GRFPP, EXACT):
            own = scores(of_kernel(rows, DIFFUSION), dataset=name, method=method)
            curves.append(replace(_curve(method, {1: own, longest: own}), spread=()))
        found.append(claims.chart(name, curves, "rank", _ERROR, log_x=False))
    return found


def labels_panels(rows: Rows) -> list[Panel]:
    """Error with each kind of features."""
    found = []
    for name in labelled_sets(rows):
        own = claims.select(rows, dataset=name, kernel=DIFFUSION)
        curves = [
            _curve(
                method,
                {
                    number: scores(own, method=method, features=kind)
                    for number, kind in enumerate(_FEATURES, start=1)
                },
            )
            for method in (GRFPP, EXACT)
        ]
        shown = [replace(each, joined=False) for each in curves]
        found.append(claims.chart(name, shown, "features", _ERROR, log_x=False))
    return found


def walks_panels(rows: Rows) -> list[Panel]:
    """Errors of walks by length and of Weisfeiler–Lehman, a point a data set."""
    curves = []
    for method, features, style in ((WALK_METHOD, WALKS, 1), (RIVAL, GRAPH_KERNEL, 3)):
        at = {
            SIZES[name][0]: scores(rows, dataset=name, features=features, method=method)
            for name in claims.distinct(claims.select(rows, features=WALKS), "dataset")
        }
        curves.append(replace(_curve(method, at, style), joined=False))
    return [claims.chart("Beside Weisfeiler–Lehman", curves, "graphs", _ERROR)]


def kernels_here(rows: Rows, dataset: str) -> list[float]:
    """Mean accuracies of the graph kernels that ended within their time."""
    own = claims.select(rows, dataset=dataset, features=GRAPH_KERNEL)
    found = (scores(own, method=method) for method in claims.distinct(own, "method"))
    return [each.mean for each in found if each is not None]


def kernels_quoted(dataset: str) -> list[float]:
    """Mean accuracies of graph kernels that the paper quotes."""
    return [
        cell.mean
        for (method, data), cell in quoted().items()
        if data == dataset and method not in (*OWN, *NETWORKS) and cell.mean is not None
    ]


def _curve(method: str, at: dict[int, Scores | None], style: int | None = None) -> Curve:
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


_OURS = {EXACT: "Diffusion", GRF: "GRF", GRFPP: "GRF++"}
#: What is measured here.
_MEASURED = (*_OURS, claims.POOLED)


def paper_table(rows: Rows) -> Table:
    """The diffusion kernel: ours, the paper's, and how ours differ."""
    return _beside_paper(
        of_kernel(rows, DIFFUSION),
        lambda name: [_quoted(theirs, name) for theirs in _OURS.values()],
        (EXACT, GRF),
        "Accuracy in per cent, mean ± standard error over folds; the number of walks is chosen "
        f"within each fold, and {DEFAULT_WALKS} for pooled walks. Differences: fold by fold. ± in "
        "the paper's columns: its standard deviations.",
    )


def squared_table(rows: Rows) -> Table:
    """The kernel exp(W²)."""
    return _beside_paper(
        of_kernel(rows, SQUARED),
        _squared,
        (GRF,),
        "As above, for exp(W²). The paper's column of the exact kernel is, to the digit, the one "
        "it has for the diffusion kernel.",
    )


def _squared(name: str) -> list[str]:
    if (name, GRF) not in PAPER_SQUARED:
        return ["", "", ""]
    exact = quoted()["Diffusion", name].mean
    return [
        number(each, ".1f")
        for each in (exact, PAPER_SQUARED[name, GRF], PAPER_SQUARED[name, GRFPP])
    ]


def _beside_paper(
    rows: Rows, printed: Callable[[str], list[str]], rivals: tuple[str, ...], caption: str
) -> Table:
    """Our accuracies, what the paper has for a data set, and differences of GRF++ to some."""
    lines = []
    for name in claims.distinct(rows, "dataset"):
        ours = {method: of_method(rows, name, method) for method in _MEASURED}
        gaps = [_gap(ours[GRFPP], ours[rival]) for rival in rivals]
        gaps.append(_gap(ours[claims.POOLED], ours[EXACT]))
        lines.append([name, *map(_text, ours.values()), *printed(name), *gaps])
    columns = [*_MEASURED, *(f"paper, {method}" for method in _OURS)]
    columns += [*(f"GRF++ − {each}" for each in rivals), f"{claims.POOLED} − {EXACT}"]
    return table(["data set", *columns], lines, caption)


def kernels_table(rows: Rows) -> Table:
    """Graph kernels: run here, quoted by the paper, or why not."""
    kernels = claims.select(rows, features=GRAPH_KERNEL)
    names = claims.distinct(kernels, "dataset")
    own = of_kernel(rows, DIFFUSION)
    ours = [
        [f"{method}, ours", *(_text(of_method(own, name, method)) for name in names)]
        for method in _MEASURED
    ]
    here = []
    for method in claims.distinct(kernels, "method"):
        line = [method]
        for name in names:
            mine = claims.select(kernels, method=method, dataset=name)
            why = next((row["why_not"] for row in mine if row.get("why_not")), "")
            line.append(why or _text(scores(mine)))
        here.append(line)
    printed = [
        [method, *(_quoted(method, name) for name in names)]
        for method in dict.fromkeys(method for method, _ in quoted())
        if method not in OWN
    ]
    printed = [line for line in printed if any(line[1:])]
    groups = [
        TableGroup("node kernels of single graphs", ours),
        TableGroup("graph kernels with GraKeL, run here", here),
        TableGroup("quoted: graph kernels", [line for line in printed if line[0] not in NETWORKS]),
        TableGroup("quoted: neural networks", [line for line in printed if line[0] in NETWORKS]),
    ]
    return Table(
        ["method", *names],
        groups,
        "Accuracy in per cent, mean ± standard error over folds. Quoted numbers stand in the "
        "paper's tables, which has them from a survey, ± standard deviation; they were not run "
        "here.",
        wraps=tuple(range(1, len(names) + 1)),
    )


def labels_table(rows: Rows) -> Table:
    """What labels of nodes bring."""
    lines = []
    for name in labelled_sets(rows):
        for method in (EXACT, GRFPP):
            own = with_labels(rows, name, method)
            plain = scores(own, features=SPECTRUM)
            kinds = [scores(own, features=kind) for kind in LABEL_FEATURES]
            chosen = scores(own)
            cells = map(_text, (plain, *kinds, chosen))
            lines.append([name, method, *cells, _gap(chosen, plain)])
    return table(
        ["data set", "method", SPECTRUM, *LABEL_FEATURES, "chosen in the folds", "gain"],
        lines,
        "Accuracy in per cent, mean ± standard error over folds. same-label: the spectrum of "
        "the graph without its edges between different labels, normalised after they are gone. "
        "spectrum-and-pairs: the spectrum, and the sums of the kernel over pairs of labels.",
        words=(0, 1),
    )


def walks_table(rows: Rows) -> Table:
    """Walks by length and labels beside Weisfeiler–Lehman."""
    lines = []
    for name, (ours, rival) in beside_rival(rows).items():
        own = claims.select(rows, dataset=name, features=WALKS)
        chosen = Counter(row["chosen"] for row in own).most_common()
        choices = ", ".join(f"{what} {count}x" for what, count in chosen)
        lines.append([name, str(ours), str(rival), _gap(ours, rival), choices])
    return table(
        ["data set", WALK_METHOD, RIVAL, "difference", "chosen"],
        lines,
        "Accuracy in per cent, mean ± standard error over the same folds. Support vector machines "
        "with the mean of two kernels: of walk masses by length and labels, and of "
        "Weisfeiler–Lehman colours. The penalty C is chosen within the folds. Lengths and rounds "
        "were settled on other collections.",
        words=(0, 4),
    )


def _text(found: Scores | None) -> str:
    return "" if found is None else str(found)


def _gap(a: Scores | None, b: Scores | None) -> str:
    return "" if a is None or b is None else a.above(b).words()


def _quoted(method: str, dataset: str) -> str:
    return str(quoted().get((method, dataset), Quoted(None)))
