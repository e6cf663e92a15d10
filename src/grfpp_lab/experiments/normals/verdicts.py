"""What the paper says about normals on meshes, and what the rows say."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from grfpp_lab.experiments.normals import parts
from grfpp_lab.experiments.normals.paper import AL_MOHY, BRUTE, GRF, PAPER, REUSED, STITCHED
from grfpp_lab.experiments.pooled import our_bar
from grfpp_lab.experiments.verdicts import verdict
from grfpp_lab.experiments.views import POOLED, select
from grfpp_lab.harness.experiment import Row, Rows, Verdict
from grfpp_lab.meshes import FASTER, LARGEST, LEAST

#: How near to brute force a mean cosine must be to match it.
NEAR = 0.01
#: And how near with pooled walks.
POOLED_NEAR = 0.0005
#: Kriging is above harmonic functions on this share of the meshes, and biharmonic ones are above
#: it by no more than this in the mean.
_ABOVE_HARMONIC, _BELOW_BIHARMONIC = 30 / 33, 0.002
#: Seconds that kriging may take from the file to the cosine, at so many vertices.
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
        return verdict(paper)
    missing = means[BRUTE] - means[STITCHED]
    told = [
        _told(by_method, means),
        f"GRF++ is {abs(missing):.4f} {'below' if missing >= 0 else 'above'} brute force",
        _counted("GRF++ above GRF", by_method[STITCHED], by_method[GRF]),
    ]
    more, with_twice = _means(rows, BRUTE, GRF, STITCHED, parts.TWICE)
    if set(more[BRUTE]) == set(by_method[BRUTE]):
        told.append(
            f"GRF with twice the walks, which takes as many steps as GRF++, has "
            f"{with_twice[parts.TWICE]:.4f}"
        )
    return verdict(paper, told, abs(missing) <= NEAR and means[STITCHED] > means[GRF])


def judge_pooled(rows: Rows) -> Verdict:
    """Pooled walks at brute force, on average over the paper's own meshes."""
    bar = our_bar(f"a mean cosine within {POOLED_NEAR:g} of brute force")
    by_method, means = _means(rows, BRUTE, GRF, STITCHED, POOLED)
    if not means:
        return verdict(bar)
    above = means[POOLED] - means[BRUTE]
    gaps = {mesh: cosine - by_method[BRUTE][mesh] for mesh, cosine in by_method[POOLED].items()}
    worst = max(gaps, key=lambda mesh: abs(gaps[mesh]))
    told = [
        _told(by_method, means),
        f"pooled walks are {abs(above):.2g} {'above' if above >= 0 else 'below'} brute force",
        f"on one mesh at most {abs(gaps[worst]):.4f} away ({worst})",
        _counted("above GRF++", by_method[POOLED], by_method[STITCHED]),
    ]
    return verdict(bar, told, abs(above) <= POOLED_NEAR)


def judge_kriging(rows: Rows) -> Verdict:
    """Kriging above harmonic and near biharmonic functions, within seconds."""
    bar = our_bar(
        "kriging by default above harmonic functions on 30 of 33 meshes, within "
        f"{_BELOW_BIHARMONIC:g} of biharmonic ones or above them in the mean, and "
        f"{_KRIGING_SIZE:,} vertices from file to cosine in {_KRIGING_SECONDS:g} s",
        "kriging, which is ours",
    )
    by_method, means = _means(rows, BRUTE, *parts.BESIDE)
    if not means:
        return verdict(bar)
    ours, n = by_method[parts.KRIGING], len(by_method[parts.KRIGING])
    n_above = sum(ours[mesh] > by_method[parts.HARMONIC][mesh] for mesh in ours)
    # Both of them, so that the better one counts.
    best = max(means[parts.BIHARMONIC], means[parts.BIHARMONIC_RW])
    told = [
        _told(by_method, means),
        *(
            _counted(f"kriging above {rival}", ours, by_method[rival])
            for rival in (BRUTE, *parts.BESIDE[1:])
        ),
    ]
    answers = [n_above >= _ABOVE_HARMONIC * n, means[parts.KRIGING] >= best - _BELOW_BIHARMONIC]
    timed = select(rows, part=parts.SECONDS, method=parts.KRIGING_END, n_nodes=_KRIGING_SIZE)
    if timed:
        seconds = timed[0]["seconds"]
        told.append(f"{_KRIGING_SIZE:,} vertices take {seconds:.2g} s from file to cosine")
        answers.append(seconds < _KRIGING_SECONDS)
    return verdict(bar, told, all(answers))


def judge_reuse(rows: Rows) -> Verdict:
    """GRF++ with one set of walks above GRF."""
    paper = "GRF++r, which uses the same walks for every factor, still outperforms GRF"
    by_method, means = _means(rows, REUSED, GRF, STITCHED)
    if not means:
        return verdict(paper)
    counted = _counted("GRF++r above GRF", by_method[REUSED], by_method[GRF])
    return verdict(paper, [_told(by_method, means), counted], means[REUSED] > means[GRF])


def judge_paper(rows: Rows) -> Verdict:
    """Whether meshes that are hard for the paper are hard here."""
    cosines = [cosine for (_, method), cosine in PAPER.items() if method == BRUTE]
    paper = f"brute force has cosines from {min(cosines):.4f} to {max(cosines):.4f}, by the mesh"
    told, likeness = [], {}
    for method in (BRUTE, GRF, STITCHED, AL_MOHY):
        own = parts.beside_paper(rows, method)
        if len(own) < 3:
            continue
        ours, theirs = (np.array([row[c] for row in own]) for c in ("cosine", "paper_cosine"))
        likeness[method] = float(np.corrcoef(ours, theirs)[0, 1])
        told.append(
            f"{method}: correlation {likeness[method]:.3f} over {len(own)} meshes, mean "
            f"{ours.mean():.4f} against the paper's {theirs.mean():.4f}"
        )
    if BRUTE not in likeness:
        return verdict(paper, "too few meshes of the paper to compare")
    return verdict(paper, told, likeness[BRUTE] > _LIKE)


def judge_seconds(rows: Rows) -> Verdict:
    """GRF++ faster than the dense kernel, and the largest mesh of the paper within seconds."""
    paper = (
        f"GRF++ scales better than the baseline kernel: {FASTER.format('')} "
        f"vertices, {LARGEST.grf_seconds:,.0f} s at {LARGEST.n_nodes:,}"
    )
    timed = {(row["method"], row["n_nodes"]): row for row in select(rows, part=parts.SECONDS)}
    both = sorted(n for method, n in timed if method == parts.DENSE and (STITCHED, n) in timed)
    answers, told = [], []
    if both:
        ratios = {n: timed[parts.DENSE, n]["seconds"] / timed[STITCHED, n]["seconds"] for n in both}
        told.append(
            "the dense kernel takes "
            + ", ".join(f"{ratio:.3g} times at {n:,} vertices" for n, ratio in ratios.items())
            + " as long as GRF++"
        )
        answers += [ratio > 1 for n, ratio in ratios.items() if n >= LEAST]
    largest = timed.get((parts.END_TO_END, LARGEST.n_nodes))
    if largest is not None:
        told.append(
            f"{LARGEST.n_nodes:,} vertices take {largest['seconds']:.2g} s from file to cosine"
        )
        answers.append(largest["seconds"] < _MOST_SECONDS)
    told += _rivals(timed)
    if not answers:
        return verdict(paper, [*told, "too small to judge"])
    return verdict(paper, told, all(answers))


def _rivals(timed: Mapping[tuple[str, int], Row]) -> list[str]:
    """Exact products are faster, and the reader should know."""
    sizes = [n for method, n in timed if method == STITCHED and (parts.EXACT, n) in timed]
    if not sizes:
        return []
    n = max(sizes)
    rivals = [f"GRF++ {timed[STITCHED, n]['seconds']:.2g} s"]
    rivals += [
        f"{name} {timed[name, n]['seconds']:.2g} s"
        for name in (parts.EXACT, AL_MOHY)
        if (name, n) in timed
    ]
    return [f"exact products need no walks: at {n:,} vertices {', '.join(rivals)}"]


def judge_picture(rows: Rows) -> Verdict:
    """GRF++ above GRF on the mesh that is drawn."""
    paper = "GRF++ predicts normals better than GRF"
    own = {row["method"]: row for row in select(rows, part=parts.PICTURE)}
    if not {GRF, STITCHED} <= set(own):
        return verdict(paper, "nothing was drawn")
    told = ", ".join(
        f"{name} {row['cosine']:.4f} ({row['mean_angle']:.1f}°)" for name, row in own.items()
    )
    first = next(iter(own.values()))
    measured = f"{told}, with {first['n_walks']} walks ({first['credit']})"
    return verdict(paper, measured, own[STITCHED]["cosine"] > own[GRF]["cosine"])


#: Cosines by method and mesh.
ByMethod = Mapping[str, Mapping[str, float]]


def _means(rows: Rows, *methods: str) -> tuple[ByMethod, dict[str, float]]:
    """Cosines on the paper's own meshes that all these methods have, and their means."""
    chosen = {name: parts.true_meshes(parts.chosen_rows(rows, name)) for name in methods}
    common = sorted(set.intersection(*(set(by_mesh) for by_mesh in chosen.values())))
    cosines = {
        name: {mesh: by_mesh[mesh]["cosine"] for mesh in common} for name, by_mesh in chosen.items()
    }
    if not common:
        return cosines, {}
    return cosines, {name: float(np.mean(list(own.values()))) for name, own in cosines.items()}


def _told(by_method: ByMethod, means: Mapping[str, float]) -> str:
    n = len(next(iter(by_method.values())))
    listed = ", ".join(f"{name} {value:.4f}" for name, value in means.items())
    return f"mean over {n} meshes: {listed}"


def _counted(text: str, high: Mapping[str, float], low: Mapping[str, float]) -> str:
    return f"{text} on {sum(high[mesh] > low[mesh] for mesh in high)} of {len(high)}"
