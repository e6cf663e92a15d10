"""What the paper says about normals on meshes, and what the rows say."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from grfpp_lab.experiments.experiment import Holds, Row, Rows, Verdict
from grfpp_lab.experiments.normals.paper import AL_MOHY, BRUTE, GRF, REUSED, STITCHED
from grfpp_lab.experiments.normals.parts import (
    DENSE,
    END_TO_END,
    EXACT,
    PICTURE,
    SECONDS,
    TWICE,
    chosen_rows,
    of_part,
    true_meshes,
)

#: How near to brute force a mean cosine must be to match it.
NEAR = 0.01
#: From where the paper's comparison of times begins, and what a mesh of its largest size may take.
_LARGE, _LARGEST, _MOST_SECONDS = 1800, 35_300, 5.0
_LIKE = 0.9


def judge_cosines(rows: Rows) -> Verdict:
    """GRF++ near brute force and above GRF, on average over the paper's own meshes."""
    paper = (
        "GRF++ matches the cosine similarity of brute force and gains over GRF, consistently, on "
        "meshes of 64 to 9,603 vertices"
    )
    exact, stitched = _true(rows, BRUTE), _true(rows, STITCHED)
    regular = _true(rows, GRF)
    common = sorted(set(exact) & set(stitched) & set(regular))
    if not common:
        return Verdict(paper, "nothing to compare", Holds.OPEN)
    means = {
        name: _mean(found, common)
        for name, found in ((BRUTE, exact), (GRF, regular), (STITCHED, stitched))
    }
    missing = means[BRUTE] - means[STITCHED]
    told = [
        f"mean over {len(common)} meshes: "
        + ", ".join(f"{name} {value:.4f}" for name, value in means.items()),
        f"GRF++ is {abs(missing):.4f} {'below' if missing >= 0 else 'above'} brute force",
        _counted("GRF++ above GRF", stitched, regular, common),
    ]
    twice = _true(rows, TWICE)
    if set(common) <= set(twice):
        told.append(
            f"GRF with twice the walks, which takes as many steps as GRF++, has "
            f"{_mean(twice, common):.4f}"
        )
    fine = abs(missing) <= NEAR and means[STITCHED] > means[GRF]
    return Verdict(paper, "; ".join(told), Holds.YES if fine else Holds.NO)


def judge_reuse(rows: Rows) -> Verdict:
    """GRF++ with one set of walks above GRF."""
    paper = "GRF++r, which uses the same walks for every factor, still outperforms GRF"
    reused, regular, stitched = (_true(rows, name) for name in (REUSED, GRF, STITCHED))
    common = sorted(set(reused) & set(regular) & set(stitched))
    if not common:
        return Verdict(paper, "nothing to compare", Holds.OPEN)
    means = [_mean(found, common) for found in (reused, regular, stitched)]
    told = (
        f"mean over {len(common)} meshes: GRF++r {means[0]:.4f}, GRF {means[1]:.4f}, GRF++ "
        f"{means[2]:.4f}; {_counted('GRF++r above GRF', reused, regular, common)}"
    )
    return Verdict(paper, told, Holds.YES if means[0] > means[1] else Holds.NO)


def judge_paper(rows: Rows) -> Verdict:
    """Whether meshes that are hard for the paper are hard here."""
    paper = "brute force has cosines from 0.4255 to 0.9836, by the mesh"
    told, likeness = [], None
    for method in (BRUTE, GRF, STITCHED, AL_MOHY):
        found = {
            name: row
            for name, row in _true(rows, method).items()
            if row["paper_cosine"] is not None
        }
        if len(found) < 3:
            continue
        ours, theirs = (
            np.array([row[column] for row in found.values()])
            for column in ("cosine", "paper_cosine")
        )
        correlation = float(np.corrcoef(ours, theirs)[0, 1])
        if method == BRUTE:
            likeness = correlation
        told.append(
            f"{method}: correlation {correlation:.3f} over {len(found)} meshes, mean "
            f"{ours.mean():.4f} against the paper's {theirs.mean():.4f}"
        )
    if likeness is None:
        return Verdict(paper, "too few meshes of the paper to compare", Holds.OPEN)
    return Verdict(paper, "; ".join(told), Holds.YES if likeness > _LIKE else Holds.NO)


def judge_seconds(rows: Rows) -> Verdict:
    """GRF++ faster than the dense kernel, and the largest mesh of the paper within seconds."""
    paper = (
        "GRF++ scales better than the baseline kernel: 1.7 to 2.2 times faster at 2,000 to 4,000 "
        "vertices, 5,591 s at 35,300"
    )
    timed = {(row["method"], row["n_nodes"]): row for row in of_part(rows, SECONDS)}
    both = sorted(n for method, n in timed if method == DENSE and (STITCHED, n) in timed)
    answers, told = [], []
    if both:
        ratios = {n: timed[DENSE, n]["seconds"] / timed[STITCHED, n]["seconds"] for n in both}
        told.append(
            "the dense kernel takes "
            + ", ".join(f"{ratio:.3g} times at {n:,} vertices" for n, ratio in ratios.items())
            + " as long as GRF++"
        )
        answers += [ratio > 1 for n, ratio in ratios.items() if n >= _LARGE]
    largest = timed.get((END_TO_END, _LARGEST))
    if largest is not None:
        told.append(f"{_LARGEST:,} vertices take {largest['seconds']:.2g} s from file to cosine")
        answers.append(largest["seconds"] < _MOST_SECONDS)
    told += _rivals(timed)
    if not answers:
        return Verdict(paper, "; ".join([*told, "too small to judge"]), Holds.OPEN)
    return Verdict(paper, "; ".join(told), Holds.YES if all(answers) else Holds.NO)


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
    """GRF++ above GRF on the mesh that is drawn."""
    paper = "GRF++ predicts normals better than GRF"
    own = {row["method"]: row for row in of_part(rows, PICTURE)}
    if not {GRF, STITCHED} <= set(own):
        return Verdict(paper, "nothing was drawn", Holds.OPEN)
    told = ", ".join(
        f"{name} {row['cosine']:.4f} ({row['mean_angle']:.1f}°)" for name, row in own.items()
    )
    first = next(iter(own.values()))
    measured = f"{told}, with {first['n_walks']} walks ({first['credit']})"
    fine = own[STITCHED]["cosine"] > own[GRF]["cosine"]
    return Verdict(paper, measured, Holds.YES if fine else Holds.NO)


def _true(rows: Rows, method: str) -> dict[str, Row]:
    return true_meshes(chosen_rows(rows, method))


def _mean(found: Mapping[str, Row], names: list[str]) -> float:
    return float(np.mean([found[name]["cosine"] for name in names]))


def _counted(text: str, high: Mapping[str, Row], low: Mapping[str, Row], names: list[str]) -> str:
    n_above = sum(high[name]["cosine"] > low[name]["cosine"] for name in names)
    return f"{text} on {n_above} of {len(names)}"
