"""Accuracies as tables, ours beside the paper's."""

from __future__ import annotations

from grfpp_lab.experiments.classification.paper import (
    NETWORKS,
    OWN,
    SQUARED_DIFFUSION,
    Quoted,
    quoted,
)
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
    difference,
    of_kernel,
    scores,
    with_labels,
)
from grfpp_lab.experiments.experiment import Rows
from grfpp_lab.report.page import Table, TableGroup

_OURS = ((EXACT, "Diffusion"), (GRF, "GRF"), (GRFPP, "GRF++"))


def paper_table(rows: Rows) -> Table:
    """The diffusion kernel: ours, the paper's, and how ours differ."""
    own = of_kernel(rows, DIFFUSION)
    lines = []
    for name in data_sets(own):
        found = {method: scores(own, dataset=name, method=method) for method, _ in _OURS}
        told = [_quoted(theirs, name) for _, theirs in _OURS]
        lines.append(
            [
                name,
                *(_text(each) for each in found.values()),
                *told,
                _gap(found[GRFPP], found[EXACT]),
                _gap(found[GRFPP], found[GRF]),
            ]
        )
    columns = [
        "data set",
        *("exact", "GRF", "GRF++"),
        *("paper, exact", "paper, GRF", "paper, GRF++"),
        *("GRF++ − exact", "GRF++ − GRF"),
    ]
    return Table(
        columns,
        [TableGroup("", lines)],
        "Accuracy in per cent, mean ± standard deviation over folds; the number of walks is chosen "
        "within each fold. Differences: fold by fold, ± standard error.",
    )


def squared_table(rows: Rows) -> Table:
    """The kernel exp(W²)."""
    own = of_kernel(rows, SQUARED)
    lines = []
    for name in data_sets(own):
        found = {method: scores(own, dataset=name, method=method) for method, _ in _OURS}
        exact, grfpp, grf = SQUARED_DIFFUSION.get(name, (None, None, None))
        told = ["" if each is None else f"{each:.1f}" for each in (exact, grf, grfpp)]
        gap = _gap(found[GRFPP], found[GRF])
        lines.append([name, *(_text(each) for each in found.values()), *told, gap])
    columns = [
        "data set",
        *("exact", "GRF", "GRF++"),
        *("paper, exact", "paper, GRF", "paper, GRF++"),
        "GRF++ − GRF",
    ]
    return Table(
        columns,
        [TableGroup("", lines)],
        "As above, for exp(W²). The paper's column of the exact kernel is, to the digit, the one "
        "it has for the diffusion kernel.",
    )


def kernels_table(rows: Rows) -> Table:
    """Graph kernels: run here, quoted by the paper, or why not."""
    names = data_sets(rows, lambda row: row["features"] == GRAPH_KERNEL)
    own = of_kernel(rows, DIFFUSION)
    ours = [
        [f"{method}, ours", *(_text(scores(own, dataset=n, method=method)) for n in names)]
        for method, _ in _OURS
    ]
    kernels = [row for row in rows if row["features"] == GRAPH_KERNEL]
    here = []
    for method in dict.fromkeys(row["method"] for row in kernels):
        line = [method]
        for name in names:
            mine = [row for row in kernels if (row["method"], row["dataset"]) == (method, name)]
            why = next((row["why_not"] for row in mine if row.get("why_not")), "")
            line.append(why or _text(scores(mine)))
        here.append(line)
    told = [
        [method, *(_quoted(method, name) for name in names)]
        for method in dict.fromkeys(method for method, _ in quoted())
        if method not in OWN
    ]
    told = [line for line in told if any(line[1:])]
    groups = [
        TableGroup("node kernels of single graphs", ours),
        TableGroup("graph kernels with GraKeL, run here", here),
        TableGroup("quoted: graph kernels", [line for line in told if line[0] not in NETWORKS]),
        TableGroup("quoted: neural networks", [line for line in told if line[0] in NETWORKS]),
    ]
    return Table(
        ["method", *names],
        groups,
        "Accuracy in per cent, mean ± standard deviation over folds. Quoted numbers stand in the "
        "paper's tables, which has them from a survey; they were not run here.",
        wraps=tuple(range(1, len(names) + 1)),
    )


def labels_table(rows: Rows) -> Table:
    """What labels of nodes bring."""
    lines = []
    for name in data_sets(rows, lambda row: row["features"] in LABEL_FEATURES):
        for method in (EXACT, GRFPP):
            own = with_labels(rows, name, method)
            plain = scores(own, features=SPECTRUM)
            kinds = [scores(own, features=kind) for kind in LABEL_FEATURES]
            chosen = scores(own)
            found = [_text(each) for each in (plain, *kinds, chosen)]
            lines.append([name, method, *found, _gap(chosen, plain)])
    return Table(
        ["data set", "method", SPECTRUM, *LABEL_FEATURES, "chosen in the folds", "gain"],
        [TableGroup("", lines)],
        "Accuracy in per cent, mean ± standard deviation over folds. same-label: the spectrum of "
        "the graph without its edges between different labels, normalised after they are gone. "
        "label-pairs: the spectrum, and the sums of the kernel over pairs of labels.",
        words=(0, 1),
    )


def _text(found: Scores | None) -> str:
    return "" if found is None else str(found)


def _gap(a: Scores | None, b: Scores | None) -> str:
    return "" if a is None or b is None else str(difference(a, b))


def _quoted(method: str, dataset: str) -> str:
    return str(quoted().get((method, dataset), Quoted(None)))
