"""Charts and tables of the experiment `normals`."""

from __future__ import annotations

from collections.abc import Sequence

from grfpp_lab.experiments.experiment import Row, Rows
from grfpp_lab.experiments.normals.paper import (
    AL_MOHY,
    BRUTE,
    GRF,
    METHODS,
    PAPER,
    REUSED,
    STITCHED,
)
from grfpp_lab.experiments.normals.parts import (
    COMPARED,
    COSINES,
    DENSE,
    END_TO_END,
    EXACT,
    SECONDS,
    TIMED,
    chosen_rows,
    of_part,
    true_meshes,
)
from grfpp_lab.report.page import Table, TableGroup
from grfpp_lab.report.panels import Curve, Panel

_STYLES = {BRUTE: 2, GRF: 1, STITCHED: 0, REUSED: 3, AL_MOHY: 4, EXACT: 2, DENSE: 5, END_TO_END: 0}


def cosine_panels(rows: Rows) -> list[Panel]:
    """Cosines, and what is missing to brute force."""
    methods = (BRUTE, GRF, STITCHED)
    return [*_cosine_panel(rows, methods), *_missing_panel(rows, methods[1:])]


def reuse_panels(rows: Rows) -> list[Panel]:
    """The same for fresh walks and for one set of them."""
    methods = (GRF, STITCHED, REUSED)
    return [*_cosine_panel(rows, methods), *_missing_panel(rows, methods)]


def _cosine_panel(rows: Rows, methods: Sequence[str]) -> list[Panel]:
    curves = []
    for method in methods:
        own = _by_size(chosen_rows(rows, method))
        if own:
            curves.append(_points(method, own, [row["cosine"] for row in own]))
    return [Panel("Mean cosine", curves, "vertices", "cosine", log_y=False)] if curves else []


def _missing_panel(rows: Rows, methods: Sequence[str]) -> list[Panel]:
    exact, curves = chosen_rows(rows, BRUTE), []
    for method in methods:
        own = [
            (row, exact[row["graph"]]["cosine"] - row["cosine"])
            for row in _by_size(chosen_rows(rows, method))
            if row["graph"] in exact
        ]
        above = [(row, gap) for row, gap in own if gap > 0]  # the axis is logarithmic
        if above:
            curves.append(_points(method, [row for row, _ in above], [gap for _, gap in above]))
    return [Panel("Missing to brute force", curves, "vertices", "cosine missing")] if curves else []


def paper_panels(rows: Rows) -> list[Panel]:
    """Our cosines against the paper's, a chart a method."""
    panels = []
    for method in (BRUTE, GRF, STITCHED):
        own = [
            row
            for row in true_meshes(chosen_rows(rows, method)).values()
            if row["paper_cosine"] is not None
        ]
        if not own:
            continue
        theirs, ours = ([row[name] for row in own] for name in ("paper_cosine", "cosine"))
        ends = [min(*theirs, *ours), max(*theirs, *ours)]
        panels.append(
            Panel(
                method,
                [
                    Curve("a mesh", theirs, ours, (), 0, joined=False),
                    Curve("equal", ends, ends, (), 1, True),
                ],
                "paper",
                "here",
                log_x=False,
                log_y=False,
            )
        )
    return panels or _cosine_panel(rows, (BRUTE,))


def second_panels(rows: Rows) -> list[Panel]:
    """Seconds against vertices."""
    timed = of_part(rows, SECONDS)
    curves = []
    for method in TIMED:
        own = sorted((r for r in timed if r["method"] == method), key=lambda row: row["n_nodes"])
        if own:
            curves.append(
                Curve(
                    method,
                    [row["n_nodes"] for row in own],
                    [row["seconds"] for row in own],
                    (),
                    _STYLES[method],
                    method in (END_TO_END, EXACT),
                )
            )
    return [Panel("Time", curves, "vertices", "seconds")] if curves else []


def _by_size(found: dict[str, Row]) -> list[Row]:
    return sorted(found.values(), key=lambda row: row["n_nodes"])


def _points(method: str, rows: Sequence[Row], values: Sequence[float]) -> Curve:
    """A point a mesh; a line between meshes would say nothing."""
    return Curve(
        method, [row["n_nodes"] for row in rows], values, (), _STYLES[method], joined=False
    )


def cosine_table(rows: Rows) -> Table:
    """Every mesh: our cosines and the paper's."""
    found = {method: chosen_rows(rows, method) for method in COMPARED}
    meshes = {row["graph"]: row for row in of_part(rows, COSINES)}
    lines, means = [], []
    for row in _by_size(meshes):
        ours = [_four(found[method].get(row["graph"])) for method in COMPARED]
        paper = [_paper(row["paper_size"], method) for method in METHODS]
        star = " ∗" if row["stand_in"] else ""
        lines.append([f"{row['n_nodes']:,}", f"{row['graph']}{star}", *ours, *paper])
    true = true_meshes(meshes)
    if true:
        sizes = [row["paper_size"] for row in true.values()]
        means = [["", f"mean of {len(true)}", *(_mean(found[m], true) for m in COMPARED)]]
        means[0] += [_paper_mean(sizes, method) for method in METHODS]
    names = [BRUTE, AL_MOHY, GRF, STITCHED, REUSED]
    return Table(
        ["vertices", "mesh", *COMPARED, *(f"paper, {name}" for name in names)],
        [TableGroup("", lines), TableGroup("", means, strong=(0,))],
        "Mean cosine over the hidden vertices, with each method's best setting. ∗ stands in for a "
        "mesh that is not to be had: the paper's numbers beside it are those of another mesh, and "
        "it is not in the means.",
        words=(1,),
    )


def _four(row: Row | None) -> str:
    return "" if row is None else f"{row['cosine']:.4f}"


def _paper(size: int, method: str) -> str:
    value = PAPER.get((size, method))
    return "" if value is None else f"{value:.4f}"


def _mean(found: dict[str, Row], true: dict[str, Row]) -> str:
    values = [found[name]["cosine"] for name in true if name in found]
    return f"{sum(values) / len(values):.4f}" if len(values) == len(true) else ""


def _paper_mean(sizes: Sequence[int], method: str) -> str:
    values = [PAPER[size, method] for size in sizes if (size, method) in PAPER]
    return f"{sum(values) / len(values):.4f}" if len(values) == len(sizes) else ""


def second_table(rows: Rows) -> Table:
    """Seconds of all methods."""
    timed = {(row["n_nodes"], row["method"]): row for row in of_part(rows, SECONDS)}
    methods = [method for method in TIMED if any(method == m for _, m in timed)]
    lines = []
    for n in sorted({n for n, _ in timed}):
        cells = [timed.get((n, method)) for method in methods]
        stitched = timed.get((n, STITCHED))
        exact = timed.get((n, EXACT))
        lines.append(
            [
                f"{n:,}",
                *("" if row is None else f"{row['seconds']:.3g}" for row in cells),
                _four(exact),
                _four(stitched),
            ]
        )
    return Table(
        ["vertices", *methods, "cosine, exact", "cosine, GRF++"],
        [TableGroup("", lines)],
        "Seconds on one thread: from the known normals to their prediction at all vertices, walks "
        "included. Empty: not run, because it takes too long or does not fit.",
    )
