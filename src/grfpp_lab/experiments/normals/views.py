"""Charts and tables of the experiment `normals`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grfpp_lab.experiments.normals import parts
from grfpp_lab.experiments.normals.paper import AL_MOHY, BRUTE, GRF, PAPER, REUSED, STITCHED
from grfpp_lab.experiments.normals.parts import COMPARED, DENSE, END_TO_END, EXACT, TIMED
from grfpp_lab.experiments.views import POOLED, chart, curve, number, select, table, values
from grfpp_lab.harness.experiment import Row, Rows
from grfpp_lab.report.page import Table, TableGroup
from grfpp_lab.report.panels import Curve, Panel

#: Methods of the paper's table.
_QUOTED = (BRUTE, AL_MOHY, GRF, STITCHED, REUSED)
_STYLES = {
    **{BRUTE: 2, GRF: 1, STITCHED: 0, REUSED: 3, POOLED: 4},
    **{AL_MOHY: 5, EXACT: 2, DENSE: 2, END_TO_END: 0},
    **{parts.KRIGING: 0, parts.KRIGING_END: 4},
    **{parts.HARMONIC: 1, parts.BIHARMONIC: 3, parts.BIHARMONIC_RW: 4},
}


def cosine_panels(rows: Rows) -> list[Panel]:
    """Cosines, and what is missing to brute force."""
    methods = (BRUTE, GRF, STITCHED, POOLED)
    return [*_cosine_panel(rows, methods), *_missing_panel(rows, methods[1:])]


def pooled_panels(rows: Rows) -> list[Panel]:
    """How far the cosines of walks are from those of brute force."""
    return _missing_panel(rows, (GRF, STITCHED, POOLED), either_way=True)


def kriging_panels(rows: Rows) -> list[Panel]:
    """Cosines of ways to interpolate, and what is missing to 1."""
    methods, curves = (BRUTE, *parts.BESIDE), []
    for method in methods:
        own = parts.chosen_rows(rows, method).items()
        missing = {mesh: {**row, "missing": 1 - row["cosine"]} for mesh, row in own}
        curves.append(_points(method, missing, "missing"))
    return [*_cosine_panel(rows, methods), *_shown("Missing to 1", curves, "cosine missing")]


def reuse_panels(rows: Rows) -> list[Panel]:
    """The same for fresh walks and for one set of them."""
    methods = (GRF, STITCHED, REUSED)
    return [*_cosine_panel(rows, methods), *_missing_panel(rows, methods)]


def _cosine_panel(rows: Rows, methods: Sequence[str]) -> list[Panel]:
    curves = [_points(method, parts.chosen_rows(rows, method), "cosine") for method in methods]
    return _shown("Mean cosine", curves, "cosine", log_y=False)


def _missing_panel(rows: Rows, methods: Sequence[str], either_way: bool = False) -> list[Panel]:
    """What is missing to brute force; or how far it is, whichever is above."""
    exact, curves = parts.chosen_rows(rows, BRUTE), []
    for method in methods:
        gaps = {
            mesh: {**row, "missing": _missing(exact[mesh], row, either_way)}
            for mesh, row in parts.chosen_rows(rows, method).items()
            if mesh in exact
        }
        # The axis is logarithmic.
        above = {mesh: row for mesh, row in gaps.items() if row["missing"] > 0}
        curves.append(_points(method, above, "missing"))
    title = "Distance to brute force" if either_way else "Missing to brute force"
    return _shown(title, curves, "difference" if either_way else "cosine missing")


def _missing(exact: Row, row: Row, either_way: bool) -> float:
    missing = exact["cosine"] - row["cosine"]
    return float(abs(missing) if either_way else missing)


def _points(method: str, by_mesh: Mapping[str, Row], column: str) -> Curve:
    """A point a mesh; a line between meshes would say nothing."""
    own = list(by_mesh.values())
    return curve(method, own, "n_nodes", column, _STYLES[method], joined=False)


def _shown(title: str, curves: Sequence[Curve], label: str, log_y: bool = True) -> list[Panel]:
    """A panel over the numbers of vertices, if it shows anything."""
    panel = chart(title, curves, "vertices", label, log_y=log_y)
    return [panel] if panel.curves else []


def paper_panels(rows: Rows) -> list[Panel]:
    """Our cosines against the paper's, a chart a method."""
    panels = []
    for method in (BRUTE, GRF, STITCHED):
        own = parts.beside_paper(rows, method)
        if not own:
            continue
        both = [row[name] for row in own for name in ("paper_cosine", "cosine")]
        ends = [min(both), max(both)]
        curves = [
            curve("a mesh", own, "paper_cosine", "cosine", joined=False),
            Curve("equal", ends, ends, (), 1, True),
        ]
        panels.append(Panel(method, curves, "paper", "here", log_x=False, log_y=False))
    return panels or _cosine_panel(rows, (BRUTE,))


def second_panels(rows: Rows) -> list[Panel]:
    """Seconds against vertices."""
    timed = select(rows, part=parts.SECONDS)
    curves = [
        curve(
            *(method, select(timed, method=method), "n_nodes", "seconds", _STYLES[method]),
            dashed=method in (END_TO_END, parts.KRIGING_END, EXACT),
        )
        for method in TIMED
    ]
    return _shown("Time", curves, "seconds")


def cosine_table(rows: Rows) -> Table:
    """Every mesh: our cosines and the paper's."""
    ours = {method: parts.chosen_rows(rows, method) for method in COMPARED}
    meshes = {row["graph"]: row for row in select(rows, part=parts.COSINES)}
    lines, means = [], []
    for mesh, row in sorted(meshes.items(), key=lambda item: item[1]["n_nodes"]):
        cosines = [_cosine(ours[method].get(mesh)) for method in COMPARED]
        paper = [number(PAPER.get((row["paper_size"], method))) for method in _QUOTED]
        star = " ∗" if row["stand_in"] else ""
        lines.append([f"{row['n_nodes']:,}", f"{mesh}{star}", *cosines, *paper])
    true = parts.true_meshes(meshes)
    if true:
        sizes = [row["paper_size"] for row in true.values()]
        columns = [[ours[m][mesh]["cosine"] for mesh in true if mesh in ours[m]] for m in COMPARED]
        columns += [[PAPER[n, m] for n in sizes if (n, m) in PAPER] for m in _QUOTED]
        # A mean over fewer meshes would not be comparable.
        told = [number(sum(c) / len(c)) if len(c) == len(true) else "" for c in columns]
        means = [["", f"mean of {len(true)}", *told]]
    return Table(
        ["vertices", "mesh", *COMPARED, *(f"paper, {name}" for name in _QUOTED)],
        [TableGroup("", lines), TableGroup("", means, strong=(0,))],
        "Mean cosine over the hidden vertices, with each method's best setting. ∗ stands in for a "
        "mesh that is not to be had: the paper's numbers beside it are those of another mesh, and "
        "it is not in the means.",
        words=(1,),
    )


def _cosine(row: Row | None) -> str:
    return number(None if row is None else row["cosine"])


def second_table(rows: Rows) -> Table:
    """Seconds of all methods."""
    own = select(rows, part=parts.SECONDS)
    timed = {(row["n_nodes"], row["method"]): row for row in own}
    methods = [method for method in TIMED if select(own, method=method)]
    lines = []
    for n in values(own, "n_nodes"):
        cells = [timed.get((n, method)) for method in methods]
        seconds = ("" if row is None else f"{row['seconds']:.3g}" for row in cells)
        cosines = (_cosine(timed.get((n, method))) for method in (EXACT, STITCHED, POOLED))
        lines.append([f"{n:,}", *seconds, *cosines])
    return table(
        ["vertices", *methods, "cosine, exact", "cosine, GRF++", "cosine, pooled"],
        lines,
        "Seconds on one thread: from the known normals to their prediction at all vertices, walks "
        "included. Empty: not run, because it takes too long or does not fit.",
    )
