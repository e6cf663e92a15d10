"""Normals of meshes: the paper's numbers, charts, tables and verdicts."""

from collections.abc import Mapping, Sequence

import numpy as np

from grfpp_lab.experiments import claims
from grfpp_lab.graphs import FASTER, LARGEST, LEAST
from grfpp_lab.harness.experiment import Row, Rows, Verdict
from grfpp_lab.report.page import Table, TableGroup
from grfpp_lab.report.panels import Curve, Panel

BRUTE, AL_MOHY, GRF, STITCHED, REUSED = "brute force", "Al-Mohy", "GRF", "GRF++", "GRF++r"
METHODS = (BRUTE, AL_MOHY, GRF, STITCHED, REUSED)

#: Mean cosine by the number of vertices and the method. The largest mesh is in the paper's shorter
#: table only, which leaves Al-Mohy's method out.
PAPER = {
    (int(size), method.replace("_", " ")): float(cosine)
    for (size, method), cosine in claims.quoted_cells("normals", "cosines.txt").items()
    if cosine != "-"
}


#: The parts of the experiment.
COSINES, SECONDS, PICTURE = "cosines", "seconds", "picture"
#: The head of a statue, with features of many sizes.
PICTURED_MESH = "mesh 98480"

#: Ours, and the textbook's, which no kernel is needed for.
KRIGING, HARMONIC = "kriging", "harmonic"
BIHARMONIC, BIHARMONIC_RW = "biharmonic", "biharmonic, random walk"
BESIDE = (KRIGING, HARMONIC, BIHARMONIC, BIHARMONIC_RW)

#: What is timed: the dense kernel, polynomials, and all the way from the file to the cosine.
DENSE, EXACT, END_TO_END = "brute force, dense", "Chebyshev", "GRF++, from file to cosine"
KRIGING_END = "kriging, from file to cosine"
TIMED = (EXACT, AL_MOHY, GRF, STITCHED, REUSED, claims.POOLED, END_TO_END, KRIGING_END, DENSE)

MASK, DEGREE = 0.8, 2
SIGMAS, N_WALKS = (0.5, 0.6, 0.8), (4, 8, 16)
#: As many steps as GRF++ of degree 2 has, where the paper compares equal numbers of walks.
TWICE = "GRF, twice the walks"
GRF_WALKS = (*N_WALKS, 2 * N_WALKS[-1])

#: Methods of the table of cosines: the rows that are theirs, and their numbers of walks.
COMPARED: dict[str, tuple[str, Sequence[int | None]]] = {
    BRUTE: (BRUTE, (None,)),
    AL_MOHY: (AL_MOHY, (None,)),
    GRF: (GRF, N_WALKS),
    TWICE: (GRF, GRF_WALKS[1:]),
    STITCHED: (STITCHED, N_WALKS),
    REUSED: (REUSED, N_WALKS),
    claims.POOLED: (claims.POOLED, N_WALKS),
    **{method: (method, (None,)) for method in BESIDE},
}


def chosen_rows(rows: Rows, method: str) -> dict[str, Row]:
    """For every mesh the row of a method's best setting.

    The best one is that with the largest mean cosine on the masks kept for this purpose; the
    cosine that counts is from other masks.
    """
    source, n_walks = COMPARED[method]
    best: dict[str, Row] = {}
    for row in claims.select(rows, part=COSINES, method=source):
        if row["n_walks"] not in n_walks:
            continue
        before = best.get(row["graph"])
        if before is None or row["cosine_to_choose_by"] > before["cosine_to_choose_by"]:
            best[row["graph"]] = row
    return best


def true_meshes(by_mesh: dict[str, Row]) -> dict[str, Row]:
    """Without spheres, and the meshes that only stand in for those of the paper."""
    return {name: row for name, row in by_mesh.items() if row["paper_size"] and not row["stand_in"]}


def beside_paper(rows: Rows, method: str) -> list[Row]:
    """A method's rows on the paper's own meshes, where the paper has a number too."""
    own = true_meshes(chosen_rows(rows, method)).values()
    return [row for row in own if row["paper_cosine"] is not None]


#: Methods of the paper's table.
_QUOTED = (BRUTE, AL_MOHY, GRF, STITCHED, REUSED)
_STYLES = {
    **{BRUTE: 2, GRF: 1, STITCHED: 0, REUSED: 3, claims.POOLED: 4},
    **{AL_MOHY: 5, EXACT: 2, DENSE: 2, END_TO_END: 0},
    **{KRIGING: 0, KRIGING_END: 4},
    **{HARMONIC: 1, BIHARMONIC: 3, BIHARMONIC_RW: 4},
}


def cosine_panels(rows: Rows) -> list[Panel]:
    """Cosines, and their distance to brute force."""
    methods = (BRUTE, GRF, STITCHED, claims.POOLED)
    return [*_cosine_panel(rows, methods), *_missing_panel(rows, (GRF, STITCHED))]


def pooled_panels(rows: Rows) -> list[Panel]:
    """How far the cosines of walks are from those of brute force."""
    groups = (GRF, STITCHED), (claims.POOLED,)  # in one panel two of them would be one cloud
    return [panel for methods in groups for panel in _missing_panel(rows, methods, either_way=True)]


def kriging_panels(rows: Rows) -> list[Panel]:
    """Cosines of interpolation methods, and their distance to 1."""
    methods, curves = (BRUTE, *BESIDE), []
    for method in methods:
        own = chosen_rows(rows, method).items()
        missing = {mesh: {**row, "missing": 1 - row["cosine"]} for mesh, row in own}
        curves.append(_points(method, missing, "missing"))
    return [*_cosine_panel(rows, methods), *_shown("Missing to 1", curves, "cosine missing")]


def reuse_panels(rows: Rows) -> list[Panel]:
    """The same for fresh walks and for one set of them."""
    methods = (GRF, STITCHED, REUSED)
    return [*_cosine_panel(rows, methods), *_missing_panel(rows, methods)]


def _cosine_panel(rows: Rows, methods: Sequence[str]) -> list[Panel]:
    curves = [_points(method, chosen_rows(rows, method), "cosine") for method in methods]
    return _shown("Mean cosine", curves, "cosine", log_y=False)


def _missing_panel(rows: Rows, methods: Sequence[str], either_way: bool = False) -> list[Panel]:
    """Brute force minus the method; with `either_way`, the absolute difference."""
    exact, curves = chosen_rows(rows, BRUTE), []
    for method in methods:
        gaps = {
            mesh: {**row, "missing": _missing(exact[mesh], row, either_way)}
            for mesh, row in chosen_rows(rows, method).items()
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
    return claims.curve(method, own, "n_nodes", column, _STYLES[method], joined=False)


def _shown(title: str, curves: Sequence[Curve], label: str, log_y: bool = True) -> list[Panel]:
    """A panel over the numbers of vertices, if it shows anything."""
    panel = claims.chart(title, curves, "vertices", label, log_y=log_y)
    return [panel] if panel.curves else []


def paper_panels(rows: Rows) -> list[Panel]:
    """Our cosines against the paper's, a chart a method."""
    panels = []
    for method in (BRUTE, GRF, STITCHED):
        own = beside_paper(rows, method)
        if not own:
            continue
        both = [row[name] for row in own for name in ("paper_cosine", "cosine")]
        ends = [min(both), max(both)]
        curves = [
            claims.curve("a mesh", own, "paper_cosine", "cosine", joined=False),
            Curve("equal", ends, ends, (), 1, True),
        ]
        panels.append(Panel(method, curves, "paper", "here", log_x=False, log_y=False))
    return panels or _cosine_panel(rows, (BRUTE,))


def second_panels(rows: Rows) -> list[Panel]:
    """Seconds against vertices."""
    timed = claims.select(rows, part=SECONDS)
    curves = [
        claims.curve(
            *(method, claims.select(timed, method=method), "n_nodes", "seconds", _STYLES[method]),
            dashed=method in (END_TO_END, KRIGING_END, EXACT),
        )
        for method in TIMED
    ]
    return _shown("Time", curves, "seconds")


def cosine_table(rows: Rows) -> Table:
    """Every mesh: our cosines and the paper's."""
    ours = {method: chosen_rows(rows, method) for method in COMPARED}
    meshes = {row["graph"]: row for row in claims.select(rows, part=COSINES)}
    lines, means = [], []
    for mesh, row in sorted(meshes.items(), key=lambda item: item[1]["n_nodes"]):
        cosines = [_cosine(ours[method].get(mesh)) for method in COMPARED]
        paper = [claims.number(PAPER.get((row["paper_size"], method))) for method in _QUOTED]
        star = " ∗" if row["stand_in"] else ""
        lines.append([f"{row['n_nodes']:,}", f"{mesh}{star}", *cosines, *paper])
    true = true_meshes(meshes)
    if true:
        sizes = [row["paper_size"] for row in true.values()]
        columns = [[ours[m][mesh]["cosine"] for mesh in true if mesh in ours[m]] for m in COMPARED]
        columns += [[PAPER[n, m] for n in sizes if (n, m) in PAPER] for m in _QUOTED]
        # A mean over fewer meshes would not be comparable.
        facts = [claims.number(sum(c) / len(c)) if len(c) == len(true) else "" for c in columns]
        means = [["", f"mean of {len(true)}", *facts]]
    return Table(
        ["vertices", "mesh", *COMPARED, *(f"paper, {name}" for name in _QUOTED)],
        [TableGroup("", lines), TableGroup("", means, strong=(0,))],
        "Mean cosine over the hidden vertices, with each method's best setting. ∗ stands in for a "
        "mesh that is not to be had: the paper's numbers beside it are those of another mesh, and "
        "it is not in the means.",
        words=(1,),
    )


def _cosine(row: Row | None) -> str:
    return claims.number(None if row is None else row["cosine"])


def second_table(rows: Rows) -> Table:
    """Seconds of all methods."""
    own = claims.select(rows, part=SECONDS)
    timed = {(row["n_nodes"], row["method"]): row for row in own}
    methods = [method for method in TIMED if claims.select(own, method=method)]
    lines = []
    for n in claims.values(own, "n_nodes"):
        cells = [timed.get((n, method)) for method in methods]
        seconds = ("" if row is None else f"{row['seconds']:.3g}" for row in cells)
        cosines = (_cosine(timed.get((n, method))) for method in (EXACT, STITCHED, claims.POOLED))
        lines.append([f"{n:,}", *seconds, *cosines])
    return claims.table(
        ["vertices", *methods, "cosine, exact", "cosine, GRF++", "cosine, pooled"],
        lines,
        "Seconds on one thread: from the known normals to their prediction at all vertices, walks "
        "included. Empty: not run, because it takes too long or does not fit.",
    )


#: How near to brute force a mean cosine must be to match it.
NEAR = 0.01
#: And how near with pooled walks.
POOLED_NEAR = 0.0005
#: Kriging is above harmonic functions on this share of the meshes, and biharmonic ones are above
#: it by no more than this in the mean.
_ABOVE_HARMONIC, _BELOW_BIHARMONIC = 30 / 33, 0.002
#: Largest number of seconds of kriging, from reading the file to the cosine, and its vertices.
_KRIGING_SECONDS, _KRIGING_SIZE = 10.0, 151_438
#: What a mesh of the paper's largest size may take.
_MOST_SECONDS = 5.0
_LIKE = 0.9


def judge_cosines(rows: Rows) -> Verdict:
    """GRF++ near brute force and above GRF, on average over the paper's own meshes."""
    paper = (
        "GRF++ matches the cosine similarity of brute force and gains over GRF, consistently, on "
        "meshes of 64 to 9,603 vertices"
    )
    by_method, means = _means(rows, BRUTE, GRF, STITCHED)
    if not means:
        return claims.verdict(paper)
    missing = means[BRUTE] - means[STITCHED]
    facts = [
        _mean_cosines(by_method, means),
        f"GRF++ is {abs(missing):.4f} {'below' if missing >= 0 else 'above'} brute force",
        _counted("GRF++ above GRF", by_method[STITCHED], by_method[GRF]),
    ]
    more, with_twice = _means(rows, BRUTE, GRF, STITCHED, TWICE)
    if set(more[BRUTE]) == set(by_method[BRUTE]):
        facts.append(
            f"GRF with twice the walks, which takes as many steps as GRF++, has "
            f"{with_twice[TWICE]:.4f}"
        )
    holds = abs(missing) <= NEAR and means[STITCHED] > means[GRF]
    return claims.verdict(paper, facts, holds, len(by_method[GRF]))


def judge_pooled(rows: Rows) -> Verdict:
    """Pooled walks at brute force, on average over the paper's own meshes."""
    bar = claims.our_bar(f"a mean cosine within {POOLED_NEAR:g} of brute force")
    by_method, means = _means(rows, BRUTE, GRF, STITCHED, claims.POOLED)
    if not means:
        return claims.verdict(bar)
    above = means[claims.POOLED] - means[BRUTE]
    gaps = {
        mesh: cosine - by_method[BRUTE][mesh] for mesh, cosine in by_method[claims.POOLED].items()
    }
    worst = max(gaps, key=lambda mesh: abs(gaps[mesh]))
    facts = [
        _mean_cosines(by_method, means),
        f"pooled walks are {abs(above):.2g} {'above' if above >= 0 else 'below'} brute force",
        f"on one mesh at most {abs(gaps[worst]):.4f} away ({worst})",
        _counted("above GRF++", by_method[claims.POOLED], by_method[STITCHED]),
    ]
    return claims.verdict(bar, facts, abs(above) <= POOLED_NEAR, len(gaps))


def judge_kriging(rows: Rows) -> Verdict:
    """Kriging above harmonic and near biharmonic functions, within seconds."""
    bar = claims.our_bar(
        "kriging by default above harmonic functions on 30 of 33 meshes, within "
        f"{_BELOW_BIHARMONIC:g} of biharmonic ones or above them in the mean, and "
        f"{_KRIGING_SIZE:,} vertices from file to cosine in {_KRIGING_SECONDS:g} s",
        "kriging, which is ours",
    )
    by_method, means = _means(rows, BRUTE, *BESIDE)
    if not means:
        return claims.verdict(bar)
    ours, n = by_method[KRIGING], len(by_method[KRIGING])
    n_above = sum(ours[mesh] > by_method[HARMONIC][mesh] for mesh in ours)
    # Both of them, so that the better one counts.
    best = max(means[BIHARMONIC], means[BIHARMONIC_RW])
    facts = [
        _mean_cosines(by_method, means),
        *(
            _counted(f"kriging above {rival}", ours, by_method[rival])
            for rival in (BRUTE, *BESIDE[1:])
        ),
    ]
    answers = [n_above >= _ABOVE_HARMONIC * n, means[KRIGING] >= best - _BELOW_BIHARMONIC]
    timed = claims.select(rows, part=SECONDS, method=KRIGING_END, n_nodes=_KRIGING_SIZE)
    if timed:
        seconds = timed[0]["seconds"]
        facts.append(f"{_KRIGING_SIZE:,} vertices take {seconds:.2g} s from file to cosine")
        answers.append(seconds < _KRIGING_SECONDS)
    return claims.verdict(bar, facts, all(answers), n)


def judge_reuse(rows: Rows) -> Verdict:
    """GRF++ with one set of walks above GRF."""
    paper = "GRF++r, which uses the same walks for every factor, still outperforms GRF"
    by_method, means = _means(rows, REUSED, GRF, STITCHED)
    if not means:
        return claims.verdict(paper)
    counted = _counted("GRF++r above GRF", by_method[REUSED], by_method[GRF])
    holds, n = means[REUSED] > means[GRF], len(by_method[GRF])
    return claims.verdict(paper, [_mean_cosines(by_method, means), counted], holds, n)


def judge_paper(rows: Rows) -> Verdict:
    """Whether meshes that are hard for the paper are hard here."""
    cosines = [cosine for (_, method), cosine in PAPER.items() if method == BRUTE]
    paper = f"brute force has cosines from {min(cosines):.4f} to {max(cosines):.4f}, by the mesh"
    facts, likeness = [], {}
    for method in (BRUTE, GRF, STITCHED, AL_MOHY):
        own = beside_paper(rows, method)
        if len(own) < 3:
            continue
        ours, theirs = (np.array([row[c] for row in own]) for c in ("cosine", "paper_cosine"))
        likeness[method] = float(np.corrcoef(ours, theirs)[0, 1])
        facts.append(
            f"{method}: correlation {likeness[method]:.3f} over {len(own)} meshes, mean "
            f"{ours.mean():.4f} against the paper's {theirs.mean():.4f}"
        )
    if BRUTE not in likeness:
        n = len(beside_paper(rows, BRUTE)) or None
        return claims.verdict(paper, "too few meshes of the paper to compare", None, n)
    return claims.verdict(paper, facts, likeness[BRUTE] > _LIKE)


def judge_seconds(rows: Rows) -> Verdict:
    """GRF++ faster than the dense kernel, and the largest mesh of the paper within seconds."""
    paper = (
        f"GRF++ scales better than the baseline kernel: {FASTER.format('')} "
        f"vertices, {LARGEST.grf_seconds:,.0f} s at {LARGEST.n_nodes:,}"
    )
    timed = {(row["method"], row["n_nodes"]): row for row in claims.select(rows, part=SECONDS)}
    both = sorted(n for method, n in timed if method == DENSE and (STITCHED, n) in timed)
    answers, facts = [], []
    if both:
        ratios = {n: timed[DENSE, n]["seconds"] / timed[STITCHED, n]["seconds"] for n in both}
        facts.append(
            "the dense kernel takes "
            + ", ".join(f"{ratio:.3g} times at {n:,} vertices" for n, ratio in ratios.items())
            + " as long as GRF++"
        )
        answers += [ratio > 1 for n, ratio in ratios.items() if n >= LEAST]
    largest = timed.get((END_TO_END, LARGEST.n_nodes))
    if largest is not None:
        facts.append(
            f"{LARGEST.n_nodes:,} vertices take {largest['seconds']:.2g} s from file to cosine"
        )
        answers.append(largest["seconds"] < _MOST_SECONDS)
    facts += _rivals(timed)
    if not answers:
        return claims.verdict(paper, [*facts, "too small to judge"])
    return claims.verdict(paper, facts, all(answers), len(answers))


def _rivals(timed: Mapping[tuple[str, int], Row]) -> list[str]:
    """Exact products are faster, and the reader should know."""
    sizes = [n for method, n in timed if method == STITCHED and (EXACT, n) in timed]
    if not sizes:
        return []
    n = max(sizes)
    rivals = [f"GRF++ {timed[STITCHED, n]['seconds']:.2g} s"]
    rivals += [
        f"{name} {timed[name, n]['seconds']:.2g} s"
        for name in (EXACT, AL_MOHY)
        if (name, n) in timed
    ]
    return [f"exact products need no walks: at {n:,} vertices {', '.join(rivals)}"]


def judge_picture(rows: Rows) -> Verdict:
    """The cosines on the mesh that is drawn, which is one and no verdict."""
    paper = "GRF++ predicts normals better than GRF"
    own = {row["method"]: row for row in claims.select(rows, part=PICTURE)}
    if not {GRF, STITCHED} <= set(own):
        return claims.verdict(paper, "nothing was drawn")
    facts = ", ".join(
        f"{name} {row['cosine']:.4f} ({row['mean_angle']:.1f}°)" for name, row in own.items()
    )
    first = next(iter(own.values()))
    measured = f"{facts}, with {first['n_walks']} walks ({first['credit']})"
    return claims.verdict(paper, measured)


#: Cosines by method and mesh.
ByMethod = Mapping[str, Mapping[str, float]]


def _means(rows: Rows, *methods: str) -> tuple[ByMethod, dict[str, float]]:
    """Cosines on the paper's own meshes that all these methods have, and their means."""
    chosen = {name: true_meshes(chosen_rows(rows, name)) for name in methods}
    common = sorted(set.intersection(*(set(by_mesh) for by_mesh in chosen.values())))
    cosines = {
        name: {mesh: by_mesh[mesh]["cosine"] for mesh in common} for name, by_mesh in chosen.items()
    }
    if not common:
        return cosines, {}
    return cosines, {name: float(np.mean(list(own.values()))) for name, own in cosines.items()}


def _mean_cosines(by_method: ByMethod, means: Mapping[str, float]) -> str:
    n = len(next(iter(by_method.values())))
    listed = ", ".join(f"{name} {value:.4f}" for name, value in means.items())
    return f"mean over {n} meshes: {listed}"


def _counted(text: str, high: Mapping[str, float], low: Mapping[str, float]) -> str:
    return f"{text} on {sum(high[mesh] > low[mesh] for mesh in high)} of {len(high)}"
