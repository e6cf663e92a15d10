"""Accuracies as tables, ours beside the paper's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from grfpp_lab.experiments.classification import scores as s
from grfpp_lab.experiments.classification.paper import NETWORKS, OWN, SQUARED, Quoted, quoted
from grfpp_lab.experiments.classification.scores import EXACT, GRF, GRFPP
from grfpp_lab.experiments.views import POOLED, distinct, number, select, table
from grfpp_lab.harness.experiment import Rows
from grfpp_lab.report.page import Table, TableGroup

_OURS = {EXACT: "Diffusion", GRF: "GRF", GRFPP: "GRF++"}
#: What is measured here.
_MEASURED = (*_OURS, POOLED)


def paper_table(rows: Rows) -> Table:
    """The diffusion kernel: ours, the paper's, and how ours differ."""
    return _beside_paper(
        s.of_kernel(rows, s.DIFFUSION),
        lambda name: [_quoted(theirs, name) for theirs in _OURS.values()],
        (EXACT, GRF),
        "Accuracy in per cent, mean ± standard deviation over folds; the number of walks is chosen "
        f"within each fold, and {s.DEFAULT_WALKS} for pooled walks. Differences: fold by fold, ± "
        "standard error.",
    )


def squared_table(rows: Rows) -> Table:
    """The kernel exp(W²)."""
    return _beside_paper(
        s.of_kernel(rows, s.SQUARED),
        _squared,
        (GRF,),
        "As above, for exp(W²). The paper's column of the exact kernel is, to the digit, the one "
        "it has for the diffusion kernel.",
    )


def _squared(name: str) -> list[str]:
    if (name, GRF) not in SQUARED:
        return ["", "", ""]
    exact = quoted()["Diffusion", name].mean
    return [number(each, ".1f") for each in (exact, SQUARED[name, GRF], SQUARED[name, GRFPP])]


def _beside_paper(
    rows: Rows, told: Callable[[str], list[str]], rivals: tuple[str, ...], caption: str
) -> Table:
    """Our accuracies, what the paper has for a data set, and differences of GRF++ to some."""
    lines = []
    for name in distinct(rows, "dataset"):
        ours = {method: s.of_method(rows, name, method) for method in _MEASURED}
        gaps = [_gap(ours[GRFPP], ours[rival]) for rival in rivals]
        gaps.append(_gap(ours[POOLED], ours[EXACT]))
        lines.append([name, *map(_text, ours.values()), *told(name), *gaps])
    columns = [*_MEASURED, *(f"paper, {method}" for method in _OURS)]
    columns += [*(f"GRF++ − {each}" for each in rivals), f"{POOLED} − {EXACT}"]
    return table(["data set", *columns], lines, caption)


def kernels_table(rows: Rows) -> Table:
    """Graph kernels: run here, quoted by the paper, or why not."""
    kernels = select(rows, features=s.GRAPH_KERNEL)
    names = distinct(kernels, "dataset")
    own = s.of_kernel(rows, s.DIFFUSION)
    ours = [
        [f"{method}, ours", *(_text(s.of_method(own, name, method)) for name in names)]
        for method in _MEASURED
    ]
    here = []
    for method in distinct(kernels, "method"):
        line = [method]
        for name in names:
            mine = select(kernels, method=method, dataset=name)
            why = next((row["why_not"] for row in mine if row.get("why_not")), "")
            line.append(why or _text(s.scores(mine)))
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
    for name in s.labelled_sets(rows):
        for method in (EXACT, GRFPP):
            own = s.with_labels(rows, name, method)
            plain = s.scores(own, features=s.SPECTRUM)
            kinds = [s.scores(own, features=kind) for kind in s.LABEL_FEATURES]
            chosen = s.scores(own)
            cells = map(_text, (plain, *kinds, chosen))
            lines.append([name, method, *cells, _gap(chosen, plain)])
    return table(
        ["data set", "method", s.SPECTRUM, *s.LABEL_FEATURES, "chosen in the folds", "gain"],
        lines,
        "Accuracy in per cent, mean ± standard deviation over folds. same-label: the spectrum of "
        "the graph without its edges between different labels, normalised after they are gone. "
        "spectrum-and-pairs: the spectrum, and the sums of the kernel over pairs of labels.",
        words=(0, 1),
    )


def walks_table(rows: Rows) -> Table:
    """Walks by length and labels beside Weisfeiler–Lehman."""
    lines = []
    for name, (ours, rival) in s.beside_rival(rows).items():
        own = select(rows, dataset=name, features=s.WALKS)
        chosen = Counter(row["chosen"] for row in own).most_common()
        told = ", ".join(f"{what} {count}x" for what, count in chosen)
        lines.append([name, str(ours), str(rival), _gap(ours, rival), told])
    return table(
        ["data set", s.WALK_METHOD, s.RIVAL, "difference", "chosen"],
        lines,
        "Accuracy in per cent, mean ± standard deviation over the same folds. Features from walks "
        "by length and labels: masses with a random forest, or signatures with a support vector "
        "machine, chosen with the penalty within the folds. Lengths and bins were settled on other "
        "collections.",
        words=(0, 4),
    )


def _text(found: s.Scores | None) -> str:
    return "" if found is None else str(found)


def _gap(a: s.Scores | None, b: s.Scores | None) -> str:
    return "" if a is None or b is None else a.above(b).words()


def _quoted(method: str, dataset: str) -> str:
    return str(quoted().get((method, dataset), Quoted(None)))
